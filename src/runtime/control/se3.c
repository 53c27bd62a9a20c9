// The SE(3) geometric tracking controller (Lee, Leok and McClamroch, CDC 2010), z up.
//
//   A   = -k_x e_x - k_v e_v + m g e3 + m a_d + m R D R^T v             wanted force
//   b3c = A/|A|,  b2c = b3c x b1d normalised,  b1c = b2c x b3c,  b1d = (cos yaw, sin yaw, 0)
//   e_R = (Rc^T R - R^T Rc)^v / 2,  e_W = W - R^T Rc Wc
//   f   = A . R e3
//   M   = -k_R e_R - k_W e_W + W x J W - J (W^ R^T Rc Wc - R^T Rc dWc)
//
// Wc and dWc come from the first and second derivatives of A: with the acceleration error
// e_a = f/m b3 - g e3 - R D R^T v - a_d and the jerk error e_j = (df b3 + f db3)/m - j_d,
//   dA = -k_x e_v - k_v e_a + m j_d,   ddA = -k_x e_a - k_v e_j + m s_d.
//
// The published law knows no drag. Here the vehicle's linear drag R D R^T v is balanced in A and
// counted in e_a; without that, cruising shows up as a standing acceleration error and tilts the
// vehicle. The drag's own rate of change is left out of dA.
//
// Two places where the published law is undefined, and what stands there:
// - A = 0 (free fall wanted) or A along b1d: the present attitude's axes take over.
// - R a half turn from Rc: e_R vanishes though the error is largest. Within 2.6 degrees of that
//   e_R gets unit length along the axis of the turn.
#include "control/control.h"
#include "math/geometry.h"

static const double PSI_HALF_TURN = 1.999; // Psi = 1 - cos(angle): 177.4 degrees

// A unit vector along v with its first two derivatives.
typedef struct UnitJet {
    FacetVec3 u, du, ddu;
} UnitJet;

static inline UnitJet unit_jet(FacetVec3 v, FacetVec3 dv, FacetVec3 ddv, FacetVec3 fallback)
{
    double norm = vec3_norm(v);
    if (norm < 1e-6) return (UnitJet){.u = fallback};
    double per_norm = 1.0 / norm;
    UnitJet jet = {.u = vec3_scale(v, per_norm)};
    double rate = vec3_dot(jet.u, dv);
    jet.du = vec3_scale(vec3_axpy(dv, -rate, jet.u), per_norm);
    FacetVec3 bend = vec3_axpy(ddv, -vec3_dot(jet.u, ddv), jet.u);
    bend = vec3_axpy(bend, -2.0 * rate, jet.du);
    jet.ddu = vec3_axpy(vec3_scale(bend, per_norm), -vec3_dot(jet.du, jet.du), jet.u);
    return jet;
}

// The jet of a cross product of jets.
static inline UnitJet cross_jet(UnitJet a, UnitJet b)
{
    FacetVec3 mixed = vec3_scale(vec3_cross(a.du, b.du), 2.0);
    return (UnitJet){vec3_cross(a.u, b.u), vec3_add(vec3_cross(a.du, b.u), vec3_cross(a.u, b.du)),
                     vec3_add(vec3_add(vec3_cross(a.ddu, b.u), mixed), vec3_cross(a.u, b.ddu))};
}

static UnitJet heading_jet(const FacetSetpoint *to)
{
    double c = cos(to->yaw), s = sin(to->yaw), rate = to->yaw_rate;
    FacetVec3 along = vec3(c, s, 0.0), across = vec3(-s, c, 0.0);
    return (UnitJet){along, vec3_scale(across, rate),
                     vec3_axpy(vec3_scale(across, to->yaw_acc), -rate * rate, along)};
}

// The axis of a rotation that is far from none: r + r^T - 2 cos I = 2 (1 - cos) axis axis^T, read
// from the column in which the axis is longest.
static FacetVec3 rotation_axis(Mat3 r, double cosine)
{
    int k = r.m[0][0] > r.m[1][1] ? 0 : 1;
    if (r.m[2][2] > r.m[k][k]) k = 2;
    double column[3];
    for (int i = 0; i < 3; i++) column[i] = r.m[i][k] + r.m[k][i] - (i == k ? 2.0 * cosine : 0.0);
    return vec3_unit(vec3(column[0], column[1], column[2]), vec3(1.0, 0.0, 0.0));
}

