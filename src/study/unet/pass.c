// Evaluating and training the U-Net (see unet/pass.h).
#include "unet/pass.h"

#include "base/memory.h"
#include "nn/layers.h"
#include "train/layers_backward.h"
#include "unet/layers.h"

#include <assert.h>
#include <stdlib.h>

// Where a shard has its numbers, from its first one on. act[i] is what step i reads and act[i + 1]
// what it gives; one with a d in front is a gradient.
typedef struct Layout {
    size_t act[UNET_STEPS_MAX + 1], dact[UNET_STEPS_MAX + 1];
    size_t mid[UNET_STEPS_MAX];                                  // what the first unit gives
    size_t xhat[UNET_STEPS_MAX][2], rstd[UNET_STEPS_MAX][2];     // of the units' norms
    size_t cond_in, cond1, cond1_act, cond2, cond2_act;          // of the condition
    size_t film, dfilm, dcond_in, dcond1, dcond2, dmid, scratch; // dmid: of one step at a time
    size_t dparams;
    size_t size;
} Layout;

struct UnetWork {
    const Unet *net;
    int room; // rows
    bool trains;
    Layout layout;
    Real *memory; // [shards][layout.size]

    // The pass.
    int rows;
    const Real *params, *x, *t, *dout;
    const int *z;
    Real *out, *dx, *dparams;
};

// ---- The workspace ------------------------------------------------------------------------------

