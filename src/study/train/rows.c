// The rows of a training update (see train/rows.h).
#include "train/rows.h"

#include "base/rng.h"
#include "diffusion/streams.h"
#include "nn/layers.h"

#include <stdlib.h>

enum { ROWS_MAX = 1 << 20 }; // an update's rows have as many streams

// ---- Room ---------------------------------------------------------------------------------------

static FacetStatus check(const TrainConfig *c, int factors)
{
    if (c->batch < 1 || c->batch >= ROWS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "training: expected a batch of 1 or more, found %d",
                           c->batch);
    int draws_max = (ROWS_MAX - 1) / c->batch;
    if (c->draws < 1 || c->draws > draws_max)
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected 1 to %d draws a sample, found %d", draws_max,
                           c->draws);
    for (int i = 0; i < factors; i++)
        if (!(c->drop[i] >= 0.0 && c->drop[i] <= 1.0))
            return status_fail(FACET_BAD_ARGUMENT,
                               "training: expected a drop probability from 0 to 1, found %g",
                               c->drop[i]);
    if (!(c->composed_weight >= 0.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected a composed loss of weight 0 or more, found %g",
                           c->composed_weight);
    if (c->composed_weight > 0.0 && (factors == 0 || c->batch * c->draws < 2))
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: a composed loss needs a factor and a batch of 2 or more");
    if (!(c->agreement_weight >= 0.0) || (c->agreement_weight > 0.0 && c->composed_weight == 0.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected an agreement loss of weight 0 or more, beside a "
                           "composed loss, found %g beside %g",
                           c->agreement_weight, c->composed_weight);
    if (!(c->rate > 0.0))
        return status_fail(FACET_BAD_ARGUMENT, "training: expected a rate above 0, found %g",
                           c->rate);
    return status_ok();
}

static FacetStatus allocate(TrainRows *k)
{
    size_t size = (size_t)k->size, rows = (size_t)k->count, noisy = (size_t)k->noisy;
    k->x = calloc(rows * size, sizeof *k->x);
    k->out = calloc(rows * size, sizeof *k->out);
    k->dout = calloc(rows * size, sizeof *k->dout);
    k->target = calloc(noisy * size, sizeof *k->target);
    k->t = calloc(rows, sizeof *k->t);
    k->z = calloc(rows * (size_t)(k->factors + 1), sizeof *k->z);
    k->context = calloc(rows * (size_t)k->width + 1, sizeof *k->context);
    k->swapped = calloc((size_t)k->composed + 1, sizeof *k->swapped);
    k->squares = calloc(noisy + 2 * (size_t)k->composed, sizeof *k->squares);
    if (!k->x || !k->out || !k->dout || !k->target || !k->t || !k->z || !k->context ||
        !k->swapped || !k->squares)
        return status_fail(FACET_NO_MEMORY, "out of memory for training on %d rows at once",
                           k->count);
    return status_ok();
}

FacetStatus rows_create(TrainRows *k, const TrainConfig *config, const NoiseSchedule *schedule,
                        int size, int factors, int width)
{
    *k = (TrainRows){
        .config = *config, .schedule = schedule, .size = size, .factors = factors, .width = width};
    TRY(check(config, factors));
    k->noisy = config->batch * config->draws;
    k->composed = config->composed_weight > 0.0 ? k->noisy / 2 : 0;
    k->group = rows_group(config, factors);
    k->count = k->noisy + k->composed * k->group;
    FacetStatus status = allocate(k);
    if (!status.ok) rows_free(k);
    return status;
}

void rows_free(TrainRows *k)
{
    free(k->x);
    free(k->out);
    free(k->dout);
    free(k->target);
    free(k->t);
    free(k->z);
    free(k->context);
    free(k->swapped);
    free(k->squares);
    *k = (TrainRows){0};
}

// ---- Drawing ------------------------------------------------------------------------------------

static void copy_context(TrainRows *k, int row, int sample)
{
    size_t width = (size_t)k->width;
    if (width)
        memcpy(k->context + (size_t)row * width, k->contexts + (size_t)sample * width,
               width * sizeof *k->contexts);
}

// Row `to` of the pass: what row `row` has, with no factor shown. Returns its factors.
static int *lay_again(TrainRows *k, int to, int row, int sample)
{
    int size = k->size, factors = k->factors;
    memcpy(k->x + (size_t)to * size, k->x + (size_t)row * size, (size_t)size * sizeof *k->x);
    k->t[to] = k->t[row];
    copy_context(k, to, sample);
    int *z = k->z + (ptrdiff_t)to * factors;
    for (int i = 0; i < factors; i++) z[i] = EMBEDDING_NULL;
    return z;
}

// The branches of a composed prediction of `row`, from row `first` of the pass on: null, and one a
// factor.
static void lay_branches(TrainRows *k, int row, int first, int sample, const int *task)
{
    lay_again(k, first, row, sample);
    for (int i = 0; i < k->factors; i++) lay_again(k, first + 1 + i, row, sample)[i] = task[i];
}

// Behind the branches: that of a value which the next sample of the batch has, and the joint
// prediction of the task with it. Values that no sample has are never shown.
static void lay_swapped(TrainRows *k, FacetRng *rng, int row, int at, int sample)
{
    int factors = k->factors;
    int factor = (int)(rng_uniform(rng) * factors);
    int value = k->tasks[(sample + 1) % k->config.batch * factors + factor];
    lay_again(k, at, row, sample)[factor] = value;
    int *joint = lay_again(k, at + 1, row, sample);
    for (int i = 0; i < factors; i++)
        joint[i] = i == factor ? value : k->tasks[sample * factors + i];
    k->swapped[row] = factor;
}

// Noise for a sample at time t: row `row` of the pass, and row `at` of the targets.
static void draw_noise(TrainRows *k, FacetRng *rng, int t, int row, int at, int sample)
{
    int size = k->size;
    double alpha_bar = k->schedule->alpha_bar[t];
    double signal = sqrt(alpha_bar), noise = sqrt(1.0 - alpha_bar);
    Mix mix = prediction_target(k->config.prediction, alpha_bar);
    const Real *x0 = k->data + (size_t)sample * size;
    Real *x = k->x + (size_t)row * size, *target = k->target + (size_t)at * size;
    for (int i = 0; i < size; i++) {
        double epsilon = rng_normal(rng);
        x[i] = (Real)(signal * (double)x0[i] + noise * epsilon);
        target[i] = (Real)(mix.first * (double)x0[i] + mix.second * epsilon);
    }
    k->t[row] = (Real)t;
    copy_context(k, row, sample);
}

// Draws time, dropout and noise of one noisy row, and lays out its rows of the pass: the
// row itself, and for the composed loss the null branch and one branch a factor, and so on.
static void draw_row(void *context, int row, int worker)
{
    (void)worker;
    TrainRows *k = context;
    int factors = k->factors;
    int sample = row / k->config.draws;
    const int *task = factors > 0 ? k->tasks + sample * factors : NULL;
    uint64_t update = k->update;
    FacetRng rng = rng_make(k->config.seed, STREAM_TRAIN + (update << 20) + (uint64_t)row);
    int t = (int)(rng_uniform(&rng) * k->schedule->steps);
    for (int i = 0; i < factors; i++) {
        bool dropped = rng_uniform(&rng) < k->config.drop[i];
        k->z[row * factors + i] = dropped ? EMBEDDING_NULL : task[i];
    }
    draw_noise(k, &rng, t, row, row, sample);
    if (row >= k->composed) return;
    int first = k->noisy + row * k->group;
    lay_branches(k, row, first, sample, task);
    if (k->config.agreement_weight > 0.0) lay_swapped(k, &rng, row, first + 1 + factors, sample);
}

void rows_draw(TrainRows *k, const Real *x0, const int *z, const Real *contexts, long updates,
               FacetPool *pool)
{
    k->data = x0;
    k->tasks = z;
    k->contexts = contexts;
    k->update = (uint64_t)updates;
    pool_for(pool, k->noisy, draw_row, k);
}

// ---- Losses -------------------------------------------------------------------------------------

// The squared difference of a row's composed and joint predictions with another value of a factor.
// Its gradients join those of the composed loss.
static void agreement_loss(TrainRows *k, int row)
{
    int size = k->size, factors = k->factors;
    size_t first = (size_t)(k->noisy + row * k->group) * size;
    const Real *null = k->out + first, *other = null + (size_t)(1 + factors) * size;
    Real *dnull = k->dout + first, *dother = dnull + (size_t)(1 + factors) * size;
    Real scale = R(2.0 * k->config.agreement_weight / ((double)k->composed * size));
    int swapped = 1 + k->swapped[row];
    double square = 0.0;
    for (int i = 0; i < size; i++) {
        Real sum = R(1 - factors) * null[i] + other[i];
        for (int b = 1; b <= factors; b++)
            if (b != swapped) sum += null[(size_t)b * size + i];
        Real error = sum - other[size + i];
        square += (double)error * (double)error;
        dnull[i] += scale * error * R(1 - factors);
        for (int b = 1; b <= factors; b++)
            if (b != swapped) dnull[(size_t)b * size + i] += scale * error;
        dother[i] = scale * error;
        dother[size + i] = -scale * error;
    }
    k->squares[k->noisy + k->composed + row] = square;
}

// The squared error of one row and its gradient; then the same for its composed prediction.
static void row_loss(TrainRows *k, int row)
{
    int size = k->size, factors = k->factors, noisy = k->noisy;
    const Real *target = k->target + (size_t)row * size;
    const Real *out = k->out + (size_t)row * size;
    Real *dout = k->dout + (size_t)row * size;
    Real scale = R(2.0 / ((double)noisy * size));
    double square = 0.0;
    for (int i = 0; i < size; i++) {
        Real error = out[i] - target[i];
        square += (double)error * (double)error;
        dout[i] = scale * error;
    }
    k->squares[row] = square;
    if (row >= k->composed) return;
    size_t first = (size_t)(noisy + row * k->group) * size;
    const Real *null = k->out + first;
    Real *dnull = k->dout + first;
    scale = R(2.0 * k->config.composed_weight / ((double)k->composed * size));
    square = 0.0;
    for (int i = 0; i < size; i++) {
        Real sum = R(1 - factors) * null[i];
        for (int b = 1; b <= factors; b++) sum += null[(size_t)b * size + i];
        Real error = sum - target[i];
        square += (double)error * (double)error;
        dnull[i] = scale * error * R(1 - factors);
        for (int b = 1; b <= factors; b++) dnull[(size_t)b * size + i] = scale * error;
    }
    k->squares[noisy + row] = square;
    if (k->config.agreement_weight > 0.0) agreement_loss(k, row);
}

TrainReport rows_losses(TrainRows *k)
{
    int size = k->size, noisy = k->noisy;
    TrainReport report = {.update = (long)k->update + 1};
    for (int row = 0; row < noisy; row++) {
        row_loss(k, row);
        report.denoise += k->squares[row] / ((double)noisy * size);
        if (row >= k->composed) continue;
        double terms = (double)k->composed * size;
        report.composed += k->squares[noisy + row] / terms;
        report.agreement += k->squares[noisy + k->composed + row] / terms;
    }
    report.loss = report.denoise + k->config.composed_weight * report.composed +
                  k->config.agreement_weight * report.agreement;
    return report;
}

// ---- Losses that nothing is learned from --------------------------------------------------------

void rows_draw_one(TrainRows *k, int at, int sample, uint64_t number)
{
    int factors = k->factors, row = at * rows_of_one(k->factors);
    const int *task = k->tasks + sample * factors;
    FacetRng rng = rng_make(k->config.seed, STREAM_VALID + (number << 20) + (uint64_t)sample);
    int t = (int)(rng_uniform(&rng) * k->schedule->steps);
    for (int i = 0; i < factors; i++) k->z[row * factors + i] = task[i];
    draw_noise(k, &rng, t, row, at, sample);
    if (factors) lay_branches(k, row, row + 1, sample, task);
}

void rows_add_one(TrainLoss *sum, const TrainRows *k, int at)
{
    int size = k->size, factors = k->factors;
    const Real *joint = k->out + (size_t)(at * rows_of_one(k->factors)) * size;
    const Real *target = k->target + (size_t)at * size;
    for (int i = 0; i < size; i++) {
        double shown = (double)joint[i], composed = shown;
        const Real *null = joint + size + i;
        if (factors) composed = (1.0 - factors) * (double)null[0];
        for (int b = 1; b <= factors; b++) composed += (double)null[(size_t)b * size];
        sum->joint += (shown - (double)target[i]) * (shown - (double)target[i]);
        sum->composed += (composed - (double)target[i]) * (composed - (double)target[i]);
    }
}

#ifndef FACET_REAL_DOUBLE

int rows_group(const TrainConfig *c, int factors)
{
    return 1 + factors + (c->agreement_weight > 0.0 ? 2 : 0);
}

#endif