// The attitude error e_R, with its guard at the half turn.
static FacetVec3 attitude_error(double *psi, Mat3 rc_t_r)
{
    *psi = 0.5 * (3.0 - rc_t_r.m[0][0] - rc_t_r.m[1][1] - rc_t_r.m[2][2]);
    FacetVec3 error = mat3_vee(rc_t_r);
    if (*psi <= PSI_HALF_TURN) return error;
    FacetVec3 axis = rotation_axis(rc_t_r, 1.0 - *psi);
    return vec3_dot(error, axis) < 0.0 ? vec3_scale(axis, -1.0) : axis;
}

void facet_se3_control(FacetSe3Output *out, const FacetSe3Gains *gains,
                       const FacetQuadParams *params, const FacetQuadState *state,
                       const FacetSetpoint *to)
{
    double kx = gains->position, kv = gains->velocity; // over mass: forces below are over mass too
    Mat3 r = quat_to_mat3(state->attitude);
    FacetVec3 b1 = mat3_column(r, 0), b3 = mat3_column(r, 2), w = state->omega_body;
    FacetVec3 db3 = vec3_sub(vec3_scale(b1, w.y), vec3_scale(mat3_column(r, 1), w.x)); // R (w x e3)

    FacetVec3 e_x = vec3_sub(state->pos_world, to->pos), e_v = vec3_sub(state->vel_world, to->vel);
    FacetVec3 drag_body = vec3_mul(params->drag, mat3_tmul_vec3(r, state->vel_world));
    FacetVec3 level = mat3_mul_vec3(r, drag_body); // the force that holds speed and height
    level.z += params->gravity;
    FacetVec3 a = vec3_add(vec3_axpy(vec3_axpy(to->acc, -kx, e_x), -kv, e_v), level);
    double f = vec3_dot(a, b3);

    FacetVec3 e_a = vec3_sub(vec3_sub(vec3_scale(b3, f), level), to->acc);
    FacetVec3 da = vec3_axpy(vec3_axpy(to->jerk, -kx, e_v), -kv, e_a);
    double df = vec3_dot(da, b3) + vec3_dot(a, db3);
    FacetVec3 e_j = vec3_sub(vec3_axpy(vec3_scale(b3, df), f, db3), to->jerk);
    FacetVec3 dda = vec3_axpy(vec3_axpy(to->snap, -kx, e_a), -kv, e_j);

    UnitJet b3c = unit_jet(a, da, dda, b3);
    UnitJet sideways = cross_jet(b3c, heading_jet(to));
    FacetVec3 b2_now = mat3_column(r, 1);
    UnitJet b2c = unit_jet(
        sideways.u, sideways.du, sideways.ddu,
        vec3_unit(vec3_axpy(b2_now, -vec3_dot(b2_now, b3c.u), b3c.u), vec3(0.0, 1.0, 0.0)));
    FacetVec3 b1c = vec3_cross(b2c.u, b3c.u);

    // Rc^T dRc = hat(Wc) and Rc^T ddRc = hat(Wc)^2 + hat(dWc). The entries above the diagonal need
    // the derivatives of b2c and b3c only; there hat(Wc)^2 has the products of Wc's components.
    FacetVec3 wc = vec3(-vec3_dot(b2c.u, b3c.du), vec3_dot(b1c, b3c.du), -vec3_dot(b1c, b2c.du));
    FacetVec3 dwc =
        vec3(wc.y * wc.z - vec3_dot(b2c.u, b3c.ddu), vec3_dot(b1c, b3c.ddu) - wc.x * wc.z,
             wc.x * wc.y - vec3_dot(b1c, b2c.ddu));

    Mat3 rc = mat3_from_columns(b1c, b2c.u, b3c.u);
    Mat3 rc_t_r = mat3_tmul(rc, r);
    FacetVec3 e_r = attitude_error(&out->attitude_error_2, rc_t_r);
    FacetVec3 wc_body = mat3_tmul_vec3(rc_t_r, wc), dwc_body = mat3_tmul_vec3(rc_t_r, dwc);
    FacetVec3 e_w = vec3_sub(w, wc_body);
    FacetVec3 feedback = vec3_axpy(vec3_scale(e_r, -gains->attitude), -gains->rate, e_w);
    FacetVec3 forward = vec3_sub(dwc_body, vec3_cross(w, wc_body));
    FacetVec3 inertial = vec3_mul(params->inertia, vec3_add(feedback, forward));
    FacetVec3 gyroscopic = vec3_cross(w, vec3_mul(params->inertia, w));

    out->wrench = (FacetQuadWrench){params->mass * f, vec3_add(inertial, gyroscopic)};
    out->position_error = e_x;
    out->velocity_error = e_v;
    out->attitude_error = e_r;
    out->rate_error = e_w;
}
