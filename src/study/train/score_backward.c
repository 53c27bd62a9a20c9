// The backward pass of the score network (see diffusion/score_pass.h).
//
// One task a shard takes the gradient of the activations down to the stem. Then one task a tensor
// multiplies the kept inputs and gradients of ALL shards in one product, so that weight gradients
// need no copies a shard and no reduction.
#include "train/score_backward.h"

#include "diffusion/score_work.h"
#include "linalg/gemm.h"
#include "math/gemm_packed.h"
#include "train/epilogue_backward.h"
#include "train/layers_backward.h"

#include <assert.h>

typedef struct Backward {
    ScoreWork *work;
    const Real *dout;
    Real *dx, *dcontext, *dparams;
    int first, last; // parts of the table
} Backward;

static void shard_task(void *context, int index, int worker)
{
    const Backward *pass = context;
    ScoreWork *w = pass->work;
    int s = w->first + index;
    Real *scratch = w->scratch + (size_t)worker * w->scratch_size;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    int n = work_samples(w, s), time = c->horizon, channels = c->channels, dim = c->dim;
    int film_stride = c->blocks * 2 * channels, units = 2 * c->blocks;
    size_t base = (size_t)s * work_block(w), at = base * channels, sample = (size_t)s * w->shard;
    size_t dense = sample * time * dim, steps = sample * time, vector = (size_t)3 * channels;
    Real *dvectors = w->dvectors + (size_t)s * (units + 1) * vector;
    Real *dnorm = w->dnorm + (size_t)s * channels;
    memset(dvectors, 0, (size_t)(units + 1) * vector * sizeof *dvectors);

    Real *dmid = w->dmid + at;
    seq_pack(w->dout + base * dim, pass->dout + dense, n, time, dim);
    conv1d_backward_input(dmid, w->dout + base * dim, params + net->out_weight, n, time, channels,
                          dim);
    // The head's normalised activations become the gradient of the stream, and stay that.
    Real *dstream = w->head_hat + at;
    epilogue_backward(dstream, dvectors + (size_t)units * vector, NULL, dmid,
                      w->rstd[units] + steps, head_params(w), NULL, 0, dnorm, n, time, channels);
    for (int l = c->blocks - 1; l >= 0; l--) {
        int first = 2 * l, second = first + 1;
        Real *du1 = w->hat[first] + at, *du2 = w->hat[second] + at;
        size_t film = sample * film_stride + (size_t)l * 2 * channels;
        epilogue_backward(du2, dvectors + (size_t)second * vector, NULL, dstream,
                          w->rstd[second] + steps, unit_params(w, second), NULL, 0, dnorm, n, time,
                          channels);
        winograd_conv(dmid, scratch, du2, w->pack_back[second], n, time, channels, channels, false);
        epilogue_backward(du1, dvectors + (size_t)first * vector, w->dfilm + film, dmid,
                          w->rstd[first] + steps, unit_params(w, first), w->film + film,
                          film_stride, dnorm, n, time, channels);
        winograd_conv(dstream, scratch, du1, w->pack_back[first], n, time, channels, channels,
                      true);
    }
    seq_clear_gaps(dstream, n, time, channels);
    if (!pass->dx) return;
    conv1d_backward_input(w->dx + base * dim, dstream, params + net->in_weight, n, time, dim,
                          channels);
    seq_unpack(pass->dx + dense, w->dx + base * dim, n, time, dim);
}

// ---- Gradients of the parameters ----------------------------------------------------------------

// All rows of a seq that are in use, over all shards.
static int rows_in_use(const ScoreWork *w)
{
    int last = work_shards(w) - 1;
    return (int)((size_t)last * work_block(w) +
                 seq_rows(work_samples(w, last), w->net->config.horizon));
}

static void zero_sums(Real *sums, const Real *dy, int rows, int columns)
{
    memset(sums, 0, (size_t)columns * sizeof *sums);
    column_sums(sums, dy, rows, columns);
}

// Sums one unit's vector gradients over the shards, in their order.
static void sum_vector(Real *out, const ScoreWork *w, int unit, int which)
{
    const ScoreNetConfig *c = &w->net->config;
    memset(out, 0, (size_t)c->channels * sizeof *out);
    for (int s = 0; s < work_shards(w); s++) {
        size_t at = ((size_t)s * (2 * c->blocks + 1) + unit) * 3 + which;
        column_sums(out, w->dvectors + at * c->channels, 1, c->channels);
    }
}

