// The loss of a router and its gradient (see train/router_backward.h).
#include "train/router_backward.h"

#include "nn/real.h"

// The squared error of one row, and its derivative by each weight.
static double row_loss(double *dweights, const Real *weights, const Real *branches,
                       const Real *target, int count, int size)
{
    double square = 0.0;
    for (int b = 0; b < count; b++) dweights[b] = 0.0;
    for (int i = 0; i < size; i++) {
        Real routed = 0;
        for (int b = 0; b < count; b++) routed += weights[b] * branches[(size_t)b * size + i];
        double error = (double)(routed - target[i]);
        square += error * error;
        for (int b = 0; b < count; b++)
            dweights[b] += 2.0 * error * (double)branches[(size_t)b * size + i];
    }
    return square;
}

// Through w = softmax(y): dy_b = w_b (dw_b - sum_c w_c dw_c).
static void softmax_backward(Real *dy, const double *dweights, const Real *weights, double scale,
                             int count)
{
    double mean = 0.0;
    for (int b = 0; b < count; b++) mean += (double)weights[b] * dweights[b];
    for (int b = 0; b < count; b++)
        dy[b] = (Real)(scale * (double)weights[b] * (dweights[b] - mean));
}

// Adds the gradients of one row, whose outputs before the softmax have the gradient dy.
static void add_row(Real *grads, const RouterWork *w, const Real *params, const Real *dy, int row)
{
    const Router *router = w->router;
    int inputs = router_inputs(&router->config), hidden = router->config.hidden;
    int branches = 1 + router->config.factors;
    const Real *in = w->in + (size_t)row * inputs, *before = w->hidden + (size_t)row * hidden;
    const Real *after = w->activated + (size_t)row * hidden;
    for (int b = 0; b < branches; b++) grads[router->out_bias + (size_t)b] += dy[b];
    for (int h = 0; h < hidden; h++) {
        size_t out = router->out_weight + (size_t)h * branches;
        Real value, slope, dafter = 0;
        for (int b = 0; b < branches; b++) {
            grads[out + (size_t)b] += after[h] * dy[b];
            dafter += params[out + (size_t)b] * dy[b];
        }
        mish_value_slope(&value, &slope, before[h]);
        Real dbefore = dafter * slope;
        grads[router->in_bias + (size_t)h] += dbefore;
        for (int i = 0; i < inputs; i++)
            grads[router->in_weight + (size_t)i * hidden + (size_t)h] += in[i] * dbefore;
    }
}

double router_gradients(Real *grads, RouterWork *w, const Real *params, const RouterBatch *batch,
                        int rows)
{
    const RouterConfig *c = &w->router->config;
    int size = c->horizon * c->dim, branches = 1 + c->factors;
    double square = 0.0, scale = 1.0 / ((double)rows * size);
    router_forward(w, params, batch->x, batch->t, batch->z, rows);
    memset(grads, 0, w->router->table.size * sizeof *grads);
    for (int r = 0; r < rows; r++) {
        double dweights[ROUTER_BRANCHES_MAX];
        Real dy[ROUTER_BRANCHES_MAX];
        const Real *weights = w->weights + (size_t)r * branches;
        square += row_loss(dweights, weights, batch->branches + (size_t)r * branches * size,
                           batch->target + (size_t)r * size, branches, size);
        softmax_backward(dy, dweights, weights, scale, branches);
        add_row(grads, w, params, dy, r);
    }
    return square * scale;
}
