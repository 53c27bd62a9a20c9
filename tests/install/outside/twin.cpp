// examples/plan.c and examples/fly.c in one C++ program: a policy plans a task and the plan is
// flown.
//
//     twin POLICY TRACK/OPENING [COURSES]
#include <facet/facet.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

static void need(const FacetStatus &status)
{
    if (!status.ok) throw std::runtime_error(status.text);
}

using Policy = std::unique_ptr<FacetPolicy, decltype(&facet_policy_destroy)>;
using Course = std::unique_ptr<FacetCourse, decltype(&facet_course_destroy)>;

static std::vector<double> plan(const FacetPolicy *policy, const char *name)
{
    FacetFactorTask task;
    need(facet_factor_task_parse(&task, facet_policy_space(policy), name,
                                 FACET_FACTOR_MISSING_REFUSED));
    FacetPolicyInfo info = facet_policy_info(policy);
    std::vector<double> actions(static_cast<std::size_t>(info.horizon) *
                                static_cast<std::size_t>(info.dim));
    FacetPolicySampling how{};
    how.seed = 1;
    need(facet_policy_sample(actions.data(), policy, &task, 1, &how, nullptr));
    return actions;
}

static FacetFlight fly(const FacetCourse &course, const char *name, const double *actions)
{
    FacetCourseTask task;
    need(facet_course_find_task(&task, &course, name));
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetControlPreset preset;
    need(facet_control_preset(&preset, "race"));
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    facet_chunk_from_actions(chunk, actions);
    FacetReference reference;
    need(facet_reference_from_chunk(&reference, chunk));

    FacetFlightSetup setup{};
    setup.model = &model;
    setup.preset = &preset;
    setup.arena = &course.arena;
    setup.track = &course.tracks[task.track];
    setup.half_width = course.openings[task.opening].half_width;
    return facet_flight_fly(&setup, &reference,
                            facet_flight_start(&model, &reference, chunk[0].speed), nullptr);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    try {
        FacetPolicy *loaded = nullptr;
        need(facet_policy_load(&loaded, argv[1]));
        Policy policy(loaded, facet_policy_destroy);
        FacetCourse *read = nullptr;
        need(facet_course_load(&read, argc > 3 ? argv[3] : nullptr));
        Course course(read, facet_course_destroy);
        FacetFlight flight = fly(*course, argv[2], plan(policy.get(), argv[2]).data());
        std::printf("%d/%d gates\n", flight.passed, flight.gate_count);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "twin: %s\n", problem.what());
        return 1;
    }
    return 0;
}
