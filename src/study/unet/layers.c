// The layers of the U-Net (see unet/layers.h).
#include "unet/layers.h"

#include "train/layers_backward.h"
#include "unet/unet.h"

// ---- Products -----------------------------------------------------------------------------------

static void fill_bias(Real *y, const Real *bias, int rows, int columns)
{
    for (int r = 0; r < rows; r++)
        memcpy(y + (size_t)r * (size_t)columns, bias, (size_t)columns * sizeof *y);
}

static void sum_bias(Real *dbias, const Real *dy, int rows, int columns)
{
    memset(dbias, 0, (size_t)columns * sizeof *dbias);
    column_sums(dbias, dy, rows, columns);
}

size_t unet_linear_scratch(int in, int out) { return gemm_packed_size(out, in); }

void unet_linear(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias, int rows,
                 int in, int out)
{
    fill_bias(y, bias, rows, out);
    gemm_pack(scratch, GEMM_PLAIN, w, out, in, 0, out, in);
    gemm_packed(y, out, x, in, scratch, rows, out, in, true);
}

// ---- Convolutions -------------------------------------------------------------------------------

// Where the inputs of step t of the shorter side lie on the longer one: `count` of them from step
// `first` on, the kernel's number `skip` being the first that is not in the zeros.
typedef struct Window {
    int first, skip, count;
} Window;

static Window window_of(const UnetConv *c, int t)
{
    int first = c->stride * t - (c->kernel - 1) / 2, skip = first < 0 ? -first : 0;
    int end = first + c->kernel < c->time ? first + c->kernel : c->time;
    return (Window){first + skip, skip, end - first - skip};
}

// patches [rows][time / stride][kernel][channels] of x [rows][time][channels].
static void gather(Real *patches, const Real *x, const UnetConv *c, int channels)
{
    size_t width = (size_t)channels, patch = (size_t)c->kernel * width;
    for (int r = 0; r < c->rows; r++, x += (size_t)c->time * width)
        for (int t = 0; t < c->time / c->stride; t++, patches += patch) {
            Window w = window_of(c, t);
            size_t count = (size_t)w.count * width, skip = (size_t)w.skip * width;
            memset(patches, 0, skip * sizeof *x);
            memcpy(patches + skip, x + (size_t)w.first * width, count * sizeof *x);
            memset(patches + skip + count, 0, (patch - skip - count) * sizeof *x);
        }
}

// The transpose: adds the patches to x.
static void scatter(Real *x, const Real *patches, const UnetConv *c, int channels)
{
    size_t width = (size_t)channels, patch = (size_t)c->kernel * width;
    for (int r = 0; r < c->rows; r++, x += (size_t)c->time * width)
        for (int t = 0; t < c->time / c->stride; t++, patches += patch) {
            Window w = window_of(c, t);
            Real *to = x + (size_t)w.first * width;
            const Real *from = patches + (size_t)w.skip * width;
            for (size_t i = 0; i < (size_t)w.count * width; i++) to[i] += from[i];
        }
}

static size_t patch_numbers(UnetConv c)
{
    int widest = c.in > c.out ? c.in : c.out;
    return (size_t)c.rows * (size_t)(c.time / c.stride) * (size_t)(c.kernel * widest);
}

size_t unet_conv_scratch(UnetConv c)
{
    size_t plain = gemm_packed_size(c.out, c.kernel * c.in);
    size_t up = gemm_packed_size(c.kernel * c.out, c.in);
    return patch_numbers(c) + (plain > up ? plain : up);
}

void unet_conv_forward(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias,
                       UnetConv c)
{
    int rows = c.rows * (c.time / c.stride), patch = c.kernel * c.in;
    gather(scratch, x, &c, c.in);
    unet_linear(y, scratch + patch_numbers(c), scratch, w, bias, rows, patch, c.out);
}