static size_t take(Layout *layout, size_t numbers)
{
    enum { ALIGN = 16 };
    size_t at = layout->size;
    layout->size += (numbers + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// A unit of a step, as its convolution.
static UnetConv unit_shape(const UnetStep *s, int number, int rows)
{
    int in = number ? s->out : s->in, out = s->kind == UNET_HEAD ? s->in : s->out;
    return (UnetConv){rows, s->time_out, in, out, 3, 1};
}

// The convolution of a step beside its units.
static UnetConv step_shape(const UnetStep *s, int rows)
{
    if (s->kind == UNET_DOWN) return (UnetConv){rows, s->time_in, s->in, s->out, 3, 2};
    if (s->kind == UNET_UP) return (UnetConv){rows, s->time_out, s->in, s->out, 4, 2};
    return (UnetConv){rows, s->time_out, s->in, s->out, 1, 1};
}

static int unit_count(const UnetStep *s)
{
    return s->kind == UNET_BLOCK ? 2 : s->kind == UNET_HEAD ? 1 : 0;
}

static void lay_step(Layout *l, size_t *mid, size_t *scratch, const UnetStep *s, int i)
{
    for (int u = 0; u < unit_count(s); u++) {
        UnetConv c = unit_shape(s, u, UNET_SHARD);
        size_t numbers = (size_t)(c.rows * c.time) * (size_t)c.out;
        l->xhat[i][u] = take(l, numbers);
        l->rstd[i][u] = take(l, UNET_SHARD * UNET_GROUPS);
        if (u == 0) l->mid[i] = take(l, numbers);
        *mid = larger(*mid, numbers);
        *scratch = larger(*scratch, unet_unit_scratch(c));
    }
    *scratch = larger(*scratch, unet_conv_scratch(step_shape(s, UNET_SHARD)));
}

static Layout lay_out(const Unet *net, bool trains)
{
    const UnetConfig *c = &net->config;
    Layout l = {0};
    size_t mid = 0, scratch = 0, cond = (size_t)UNET_SHARD * (size_t)c->cond;
    size_t input = (size_t)UNET_SHARD * (size_t)unet_cond_in(c);
    size_t film = (size_t)UNET_SHARD * (size_t)net->film;
    for (int i = 0; i <= net->step_count; i++) {
        const UnetStep *s = &net->steps[i > 0 ? i - 1 : 0];
        int width = i > 0 ? s->time_out * s->out : s->time_in * s->in;
        l.act[i] = take(&l, (size_t)UNET_SHARD * (size_t)width);
        if (trains) l.dact[i] = take(&l, (size_t)UNET_SHARD * (size_t)width);
    }
    for (int i = 0; i < net->step_count; i++) lay_step(&l, &mid, &scratch, &net->steps[i], i);
    scratch = larger(scratch, unet_linear_scratch(unet_cond_in(c), c->cond));
    scratch =
        larger(scratch, unet_linear_scratch(c->cond, c->cond > net->film ? c->cond : net->film));
    l.cond_in = take(&l, input);
    l.cond1 = take(&l, cond);
    l.cond1_act = take(&l, cond);
    l.cond2 = take(&l, cond);
    l.cond2_act = take(&l, cond);
    l.film = take(&l, film);
    l.scratch = take(&l, scratch);
    if (!trains) return l;
    l.dfilm = take(&l, film);
    l.dcond_in = take(&l, input);
    l.dcond1 = take(&l, cond);
    l.dcond2 = take(&l, cond);
    l.dmid = take(&l, mid);
    l.dparams = take(&l, net->table.size);
    return l;
}

FacetStatus unet_work_create(UnetWork **out, const Unet *net, int rows, bool trains)
{
    *out = NULL;
    assert(rows > 0);
    UnetWork *w = calloc(1, sizeof *w);
    if (!w) return status_fail(FACET_NO_MEMORY, "out of memory for the U-Net");
    *w = (UnetWork){.net = net, .room = rows, .trains = trains, .layout = lay_out(net, trains)};
    size_t shards = (size_t)((rows + UNET_SHARD - 1) / UNET_SHARD);
    w->memory = memory_block(shards * w->layout.size * sizeof *w->memory);
    if (!w->memory) {
        unet_work_free(w);
        return status_fail(FACET_NO_MEMORY, "out of memory for %d rows of the U-Net", rows);
    }
    *out = w;
    return status_ok();
}

void unet_work_free(UnetWork *w)
{
    if (!w) return;
    free(w->memory);
    free(w);
}

// ---- One shard ----------------------------------------------------------------------------------

typedef struct Shard {
    const UnetWork *work;
    const Unet *net;
    const Layout *layout;
    Real *memory;
    int first, rows; // of the pass
} Shard;

static Shard shard_of(const UnetWork *w, int number)
{
    int first = number * UNET_SHARD, left = w->rows - first;
    return (Shard){.work = w,
                   .net = w->net,
                   .layout = &w->layout,
                   .memory = w->memory + (size_t)number * w->layout.size,
                   .first = first,
                   .rows = left < UNET_SHARD ? left : UNET_SHARD};
}

static int shard_count(const UnetWork *w) { return (w->rows + UNET_SHARD - 1) / UNET_SHARD; }

static UnetUnitParams unit_params(const Shard *s, const UnetUnit *unit)
{
    const Real *params = s->work->params;
    return (UnetUnitParams){params + unit->weight, params + unit->bias, params + unit->gamma,
                            params + unit->beta};
}

static UnetUnitGrads unit_grads(const Shard *s, const UnetUnit *unit)
{
    Real *grads = s->memory + s->layout->dparams;
    return (UnetUnitGrads){grads + unit->weight, grads + unit->bias, grads + unit->gamma,
                           grads + unit->beta};
}

// The FiLM behind a unit: that of the first of a block.
static UnetFilm unit_film(const Shard *s, const UnetStep *step, int number)
{
    if (step->kind != UNET_BLOCK || number > 0) return (UnetFilm){0};
    return (UnetFilm){s->memory + s->layout->film + step->film,
                      s->memory + s->layout->dfilm + step->film, s->net->film};
}

// ---- Forward ------------------------------------------------------------------------------------

static void condition_forward(const Shard *s)
{
    const Unet *net = s->net;
    const UnetConfig *c = &net->config;
    const Layout *l = s->layout;
    const Real *params = s->work->params;
    const int *z = s->work->z + (ptrdiff_t)s->first * c->factors;
    int width = unet_cond_in(c), rows = s->rows;
    size_t size = (size_t)rows * (size_t)c->cond;
    Real *in = s->memory + l->cond_in, *scratch = s->memory + l->scratch;
    time_embedding(in, width, s->work->t + s->first, rows, c->time_width, false);
    for (int i = 0; i < c->factors; i++)
        embedding_forward(in + c->time_width + i * c->embed, width, params + net->embed[i], z + i,
                          c->factors, rows, c->values[i], c->embed);
    unet_linear(s->memory + l->cond1, scratch, in, params + net->cond1_weight,
                params + net->cond1_bias, rows, width, c->cond);
    mish_forward(s->memory + l->cond1_act, s->memory + l->cond1, size);
    unet_linear(s->memory + l->cond2, scratch, s->memory + l->cond1_act, params + net->cond2_weight,
                params + net->cond2_bias, rows, c->cond, c->cond);
    mish_forward(s->memory + l->cond2_act, s->memory + l->cond2, size);
    unet_linear(s->memory + l->film, scratch, s->memory + l->cond2_act, params + net->film_weight,
                params + net->film_bias, rows, c->cond, net->film);
}

static void run_unit(const Shard *s, int i, int number, Real *y, const Real *x)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    unet_unit_forward(y, s->memory + l->xhat[i][number], s->memory + l->rstd[i][number],
                      s->memory + l->scratch, x, unit_params(s, &step->units[number]),
                      unit_film(s, step, number), unit_shape(step, number, s->rows));
}

static void block_forward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    const Real *params = s->work->params, *x = s->memory + l->act[i];
    Real *y = s->memory + l->act[i + 1], *mid = s->memory + l->mid[i];
    Real *scratch = s->memory + l->scratch;
    size_t size = (size_t)(s->rows * step->time_out) * (size_t)step->out;
    run_unit(s, i, 0, mid, x);
    run_unit(s, i, 1, y, mid);
    if (unet_projects(step)) { // the part of the scratch behind the product is free
        UnetConv c = step_shape(step, s->rows);
        Real *residual = scratch + unet_conv_scratch(c);
        unet_conv_forward(residual, scratch, x, params + step->weight, params + step->bias, c);
        x = residual;
    }
    for (size_t k = 0; k < size; k++) y[k] += x[k];
}