static void unit_gradients(const Backward *pass, int unit, Real *scratch)
{
    const ScoreWork *w = pass->work;
    const ScoreUnit *u = &w->net->units[unit];
    int channels = w->net->config.channels;
    const Real *input = unit % 2 ? w->mid[unit / 2] : w->stream[unit / 2];
    winograd_backward_weight(pass->dparams + u->weight, scratch, input, w->hat[unit],
                             (SeqLayout){w->rows, w->shard, work_block(w), w->net->config.horizon},
                             channels, channels);
    sum_vector(pass->dparams + u->bias, w, unit, 0);
    sum_vector(pass->dparams + u->gamma, w, unit, 1);
    sum_vector(pass->dparams + u->beta, w, unit, 2);
}

static void film_gradients(const Backward *pass, int block)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = 2 * c->channels, stride = c->blocks * width;
    const Real *dfilm = w->dfilm + (size_t)block * width;
    real_gemm(pass->dparams + w->net->film_weight + (size_t)block * width, stride, GEMM_TRANSPOSED,
              w->cond2_act, c->cond, GEMM_PLAIN, dfilm, stride, c->cond, width, w->rows, R(0));
    Real *dbias = pass->dparams + w->net->film_bias + (size_t)block * width;
    memset(dbias, 0, (size_t)width * sizeof *dbias);
    for (int r = 0; r < w->rows; r++) column_sums(dbias, dfilm + (size_t)r * stride, 1, width);
}

// From the gradient of the context's place in the condition's input to those of the context and of
// what it was multiplied by. dcontext may be the context itself: each number is read before it is
// written.
static void context_gradients(const Backward *pass)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = score_cond_in(c), size = c->context;
    bool selects = score_selects(c);
    for (int r = 0; r < w->rows; r++) {
        const Real *dplace = w->dcond_in + (size_t)r * width + score_context_at(c);
        size_t at = (size_t)r * size;
        for (int i = 0; selects && i < size; i++)
            w->dselect[at + i] = dplace[i] * w->context[at + i];
        for (int i = 0; pass->dcontext && i < size; i++)
            pass->dcontext[at + i] = selects ? dplace[i] * w->select[at + i] : dplace[i];
    }
}

// The selection's weights, and its part in the gradient of the embeddings.
static void select_gradients(const Backward *pass)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = score_cond_in(c), embeds = score_embed_width(c), size = c->context;
    size_t at = w->net->select_weight;
    real_gemm(pass->dparams + at, size, GEMM_TRANSPOSED, w->cond_in + c->time_width, width,
              GEMM_PLAIN, w->dselect, size, embeds, size, w->rows, R(0));
    real_gemm(w->dcond_in + c->time_width, width, GEMM_PLAIN, w->dselect, size, GEMM_TRANSPOSED,
              w->params + at, size, w->rows, embeds, size, R(1));
}

// The way down from FiLM to the condition's input, with the gradients of the weights on it.
static void condition_gradients(const Backward *pass)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    Real *grads = pass->dparams;
    int width = score_cond_in(c), rows = w->rows;
    size_t size = (size_t)rows * c->cond;
    linear_backward_input(w->dcond2, w->dfilm, params + net->film_weight, rows, c->cond,
                          c->blocks * 2 * c->channels);
    mish_backward(w->dcond2, w->dcond2, w->cond2, size);
    linear_backward_input(w->dcond1, w->dcond2, params + net->cond2_weight, rows, c->cond, c->cond);
    mish_backward(w->dcond1, w->dcond1, w->cond1, size);
    linear_backward_input(w->dcond_in, w->dcond1, params + net->cond1_weight, rows, width, c->cond);
    if (c->context) context_gradients(pass);
    if (!grads) return;
    linear_backward_weight(grads + net->cond2_weight, w->cond1_act, w->dcond2, rows, c->cond,
                           c->cond);
    zero_sums(grads + net->cond2_bias, w->dcond2, rows, c->cond);
    linear_backward_weight(grads + net->cond1_weight, w->cond_in, w->dcond1, rows, width, c->cond);
    zero_sums(grads + net->cond1_bias, w->dcond1, rows, c->cond);
    if (score_selects(c)) select_gradients(pass);
    for (int i = 0; i < c->factors; i++) {
        Real *dtable = grads + net->embed[i];
        memset(dtable, 0, (size_t)(c->values[i] + 1) * c->embed * sizeof *dtable);
        embedding_backward(dtable, w->dcond_in + c->time_width + i * c->embed, width, w->z + i,
                           c->factors, rows, c->values[i], c->embed);
    }
}

