// Flies a plan step by step and prints where the vehicle passed each gate.
//
//     fly [COURSES [TRACK/OPENING [POLICY]]]
//
// COURSES is a folder such as courses/; without it, the one that ships with Facet. With POLICY the
// plan is that policy's; without it the expert's, at 4 m/s.
#include <facet/facet.h>

#include <stdio.h>
#include <stdlib.h>

// A plan is 32 keypoints. Here a policy makes it from the names of the track and the opening.
static FacetStatus plan_task(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const char *file,
                             const char *name)
{
    FacetPolicy *policy;
    FacetFactorTask task;
    FacetPolicySampling how = {.seed = 1};
    double actions[FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS];
    FacetStatus status = facet_policy_load(&policy, file);
    if (!status.ok) return status;
    status = facet_factor_task_parse(&task, facet_policy_space(policy), name,
                                     FACET_FACTOR_MISSING_REFUSED);
    if (status.ok) status = facet_policy_sample(actions, policy, &task, 1, &how, NULL);
    if (status.ok) facet_chunk_from_actions(chunk, actions);
    facet_policy_destroy(policy);
    return status;
}

static FacetStatus fly(const FacetCourse *course, const char *name, const char *policy)
{
    FacetCourseTask task;
    FacetStatus status = facet_course_find_task(&task, course, name);
    if (!status.ok) return status;
    const FacetTrack *track = &course->tracks[task.track];

    // The vehicle and its controller.
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetControlPreset preset;
    status = facet_control_preset(&preset, "race");
    if (!status.ok) return status;

    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    status = policy ? plan_task(chunk, policy, name)
                    : facet_expert_chunk(chunk, track, track->points[0], 4.0);
    if (status.ok) status = facet_reference_from_chunk(&plan, chunk);
    if (!status.ok) return status;

    const FacetFlightSetup setup = {.model = &model,
                                    .preset = &preset,
                                    .arena = &course->arena,
                                    .track = track,
                                    .half_width = course->openings[task.opening].half_width};
    FacetFlightRun run;
    facet_flight_begin(&run, &setup, &plan, facet_flight_start(&model, &plan, chunk[0].speed));
    while (facet_flight_step(&run)) {
        // run.state is the vehicle's state, 600 times a second.
    }
    FacetFlight flight = facet_flight_result(&run);
    for (int i = 0; i < flight.gate_count; i++)
        printf("%-4s %s, %.2f m off at %.2f s\n", track->gates[i].name,
               flight.gates[i].passed ? "passed" : "missed", flight.gates[i].miss,
               flight.gates[i].time);
    printf("%d/%d gates\n", flight.passed, flight.gate_count);
    return status;
}

int main(int argc, char **argv)
{
    FacetCourse *course;
    FacetStatus status = facet_course_load(&course, argc > 1 ? argv[1] : NULL);
    if (status.ok)
        status = fly(course, argc > 2 ? argv[2] : "race8/wide", argc > 3 ? argv[3] : NULL);
    if (!status.ok) fprintf(stderr, "fly: %s\n", status.text);
    facet_course_destroy(course);
    return status.ok ? 0 : 1;
}
