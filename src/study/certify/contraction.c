// Rate, metric and constants of a linear system along its path (see certify/contraction.h).
#include "certify/contraction.h"

#include "base/status.h"
#include "linalg/gemm.h"
#include "linalg/spectrum.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SQUARE_MAX = LOOP_STATES_MAX * LOOP_STATES_MAX,
    BEYOND = 300, // repetitions of the last step beyond the end
};

static const double REGULAR = 1e-6;   // r: a unit of any error counts as at least 1 mm
static const double METRIC_MAX = 1e8; // a metric that grows past this has no use

// ---- Small matrices -----------------------------------------------------------------------------

// P = L L^T with L lower triangular; false when P is not positive definite.
static bool cholesky(double *l, const double *p, int n)
{
    memset(l, 0, (size_t)n * (size_t)n * sizeof *l);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = p[i * n + j];
            for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0.0)) return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return true;
}

// x [n][m] <- L^-1 x
static void solve_lower(double *x, const double *l, int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = x[i * m + j];
            for (int k = 0; k < i; k++) sum -= l[i * n + k] * x[k * m + j];
            x[i * m + j] = sum / l[i * n + i];
        }
}

static void transpose(double *out, const double *in, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) out[j * rows + i] = in[i * columns + j];
}

static void multiply(double *out, GemmOp op_a, const double *a, GemmOp op_b, const double *b, int m,
                     int n, int k)
{
    linalg_gemm_f64(out, n, op_a, a, op_a == GEMM_PLAIN ? k : m, op_b, b,
                    op_b == GEMM_PLAIN ? n : k, m, n, k, 0.0);
}

static double largest(const double *symmetric, int n)
{
    double scratch[2 * SQUARE_MAX + 4 * LOOP_STATES_MAX];
    assert(spectrum_scratch(n) <= sizeof scratch / sizeof *scratch);
    return symmetric_largest(symmetric, scratch, n);
}

// ---- Strides ------------------------------------------------------------------------------------

// What e at step k + 1, ..., steps follows from: e_k = A e_{k - stride} + B da + w, or B da + w
// alone while k < stride.
typedef struct Strides {
    int steps, states, draws, stride;
    double *a;   // [steps + 1][n][n], zero for k < stride
    double *bbt; // [steps + 1][n][n], B B^T
    double *w;   // [steps + 1][draws][n]
} Strides;

static void strides_free(Strides *strides)
{
    free(strides->a);
    free(strides->bbt);
    free(strides->w);
}

// x <- A x for x [n][m]
static void carry(double *x, double *scratch, const double *a, int n, int m)
{
    multiply(scratch, GEMM_PLAIN, a, GEMM_PLAIN, x, n, m, n);
    memcpy(x, scratch, (size_t)(n * m) * sizeof *x);
}

// The stride that ends at step k. b and scratch are [n][max(n, inputs)].
static void fill_stride(Strides *strides, const LinearLoop *loop, double *b, double *scratch, int k)
{
    int n = loop->states, m = loop->inputs;
    size_t square = (size_t)n * (size_t)n;
    int from = k >= loop->stride ? k - loop->stride : 0;
    double *a = strides->a + (size_t)k * square;
    double *w = strides->w + (size_t)(k * loop->draws * n);
    memset(b, 0, (size_t)(n * m) * sizeof *b);
    for (int i = 0; i < n && k >= loop->stride; i++) a[i * n + i] = 1.0;
    for (int j = from; j < k; j++) {
        const double *step = loop->a + (size_t)j * square;
        if (k >= loop->stride) carry(a, scratch, step, n, n);
        if (m > 0) carry(b, scratch, step, n, m);
        for (int i = 0; i < n * m; i++) b[i] += loop->b[(size_t)j * (size_t)(n * m) + (size_t)i];
        for (int d = 0; d < loop->draws; d++) {
            const double *push =
                loop->w + ((size_t)j * (size_t)loop->draws + (size_t)d) * (size_t)n;
            carry(w + d * n, scratch, step, n, 1);
            for (int i = 0; i < n; i++) w[d * n + i] += push[i];
        }
    }
    if (m > 0)
        multiply(strides->bbt + (size_t)k * square, GEMM_PLAIN, b, GEMM_TRANSPOSED, b, n, n, m);
}