// [h; what the level gave], step by step.
static void join_forward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Real *x = s->memory + s->layout->act[i];
    const Real *other = s->memory + s->layout->act[step->joined + 1];
    Real *y = s->memory + s->layout->act[i + 1];
    size_t own = (size_t)step->in, more = (size_t)(step->out - step->in);
    for (int k = 0; k < s->rows * step->time_out; k++) {
        memcpy(y, x + (size_t)k * own, own * sizeof *y);
        memcpy(y + own, other + (size_t)k * more, more * sizeof *y);
        y += own + more;
    }
}

static void step_forward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    const Real *x = s->memory + l->act[i], *w = s->work->params + step->weight;
    const Real *bias = s->work->params + step->bias;
    Real *y = s->memory + l->act[i + 1], *scratch = s->memory + l->scratch;
    UnetConv c = step_shape(step, s->rows);
    if (step->kind == UNET_BLOCK) {
        block_forward(s, i);
    } else if (step->kind == UNET_JOIN) {
        join_forward(s, i);
    } else if (step->kind == UNET_DOWN) {
        unet_conv_forward(y, scratch, x, w, bias, c);
    } else if (step->kind == UNET_UP) {
        unet_up_forward(y, scratch, x, w, bias, c);
    } else {
        run_unit(s, i, 0, s->memory + l->mid[i], x);
        unet_conv_forward(y, scratch, s->memory + l->mid[i], w, bias, c);
    }
}

// Numbers of a plan.
static size_t plan_size(const UnetWork *w)
{
    return (size_t)w->net->config.horizon * (size_t)w->net->config.dim;
}

static void forward_task(void *context, int index, int worker)
{
    (void)worker;
    const UnetWork *w = context;
    const Shard s = shard_of(w, index);
    size_t at = (size_t)s.first * plan_size(w), size = (size_t)s.rows * plan_size(w);
    memcpy(s.memory + w->layout.act[0], w->x + at, size * sizeof *w->x);
    condition_forward(&s);
    for (int i = 0; i < w->net->step_count; i++) step_forward(&s, i);
    memcpy(w->out + at, s.memory + w->layout.act[w->net->step_count], size * sizeof *w->x);
}

