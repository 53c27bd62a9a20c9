// Eight quadrotors at a time, in single precision: the model of dynamics.c and motors.c.
//
//   p' = v
//   q' = q (0, w)/2
//   v' = R (f/m e3 - D R^T (v - wind)) - g e3
//   w' = J^-1 (torque - w x J w)
//
// One step of RK4. f/m and J^-1 torque lag together and are taken exactly at the stages; the
// position's sum is h v + h^2/6 (a1 + a2 + a3). The attitude's length leaves 1 by about 1e-9 in a
// step, so one Newton step for 1/sqrt, q (3 - q.q)/2, restores it to rounding.
#include "math/lanes.h"
#include "quad/quad.h"

void quad_batch_set(QuadBatch *batch, int lane, const FacetQuadState *s)
{
    const FacetVec3 *p = &s->pos_world, *v = &s->vel_world, *w = &s->omega_body;
    const double pos[3] = {p->x, p->y, p->z}, vel[3] = {v->x, v->y, v->z};
    const double omega[3] = {w->x, w->y, w->z};
    const double q[4] = {s->attitude.w, s->attitude.x, s->attitude.y, s->attitude.z};
    for (int i = 0; i < 3; i++) {
        batch->pos_world[i][lane] = (float)pos[i];
        batch->vel_world[i][lane] = (float)vel[i];
        batch->omega_body[i][lane] = (float)omega[i];
    }
    for (int i = 0; i < 4; i++) {
        batch->attitude[i][lane] = (float)q[i];
        batch->thrust[i][lane] = (float)s->thrust[i];
    }
}

static FacetVec3 vec3_of_lane(const Lanes v[3], int lane)
{
    return vec3((double)v[0][lane], (double)v[1][lane], (double)v[2][lane]);
}

FacetQuadState quad_batch_get(const QuadBatch *batch, int lane)
{
    const Lanes *q = batch->attitude;
    FacetQuadState state = {
        .pos_world = vec3_of_lane(batch->pos_world, lane),
        .attitude = {(double)q[0][lane], (double)q[1][lane], (double)q[2][lane],
                     (double)q[3][lane]},
        .vel_world = vec3_of_lane(batch->vel_world, lane),
        .omega_body = vec3_of_lane(batch->omega_body, lane),
    };
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) state.thrust[i] = (double)batch->thrust[i][lane];
    return state;
}

static void to_floats(float out[3], FacetVec3 v)
{
    out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
}

QuadBatchModel quad_batch_model(const FacetQuadModel *model)
{
    const FacetQuadParams *params = &model->params;
    QuadBatchModel out = {
        .step = (float)model->step,
        .decay_start = params->motor_lag > 0.0 ? 1.0f : 0.0f,
        .decay_half = (float)model->decay_half,
        .decay_full = (float)model->decay_full,
        .mass = (float)params->mass,
        .inverse_mass = (float)model->inverse_mass,
        .gravity = (float)params->gravity,
        .lever = (float)model->lever,
        .torque_ratio = (float)params->torque_ratio,
        .inverse_lever = (float)(1.0 / model->lever),
        .inverse_torque_ratio = (float)(1.0 / params->torque_ratio),
        .thrust_max = (float)params->thrust_max,
    };
    to_floats(out.drag, params->drag);
    to_floats(out.inertia, params->inertia);
    to_floats(out.inverse_inertia, model->inverse_inertia);
    to_floats(out.gyro, model->gyro);
    return out;
}

// What RK4 integrates, or its rate of change.
typedef struct Motion {
    Lanes qw, qx, qy, qz;
    Lanes3 v, w;
} Motion;

LANES_INLINE Motion motion_axpy(Motion a, float s, Motion b)
{
    return (Motion){a.qw + s * b.qw,
                    a.qx + s * b.qx,
                    a.qy + s * b.qy,
                    a.qz + s * b.qz,
                    lanes3_axpy(a.v, lanes(s), b.v),
                    lanes3_axpy(a.w, lanes(s), b.w)};
}

// What the rotors exert: force over mass, torque over inertia.
typedef struct Push {
    Lanes up;
    Lanes3 turn;
} Push;

LANES_INLINE Push push_of(const QuadBatchModel *model, const Lanes t[FACET_QUAD_MOTORS])
{
    // Differences first: thrusts are close to each other, and close numbers subtract exactly.
    Lanes front = t[0] - t[3], rear = t[1] - t[2], left = t[1] - t[0], right = t[2] - t[3];
    return (Push){model->inverse_mass * ((t[0] + t[1]) + (t[2] + t[3])),
                  {model->lever * model->inverse_inertia[0] * (front + rear),
                   model->lever * model->inverse_inertia[1] * (left + right),
                   model->torque_ratio * model->inverse_inertia[2] * (right - left)}};
}

LANES_INLINE Push push_lagged(Push commanded, Push lead, float decay)
{
    return (Push){commanded.up + decay * lead.up,
                  lanes3_axpy(commanded.turn, lanes(decay), lead.turn)};
}

