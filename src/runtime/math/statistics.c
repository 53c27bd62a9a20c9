// Statistics of counts and of a few numbers (see statistics.h).
//
// Wilson (1927): (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), with z = 1.96.
// Clopper and Pearson (1934): P(X >= k; n, p) = I_p(k, n - k + 1), the regularised incomplete beta
// function, grows with p, and the bound is where it is 1 - confidence.
#include "math/statistics.h"

#include "math/geometry.h"

#include <assert.h>
#include <stdlib.h>

Interval wilson_interval(int passed, int count)
{
    const double z = 1.959963984540054;
    if (count <= 0) return (Interval){0.0, 1.0};
    double n = count, p = passed / n, z2 = z * z;
    double middle = p + z2 / (2.0 * n);
    double reach = z * sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    double scale = 1.0 / (1.0 + z2 / n);
    return (Interval){clamp(scale * (middle - reach), 0.0, 1.0),
                      clamp(scale * (middle + reach), 0.0, 1.0)};
}

// The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8), evaluated from the front by
// Lentz's method. It converges fast for x below (a + 1)/(a + b + 2).
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), value;
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    value = d;
    for (int m = 1; m <= 100000; m++) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        double before = value;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1.0 + term * d;
            c = 1.0 + term / c;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            if (fabs(c) < tiny) c = tiny;
            value *= c * d;
        }
        if (fabs(value - before) <= 1e-16 * fabs(value)) break;
    }
    return value;
}

// log Gamma, by its asymptotic series from 20 on and by recurrence below. (The library's own may
// write to a global, which threads share.)
static double log_gamma(double x)
{
    double shift = 0.0;
    for (; x < 20.0; x += 1.0) shift += log(x);
    double r = 1.0 / x, r2 = r * r;
    double series =
        r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0))));
    return (x - 0.5) * log(x) - x + 0.5 * log(2.0 * FACET_PI) + series - shift;
}

double incomplete_beta(double x, double a, double b)
{
    assert(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0);
    if (x == 0.0 || x == 1.0) return x;
    double log_front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x);
    if (x < (a + 1.0) / (a + b + 2.0)) return exp(log_front) * beta_fraction(x, a, b) / a;
    return 1.0 - exp(log_front) * beta_fraction(1.0 - x, b, a) / b;
}

double clopper_pearson_lower(int passed, int count, double confidence)
{
    assert(passed >= 0 && passed <= count && confidence > 0.0 && confidence < 1.0);
    if (passed == 0) return 0.0;
    double low = 0.0, high = 1.0;
    for (;;) { // down to neighbouring numbers; the lower one errs on the safe side
        double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) return low;
        if (incomplete_beta(middle, passed, count - passed + 1.0) <= 1.0 - confidence)
            low = middle;
        else
            high = middle;
    }
}

// ---- A few numbers ------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Summary summarise(double *values, int count)
{
    Summary out = {0};
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < count; i++)
        if (isfinite(values[i])) sum += values[out.count++] = values[i];
    int n = out.count;
    if (n == 0) return (Summary){0, nan(""), nan(""), nan(""), nan(""), nan("")};
    out.mean = sum / n;
    for (int i = 0; i < n; i++) squares += (values[i] - out.mean) * (values[i] - out.mean);
    out.deviation = n > 1 ? sqrt(squares / (n - 1)) : nan("");
    qsort(values, (size_t)n, sizeof *values, ascending);
    out.least = values[0];
    out.median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
    out.most = values[n - 1];
    return out;
}
