// The tensors of a network, declared once: name, shape, initial values, weight decay or not.
//
// All parameters live in ONE block of numbers. Sizes, offsets, initialisation, gradients, optimiser
// state and checkpoints follow from this table, and gradients and moments are blocks of the same
// size and offsets.
#ifndef FACET_NN_TENSOR_H
#define FACET_NN_TENSOR_H

#include "base/status.h"

#include <stddef.h>

enum { TENSOR_NAME_MAX = 48, TENSOR_RANK_MAX = 3, TENSOR_ALIGN = 16 };

typedef enum TensorInit {
    INIT_CONSTANT, // every element is `scale`
    INIT_UNIFORM,  // uniform in [-scale, scale]
    INIT_NORMAL,   // normal with deviation `scale`
} TensorInit;

typedef struct Tensor {
    char name[TENSOR_NAME_MAX];
    int rank;
    int shape[TENSOR_RANK_MAX]; // row-major; unused dimensions are 1
    TensorInit init;
    double scale;
    bool decay;    // whether weight decay applies
    size_t offset; // of its first element in the block, a multiple of TENSOR_ALIGN
    size_t size;   // elements
} Tensor;

typedef struct TensorTable {
    Tensor *tensors;
    int count, capacity;
    size_t size;       // elements of the block, with the gaps that alignment leaves
    size_t parameters; // elements that belong to a tensor
} TensorTable;

// Appends a tensor; `shape` has `rank` entries. The table owns its list; a zero table is empty.
FacetStatus tensor_add(TensorTable *table, const char *name, int rank, const int *shape,
                       TensorInit init, double scale, bool decay);
void tensor_table_free(TensorTable *table);

// A list of declarations in the making: the first failure is kept, and those after it do nothing.
typedef struct TensorDeclare {
    TensorTable *table;
    FacetStatus status;
} TensorDeclare;

// Appends a tensor of shape [a], [a][b] or [a][b][c], with zeros for dimensions that it has not,
// and returns its offset.
size_t tensor_declare(TensorDeclare *declare, const char *name, int a, int b, int c,
                      TensorInit init, double scale, bool decay);

// The tensor of this name, or NULL.
const Tensor *tensor_find(const TensorTable *table, const char *name);

#endif
