// Tangents of nn/epilogue.h.
#ifndef FACET_CERTIFY_EPILOGUE_TANGENT_H
#define FACET_CERTIFY_EPILOGUE_TANGENT_H

#include "nn/epilogue.h"

#define epilogue_slope   REAL_NAME(epilogue_slope)
#define epilogue_tangent REAL_NAME(epilogue_tangent)

// slope [time][channels] = (1 + scale) Mish'(gamma xhat + beta) gamma of one sample, where xhat
// points at the sample's first row and film at its scale (or is NULL).
void epilogue_slope(Real *slope, const Real *xhat, EpilogueParams p, const Real *film, int time,
                    int channels);

// th = slope rstd (tu - mean(tu) - xhat mean(tu xhat)) [+ residual] for one direction at one
// sample; th, tu and residual point at the direction's first row. th may be residual.
void epilogue_tangent(Real *th, Real *tu, const Real *slope, const Real *xhat, const Real *rstd,
                      const Real *residual, int time, int channels);

#endif
