// The controller beyond facet/control.h: splines.
#ifndef FACET_CONTROL_CONTROL_H
#define FACET_CONTROL_CONTROL_H

#include <facet/control.h>

// A twice continuously differentiable cubic spline through points, read by arc length.
typedef struct Spline Spline;

// At least two points, all finite, no two neighbours coincident.
FacetStatus spline_create(Spline **spline, const FacetVec3 *points, int count);
void spline_destroy(Spline *spline);
double spline_length(const Spline *spline);          // m
double spline_knot(const Spline *spline, int point); // arc length at a point it goes through
FacetVec3 spline_position(const Spline *spline, double arc); // arc in [0, length]
// Derivatives by the spline's own parameter u, in which the points stand at spline_parameter.
double spline_parameter(const Spline *spline, int point);
FacetVec3 spline_derivative(const Spline *spline, double parameter, int order); // 0 to 2

// Keypoints at equal steps of arc length along a spline, all at one speed.
void chunk_from_spline(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const Spline *spline,
                       double speed);

#endif