void unet_conv_backward(Real *dx, Real *dw, Real *dbias, Real *scratch, const Real *dy,
                        const Real *x, const Real *w, UnetConv c)
{
    int rows = c.rows * (c.time / c.stride), patch = c.kernel * c.in;
    gather(scratch, x, &c, c.in);
    linear_backward_weight(dw, c.out, scratch, patch, dy, c.out, rows, patch, c.out);
    sum_bias(dbias, dy, rows, c.out);
    linear_backward_input(scratch, dy, w, rows, patch, c.out);
    scatter(dx, scratch, &c, c.in);
}

void unet_up_forward(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias,
                     UnetConv c)
{
    int rows = c.rows * (c.time / c.stride), patch = c.kernel * c.out;
    Real *packed = scratch + patch_numbers(c);
    gemm_pack(packed, GEMM_PLAIN, w, patch, c.in, 0, patch, c.in);
    gemm_packed(scratch, patch, x, c.in, packed, rows, patch, c.in, false);
    fill_bias(y, bias, c.rows * c.time, c.out);
    scatter(y, scratch, &c, c.out);
}

void unet_up_backward(Real *dx, Real *dw, Real *dbias, Real *scratch, const Real *dy, const Real *x,
                      const Real *w, UnetConv c)
{
    int rows = c.rows * (c.time / c.stride), patch = c.kernel * c.out;
    gather(scratch, dy, &c, c.out);
    linear_backward_weight(dw, patch, x, c.in, scratch, patch, rows, c.in, patch);
    sum_bias(dbias, dy, c.rows * c.time, c.out);
    gemm_by_transposed(dx, c.in, scratch, patch, w, patch, rows, c.in, patch, true);
}

// ---- Group norm ---------------------------------------------------------------------------------

void unet_norm_forward(Real *xhat, Real *rstd, const Real *x, int rows, int time, int channels)
{
    int size = channels / UNET_GROUPS;
    Real inverse = R(1) / R(time * size);
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < UNET_GROUPS; g++) {
            size_t at = (size_t)r * (size_t)(time * channels) + (size_t)(g * size);
            const Real *from = x + at;
            Real *to = xhat + at, mean = R(0), variance = R(0);
            for (int t = 0; t < time; t++)
                for (int i = 0; i < size; i++) mean += from[t * channels + i];
            mean *= inverse;
            for (int t = 0; t < time; t++)
                for (int i = 0; i < size; i++) {
                    Real centred = from[t * channels + i] - mean;
                    to[t * channels + i] = centred;
                    variance += centred * centred;
                }
            Real scale = R(1) / real_sqrt(variance * inverse + R(1e-5));
            for (int t = 0; t < time; t++)
                for (int i = 0; i < size; i++) to[t * channels + i] *= scale;
            rstd[r * UNET_GROUPS + g] = scale;
        }
}

// dx = rstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat)), means over the group.
void unet_norm_backward(Real *dx, const Real *dxhat, const Real *xhat, const Real *rstd, int rows,
                        int time, int channels)
{
    int size = channels / UNET_GROUPS;
    Real inverse = R(1) / R(time * size);
    for (int r = 0; r < rows; r++)
        for (int g = 0; g < UNET_GROUPS; g++) {
            size_t at = (size_t)r * (size_t)(time * channels) + (size_t)(g * size);
            const Real *d = dxhat + at, *hat = xhat + at;
            Real *to = dx + at, mean = R(0), along = R(0), scale = rstd[r * UNET_GROUPS + g];
            for (int t = 0; t < time; t++)
                for (int i = 0; i < size; i++) {
                    mean += d[t * channels + i];
                    along += d[t * channels + i] * hat[t * channels + i];
                }
            mean *= inverse;
            along *= inverse;
            for (int t = 0; t < time; t++)
                for (int i = 0; i < size; i++) {
                    int k = t * channels + i;
                    to[k] = scale * (d[k] - mean - hat[k] * along);
                }
        }
}

// ---- A unit -------------------------------------------------------------------------------------

