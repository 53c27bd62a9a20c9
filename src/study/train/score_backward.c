// The backward pass of the score network (see diffusion/score_pass.h).
//
// The gradient of the activations goes down unit by unit, one task a shard. Then one task a tensor
// multiplies the kept inputs and gradients of ALL shards in one product, so that weight gradients
// need no copies a shard and no reduction.
#include "train/score_backward.h"

#include "diffusion/score_work.h"
#include "math/gemm_packed.h"
#include "train/epilogue_backward.h"
#include "train/layers_backward.h"

#include <assert.h>

typedef struct Backward {
    ScoreWork *work;
    const Real *dout;
    Real *dx, *dcontext, *dparams;
    int unit;        // whose turn it is: the head comes before the last, and -1 is the stem
    int first, last; // parts of the table
} Backward;

// ---- Gradients of the activations, one task a shard ---------------------------------------------

// Where shard s has its gradients of one unit's vectors (bias, gamma, beta); the head's come last.
static Real *shard_vectors(const ScoreWork *w, int s, int unit)
{
    const ScoreNetConfig *c = &w->net->config;
    return w->dvectors + ((size_t)s * (2 * c->blocks + 1) + unit) * 3 * c->channels;
}

// The first number of shard s in a seq of so many channels.
static size_t shard_at(const ScoreWork *w, int s, int channels)
{
    return (size_t)s * work_block(w) * channels;
}

// The head. Its normalised activations become the gradient of the stream, and stay that.
static void shard_head(const Backward *pass, int s)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    int n = work_samples(w, s), time = c->horizon, units = 2 * c->blocks;
    size_t at = shard_at(w, s, c->channels), steps = (size_t)s * w->shard * time;
    Real *dout = w->dout + shard_at(w, s, c->dim), *dmid = w->dmid + at;
    memset(shard_vectors(w, s, 0), 0, (size_t)(units + 1) * 3 * c->channels * sizeof *dout);
    seq_pack(dout, pass->dout + steps * c->dim, n, time, c->dim);
    conv1d_backward_input(dmid, dout, w->params + net->out_weight, n, time, c->channels, c->dim);
    epilogue_backward(w->head_hat + at, shard_vectors(w, s, units), NULL, dmid,
                      w->rstd[units] + steps, head_params(w), NULL, 0,
                      w->dnorm + (size_t)s * c->channels, n, time, c->channels);
}

// A unit: from the gradient of what it gave to that of what it read. The second unit of a block
// gives to the stream and reads the first one's; the first one adds to the stream's.
static void shard_unit(const Backward *pass, int s, int worker)
{
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int n = work_samples(w, s), time = c->horizon, channels = c->channels, unit = pass->unit;
    int film_stride = c->blocks * 2 * channels;
    bool second = unit % 2;
    size_t at = shard_at(w, s, channels), sample = (size_t)s * w->shard;
    size_t film = sample * film_stride + (size_t)(unit / 2) * 2 * channels;
    Real *du = w->hat[unit] + at, *dmid = w->dmid + at, *dstream = w->head_hat + at;
    epilogue_backward(du, shard_vectors(w, s, unit), second ? NULL : w->dfilm + film,
                      second ? dstream : dmid, w->rstd[unit] + sample * time, unit_params(w, unit),
                      second ? NULL : w->film + film, film_stride, w->dnorm + (size_t)s * channels,
                      n, time, channels);
    winograd_conv(second ? dmid : dstream, w->scratch + (size_t)worker * w->scratch_size, du,
                  w->pack[unit], n, time, score_dilation(c, unit), channels, channels, !second);
}

static void shard_stem(const Backward *pass, int s)
{
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int n = work_samples(w, s), time = c->horizon;
    Real *dstream = w->head_hat + shard_at(w, s, c->channels), *dx = w->dx + shard_at(w, s, c->dim);
    seq_clear_gaps(dstream, n, time, c->channels);
    if (!pass->dx) return;
    conv1d_backward_input(dx, dstream, w->params + w->net->in_weight, n, time, c->dim, c->channels);
    seq_unpack(pass->dx + (size_t)s * w->shard * time * c->dim, dx, n, time, c->dim);
}

// A stage of one shard: the head, a unit or the stem. The unit below is packed meanwhile.
static void shard_task(void *context, int index, int worker)
{
    const Backward *pass = context;
    ScoreWork *w = pass->work;
    int shards = work_share(w), s = w->first + index;
    if (index >= shards)
        score_pack_part(w, pass->unit - 1, true, index - shards);
    else if (pass->unit == 2 * w->net->config.blocks)
        shard_head(pass, s);
    else if (pass->unit >= 0)
        shard_unit(pass, s, worker);
    else
        shard_stem(pass, s);
}

static void activation_gradients(Backward *pass, FacetPool *pool)
{
    const ScoreWork *w = pass->work;
    for (pass->unit = 2 * w->net->config.blocks; pass->unit >= -1; pass->unit--)
        pool_for(pool, work_share(w) + score_pack_parts(w, pass->unit - 1), shard_task, pass);
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
    for (int s = 0; s < work_shards(w); s++)
        column_sums(out, shard_vectors(w, s, unit) + (size_t)which * c->channels, 1, c->channels);
}

static void unit_gradients(const Backward *pass, int unit, Real *scratch)
{
    const ScoreWork *w = pass->work;
    const ScoreUnit *u = &w->net->units[unit];
    const ScoreNetConfig *c = &w->net->config;
    const Real *input = unit % 2 ? w->mid[unit / 2] : w->stream[unit / 2];
    const SeqLayout layout = {w->rows, w->shard, work_block(w), c->horizon,
                              score_dilation(c, unit)};
    winograd_backward_weight(pass->dparams + u->weight, scratch, input, w->hat[unit], layout,
                             c->channels, c->channels);
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
    linear_backward_weight(pass->dparams + w->net->film_weight + (size_t)block * width, stride,
                           w->cond2_act, c->cond, dfilm, stride, w->rows, c->cond, width);
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
    linear_backward_weight(pass->dparams + at, size, w->cond_in + c->time_width, width, w->dselect,
                           size, w->rows, embeds, size);
    gemm_by_transposed(w->dcond_in + c->time_width, width, w->dselect, size, w->params + at, size,
                       w->rows, embeds, size, true);
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
    linear_backward_weight(grads + net->cond2_weight, c->cond, w->cond1_act, c->cond, w->dcond2,
                           c->cond, rows, c->cond, c->cond);
    zero_sums(grads + net->cond2_bias, w->dcond2, rows, c->cond);
    linear_backward_weight(grads + net->cond1_weight, c->cond, w->cond_in, width, w->dcond1,
                           c->cond, rows, width, c->cond);
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
    if (c->no_position) return;
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
    activation_gradients(&pass, pool);
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
