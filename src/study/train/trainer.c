// Training the score network (see train/trainer.h).
#include "train/trainer.h"

#include "base/memory.h"
#include "base/rng.h"
#include "diffusion/streams.h"
#include "nn/layers.h"
#include "train/score_backward.h"

#include <assert.h>
#include <stdlib.h>

enum { ROWS_MAX = 1 << 20 }; // an update's rows have as many streams

static int sample_size(const ScoreNet *net) { return net->config.horizon * net->config.dim; }

static FacetStatus check(const TrainConfig *c, const ScoreNet *net)
{
    if (c->batch < 1 || c->batch >= ROWS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "training: expected a batch of 1 or more, found %d",
                           c->batch);
    int draws_max = (ROWS_MAX - 1) / c->batch;
    if (c->draws < 1 || c->draws > draws_max)
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected 1 to %d draws a sample, found %d", draws_max,
                           c->draws);
    for (int i = 0; i < net->config.factors; i++)
        if (!(c->drop[i] >= 0.0 && c->drop[i] <= 1.0))
            return status_fail(FACET_BAD_ARGUMENT,
                               "training: expected a drop probability from 0 to 1, found %g",
                               c->drop[i]);
    if (!(c->composed_weight >= 0.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected a composed loss of weight 0 or more, found %g",
                           c->composed_weight);
    if (c->composed_weight > 0.0 && (net->config.factors == 0 || c->batch * c->draws < 2))
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

// Rows that the losses of composed predictions add for each of theirs.
static int group_rows(const TrainConfig *c, int factors)
{
    return 1 + factors + (c->agreement_weight > 0.0 ? 2 : 0);
}

static FacetStatus allocate(Trainer *k, int threads)
{
    const ScoreNet *net = k->net;
    size_t size = (size_t)sample_size(net), rows = (size_t)k->rows, noisy = (size_t)k->noisy;
    size_t context = (size_t)net->config.context;
    k->params = memory_block(net->table.size * sizeof(Real));
    k->grads = memory_block(net->table.size * sizeof(Real));
    k->x = calloc(rows * size, sizeof *k->x);
    k->out = calloc(rows * size, sizeof *k->out);
    k->dout = calloc(rows * size, sizeof *k->dout);
    k->target = calloc(noisy * size, sizeof *k->target);
    k->t = calloc(rows, sizeof *k->t);
    k->z = calloc(rows * (size_t)(net->config.factors + 1), sizeof *k->z);
    k->context_rows = calloc(rows * context + 1, sizeof *k->context_rows);
    k->dcontext = calloc((size_t)k->config.batch * context + 1, sizeof *k->dcontext);
    k->swapped = calloc((size_t)k->composed + 1, sizeof *k->swapped);
    k->squares = calloc(noisy + 2 * (size_t)k->composed, sizeof *k->squares);
    if (!k->params || !k->grads || !k->x || !k->out || !k->dout || !k->target || !k->t || !k->z ||
        !k->context_rows || !k->dcontext || !k->swapped || !k->squares)
        return status_fail(FACET_NO_MEMORY, "out of memory for training %zu parameters",
                           net->table.parameters);
    tensor_init(k->params, &net->table, k->config.seed);
    TRY(score_work_create_train(&k->work, net, k->rows, threads));
    TRY(optimizer_create(&k->optimizer, &net->table, k->config.optimizer, k->params));
    return sharing_create(&k->sharing, k->config.ranks, k->work, k->optimizer, k->rows);
}

FacetStatus trainer_create(Trainer **out, const ScoreNet *net, const NoiseSchedule *schedule,
                           TrainConfig config, int threads)
{
    *out = NULL;
    TRY(check(&config, net));
    Trainer *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    k->config = config;
    k->net = net;
    k->schedule = schedule;
    k->last_part = score_parts(net);
    k->noisy = config.batch * config.draws;
    k->composed = config.composed_weight > 0.0 ? k->noisy / 2 : 0;
    k->group = group_rows(&config, net->config.factors);
    k->rows = k->noisy + k->composed * k->group;
    FacetStatus status = allocate(k, threads);
    if (!status.ok) {
        trainer_free(k);
        return status;
    }
    *out = k;
    return status_ok();
}

void trainer_free(Trainer *k)
{
    if (!k) return;
    sharing_free(k->sharing);
    optimizer_free(k->optimizer);
    score_work_free(k->work);
    free(k->params);
    free(k->grads);
    free(k->x);
    free(k->out);
    free(k->dout);
    free(k->target);
    free(k->t);
    free(k->z);
    free(k->context_rows);
    free(k->dcontext);
    free(k->swapped);
    free(k->squares);
    free(k);
}

static void copy_context(Trainer *k, int row, int sample)
{
    size_t width = (size_t)k->net->config.context;
    if (width)
        memcpy(k->context_rows + (size_t)row * width, k->context + (size_t)sample * width,
               width * sizeof *k->context);
}

// Row `to` of the pass: what row `row` has, with no factor shown. Returns its factors.
static int *lay_again(Trainer *k, int to, int row, int sample)
{
    int size = sample_size(k->net), factors = k->net->config.factors;
    memcpy(k->x + (size_t)to * size, k->x + (size_t)row * size, (size_t)size * sizeof *k->x);
    k->t[to] = k->t[row];
    copy_context(k, to, sample);
    int *z = k->z + (ptrdiff_t)to * factors;
    for (int i = 0; i < factors; i++) z[i] = EMBEDDING_NULL;
    return z;
}

// The branches of a composed prediction of `row`, from row `first` of the pass on: null, and one a
// factor.
static void lay_branches(Trainer *k, int row, int first, int sample, const int *task)
{
    lay_again(k, first, row, sample);
    for (int i = 0; i < k->net->config.factors; i++)
        lay_again(k, first + 1 + i, row, sample)[i] = task[i];
}

// Behind the branches: that of a value which the next sample of the batch has, and the joint
// prediction of the task with it. Values that no sample has are never shown.
static void lay_swapped(Trainer *k, FacetRng *rng, int row, int at, int sample)
{
    int factors = k->net->config.factors;
    int factor = (int)(rng_uniform(rng) * factors);
    int value = k->tasks[(sample + 1) % k->config.batch * factors + factor];
    lay_again(k, at, row, sample)[factor] = value;
    int *joint = lay_again(k, at + 1, row, sample);
    for (int i = 0; i < factors; i++)
        joint[i] = i == factor ? value : k->tasks[sample * factors + i];
    k->swapped[row] = factor;
}

// Noise for a sample at time t: row `row` of the pass, and row `at` of the targets.
static void draw_noise(Trainer *k, FacetRng *rng, int t, int row, int at, int sample)
{
    int size = sample_size(k->net);
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
    Trainer *k = context;
    int factors = k->net->config.factors;
    int sample = row / k->config.draws;
    const int *task = factors > 0 ? k->tasks + sample * factors : NULL;
    uint64_t update = (uint64_t)k->optimizer->updates;
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

// The squared difference of a row's composed and joint predictions with another value of a factor.
// Its gradients join those of the composed loss.
static void agreement_loss(Trainer *k, int row)
{
    int size = sample_size(k->net), factors = k->net->config.factors;
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
static void row_loss(Trainer *k, int row)
{
    int size = sample_size(k->net), factors = k->net->config.factors, noisy = k->noisy;
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

// Sums the gradients of the rows that share a sample's context, in their order.
static void sum_dcontext(Trainer *k)
{
    int width = k->net->config.context;
    memset(k->dcontext, 0, (size_t)k->config.batch * width * sizeof *k->dcontext);
    for (int row = 0; row < k->rows; row++) {
        int noisy = row < k->noisy ? row : (row - k->noisy) / k->group;
        const Real *from = k->context_rows + (size_t)row * width;
        Real *to = k->dcontext + (size_t)(noisy / k->config.draws) * width;
        for (int i = 0; i < width; i++) to[i] += from[i];
    }
}

// A selection without gradients stays at zero, and decays to nothing else.
static void leave_selection(Trainer *k)
{
    const ScoreNetConfig *c = &k->net->config;
    size_t size = (size_t)score_embed_width(c) * (size_t)c->context;
    if (k->config.no_selection && score_selects(c))
        memset(k->grads + k->net->select_weight, 0, size * sizeof *k->grads);
}

TrainReport trainer_gradients(Trainer *k, const Real *x0, const int *z, const Real *context,
                              FacetPool *pool)
{
    int size = sample_size(k->net), noisy = k->noisy;
    bool conditioned = k->net->config.context > 0;
    assert((context || !conditioned) && "the network has a context");
    assert((!conditioned || !k->sharing) && "ranks share no gradients of a context");
    k->data = x0;
    k->tasks = z;
    k->context = context;
    pool_for(pool, noisy, draw_row, k);
    score_load(k->work, k->params, pool);
    score_forward(k->out, k->work, k->x, k->t, k->z, k->context_rows, k->rows, pool);
    sharing_rows(k->sharing, k->out, (size_t)size);
    sharing_begin(k->sharing);
    TrainReport report = {.update = k->optimizer->updates + 1};
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
    score_backward_rows(NULL, k->work, k->dout, pool);
    sharing_finish(k->sharing);
    score_backward_weights(k->grads, conditioned ? k->context_rows : NULL, k->work,
                           k->sharing ? k->sharing->first : 0,
                           k->sharing ? k->sharing->last : k->last_part, pool);
    if (conditioned) sum_dcontext(k);
    leave_selection(k);
    optimizer_squares(k->optimizer, k->grads, pool);
    sharing_squares(k->sharing, k->optimizer);
    report.grad_norm = optimizer_sum(k->optimizer);
    report.finite = isfinite(report.loss) && isfinite(report.grad_norm);
    report.rate = optimizer_rate(k->config.rate, k->config.rate_floor, k->config.warmup,
                                 k->config.total, report.update);
    return report;
}

TrainReport trainer_step(Trainer *k, const Real *x0, const int *z, const Real *context,
                         FacetPool *pool)
{
    TrainReport report = trainer_gradients(k, x0, z, context, pool);
    if (report.finite)
        optimizer_step(k->optimizer, k->params, k->grads, report.grad_norm, report.rate, pool);
    if (report.finite) sharing_block(k->sharing, k->params);
    return report;
}

// ---- Losses that nothing is learned from --------------------------------------------------------

// Rows of a pass for one sample: the joint prediction, and the branches of the composed one.
static int loss_rows(const ScoreNet *net)
{
    return net->config.factors ? 2 + net->config.factors : 1;
}

static void draw_loss_row(Trainer *k, int at, int sample, uint64_t number)
{
    int factors = k->net->config.factors, row = at * loss_rows(k->net);
    const int *task = k->tasks + sample * factors;
    FacetRng rng = rng_make(k->config.seed, STREAM_VALID + (number << 20) + (uint64_t)sample);
    int t = (int)(rng_uniform(&rng) * k->schedule->steps);
    for (int i = 0; i < factors; i++) k->z[row * factors + i] = task[i];
    draw_noise(k, &rng, t, row, at, sample);
    if (factors) lay_branches(k, row, row + 1, sample, task);
}

static void add_loss(TrainLoss *sum, const Trainer *k, int at)
{
    int size = sample_size(k->net), factors = k->net->config.factors;
    const Real *joint = k->out + (size_t)(at * loss_rows(k->net)) * size;
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

TrainLoss trainer_loss(Trainer *k, const Real *params, const Real *x0, const int *z,
                       const Real *context, int count, uint64_t number, FacetPool *pool)
{
    int rows = loss_rows(k->net), room = k->rows / rows < k->noisy ? k->rows / rows : k->noisy;
    double size = (double)count * sample_size(k->net);
    assert(room > 0 && count > 0 && count <= k->config.batch && !k->sharing);
    TrainLoss sum = {0.0, 0.0};
    k->data = x0;
    k->tasks = z;
    k->context = context;
    score_load(k->work, params, pool);
    for (int first = 0; first < count; first += room) {
        int piece = count - first < room ? count - first : room;
        for (int i = 0; i < piece; i++) draw_loss_row(k, i, first + i, number);
        score_forward(k->out, k->work, k->x, k->t, k->z, k->context_rows, piece * rows, pool);
        for (int i = 0; i < piece; i++) add_loss(&sum, k, i);
    }
    return (TrainLoss){sum.joint / size, sum.composed / size};
}

void trainer_collect(Trainer *k)
{
    sharing_block_lead(k->sharing, k->optimizer->m);
    sharing_block_lead(k->sharing, k->optimizer->v);
    sharing_block_lead(k->sharing, k->optimizer->ema);
}

void trainer_spread(Trainer *k)
{
    sharing_block_spread(k->sharing, k->params);
    sharing_block_spread(k->sharing, k->optimizer->m);
    sharing_block_spread(k->sharing, k->optimizer->v);
    sharing_block_spread(k->sharing, k->optimizer->ema);
    ranks_broadcast(k->config.ranks, 0, &k->optimizer->updates, sizeof k->optimizer->updates);
}

#ifndef FACET_REAL_DOUBLE

bool trainer_validates(const TrainConfig *config, int factors)
{
    int noisy = config->batch * config->draws;
    int composed = config->composed_weight > 0.0 ? noisy / 2 : 0;
    bool alone = facet_ranks_count(config->ranks) == 1;
    return alone && noisy + composed * group_rows(config, factors) >= (factors ? 2 + factors : 1);
}

TrainConfig trainer_default(void)
{
    TrainConfig config = {.batch = 32,
                          .draws = 1,
                          .prediction = PREDICT_V,
                          .optimizer = optimizer_default(),
                          .rate = 1e-4,
                          .warmup = 500};
    for (int i = 0; i < SCORE_FACTORS_MAX; i++) config.drop[i] = 0.1;
    return config;
}

#endif