static FacetStatus strides_create(Strides *strides, const LinearLoop *loop)
{
    size_t n = (size_t)loop->states, marks = (size_t)loop->steps + 1;
    size_t wide = (size_t)(loop->inputs > loop->states ? loop->inputs : loop->states);
    *strides = (Strides){loop->steps, loop->states, loop->draws, loop->stride, NULL, NULL, NULL};
    strides->a = calloc(marks * n * n, sizeof *strides->a);
    strides->bbt = calloc(marks * n * n, sizeof *strides->bbt);
    strides->w = calloc(marks * (size_t)loop->draws * n + 1, sizeof *strides->w);
    double *room = calloc(2 * n * wide, sizeof *room);
    bool all = strides->a && strides->bbt && strides->w && room;
    for (int k = 1; k <= loop->steps && all; k++)
        fill_stride(strides, loop, room, room + n * wide, k);
    free(room);
    return all ? status_ok()
               : status_fail(FACET_NO_MEMORY, "out of memory for %d linear steps", loop->steps);
}

// ---- The metric for one rate --------------------------------------------------------------------

// P = C^T C + r I + lambda^-2 A^T next A
static void step_back(double *p, const double *c, const double *a, const double *next,
                      double lambda, int n, int outputs)
{
    double pa[SQUARE_MAX], apa[SQUARE_MAX];
    multiply(pa, GEMM_PLAIN, next, GEMM_PLAIN, a, n, n, n);
    multiply(apa, GEMM_TRANSPOSED, a, GEMM_PLAIN, pa, n, n, n);
    multiply(p, GEMM_TRANSPOSED, c, GEMM_PLAIN, c, n, n, outputs);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double mean = 0.5 * (apa[i * n + j] + apa[j * n + i]) / (lambda * lambda);
            p[i * n + j] = p[j * n + i] = p[i * n + j] + mean + (i == j ? REGULAR : 0.0);
        }
}

static double trace(const double *p, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += p[i * n + i];
    return sum;
}

// Every P_k, unscaled; false when the metric grows past all use.
static bool fill_metric(double *metric, const LinearLoop *loop, const Strides *strides,
                        double lambda)
{
    int n = loop->states, last = loop->steps;
    size_t square = (size_t)n * (size_t)n, output = (size_t)loop->outputs * (size_t)n;
    const double *a_last = strides->a + (size_t)last * square;
    double beyond[SQUARE_MAX] = {0.0}, before[SQUARE_MAX];
    for (int i = 0; i < BEYOND; i++) {
        step_back(before, loop->c + (size_t)last * output, a_last, beyond, lambda, n,
                  loop->outputs);
        bool grows = !(trace(before, n) < METRIC_MAX);
        if (grows) memset(before, 0, sizeof before); // repeated, the last stride does not contract
        memcpy(beyond, before, sizeof beyond);
        if (grows) break;
    }
    for (int k = last; k >= 0; k--) {
        bool inside = k + loop->stride <= last;
        double *p = metric + (size_t)k * square;
        step_back(p, loop->c + (size_t)k * output,
                  inside ? strides->a + (size_t)(k + loop->stride) * square : a_last,
                  inside ? p + (size_t)loop->stride * square : beyond, lambda, n, loop->outputs);
        if (!(trace(p, n) < METRIC_MAX)) return false;
    }
    return true;
}

// max |C e|^2 / |e|_P^2
static double output_square(const double *l, const double *c, int n, int outputs)
{
    double x[LOOP_STATES_MAX * LOOP_OUTPUTS_MAX], gram[LOOP_OUTPUTS_MAX * LOOP_OUTPUTS_MAX];
    transpose(x, c, outputs, n);
    solve_lower(x, l, n, outputs);
    multiply(gram, GEMM_TRANSPOSED, x, GEMM_PLAIN, x, outputs, outputs, n);
    return largest(gram, outputs);
}