void unet_forward(Real *out, UnetWork *w, const Real *params, const Real *x, const Real *t,
                  const int *z, int rows, FacetPool *pool)
{
    assert(rows > 0 && rows <= w->room);
    w->rows = rows;
    w->params = params;
    w->x = x;
    w->t = t;
    w->z = z;
    w->out = out;
    pool_for(pool, shard_count(w), forward_task, w);
}

// ---- Backward -----------------------------------------------------------------------------------

static void run_unit_backward(const Shard *s, int i, int number, Real *dx, const Real *dy,
                              const Real *x)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    unet_unit_backward(dx, unit_grads(s, &step->units[number]), s->memory + l->scratch, dy, x,
                       s->memory + l->xhat[i][number], s->memory + l->rstd[i][number],
                       unit_params(s, &step->units[number]), unit_film(s, step, number),
                       unit_shape(step, number, s->rows));
}

// The gradient of what the first unit gives, zero.
static Real *clear_mid(const Shard *s, int i)
{
    UnetConv c = unit_shape(&s->net->steps[i], 0, s->rows);
    Real *dmid = s->memory + s->layout->dmid;
    memset(dmid, 0, (size_t)(c.rows * c.time) * (size_t)c.out * sizeof *dmid);
    return dmid;
}

static void block_backward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    const Real *x = s->memory + l->act[i], *dy = s->memory + l->dact[i + 1];
    Real *dx = s->memory + l->dact[i], *dmid = clear_mid(s, i), *grads = s->memory + l->dparams;
    size_t size = (size_t)(s->rows * step->time_out) * (size_t)step->out;
    run_unit_backward(s, i, 1, dmid, dy, s->memory + l->mid[i]);
    run_unit_backward(s, i, 0, dx, dmid, x);
    if (unet_projects(step))
        unet_conv_backward(dx, grads + step->weight, grads + step->bias, s->memory + l->scratch, dy,
                           x, s->work->params + step->weight, step_shape(step, s->rows));
    else
        for (size_t k = 0; k < size; k++) dx[k] += dy[k];
}

static void join_backward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Real *dy = s->memory + s->layout->dact[i + 1];
    Real *dx = s->memory + s->layout->dact[i];
    Real *dother = s->memory + s->layout->dact[step->joined + 1];
    int own = step->in, more = step->out - step->in;
    for (int k = 0; k < s->rows * step->time_out; k++, dy += own + more) {
        for (int j = 0; j < own; j++) *dx++ += dy[j];
        for (int j = 0; j < more; j++) *dother++ += dy[own + j];
    }
}

static void head_backward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    Real *dmid = clear_mid(s, i), *grads = s->memory + l->dparams;
    unet_conv_backward(dmid, grads + step->weight, grads + step->bias, s->memory + l->scratch,
                       s->memory + l->dact[i + 1], s->memory + l->mid[i],
                       s->work->params + step->weight, step_shape(step, s->rows));
    run_unit_backward(s, i, 0, s->memory + l->dact[i], dmid, s->memory + l->act[i]);
}

static void step_backward(const Shard *s, int i)
{
    const UnetStep *step = &s->net->steps[i];
    const Layout *l = s->layout;
    const Real *x = s->memory + l->act[i], *dy = s->memory + l->dact[i + 1];
    const Real *w = s->work->params + step->weight;
    Real *dx = s->memory + l->dact[i], *scratch = s->memory + l->scratch;
    Real *dw = s->memory + l->dparams + step->weight, *dbias = s->memory + l->dparams + step->bias;
    UnetConv c = step_shape(step, s->rows);
    if (step->kind == UNET_BLOCK)
        block_backward(s, i);
    else if (step->kind == UNET_JOIN)
        join_backward(s, i);
    else if (step->kind == UNET_DOWN)
        unet_conv_backward(dx, dw, dbias, scratch, dy, x, w, c);
    else if (step->kind == UNET_UP)
        unet_up_backward(dx, dw, dbias, scratch, dy, x, w, c);
    else
        head_backward(s, i);
}

