// Eigenvalues and eigenvectors of small symmetric matrices.
#ifndef FACET_MATH_EIGEN_H
#define FACET_MATH_EIGEN_H

// Diagonalises a symmetric matrix a [n][n] = V diag(values) V^T by cyclic Jacobi rotations, which
// find small eigenvalues of a graded matrix as well as large ones. Destroys `a`. values [n] come in
// no fixed order; vectors [n][n], one a column, may be NULL. Meant for n up to about a hundred.
void eigen_symmetric(double *values, double *vectors, double *a, int n);

#endif
