// The derivative of one step of the quadrotor, in tangent coordinates.
//
// Each stage of RK4 is differentiated by the product rule along one direction at a time. An
// attitude q moves by dq = q (0, d)/2 for a small rotation d in the body's frame, and a change of
// the next attitude is read back by d = 2 vec(q* dq). The projection onto unit length drops out,
// because vec(q* dq) does not see the component along q.
#include "motion.h"

// The polarised form of the rotation matrix: R(q) is quadratic in q, and dR = quadratic(q, dq).
static Mat3 rotation_change(FacetQuat q, FacetQuat d)
{
    double xx = 2.0 * q.x * d.x, yy = 2.0 * q.y * d.y, zz = 2.0 * q.z * d.z;
    double xy = q.x * d.y + q.y * d.x, xz = q.x * d.z + q.z * d.x, yz = q.y * d.z + q.z * d.y;
    double wx = q.w * d.x + q.x * d.w, wy = q.w * d.y + q.y * d.w, wz = q.w * d.z + q.z * d.w;
    return (Mat3){{{-2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                   {2.0 * (xy + wz), -2.0 * (xx + zz), 2.0 * (yz - wx)},
                   {2.0 * (xz - wy), 2.0 * (yz + wx), -2.0 * (xx + yy)}}};
}

static FacetQuat times_rate(FacetQuat q, FacetVec3 w)
{
    return quat_mul(q, (FacetQuat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
}

// The rate of change at s, and its change along d when the wrench changes by du.
static Motion rate(const FacetQuadModel *model, Motion s, FacetQuadWrench u, FacetVec3 wind,
                   Motion d, FacetQuadWrench du, Motion *change)
{
    FacetVec3 drag = model->params.drag;
    Mat3 r = quat_to_mat3(s.q), dr = rotation_change(s.q, d.q);
    FacetVec3 air = vec3_sub(s.v, wind), air_body = mat3_tmul_vec3(r, air);
    FacetVec3 dair_body = vec3_add(mat3_tmul_vec3(dr, air), mat3_tmul_vec3(r, d.v));
    FacetVec3 specific = vec3_scale(vec3_mul(drag, air_body), -1.0);
    FacetVec3 dspecific = vec3_scale(vec3_mul(drag, dair_body), -1.0);
    specific.z += u.force * model->inverse_mass;
    dspecific.z += du.force * model->inverse_mass;
    Motion out = {times_rate(s.q, s.w), mat3_mul_vec3(r, specific),
                  vec3_mul(model->inverse_inertia, u.torque)};
    out.v.z -= model->params.gravity;
    FacetVec3 gyro = vec3(s.w.y * s.w.z, s.w.z * s.w.x, s.w.x * s.w.y);
    out.w = vec3_add(out.w, vec3_mul(model->gyro, gyro));
    change->q = quat_axpy(times_rate(d.q, s.w), 1.0, times_rate(s.q, d.w));
    change->v = vec3_add(mat3_mul_vec3(dr, specific), mat3_mul_vec3(r, dspecific));
    FacetVec3 dgyro = vec3(d.w.y * s.w.z + s.w.y * d.w.z, d.w.z * s.w.x + s.w.z * d.w.x,
                           d.w.x * s.w.y + s.w.x * d.w.y);
    change->w = vec3_add(vec3_mul(model->inverse_inertia, du.torque), vec3_mul(model->gyro, dgyro));
    return out;
}

// One step's change along `in` (tangent coordinates) and `dcommand`.
static void step_along(double out[QUAD_TANGENT], const FacetQuadState *state,
                       const FacetQuadModel *model, const double command[4], FacetVec3 wind,
                       const double in[QUAD_TANGENT], const double dcommand[4])
{
    double h = model->step;
    const double stage_time[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const double decay[4] = {decay_at_start(model), model->decay_half, model->decay_half,
                             model->decay_full};
    FacetQuadWrench commanded = facet_quad_wrench(model, command),
                    initial = facet_quad_wrench(model, state->thrust);
    FacetQuadWrench dcommanded = facet_quad_wrench(model, dcommand),
                    dinitial = facet_quad_wrench(model, &in[12]);

    Motion y = {state->attitude, state->vel_world, state->omega_body};
    Motion dy = {times_rate(y.q, vec3(in[3], in[4], in[5])), vec3(in[6], in[7], in[8]),
                 vec3(in[9], in[10], in[11])};
    Motion k = {0}, dk = {0}, sum = {0}, dsum = {0};
    FacetVec3 dacc_sum = {0};
    for (int stage = 0; stage < 4; stage++) {
        double reach = stage_time[stage] * h;
        Motion change;
        k = rate(model, motion_axpy(y, reach, k), wrench_lagged(commanded, initial, decay[stage]),
                 wind, motion_axpy(dy, reach, dk),
                 wrench_lagged(dcommanded, dinitial, decay[stage]), &change);
        dk = change;
        sum = motion_axpy(sum, weight[stage], k);
        dsum = motion_axpy(dsum, weight[stage], dk);
        if (stage < 3) dacc_sum = vec3_add(dacc_sum, dk.v);
    }
    Motion next = motion_axpy(y, h / 6.0, sum), dnext = motion_axpy(dy, h / 6.0, dsum);
    double length = quat_norm(next.q);
    FacetQuat turned = quat_mul(quat_conj(next.q), dnext.q);
    double per_square = 2.0 / (length * length);
    FacetVec3 dpos = vec3_axpy(vec3_scale(dy.v, h), h * h / 6.0, dacc_sum);

    const double column[12] = {in[0] + dpos.x,
                               in[1] + dpos.y,
                               in[2] + dpos.z,
                               per_square * turned.x,
                               per_square * turned.y,
                               per_square * turned.z,
                               dnext.v.x,
                               dnext.v.y,
                               dnext.v.z,
                               dnext.w.x,
                               dnext.w.y,
                               dnext.w.z};
    for (int i = 0; i < 12; i++) out[i] = column[i];
    for (int i = 0; i < 4; i++)
        out[12 + i] = dcommand[i] + model->decay_full * (in[12 + i] - dcommand[i]);
}

void quad_step_jacobian(double jacobian[QUAD_TANGENT][QUAD_TANGENT],
                        double by_command[QUAD_TANGENT][FACET_QUAD_MOTORS],
                        const FacetQuadState *state, const FacetQuadModel *model,
                        const double command[4], FacetVec3 wind_world)
{
    double column[QUAD_TANGENT];
    for (int j = 0; j < QUAD_TANGENT + FACET_QUAD_MOTORS; j++) {
        double in[QUAD_TANGENT] = {0.0}, dcommand[FACET_QUAD_MOTORS] = {0.0};
        if (j < QUAD_TANGENT)
            in[j] = 1.0;
        else
            dcommand[j - QUAD_TANGENT] = 1.0;
        step_along(column, state, model, command, wind_world, in, dcommand);
        for (int i = 0; i < QUAD_TANGENT; i++) {
            if (j < QUAD_TANGENT)
                jacobian[i][j] = column[i];
            else
                by_command[i][j - QUAD_TANGENT] = column[i];
        }
    }
}

FacetQuadState quad_retract(const FacetQuadState *state, const double d[QUAD_TANGENT])
{
    FacetQuadState out = {
        .pos_world = vec3_add(state->pos_world, vec3(d[0], d[1], d[2])),
        .attitude = quat_normalize(quat_mul(state->attitude, quat_exp(vec3(d[3], d[4], d[5])))),
        .vel_world = vec3_add(state->vel_world, vec3(d[6], d[7], d[8])),
        .omega_body = vec3_add(state->omega_body, vec3(d[9], d[10], d[11])),
    };
    for (int i = 0; i < 4; i++) out.thrust[i] = state->thrust[i] + d[12 + i];
    return out;
}

void quad_local(double d[QUAD_TANGENT], const FacetQuadState *from, const FacetQuadState *to)
{
    FacetVec3 dp = vec3_sub(to->pos_world, from->pos_world);
    FacetVec3 dr = quat_log(quat_mul(quat_conj(from->attitude), to->attitude));
    FacetVec3 dv = vec3_sub(to->vel_world, from->vel_world);
    FacetVec3 dw = vec3_sub(to->omega_body, from->omega_body);
    const double head[12] = {dp.x, dp.y, dp.z, dr.x, dr.y, dr.z,
                             dv.x, dv.y, dv.z, dw.x, dw.y, dw.z};
    for (int i = 0; i < 12; i++) d[i] = head[i];
    for (int i = 0; i < 4; i++) d[12 + i] = to->thrust[i] - from->thrust[i];
}