LANES_PART Motion rate_of_change(const QuadBatchModel *model, Motion s, Push push, Lanes3 wind)
{
    LanesFrame r = lanes_frame(s.qw, s.qx, s.qy, s.qz);
    Lanes3 air = lanes_to_body(r, lanes3_sub(s.v, wind));
    Lanes3 specific =
        lanes3(-model->drag[0] * air.x, -model->drag[1] * air.y, push.up - model->drag[2] * air.z);
    Lanes3 v = lanes_to_world(r, specific);
    v.z -= model->gravity;
    Lanes3 w = lanes3(push.turn.x + model->gyro[0] * s.w.y * s.w.z,
                      push.turn.y + model->gyro[1] * s.w.z * s.w.x,
                      push.turn.z + model->gyro[2] * s.w.x * s.w.y);
    Lanes3 h = lanes3_scale(s.w, lanes(0.5f));
    return (Motion){-s.qx * h.x - s.qy * h.y - s.qz * h.z,
                    s.qw * h.x + s.qy * h.z - s.qz * h.y,
                    s.qw * h.y - s.qx * h.z + s.qz * h.x,
                    s.qw * h.z + s.qx * h.y - s.qy * h.x,
                    v,
                    w};
}

void quad_batch_step(QuadBatch *batch, const QuadBatchModel *model,
                     const Lanes command[FACET_QUAD_MOTORS], const Lanes wind_world[3],
                     Lanes moved[3])
{
    const float h = model->step;
    Lanes lag[FACET_QUAD_MOTORS];
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) lag[i] = batch->thrust[i] - command[i];
    Push commanded = push_of(model, command), lead = push_of(model, lag);
    Push at_start = push_lagged(commanded, lead, model->decay_start);
    Push at_half = push_lagged(commanded, lead, model->decay_half);
    Push at_end = push_lagged(commanded, lead, model->decay_full);

    Lanes3 wind = lanes3_load(wind_world);
    Lanes *q = batch->attitude;
    Motion y = {
        q[0], q[1], q[2], q[3], lanes3_load(batch->vel_world), lanes3_load(batch->omega_body)};
    Motion k1 = rate_of_change(model, y, at_start, wind);
    Motion k2 = rate_of_change(model, motion_axpy(y, 0.5f * h, k1), at_half, wind);
    Motion sum = motion_axpy(k1, 2.0f, k2);
    Lanes3 acc_sum = lanes3_add(k1.v, k2.v);
    Motion k3 = rate_of_change(model, motion_axpy(y, 0.5f * h, k2), at_half, wind);
    sum = motion_axpy(sum, 2.0f, k3);
    acc_sum = lanes3_add(acc_sum, k3.v);
    Motion k4 = rate_of_change(model, motion_axpy(y, h, k3), at_end, wind);
    sum = motion_axpy(sum, 1.0f, k4);

    Lanes3 drift = lanes3_axpy(lanes3_scale(y.v, lanes(h)), lanes(h * h / 6.0f), acc_sum);
    Motion next = motion_axpy(y, h / 6.0f, sum);
    Lanes square = next.qw * next.qw + next.qx * next.qx + next.qy * next.qy + next.qz * next.qz;
    Lanes unit = 1.5f - 0.5f * square;
    lanes3_store(batch->pos_world, lanes3_add(lanes3_load(batch->pos_world), drift));
    q[0] = unit * next.qw, q[1] = unit * next.qx, q[2] = unit * next.qy, q[3] = unit * next.qz;
    lanes3_store(batch->vel_world, next.v);
    lanes3_store(batch->omega_body, next.w);
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        batch->thrust[i] = command[i] + model->decay_full * lag[i];
    if (moved) lanes3_store(moved, drift);
}

void quad_batch_mix(Lanes thrust[FACET_QUAD_MOTORS], const QuadBatchModel *model,
                    const Lanes *force, const Lanes torque[3])
{
    const float limit = model->thrust_max;
    Lanes roll = torque[0] * (0.25f * model->inverse_lever);
    Lanes pitch = torque[1] * (0.25f * model->inverse_lever);
    Lanes yaw = torque[2] * (0.25f * model->inverse_torque_ratio);

    Lanes spread = 2.0f * (lanes_abs(roll) + lanes_abs(pitch));
    Lanes scale = lanes_select(lanes_less(lanes(limit), spread), limit / spread, lanes(1.0f));
    roll *= scale, pitch *= scale;
    const Lanes share[4] = {roll - pitch, roll + pitch, pitch - roll, -roll - pitch};

    Lanes odd = lanes_abs(share[0]), even = lanes_abs(share[1]), zero = lanes(0.0f);
    Lanes most = lanes_max(yaw, zero), least = lanes_min(yaw, zero);
    Lanes at_low = lanes_clamp(0.5f * (odd - even), least, most);
    Lanes at_high = lanes_clamp(0.5f * (even - odd), least, most);
    Lanes collective = lanes_clamp(0.25f * *force, lanes_max(odd - at_low, even + at_low),
                                   limit - lanes_max(odd + at_high, even - at_high));
    yaw = lanes_clamp(yaw, lanes_max(odd - collective, collective + even - limit),
                      lanes_min(limit - collective - odd, collective - even));
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        thrust[i] = lanes_clamp(collective + share[i] + (i % 2 ? -yaw : yaw), zero, lanes(limit));
}
