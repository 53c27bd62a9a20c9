// The score network linearised (see certify/score_linear.h).
#include "certify/score_linear.h"

#include "certify/epilogue_tangent.h"

size_t score_slopes_size(const ScoreNet *net, int rows)
{
    const ScoreNetConfig *c = &net->config;
    return (size_t)rows * (2 * c->blocks + 1) * c->horizon * c->channels;
}

// The slopes of unit u (the head is the last unit) at row r.
static Real *slope_of(const ScoreLinear *linear, int r, int u)
{
    const ScoreNetConfig *c = &linear->work->net->config;
    return linear->slope + ((size_t)r * (2 * c->blocks + 1) + u) * c->horizon * c->channels;
}

static void slope_task(void *context, int r, int worker)
{
    (void)worker;
    const ScoreLinear *linear = context;
    const ScoreWork *w = linear->work;
    const ScoreNetConfig *c = &w->net->config;
    size_t at = work_sample(w, r) * c->channels;
    for (int u = 0; u < 2 * c->blocks; u++) {
        const Real *film = w->film + ((size_t)r * c->blocks + u / 2) * 2 * c->channels;
        epilogue_slope(slope_of(linear, r, u), w->hat[u] + at, unit_params(w, u),
                       u % 2 ? NULL : film, c->horizon, c->channels);
    }
    epilogue_slope(slope_of(linear, r, 2 * c->blocks), w->head_hat + at, head_params(w), NULL,
                   c->horizon, c->channels);
}

void score_linearise(const ScoreLinear *linear, FacetPool *pool)
{
    ScoreLinear context = *linear;
    pool_for(pool, linear->work->rows, slope_task, &context);
}

void score_unit_tangent(Real *th, Real *tu, const ScoreLinear *linear, int u, const Real *residual,
                        const int *row_of, int n, Window window)
{
    const ScoreWork *w = linear->work;
    const ScoreNetConfig *c = &w->net->config;
    const Real *hat = u < 2 * c->blocks ? w->hat[u] : w->head_hat;
    for (int d = 0; d < n; d++) {
        int r = row_of[d];
        size_t at = seq_start(d, window.count) * c->channels;
        epilogue_tangent(th + at, tu + at,
                         slope_of(linear, r, u) + (size_t)window.first * c->channels,
                         hat + (work_sample(w, r) + (size_t)window.first) * c->channels,
                         w->rstd[u] + (size_t)r * c->horizon + window.first,
                         residual ? residual + at : NULL, window.count, c->channels);
    }
    seq_clear_gaps(th, n, window.count, c->channels);
}