static void stem_gradients(const Backward *pass, Real *scratch)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    Real *grads = pass->dparams;
    int rows = rows_in_use(w);
    const Real *dstream = w->head_hat;
    conv1d_backward_weight(grads + net->in_weight, scratch, w->x, dstream, rows, c->dim,
                           c->channels);
    zero_sums(grads + net->in_bias, dstream, rows, c->channels);
    size_t size = (size_t)c->horizon * c->channels;
    memset(grads + net->position, 0, size * sizeof *grads);
    for (int r = 0; r < w->rows; r++)
        column_sums(grads + net->position, dstream + work_sample(w, r) * c->channels, 1, (int)size);
}

static void head_gradients(const Backward *pass, Real *scratch)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    Real *grads = pass->dparams;
    int rows = rows_in_use(w), head = 2 * c->blocks;
    conv1d_backward_weight(grads + net->out_weight, scratch, w->head, w->dout, rows, c->channels,
                           c->dim);
    zero_sums(grads + net->out_bias, w->dout, rows, c->dim);
    sum_vector(grads + net->out_gamma, w, head, 1);
    sum_vector(grads + net->out_beta, w, head, 2);
}

// ---- The parts of the table ---------------------------------------------------------------------

int score_parts(const ScoreNet *net) { return SCORE_PART_UNITS + 2 * net->config.blocks + 1; }

size_t score_part_start(const ScoreNet *net, int part)
{
    int unit = part - SCORE_PART_UNITS;
    if (part == SCORE_PART_CONDITION) return 0;
    if (part == SCORE_PART_FILM) return net->film_weight;
    if (part == SCORE_PART_STEM) return net->in_weight;
    if (unit < 2 * net->config.blocks) return net->units[unit].weight;
    return unit == 2 * net->config.blocks ? net->out_gamma : net->table.size;
}

// Part by part, but FiLM last and in a task a block.
static void gradient_task(void *context, int index, int worker)
{
    const Backward *pass = context;
    ScoreWork *w = pass->work;
    Real *scratch = w->scratch + (size_t)worker * w->scratch_size;
    int units = 2 * w->net->config.blocks, unit = index - SCORE_PART_UNITS;
    int part = unit > units ? SCORE_PART_FILM : index;
    if (part < pass->first || part >= pass->last) return;
    if (unit > units)
        film_gradients(pass, unit - units - 1);
    else if (index == SCORE_PART_CONDITION)
        condition_gradients(pass);
    else if (index == SCORE_PART_STEM)
        stem_gradients(pass, scratch);
    else if (unit == units)
        head_gradients(pass, scratch);
    else if (unit >= 0)
        unit_gradients(pass, unit, scratch);
}

void score_backward_rows(Real *dx, ScoreWork *work, const Real *dout, FacetPool *pool)
{
    assert(work->trains && "the workspace is not for training");
    assert(facet_pool_threads(pool) <= work->threads);
    Backward pass = {.work = work, .dout = dout, .dx = dx};
    pool_for(pool, work_share(work), shard_task, &pass);
}

void score_backward_weights(Real *dparams, Real *dcontext, ScoreWork *work, int first, int last,
                            FacetPool *pool)
{
    Backward pass = {
        .work = work, .dcontext = dcontext, .dparams = dparams, .first = first, .last = last};
    if (dparams)
        pool_for(pool, score_parts(work->net) + work->net->config.blocks, gradient_task, &pass);
    else if (dcontext)
        condition_gradients(&pass);
}

void score_backward(Real *dparams, Real *dx, Real *dcontext, ScoreWork *work, const Real *dout,
                    FacetPool *pool)
{
    score_backward_rows(dx, work, dout, pool);
    score_backward_weights(dparams, dcontext, work, 0, score_parts(work->net), pool);
}