// max |B d|_P^2 / |d|^2 from b b^T
static double input_square(const double *l, const double *bbt, int n)
{
    double bl[SQUARE_MAX], lbl[SQUARE_MAX];
    multiply(bl, GEMM_PLAIN, bbt, GEMM_PLAIN, l, n, n, n);
    multiply(lbl, GEMM_TRANSPOSED, l, GEMM_PLAIN, bl, n, n, n);
    return largest(lbl, n);
}

// max |A e|_next^2 / |e|_P^2
static double ratio_square(const double *l, const double *a, const double *next, int n)
{
    double pa[SQUARE_MAX], apa[SQUARE_MAX], x[SQUARE_MAX];
    multiply(pa, GEMM_PLAIN, next, GEMM_PLAIN, a, n, n, n);
    multiply(apa, GEMM_TRANSPOSED, a, GEMM_PLAIN, pa, n, n, n);
    solve_lower(apa, l, n, n);
    transpose(x, apa, n, n);
    solve_lower(x, l, n, n);
    return largest(x, n);
}

static double length_square(const double *p, const double *e, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += e[i] * p[i * n + j] * e[j];
    return sum;
}

// Scales the metric to |y| <= |e|_P and reads the constants off it.
static bool measure(Contraction *out, const LinearLoop *loop, const Strides *strides, double lambda)
{
    int n = loop->states;
    size_t square = (size_t)n * (size_t)n;
    if (!fill_metric(out->metric, loop, strides, lambda)) return false;
    double output = 0.0, input = 0.0, push = 0.0, l[SQUARE_MAX];
    for (int k = 0; k <= loop->steps; k++) {
        const double *p = out->metric + (size_t)k * square;
        const double *w = strides->w + (size_t)(k * loop->draws * n);
        if (!cholesky(l, p, n)) return false;
        output =
            fmax(output, output_square(l, loop->c + (size_t)k * (size_t)loop->outputs * (size_t)n,
                                       n, loop->outputs));
        input = fmax(input, input_square(l, strides->bbt + (size_t)k * square, n));
        for (int d = 0; d < loop->draws; d++) push = fmax(push, length_square(p, w + d * n, n));
    }
    for (size_t i = 0; i < (size_t)(loop->steps + 1) * square; i++) out->metric[i] *= output;
    out->constants = (FacetTubeConstants){lambda, sqrt(output * input), sqrt(output * push)};
    return isfinite(output * input) && isfinite(output * push);
}

// ---- The best rate ------------------------------------------------------------------------------

// The constant part of the tube that the choice of rate is to make small.
static double tube_of(const LinearLoop *loop, FacetTubeConstants constants)
{
    double push = loop->inputs > 0 ? constants.b_kappa : constants.w;
    return push / (1.0 - constants.lambda);
}

// The rate of least tube among from, from + step, ... below to; 0 when none has a metric.
static double best_rate(Contraction *out, const LinearLoop *loop, const Strides *strides,
                        double from, double to, double step)
{
    double best = 0.0, least = INFINITY;
    int count = (int)((to - from) / step + 0.5);
    for (int i = 0; i < count; i++) {
        double lambda = from + i * step;
        if (lambda <= 0.0 || lambda >= 1.0 || !measure(out, loop, strides, lambda)) continue;
        double tube = tube_of(loop, out->constants);
        if (tube < least) least = tube, best = lambda;
    }
    return best;
}

// Checks of the metric that was found: its worst ratio, and the entry of an output's error.
static void verify(Contraction *out, const LinearLoop *loop, const Strides *strides)
{
    int n = loop->states;
    size_t square = (size_t)n * (size_t)n;
    double l[SQUARE_MAX], cp[SQUARE_MAX], cpc[SQUARE_MAX];
    out->ratio = out->entry = 0.0;
    for (int k = 0; k <= loop->steps; k++) {
        const double *p = out->metric + (size_t)k * square;
        const double *c = loop->c + (size_t)k * (size_t)loop->outputs * (size_t)n;
        multiply(cp, GEMM_PLAIN, c, GEMM_PLAIN, p, loop->outputs, n, n);
        multiply(cpc, GEMM_PLAIN, cp, GEMM_TRANSPOSED, c, loop->outputs, loop->outputs, n);
        out->entry = fmax(out->entry, sqrt(largest(cpc, loop->outputs)));
        int to = k + loop->stride;
        if (to > loop->steps) continue;
        bool positive = cholesky(l, p, n);
        assert(positive && "measured before");
        (void)positive;
        out->ratio = fmax(out->ratio, sqrt(ratio_square(l, strides->a + (size_t)to * square,
                                                        out->metric + (size_t)to * square, n)));
    }
}