// Of y = x w + bias: the gradients of x, overwritten, of w and of the bias.
static void linear_backward(Real *dx, Real *dw, Real *dbias, const Real *dy, const Real *x,
                            const Real *w, int rows, int in, int out)
{
    linear_backward_input(dx, dy, w, rows, in, out);
    linear_backward_weight(dw, out, x, in, dy, out, rows, in, out);
    memset(dbias, 0, (size_t)out * sizeof *dbias);
    column_sums(dbias, dy, rows, out);
}

static void condition_backward(const Shard *s)
{
    const Unet *net = s->net;
    const UnetConfig *c = &net->config;
    const Layout *l = s->layout;
    const Real *params = s->work->params;
    const int *z = s->work->z + (ptrdiff_t)s->first * c->factors;
    Real *grads = s->memory + l->dparams, *din = s->memory + l->dcond_in;
    Real *d1 = s->memory + l->dcond1, *d2 = s->memory + l->dcond2;
    int width = unet_cond_in(c), rows = s->rows;
    size_t size = (size_t)rows * (size_t)c->cond;
    linear_backward(d2, grads + net->film_weight, grads + net->film_bias, s->memory + l->dfilm,
                    s->memory + l->cond2_act, params + net->film_weight, rows, c->cond, net->film);
    mish_backward(d2, d2, s->memory + l->cond2, size);
    linear_backward(d1, grads + net->cond2_weight, grads + net->cond2_bias, d2,
                    s->memory + l->cond1_act, params + net->cond2_weight, rows, c->cond, c->cond);
    mish_backward(d1, d1, s->memory + l->cond1, size);
    linear_backward(din, grads + net->cond1_weight, grads + net->cond1_bias, d1,
                    s->memory + l->cond_in, params + net->cond1_weight, rows, width, c->cond);
    for (int i = 0; i < c->factors; i++) {
        Real *dtable = grads + net->embed[i];
        memset(dtable, 0, (size_t)(c->values[i] + 1) * (size_t)c->embed * sizeof *dtable);
        embedding_backward(dtable, din + c->time_width + i * c->embed, width, z + i, c->factors,
                           rows, c->values[i], c->embed);
    }
}

static void backward_task(void *context, int index, int worker)
{
    (void)worker;
    const UnetWork *w = context;
    const Shard s = shard_of(w, index);
    const Layout *l = &w->layout;
    int last = w->net->step_count;
    size_t at = (size_t)s.first * plan_size(w), size = (size_t)s.rows * plan_size(w);
    for (int i = 0; i < last; i++) {
        const UnetStep *step = &w->net->steps[i];
        size_t width = (size_t)step->time_in * (size_t)step->in;
        memset(s.memory + l->dact[i], 0, (size_t)s.rows * width * sizeof *s.memory);
    }
    memcpy(s.memory + l->dact[last], w->dout + at, size * sizeof *w->dout);
    for (int i = last - 1; i >= 0; i--) step_backward(&s, i);
    condition_backward(&s);
    if (w->dx) memcpy(w->dx + at, s.memory + l->dact[0], size * sizeof *w->dx);
}

// ---- The sum over the shards --------------------------------------------------------------------

enum { CHUNK = 1 << 12 };

static void sum_task(void *context, int index, int worker)
{
    (void)worker;
    const UnetWork *w = context;
    size_t first = (size_t)index * CHUNK, left = w->net->table.size - first;
    size_t count = left < CHUNK ? left : CHUNK;
    Real *to = w->dparams + first;
    for (int s = 0; s < shard_count(w); s++) {
        const Real *from = w->memory + (size_t)s * w->layout.size + w->layout.dparams + first;
        if (s == 0) memcpy(to, from, count * sizeof *to);
        for (size_t i = 0; s > 0 && i < count; i++) to[i] += from[i];
    }
}

void unet_backward(Real *dparams, Real *dx, UnetWork *w, const Real *dout, FacetPool *pool)
{
    assert(w->trains && "the workspace is not for training");
    w->dout = dout;
    w->dx = dx;
    w->dparams = dparams;
    pool_for(pool, shard_count(w), backward_task, w);
    pool_for(pool, (int)((w->net->table.size + CHUNK - 1) / CHUNK), sum_task, w);
}