static void affine(Real *y, const Real *xhat, const Real *gamma, const Real *beta, int rows,
                   int channels)
{
    for (int r = 0; r < rows; r++, y += channels, xhat += channels)
        for (int i = 0; i < channels; i++) y[i] = gamma[i] * xhat[i] + beta[i];
}

// From the gradient of gamma xhat + beta, in place, to that of xhat.
static void affine_backward(Real *d, Real *dgamma, Real *dbeta, const Real *xhat, const Real *gamma,
                            int rows, int channels)
{
    memset(dgamma, 0, (size_t)channels * sizeof *dgamma);
    memset(dbeta, 0, (size_t)channels * sizeof *dbeta);
    for (int r = 0; r < rows; r++, d += channels, xhat += channels)
        for (int i = 0; i < channels; i++) {
            dgamma[i] += d[i] * xhat[i];
            dbeta[i] += d[i];
            d[i] *= gamma[i];
        }
}

static void film_forward(Real *y, UnetFilm film, const UnetConv *c)
{
    for (int r = 0; r < c->rows; r++) {
        const Real *scale = film.values + (size_t)r * (size_t)film.stride, *shift = scale + c->out;
        for (int t = 0; t < c->time; t++, y += c->out)
            for (int i = 0; i < c->out; i++) y[i] = y[i] * (R(1) + scale[i]) + shift[i];
    }
}

// dm, and into film.grads the gradients of scale and shift.
static void film_backward(Real *dm, const Real *dy, const Real *m, UnetFilm film, const UnetConv *c)
{
    for (int r = 0; r < c->rows; r++) {
        const Real *scale = film.values + (size_t)r * (size_t)film.stride;
        Real *dscale = film.grads + (size_t)r * (size_t)film.stride, *dshift = dscale + c->out;
        memset(dscale, 0, 2 * (size_t)c->out * sizeof *dscale);
        for (int t = 0; t < c->time; t++, dm += c->out, dy += c->out, m += c->out)
            for (int i = 0; i < c->out; i++) {
                dscale[i] += dy[i] * m[i];
                dshift[i] += dy[i];
                dm[i] = dy[i] * (R(1) + scale[i]);
            }
    }
}

size_t unet_unit_scratch(UnetConv c)
{
    return unet_conv_scratch(c) + 3 * (size_t)(c.rows * c.time) * (size_t)c.out;
}

void unet_unit_forward(Real *y, Real *xhat, Real *rstd, Real *scratch, const Real *x,
                       UnetUnitParams params, UnetFilm film, UnetConv c)
{
    int steps = c.rows * c.time;
    unet_conv_forward(xhat, scratch, x, params.weight, params.bias, c);
    unet_norm_forward(xhat, rstd, xhat, c.rows, c.time, c.out);
    affine(y, xhat, params.gamma, params.beta, steps, c.out);
    mish_forward(y, y, (size_t)steps * (size_t)c.out);
    if (film.values) film_forward(y, film, &c);
}

void unet_unit_backward(Real *dx, UnetUnitGrads grads, Real *scratch, const Real *dy, const Real *x,
                        const Real *xhat, const Real *rstd, UnetUnitParams params, UnetFilm film,
                        UnetConv c)
{
    int steps = c.rows * c.time;
    size_t size = (size_t)steps * (size_t)c.out;
    Real *before = scratch, *after = before + size, *d = after + size, *patches = d + size;
    affine(before, xhat, params.gamma, params.beta, steps, c.out);
    if (film.values) {
        mish_forward(after, before, size);
        film_backward(d, dy, after, film, &c);
    }
    mish_backward(d, film.values ? d : dy, before, size);
    affine_backward(d, grads.gamma, grads.beta, xhat, params.gamma, steps, c.out);
    unet_norm_backward(d, d, xhat, rstd, c.rows, c.time, c.out);
    unet_conv_backward(dx, grads.weight, grads.bias, patches, d, x, params.weight, c);
}
