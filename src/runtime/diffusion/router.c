// The router's shape and its forward pass (see diffusion/router.h).
#include "diffusion/router.h"

#include "nn/layers.h"

#include <stdlib.h>

// u of one row.
static void lay_input(Real *in, const RouterConfig *c, const Real *x, Real t, const int *z)
{
    Real *means = in, *squares = in + c->dim;
    for (int d = 0; d < c->dim; d++) {
        Real sum = 0, square = 0;
        for (int k = 0; k < c->horizon; k++) {
            Real value = x[k * c->dim + d];
            sum += value;
            square += value * value;
        }
        means[d] = sum / (Real)c->horizon;
        squares[d] = square / (Real)c->horizon;
    }
    in += 2 * c->dim;
    time_embedding(in, c->time_width, &t, 1, c->time_width, false);
    in += c->time_width;
    for (int f = 0; f < c->factors; f++) {
        for (int v = 0; v < c->values[f]; v++) in[v] = (Real)(v == z[f]);
        in += c->values[f];
    }
}

// y = x w + bias of one row.
static void affine(Real *y, const Real *x, const Real *w, const Real *bias, int in, int out)
{
    memcpy(y, bias, (size_t)out * sizeof *y);
    for (int i = 0; i < in; i++)
        for (int o = 0; o < out; o++) y[o] += x[i] * w[(size_t)i * (size_t)out + (size_t)o];
}

static void softmax(Real *y, int size)
{
    Real most = y[0], sum = 0;
    for (int i = 1; i < size; i++) most = y[i] > most ? y[i] : most;
    for (int i = 0; i < size; i++) {
        y[i] = real_exp(y[i] - most);
        sum += y[i];
    }
    for (int i = 0; i < size; i++) y[i] /= sum;
}

void router_forward(RouterWork *w, const Real *params, const Real *x, const Real *t, const int *z,
                    int rows)
{
    const Router *router = w->router;
    const RouterConfig *c = &router->config;
    int inputs = router_inputs(c), branches = 1 + c->factors;
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r;
        Real *in = w->in + row * (size_t)inputs, *hidden = w->hidden + row * (size_t)c->hidden;
        Real *activated = w->activated + row * (size_t)c->hidden;
        Real *weights = w->weights + row * (size_t)branches;
        lay_input(in, c, x + row * (size_t)(c->horizon * c->dim), t[r], z + r * c->factors);
        affine(hidden, in, params + router->in_weight, params + router->in_bias, inputs, c->hidden);
        mish_forward(activated, hidden, (size_t)c->hidden);
        affine(weights, activated, params + router->out_weight, params + router->out_bias,
               c->hidden, branches);
        softmax(weights, branches);
    }
}

FacetStatus router_work_create(RouterWork **out, const Router *router, int rows)
{
    const RouterConfig *c = &router->config;
    size_t inputs = (size_t)rows * (size_t)router_inputs(c);
    size_t hidden = (size_t)rows * (size_t)c->hidden;
    size_t branches = (size_t)rows * (size_t)(1 + c->factors);
    RouterWork *w = *out = calloc(1, sizeof *w);
    Real *memory = calloc(inputs + 2 * hidden + branches, sizeof *memory);
    if (!w || !memory) {
        free(memory);
        free(w);
        *out = NULL;
        return status_fail(FACET_NO_MEMORY, "out of memory for the router");
    }
    *w = (RouterWork){router, memory, memory + inputs, memory + inputs + hidden,
                      memory + inputs + 2 * hidden};
    return status_ok();
}

void router_work_free(RouterWork *work)
{
    if (!work) return;
    free(work->in);
    free(work);
}

#ifndef FACET_REAL_DOUBLE

int router_inputs(const RouterConfig *c)
{
    int inputs = 2 * c->dim + c->time_width;
    for (int f = 0; f < c->factors; f++) inputs += c->values[f];
    return inputs;
}

static FacetStatus expect(const char *what, int found, int low, int high)
{
    if (found >= low && found <= high) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT, "router: expected %s from %d to %d, found %d", what, low,
                       high, found);
}

static FacetStatus check(const RouterConfig *c)
{
    TRY(expect("a horizon", c->horizon, 1, 4096));
    TRY(expect("numbers a step", c->dim, 1, 1024));
    TRY(expect("a width", c->hidden, 1, 4096));
    TRY(expect("factors", c->factors, 1, SCORE_FACTORS_MAX));
    for (int f = 0; f < c->factors; f++) TRY(expect("values of a factor", c->values[f], 1, 4096));
    TRY(expect("a time embedding width", c->time_width, 4, 4096));
    if (c->time_width % 2 == 0) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "router: expected an even time embedding width, found %d", c->time_width);
}

static FacetStatus declare_all(Router *router)
{
    const RouterConfig *c = &router->config;
    TensorDeclare d = {&router->table, status_ok()};
    int inputs = router_inputs(c), branches = 1 + c->factors;
    router->in_weight = tensor_declare(&d, "router.0.weight", inputs, c->hidden, 0, INIT_UNIFORM,
                                       1.0 / sqrt((double)inputs), true);
    router->in_bias =
        tensor_declare(&d, "router.0.bias", c->hidden, 0, 0, INIT_CONSTANT, 0.0, false);
    router->out_weight =
        tensor_declare(&d, "router.1.weight", c->hidden, branches, 0, INIT_CONSTANT, 0.0, true);
    router->out_bias =
        tensor_declare(&d, "router.1.bias", branches, 0, 0, INIT_CONSTANT, 0.0, false);
    return d.status;
}

FacetStatus router_create(Router **out, RouterConfig config)
{
    *out = NULL;
    TRY(check(&config));
    Router *router = calloc(1, sizeof *router);
    if (!router) return status_fail(FACET_NO_MEMORY, "out of memory for the router");
    router->config = config;
    FacetStatus status = declare_all(router);
    if (!status.ok) {
        router_free(router);
        return status;
    }
    *out = router;
    return status_ok();
}

void router_free(Router *router)
{
    if (!router) return;
    tensor_table_free(&router->table);
    free(router);
}

#endif
