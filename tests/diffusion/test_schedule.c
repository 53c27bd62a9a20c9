// The noise schedule, conversions between predictions, visited times and sampler coefficients.
#include "diffusion/sampler.h"
#include "testing.h"

static void the_schedule_is_the_cosine(void **state)
{
    (void)state;
    NoiseSchedule s;
    assert_ok(schedule_cosine(&s, 100));
    assert_near(1.0 - s.alpha_bar[0], 6.31e-4, 5e-7);
    assert_near(s.alpha_bar[99], 2.43e-7, 1e-9);
    for (int t = 1; t < 100; t++) assert_less(s.alpha_bar[t], s.alpha_bar[t - 1]);
    assert_refused(schedule_cosine(&s, 0), "steps");
    assert_refused(schedule_cosine(&s, 1001), "1000");
}

static void predictions_convert(void **state)
{
    (void)state;
    const double x0 = 0.7, eps = -1.3;
    for (double abar = 0.01; abar < 1.0; abar += 0.07)
        for (int kind = 0; kind < 3; kind++) {
            Prediction prediction = (Prediction)kind;
            double x = sqrt(abar) * x0 + sqrt(1.0 - abar) * eps;
            Mix target = prediction_target(prediction, abar);
            double p = target.first * x0 + target.second * eps;
            Mix clean = prediction_to_x0(prediction, abar);
            Mix noise = prediction_to_epsilon(prediction, abar);
            assert_near(clean.first * x + clean.second * p, x0, 1e-12);
            assert_near(noise.first * x + noise.second * p, eps, 1e-12);
            Prediction parsed;
            assert_ok(prediction_parse(&parsed, prediction_name(prediction)));
            assert_int_equal(parsed, prediction);
        }
    Prediction prediction;
    assert_refused(prediction_parse(&prediction, "noise"), "eps, v, x0");
}

static void expect_times(Spacing spacing, int count, const int *first, int firsts, int last)
{
    NoiseSchedule s;
    int times[1000];
    assert_ok(schedule_cosine(&s, 100));
    assert_ok(schedule_times(times, count, &s, spacing));
    for (int i = 0; i < firsts; i++) assert_int_equal(times[i], first[i]);
    assert_int_equal(times[count - 1], last);
    for (int i = 1; i < count; i++) assert_true(times[i] < times[i - 1]);
}

static void times_follow_the_spacing(void **state)
{
    (void)state;
    expect_times(SPACING_LEADING, 50, (int[]){98, 96, 94}, 3, 0);
    expect_times(SPACING_TRAILING, 50, (int[]){99, 97, 95}, 3, 1);
    expect_times(SPACING_EVEN, 50, (int[]){99, 97, 95}, 3, 0);
    expect_times(SPACING_EVEN, 10, (int[]){99, 88, 77}, 3, 0);
    expect_times(SPACING_EVEN, 1, (int[]){99}, 1, 99);
    for (int spacing = 0; spacing < 3; spacing++) {
        expect_times((Spacing)spacing, 100, (int[]){99, 98, 97}, 3, 0);
        for (int count = 2; count < 100; count++) {
            NoiseSchedule s;
            int times[1000];
            assert_ok(schedule_cosine(&s, 100));
            assert_ok(schedule_times(times, count, &s, (Spacing)spacing));
            for (int i = 1; i < count; i++) assert_true(times[i] < times[i - 1]);
            assert_true(times[0] < 100);
            assert_true(times[count - 1] >= 0);
        }
    }
    NoiseSchedule s;
    int times[1000];
    assert_ok(schedule_cosine(&s, 100));
    assert_refused(schedule_times(times, 101, &s, SPACING_EVEN), "1 to 100");
    Spacing spacing;
    assert_refused(spacing_parse(&spacing, "linear"), "leading, trailing, even");
}

// With the exact noise, every sampler and spacing lands on the clean sample.
static void exact_denoiser_is_recovered(void **state)
{
    (void)state;
    NoiseSchedule s;
    assert_ok(schedule_cosine(&s, 100));
    const double truth = 0.37;
    for (int kind = 0; kind < 2; kind++)
        for (int spacing = 0; spacing < 3; spacing++)
            for (int prediction = 0; prediction < 3; prediction++) {
                SamplerPlan plan;
                assert_ok(sampler_plan(&plan, &s,
                                       (SamplerConfig){.kind = (SamplerKind)kind,
                                                       .steps = 20,
                                                       .spacing = (Spacing)spacing,
                                                       .prediction = (Prediction)prediction}));
                double x = 1.1, before = 0.0;
                for (int i = 0; i < 20; i++) {
                    const SamplerStep *step = &plan.step[i];
                    double eps = (x - sqrt(step->alpha_bar) * truth) / sqrt(1.0 - step->alpha_bar);
                    Mix target = prediction_target(plan.config.prediction, step->alpha_bar);
                    double p = target.first * truth + target.second * eps;
                    double clean = step->clean.first * x + step->clean.second * p;
                    assert_near(clean, truth, 1e-9);
                    x = step->keep * x + step->now * clean + step->before * before;
                    before = clean;
                }
                assert_near(x, truth, 1e-9);
            }
}

// Data drawn from N(0, s^2) have the exact denoiser x0 = sqrt(abar) s^2 x / (abar s^2 + 1 - abar),
// and the probability flow maps x to x s / sqrt(abar s^2 + 1 - abar) at the end. Twice the steps
// halve DDIM's error and quarter that of the second-order sampler.
static double flow_error(SamplerKind kind, int steps)
{
    NoiseSchedule s;
    SamplerPlan plan;
    assert_ok(schedule_cosine(&s, 1000));
    assert_ok(sampler_plan(
        &plan, &s,
        (SamplerConfig){
            .kind = kind, .steps = steps, .spacing = SPACING_EVEN, .prediction = PREDICT_X0}));
    const double variance = 0.3;
    double x = 1.0, before = 0.0, start = plan.step[0].alpha_bar;
    double expected = sqrt(variance / (start * variance + 1.0 - start));
    for (int i = 0; i < steps; i++) {
        const SamplerStep *step = &plan.step[i];
        double abar = step->alpha_bar;
        double clean = sqrt(abar) * variance * x / (abar * variance + 1.0 - abar);
        x = step->keep * x + step->now * clean + step->before * before;
        before = clean;
    }
    return fabs(x - expected);
}

static void order_of_samplers(void **state)
{
    (void)state;
    assert_near(flow_error(SAMPLER_DDIM, 80) / flow_error(SAMPLER_DDIM, 40), 0.5, 0.03);
    assert_near(flow_error(SAMPLER_DPMPP, 80) / flow_error(SAMPLER_DPMPP, 40), 0.25, 0.03);
    assert_less(flow_error(SAMPLER_DPMPP, 80), 0.4 * flow_error(SAMPLER_DDIM, 80));
}

static void plan_refuses(void **state)
{
    (void)state;
    NoiseSchedule s;
    SamplerPlan plan;
    assert_ok(schedule_cosine(&s, 20));
    assert_refused(sampler_plan(&plan, &s, (SamplerConfig){.steps = 21}), "1 to 20");
    assert_refused(sampler_plan(&plan, &s, (SamplerConfig){.steps = 5, .clip = -1.0}), "clip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schedule_is_the_cosine), cmocka_unit_test(predictions_convert),
        cmocka_unit_test(times_follow_the_spacing),   cmocka_unit_test(exact_denoiser_is_recovered),
        cmocka_unit_test(order_of_samplers),          cmocka_unit_test(plan_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
