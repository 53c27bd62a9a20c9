// Newton-Euler dynamics of the quadrotor and one RK4 step.
//
//   p' = v
//   q' = q (0, w)/2
//   v' = R (f/m e3 - D R^T (v - wind)) - g e3
//   w' = J^-1 (torque - w x J w)
//
// R is the rotation of q. All motors share one time constant, so the wrench lags as each thrust
// does: wrench(t) = commanded + (initial - commanded) exp(-t/lag), which the stages of RK4 take
// exactly at 0, h/2 and h. With p' = v the position's RK4 sum is h v + h^2/6 (a1 + a2 + a3).
#include "motion.h"

static inline Motion rate_of_change(const FacetQuadModel *model, Motion s, FacetQuadWrench u,
                                    FacetVec3 wind)
{
    Mat3 r = quat_to_mat3(s.q);
    FacetVec3 air_body = mat3_tmul_vec3(r, vec3_sub(s.v, wind));
    FacetVec3 specific =
        vec3(-model->params.drag.x * air_body.x, -model->params.drag.y * air_body.y,
             u.force * model->inverse_mass - model->params.drag.z * air_body.z);
    FacetVec3 v_dot = mat3_mul_vec3(r, specific);
    v_dot.z -= model->params.gravity;
    FacetVec3 gyro = vec3(model->gyro.x * s.w.y * s.w.z, model->gyro.y * s.w.z * s.w.x,
                          model->gyro.z * s.w.x * s.w.y);
    FacetVec3 w_dot = vec3_add(gyro, vec3_mul(model->inverse_inertia, u.torque));
    FacetVec3 h = vec3_scale(s.w, 0.5);
    FacetQuat q_dot = {
        -s.q.x * h.x - s.q.y * h.y - s.q.z * h.z, s.q.w * h.x + s.q.y * h.z - s.q.z * h.y,
        s.q.w * h.y - s.q.x * h.z + s.q.z * h.x, s.q.w * h.z + s.q.x * h.y - s.q.y * h.x};
    return (Motion){q_dot, v_dot, w_dot};
}

void facet_quad_step(FacetQuadState *state, const FacetQuadModel *model, const double command[4],
                     FacetVec3 wind)
{
    double h = model->step;
    FacetQuadWrench commanded = facet_quad_wrench(model, command),
                    initial = facet_quad_wrench(model, state->thrust);
    FacetQuadWrench at_start = wrench_lagged(commanded, initial, decay_at_start(model));
    FacetQuadWrench at_half = wrench_lagged(commanded, initial, model->decay_half);
    FacetQuadWrench at_end = wrench_lagged(commanded, initial, model->decay_full);

    Motion y = {state->attitude, state->vel_world, state->omega_body};
    Motion k1 = rate_of_change(model, y, at_start, wind);
    Motion k2 = rate_of_change(model, motion_axpy(y, 0.5 * h, k1), at_half, wind);
    Motion k3 = rate_of_change(model, motion_axpy(y, 0.5 * h, k2), at_half, wind);
    Motion k4 = rate_of_change(model, motion_axpy(y, h, k3), at_end, wind);

    FacetVec3 acc_sum = vec3_add(vec3_add(k1.v, k2.v), k3.v);
    FacetVec3 drift = vec3_axpy(vec3_scale(y.v, h), h * h / 6.0, acc_sum);
    state->pos_world = vec3_add(state->pos_world, drift);
    Motion sum = motion_axpy(motion_axpy(motion_axpy(k1, 2.0, k2), 2.0, k3), 1.0, k4);
    Motion next = motion_axpy(y, h / 6.0, sum);
    state->attitude = quat_normalize(next.q);
    state->vel_world = next.v;
    state->omega_body = next.w;
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        state->thrust[i] = command[i] + model->decay_full * (state->thrust[i] - command[i]);
}

bool quad_finite(const FacetQuadState *s)
{
    // Any NaN or infinity makes the sum not finite.
    double pos = s->pos_world.x + s->pos_world.y + s->pos_world.z;
    double vel = s->vel_world.x + s->vel_world.y + s->vel_world.z;
    double omega = s->omega_body.x + s->omega_body.y + s->omega_body.z;
    double attitude = (s->attitude.w + s->attitude.x) + (s->attitude.y + s->attitude.z);
    double thrust = (s->thrust[0] + s->thrust[1]) + (s->thrust[2] + s->thrust[3]);
    return isfinite(((pos + vel) + (omega + attitude)) + thrust);
}