// max_k ||C_k G_k||_2 with G_{k+1} = A_k G_k + B_k, G_0 = 0. g and next are [states][inputs].
static double gain_of(const LinearLoop *loop, double *g, double *next)
{
    int n = loop->states, m = loop->inputs;
    double gain = 0.0, gram[SQUARE_MAX], cg[SQUARE_MAX], cgc[SQUARE_MAX];
    memset(g, 0, (size_t)(n * m) * sizeof *g);
    for (int k = 0; k < loop->steps; k++) {
        multiply(next, GEMM_PLAIN, loop->a + (size_t)k * (size_t)n * (size_t)n, GEMM_PLAIN, g, n, m,
                 n);
        for (int i = 0; i < n * m; i++)
            g[i] = next[i] + loop->b[(size_t)k * (size_t)(n * m) + (size_t)i];
        const double *c = loop->c + (size_t)(k + 1) * (size_t)loop->outputs * (size_t)n;
        multiply(gram, GEMM_PLAIN, g, GEMM_TRANSPOSED, g, n, n, m);
        multiply(cg, GEMM_PLAIN, c, GEMM_PLAIN, gram, loop->outputs, n, n);
        multiply(cgc, GEMM_PLAIN, cg, GEMM_TRANSPOSED, c, loop->outputs, loop->outputs, n);
        gain = fmax(gain, sqrt(fmax(largest(cgc, loop->outputs), 0.0)));
    }
    return gain;
}

static void find(Contraction *out, const LinearLoop *loop, const Strides *strides, double *g)
{
    double lambda = best_rate(out, loop, strides, 0.05, 1.0, 0.05);
    if (lambda > 0.0) lambda = best_rate(out, loop, strides, lambda - 0.04, lambda + 0.05, 0.01);
    if (lambda > 0.0) lambda = best_rate(out, loop, strides, lambda - 0.008, lambda + 0.01, 0.002);
    out->contracts = lambda > 0.0 && measure(out, loop, strides, lambda);
    if (out->contracts)
        verify(out, loop, strides);
    else
        out->constants = (FacetTubeConstants){1.0, INFINITY, INFINITY};
    if (loop->inputs > 0) out->gain = gain_of(loop, g, g + (size_t)(loop->states * loop->inputs));
}

FacetStatus contraction_find(Contraction *out, const LinearLoop *loop)
{
    assert(loop->steps > 0 && loop->states <= LOOP_STATES_MAX);
    assert(loop->outputs <= LOOP_OUTPUTS_MAX && loop->outputs > 0);
    assert(loop->stride > 0 && loop->stride <= loop->steps);
    size_t square = (size_t)loop->states * (size_t)loop->states;
    Strides strides;
    *out = (Contraction){.steps = loop->steps, .states = loop->states};
    out->metric = calloc((size_t)(loop->steps + 1) * square, sizeof *out->metric);
    double *g = calloc((size_t)(2 * loop->states * loop->inputs) + 1, sizeof *g);
    FacetStatus status = strides_create(&strides, loop);
    if (!out->metric || !g) status = status_fail(FACET_NO_MEMORY, "out of memory for a metric");
    if (status.ok) find(out, loop, &strides, g);
    strides_free(&strides);
    free(g);
    if (!status.ok) contraction_free(out);
    return status;
}

void contraction_free(Contraction *contraction)
{
    free(contraction->metric);
    contraction->metric = NULL;
}

double contraction_length(const Contraction *contraction, const double *e, int k)
{
    int n = contraction->states;
    return sqrt(
        fmax(length_square(contraction->metric + (size_t)k * (size_t)n * (size_t)n, e, n), 0.0));
}
