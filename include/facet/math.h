// Small geometry by value: vectors in R^3, unit quaternions, 3x3 matrices.
//
// Quaternions are Hamilton, scalar first, and rotate body vectors into the world:
// v_world = q v_body q*. Matrices are row-major. Everything is SI and radians.
#ifndef FACET_MATH_H
#define FACET_MATH_H

#include <math.h>

#define FACET_PI 3.14159265358979323846

typedef struct Vec3 {
    double x, y, z;
} Vec3;

typedef struct Quat {
    double w, x, y, z;
} Quat;

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

static inline Vec3 vec3(double x, double y, double z) { return (Vec3){x, y, z}; }
static inline Vec3 vec3_add(Vec3 a, Vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline Vec3 vec3_sub(Vec3 a, Vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline Vec3 vec3_scale(Vec3 a, double s) { return vec3(a.x * s, a.y * s, a.z * s); }
static inline Vec3 vec3_mul(Vec3 a, Vec3 b) { return vec3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline double vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double vec3_norm(Vec3 a) { return sqrt(vec3_dot(a, a)); }

// a + s b
static inline Vec3 vec3_axpy(Vec3 a, double s, Vec3 b)
{
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline Vec3 vec3_cross(Vec3 a, Vec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline Vec3 vec3_lerp(Vec3 a, Vec3 b, double t) { return vec3_axpy(a, t, vec3_sub(b, a)); }

static inline double vec3_distance(Vec3 a, Vec3 b) { return vec3_norm(vec3_sub(a, b)); }

// The unit vector along a, or `fallback` when a has no direction.
static inline Vec3 vec3_unit(Vec3 a, Vec3 fallback)
{
    double norm = vec3_norm(a);
    return norm > 1e-12 ? vec3_scale(a, 1.0 / norm) : fallback;
}

static inline int vec3_finite(Vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

// ---- Quaternions ----------------------------------------------------------------------------

static inline Quat quat_identity(void) { return (Quat){1.0, 0.0, 0.0, 0.0}; }

static inline Quat quat_mul(Quat a, Quat b)
{
    return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline Quat quat_conj(Quat q) { return (Quat){q.w, -q.x, -q.y, -q.z}; }

static inline double quat_norm(Quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

static inline Quat quat_normalize(Quat q)
{
    double s = 1.0 / quat_norm(q);
    return (Quat){q.w * s, q.x * s, q.y * s, q.z * s};
}

static inline Quat quat_from_axis_angle(Vec3 unit_axis, double angle)
{
    double s = sin(0.5 * angle);
    return (Quat){cos(0.5 * angle), unit_axis.x * s, unit_axis.y * s, unit_axis.z * s};
}

// The exponential map: the rotation by |v| about v.
static inline Quat quat_exp(Vec3 v)
{
    double angle = vec3_norm(v);
    // sin(angle/2)/angle, by its series where the quotient is not accurate.
    double s = angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48.0;
    return (Quat){cos(0.5 * angle), v.x * s, v.y * s, v.z * s};
}

// The logarithm: the shortest rotation vector of q.
static inline Vec3 quat_log(Quat q)
{
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = s > 1e-9 ? sign * 2.0 * atan2(s, sign * q.w) / s : sign * 2.0;
    return vec3(q.x * scale, q.y * scale, q.z * scale);
}

static inline Mat3 quat_to_mat3(Quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (Mat3){{{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                   {2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)},
                   {2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}}};
}

// ---- Matrices -------------------------------------------------------------------------------

static inline Vec3 mat3_mul_vec3(Mat3 a, Vec3 v)
{
    return vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}

// a^T v
static inline Vec3 mat3_tmul_vec3(Mat3 a, Vec3 v)
{
    return vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}

static inline Vec3 mat3_column(Mat3 a, int j) { return vec3(a.m[0][j], a.m[1][j], a.m[2][j]); }

static inline Mat3 mat3_from_columns(Vec3 a, Vec3 b, Vec3 c)
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
static inline Vec3 mat3_vee(Mat3 a)
{
    return vec3(0.5 * (a.m[2][1] - a.m[1][2]), 0.5 * (a.m[0][2] - a.m[2][0]),
                0.5 * (a.m[1][0] - a.m[0][1]));
}

// The rotation about the world's z axis.
static inline Quat quat_from_yaw(double yaw)
{
    return quat_from_axis_angle(vec3(0.0, 0.0, 1.0), yaw);
}

#endif
