// Flies a plan step by step and prints where the vehicle passed each gate.
//
//   fly [COURSES [TRACK/OPENING [SPEED]]]
//
// COURSES is a folder such as courses/; without it, the one that is installed with Facet.
#include <facet/flight.h>

#include <stdio.h>
#include <stdlib.h>

static Status fly(const Course *course, const char *name, double speed)
{
    CourseTask task;
    TRY(course_find_task(&task, course, name));
    const Track *track = &course->tracks[task.track];

    // The vehicle and its controller.
    QuadParams params = quad_params_default();
    QuadModel model = quad_model(&params, 1.0 / QUAD_RATE);
    ControlPreset preset;
    TRY(control_preset(&preset, "race"));

    // A plan is 32 keypoints. Here the expert makes it; a policy of yours could as well.
    Keypoint chunk[CHUNK_KEYPOINTS];
    Reference plan;
    TRY(expert_chunk(chunk, track, track->points[0], speed));
    TRY(reference_from_chunk(&plan, chunk));

    const FlightSetup setup = {.model = &model,
                               .preset = &preset,
                               .arena = &course->arena,
                               .track = track,
                               .half_width = course->openings[task.opening].half_width};
    FlightRun run;
    flight_begin(&run, &setup, &plan, flight_start(&model, &plan, speed));
    while (flight_step(&run)) {
        // run.state is the vehicle's state, 600 times a second.
    }
    Flight flight = flight_result(&run);
    for (int i = 0; i < flight.gate_count; i++)
        printf("%-4s %s, %.2f m off at %.2f s\n", track->gates[i].name,
               flight.gates[i].passed ? "passed" : "missed", flight.gates[i].miss,
               flight.gates[i].time);
    printf("%d/%d gates\n", flight.passed, flight.gate_count);
    return status_ok();
}

int main(int argc, char **argv)
{
    Course *course;
    Status status = course_load(&course, argc > 1 ? argv[1] : NULL);
    if (status.ok)
        status = fly(course, argc > 2 ? argv[2] : "race8/wide", argc > 3 ? atof(argv[3]) : 4.0);
    if (!status.ok) fprintf(stderr, "fly: %s\n", status.text);
    course_destroy(course);
    return status.ok ? 0 : 1;
}
