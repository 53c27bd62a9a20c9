// Facet's reference, carrot and controller for a vehicle that another program simulates.
//
//     pilot VEHICLE
//
// VEHICLE is a file such as vehicles/racer.json. The other program writes and reads doubles through
// pipes, in SI units, laid out as the structs below and those of facet/control.h and facet/quad.h.
// It writes a Brief and reads the plan's FacetReference and the FacetQuadState to start in. Then,
// as often as it likes, it writes a FacetQuadState and reads an Advice.
#include <facet/facet.h>

#include <stdio.h>

enum { PLAN_NUMBERS = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };

typedef struct Brief {
    double plan[PLAN_NUMBERS];   // 32 times x, y, z (m) and speed (m/s)
    double expert[PLAN_NUMBERS]; // the flight begins on this one, as in Facet's races
    double start_speed;          // m/s
} Brief;

typedef struct Advice {
    double progress;                  // m along the reference
    FacetVec3 pos, vel, acc;          // the carrot's setpoint: m, m/s, m/s^2
    double yaw;                       // rad
    double thrust[FACET_QUAD_MOTORS]; // N, what Facet's controller and mixer command
} Advice;

static FacetStatus reference_of(FacetReference *reference, const double plan[PLAN_NUMBERS])
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    facet_chunk_from_actions(chunk, plan);
    return facet_reference_from_chunk(reference, chunk);
}

static Advice advise(FacetCarrot *carrot, const FacetReference *reference,
                     const FacetQuadModel *model, const FacetControlPreset *preset,
                     const FacetQuadState *state)
{
    FacetSetpoint to = facet_carrot_advance(carrot, &preset->carrot, reference, state->pos_world);
    FacetSe3Output output;
    facet_se3_control(&output, &preset->gains, &model->params, state, &to);
    Advice advice = {carrot->arc, to.pos, to.vel, to.acc, to.yaw, {0}};
    facet_quad_mix(advice.thrust, model, output.wrench);
    return advice;
}

static FacetStatus serve(const char *vehicle)
{
    FacetQuadParams params;
    FacetControlPreset preset;
    FacetStatus status = facet_quad_params_load(&params, vehicle);
    if (status.ok) status = facet_control_preset(&preset, "race");
    Brief brief;
    if (!status.ok || fread(&brief, sizeof brief, 1, stdin) != 1) return status;

    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetReference reference, expert;
    status = reference_of(&reference, brief.plan);
    if (status.ok) status = reference_of(&expert, brief.expert);
    if (!status.ok) return status;
    FacetQuadState state = facet_flight_start(&model, &expert, brief.start_speed);
    fwrite(&reference, sizeof reference, 1, stdout);
    fwrite(&state, sizeof state, 1, stdout);
    fflush(stdout);

    FacetCarrot carrot = {0};
    while (fread(&state, sizeof state, 1, stdin) == 1) {
        Advice advice = advise(&carrot, &reference, &model, &preset, &state);
        fwrite(&advice, sizeof advice, 1, stdout);
        fflush(stdout);
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: pilot VEHICLE\n");
        return 2;
    }
    FacetStatus status = serve(argv[1]);
    if (!status.ok) fprintf(stderr, "pilot: %s\n", status.text);
    return status.ok ? 0 : 1;
}
