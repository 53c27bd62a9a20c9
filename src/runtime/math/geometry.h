// Small geometry by value: vectors in R^3, unit quaternions, 3x3 matrices.
//
// Quaternions are Hamilton, scalar first, and rotate body vectors into the world:
// v_world = q v_body q*. Matrices are row-major. Everything is SI and radians.
#ifndef FACET_MATH_GEOMETRY_H
#define FACET_MATH_GEOMETRY_H

#include <facet/types.h>
#include <math.h>
#include <stdbool.h>

#define FACET_PI 3.14159265358979323846

typedef struct Mat3 {
    double m[3][3];
} Mat3;

// ---- Scalars --------------------------------------------------------------------------------

static inline double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

// Comparisons that compile to one instruction, where fmin and fmax are calls.
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline double greater(double a, double b) { return a > b ? a : b; }

// ---- Vectors --------------------------------------------------------------------------------

static inline FacetVec3 vec3(double x, double y, double z) { return (FacetVec3){x, y, z}; }
static inline FacetVec3 vec3_add(FacetVec3 a, FacetVec3 b)
{
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline FacetVec3 vec3_sub(FacetVec3 a, FacetVec3 b)
{
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline FacetVec3 vec3_scale(FacetVec3 a, double s)
{
    return vec3(a.x * s, a.y * s, a.z * s);
}
static inline FacetVec3 vec3_mul(FacetVec3 a, FacetVec3 b)
{
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline double vec3_dot(FacetVec3 a, FacetVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline double vec3_norm(FacetVec3 a) { return sqrt(vec3_dot(a, a)); }

// a + s b
static inline FacetVec3 vec3_axpy(FacetVec3 a, double s, FacetVec3 b)
{
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline FacetVec3 vec3_cross(FacetVec3 a, FacetVec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline FacetVec3 vec3_lerp(FacetVec3 a, FacetVec3 b, double t)
{
    return vec3_axpy(a, t, vec3_sub(b, a));
}

static inline double vec3_distance(FacetVec3 a, FacetVec3 b) { return vec3_norm(vec3_sub(a, b)); }

// The unit vector along a, or `fallback` when a has no direction.
static inline FacetVec3 vec3_unit(FacetVec3 a, FacetVec3 fallback)
{
    double norm = vec3_norm(a);
    return norm > 1e-12 ? vec3_scale(a, 1.0 / norm) : fallback;
}

static inline bool vec3_finite(FacetVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// ---- Quaternions ----------------------------------------------------------------------------

static inline FacetQuat quat_identity(void) { return (FacetQuat){1.0, 0.0, 0.0, 0.0}; }

static inline FacetQuat quat_mul(FacetQuat a, FacetQuat b)
{
    return (FacetQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                       a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline FacetQuat quat_conj(FacetQuat q) { return (FacetQuat){q.w, -q.x, -q.y, -q.z}; }

static inline double quat_norm(FacetQuat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

static inline FacetQuat quat_normalize(FacetQuat q)
{
    double s = 1.0 / quat_norm(q);
    return (FacetQuat){q.w * s, q.x * s, q.y * s, q.z * s};
}

static inline FacetQuat quat_from_axis_angle(FacetVec3 unit_axis, double angle)
{
    double s = sin(0.5 * angle);
    return (FacetQuat){cos(0.5 * angle), unit_axis.x * s, unit_axis.y * s, unit_axis.z * s};
}

// The exponential map: the rotation by |v| about v.
static inline FacetQuat quat_exp(FacetVec3 v)
{
    double angle = vec3_norm(v);
    // sin(angle/2)/angle, by its series where the quotient is not accurate.
    double s = angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48.0;
    return (FacetQuat){cos(0.5 * angle), v.x * s, v.y * s, v.z * s};
}

// The logarithm: the shortest rotation vector of q.
static inline FacetVec3 quat_log(FacetQuat q)
{
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = s > 1e-9 ? sign * 2.0 * atan2(s, sign * q.w) / s : sign * 2.0;
    return vec3(q.x * scale, q.y * scale, q.z * scale);
}

static inline Mat3 quat_to_mat3(FacetQuat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (Mat3){{{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                   {2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)},
                   {2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}}};
}

// ---- Matrices -------------------------------------------------------------------------------

static inline FacetVec3 mat3_mul_vec3(Mat3 a, FacetVec3 v)
{
    return vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}

// a^T v
static inline FacetVec3 mat3_tmul_vec3(Mat3 a, FacetVec3 v)
{
    return vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}

static inline FacetVec3 mat3_column(Mat3 a, int j) { return vec3(a.m[0][j], a.m[1][j], a.m[2][j]); }

static inline Mat3 mat3_from_columns(FacetVec3 a, FacetVec3 b, FacetVec3 c)
{
    return (Mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

// a^T b
static inline Mat3 mat3_tmul(Mat3 a, Mat3 b)
{
    Mat3 out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = a.m[0][i] * b.m[0][j] + a.m[1][i] * b.m[1][j] + a.m[2][i] * b.m[2][j];
    return out;
}

// The vector v with hat(v) = the skew part of a: (a - a^T)/2.
static inline FacetVec3 mat3_vee(Mat3 a)
{
    return vec3(0.5 * (a.m[2][1] - a.m[1][2]), 0.5 * (a.m[0][2] - a.m[2][0]),
                0.5 * (a.m[1][0] - a.m[0][1]));
}

// The rotation about the world's z axis.
static inline FacetQuat quat_from_yaw(double yaw)
{
    return quat_from_axis_angle(vec3(0.0, 0.0, 1.0), yaw);
}

#endif
