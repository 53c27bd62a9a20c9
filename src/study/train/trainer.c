// Training the score network (see train/trainer.h).
#include "train/trainer.h"

#include "base/memory.h"
#include "train/score_backward.h"

#include <assert.h>
#include <stdlib.h>

static int sample_size(const ScoreNet *net) { return net->config.horizon * net->config.dim; }

static FacetStatus allocate(Trainer *k, int threads)
{
    const ScoreNet *net = k->net;
    size_t context = (size_t)net->config.context;
    k->params = memory_block(net->table.size * sizeof(Real));
    k->grads = memory_block(net->table.size * sizeof(Real));
    k->dcontext = calloc((size_t)k->config.batch * context + 1, sizeof *k->dcontext);
    if (!k->params || !k->grads || !k->dcontext)
        return status_fail(FACET_NO_MEMORY, "out of memory for training %zu parameters",
                           net->table.parameters);
    tensor_init(k->params, &net->table, k->config.seed);
    TRY(score_work_create_train(&k->work, net, k->rows.count, threads));
    TRY(optimizer_create(&k->optimizer, &net->table, k->config.optimizer, k->params));
    return sharing_create(&k->sharing, k->config.ranks, k->work, k->optimizer, k->rows.count);
}

FacetStatus trainer_create(Trainer **out, const ScoreNet *net, const NoiseSchedule *schedule,
                           TrainConfig config, int threads)
{
    *out = NULL;
    Trainer *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    k->config = config;
    k->net = net;
    k->last_part = score_parts(net);
    FacetStatus status = rows_create(&k->rows, &config, schedule, sample_size(net),
                                     net->config.factors, net->config.context);
    if (status.ok) status = allocate(k, threads);
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
    free(k->dcontext);
    rows_free(&k->rows);
    free(k);
}

// Sums the gradients of the rows that share a sample's context, in their order.
static void sum_dcontext(Trainer *k)
{
    const TrainRows *rows = &k->rows;
    int width = rows->width;
    memset(k->dcontext, 0, (size_t)k->config.batch * width * sizeof *k->dcontext);
    for (int row = 0; row < rows->count; row++) {
        int noisy = row < rows->noisy ? row : (row - rows->noisy) / rows->group;
        const Real *from = rows->context + (size_t)row * width;
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
    TrainRows *rows = &k->rows;
    bool conditioned = k->net->config.context > 0;
    assert((context || !conditioned) && "the network has a context");
    assert((!conditioned || !k->sharing) && "ranks share no gradients of a context");
    rows_draw(rows, x0, z, context, k->optimizer->updates, pool);
    score_load(k->work, k->params, pool);
    score_forward(rows->out, k->work, rows->x, rows->t, rows->z, rows->context, rows->count, pool);
    sharing_rows(k->sharing, rows->out, (size_t)rows->size);
    sharing_begin(k->sharing);
    TrainReport report = rows_losses(rows);
    score_backward_rows(NULL, k->work, rows->dout, pool);
    sharing_finish(k->sharing);
    score_backward_weights(k->grads, conditioned ? rows->context : NULL, k->work,
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

TrainLoss trainer_loss(Trainer *k, const Real *params, const Real *x0, const int *z,
                       const Real *context, int count, uint64_t number, FacetPool *pool)
{
    TrainRows *rows = &k->rows;
    int each = rows_of_one(rows->factors), room = rows->count / each;
    double size = (double)count * rows->size;
    if (room > rows->noisy) room = rows->noisy;
    assert(room > 0 && count > 0 && count <= k->config.batch && !k->sharing);
    TrainLoss sum = {0.0, 0.0};
    rows->data = x0;
    rows->tasks = z;
    rows->contexts = context;
    score_load(k->work, params, pool);
    for (int first = 0; first < count; first += room) {
        int piece = count - first < room ? count - first : room;
        for (int i = 0; i < piece; i++) rows_draw_one(rows, i, first + i, number);
        score_forward(rows->out, k->work, rows->x, rows->t, rows->z, rows->context, piece * each,
                      pool);
        for (int i = 0; i < piece; i++) rows_add_one(&sum, rows, i);
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
    return alone && noisy + composed * rows_group(config, factors) >= rows_of_one(factors);
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
