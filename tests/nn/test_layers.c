// Every layer's backward pass and tangent against central differences in double.
#define FACET_REAL_DOUBLE
#include "certify/epilogue_tangent.h"
#include "math/gemm_packed.h"
#include "nn/derivative.h"
#include "nn/epilogue.h"
#include "nn/layers.h"
#include "nn/reference_layers.h"
#include "train/epilogue_backward.h"
#include "train/layers_backward.h"

enum { B = 2, T = 4, I = 3, O = 6, G = 2, DIRS = 3, MAX = 1024 };

// One pool of buffers: x and the parameters go in, y comes out, and the rest is for derivatives.
static double x[MAX], w[MAX], bias[MAX], gamma_[MAX], beta_[MAX], film[MAX], y[MAX];
static double dx[MAX], dw[MAX], dbias[MAX], dgamma[MAX], dbeta[MAX], dfilm[MAX], dy[MAX];
static double xhat[MAX], rstd[MAX], tx[MAX], ty[MAX], tfilm[MAX], padded[MAX], out[MAX];

static int reset(void **state)
{
    (void)state;
    double *inputs[] = {x, w, bias, gamma_, beta_, film, dy, tx, tfilm};
    for (int i = 0; i < 9; i++) fill_normal(inputs[i], MAX, (uint64_t)i);
    double *zeroed[] = {dx, dw, dbias, dgamma, dbeta, dfilm, y, padded, out};
    for (int i = 0; i < 9; i++) memset(zeroed[i], 0, sizeof x);
    return 0;
}

// ---- Convolution --------------------------------------------------------------------------------

static void conv(void *context)
{
    (void)context;
    seq_pack(padded, x, B, T, I);
    conv1d_forward(out, padded, w, bias, B, T, I, O);
    seq_unpack(y, out, B, T, O);
}

static double conv_loss(void *context)
{
    conv(context);
    return dot(dy, y, B * T * O);
}

static void conv1d_has_its_derivatives(void **state)
{
    (void)state;
    static double pdy[MAX], pdx[MAX], scratch[MAX];
    seq_pack(padded, x, B, T, I);
    seq_pack(pdy, dy, B, T, O);
    conv1d_backward_input(pdx, pdy, w, B, T, I, O);
    seq_unpack(dx, pdx, B, T, I);
    assert_true(conv1d_scratch((int)seq_rows(B, T), I, O) <= MAX);
    conv1d_backward_weight(dw, scratch, padded, pdy, (int)seq_rows(B, T), I, O);
    column_sums(dbias, dy, B * T, O);
    check_gradient("dx", x, dx, B * T * I, 1, conv_loss, NULL);
    check_gradient("dw", w, dw, 3 * I * O, 1, conv_loss, NULL);
    check_gradient("dbias", bias, dbias, O, 1, conv_loss, NULL);
    seq_pack(padded, tx, B, T, I);
    conv1d_tangent(out, padded, w, B, T, I, O);
    seq_unpack(ty, out, B, T, O);
    check_tangent("ty", x, tx, B * T * I, y, ty, B * T * O, conv, NULL);
    for (int b = 0; b <= B; b++)
        for (int o = 0; o < O; o++) assert_true(out[b * (T + 1) * O + o] == 0.0);
}

// Packed weights compute the same, on any range of rows.
static void conv1d_packed(void **state)
{
    (void)state;
    static double packed[MAX], expected[MAX];
    const int rows = (int)seq_rows(B, T);
    assert_true(gemm_packed_size(O, 3 * I) <= MAX);
    memset(bias, 0, sizeof bias);
    seq_pack(padded, x, B, T, I);
    conv1d_forward(expected, padded, w, bias, B, T, I, O);
    conv1d_pack(packed, w, I, O);
    conv1d_rows(out, padded, packed, 1, 4, I, O);
    conv1d_rows(out, padded, packed, 4, rows - 1, I, O);
    seq_clear_gaps(out, B, T, O);
    for (int i = 0; i < rows * O; i++) assert_near(out[i], expected[i], 1e-13);
}

// ---- Linear -------------------------------------------------------------------------------------

static void linear(void *context)
{
    (void)context;
    linear_forward(y, x, w, bias, B, I, O);
}

static double linear_loss(void *context)
{
    linear(context);
    return dot(dy, y, B * O);
}

static void linear_has_its_derivatives(void **state)
{
    (void)state;
    linear_backward_input(dx, dy, w, B, I, O);
    linear_backward_weight(dw, O, x, I, dy, O, B, I, O);
    column_sums(dbias, dy, B, O);
    check_gradient("dx", x, dx, B * I, 1, linear_loss, NULL);
    check_gradient("dw", w, dw, I * O, 1, linear_loss, NULL);
    check_gradient("dbias", bias, dbias, O, 1, linear_loss, NULL);
    linear_tangent(ty, tx, w, B, I, O);
    check_tangent("ty", x, tx, B * I, y, ty, B * O, linear, NULL);
}

// ---- Norms --------------------------------------------------------------------------------------

static void norm(void *context)
{
    (void)context;
    norm_forward(y, xhat, rstd, x, gamma_, beta_, B * T, O);
}

static double norm_loss(void *context)
{
    norm(context);
    return dot(dy, y, B * T * O);
}

static void norm_has_its_derivatives(void **state)
{
    (void)state;
    norm(NULL);
    norm_backward(dx, dgamma, dbeta, dy, xhat, rstd, gamma_, B * T, O);
    norm_tangent(ty, tx, xhat, rstd, gamma_, DIRS, B * T, O);
    check_gradient("dx", x, dx, B * T * O, 1, norm_loss, NULL);
    check_gradient("dgamma", gamma_, dgamma, O, 1, norm_loss, NULL);
    check_gradient("dbeta", beta_, dbeta, O, 1, norm_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + d * B * T * O, B * T * O, y, ty + d * B * T * O, B * T * O,
                      norm, NULL);
}

static void group(void *context)
{
    (void)context;
    group_norm_forward(y, xhat, rstd, x, gamma_, beta_, B, T, O, G);
}

static double group_loss(void *context)
{
    group(context);
    return dot(dy, y, B * T * O);
}

static void group_norm(void **state)
{
    (void)state;
    group(NULL);
    group_norm_backward(dx, dgamma, dbeta, dy, xhat, rstd, gamma_, B, T, O, G);
    group_norm_tangent(ty, tx, xhat, rstd, gamma_, DIRS, B, T, O, G);
    check_gradient("dx", x, dx, B * T * O, 1, group_loss, NULL);
    check_gradient("dgamma", gamma_, dgamma, O, 1, group_loss, NULL);
    check_gradient("dbeta", beta_, dbeta, O, 1, group_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + d * B * T * O, B * T * O, y, ty + d * B * T * O, B * T * O,
                      group, NULL);
}

// ---- Mish, FiLM, residual -----------------------------------------------------------------------

static void mish(void *context)
{
    (void)context;
    mish_forward(y, x, B * O);
}

static double mish_loss(void *context)
{
    mish(context);
    return dot(dy, y, B * O);
}

static void mish_has_its_derivatives(void **state)
{
    (void)state;
    for (int i = 0; i < B * O; i++) x[i] *= 4.0;
    x[0] = 30.0, x[1] = -40.0;
    mish_backward(dx, dy, x, B * O);
    mish_tangent(ty, tx, x, DIRS, B * O);
    check_gradient("dx", x, dx, B * O, 1, mish_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + d * B * O, B * O, y, ty + d * B * O, B * O, mish, NULL);
}

static void apply_film(void *context)
{
    (void)context;
    film_forward(y, x, film, B, T, O);
}

static double film_loss(void *context)
{
    apply_film(context);
    return dot(dy, y, B * T * O);
}

static void film_has_its_derivatives(void **state)
{
    (void)state;
    film_backward(dx, dfilm, dy, x, film, B, T, O);
    check_gradient("dx", x, dx, B * T * O, 1, film_loss, NULL);
    check_gradient("dfilm", film, dfilm, B * 2 * O, 1, film_loss, NULL);
    film_tangent(ty, tx, NULL, x, film, DIRS, B, T, O);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + d * B * T * O, B * T * O, y, ty + d * B * T * O, B * T * O,
                      apply_film, NULL);
    memset(tx, 0, sizeof tx);
    film_tangent(ty, tx, tfilm, x, film, DIRS, B, T, O);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty of film", film, tfilm + d * B * 2 * O, B * 2 * O, y, ty + d * B * T * O,
                      B * T * O, apply_film, NULL);
}

static void residuals_add(void **state)
{
    (void)state;
    residual_forward(y, x, w, 10);
    for (int i = 0; i < 10; i++) assert_near(y[i], x[i] + w[i], 0.0);
}

// ---- Embeddings ---------------------------------------------------------------------------------

static const int chosen[6] = {1, 0, EMBEDDING_NULL, 2, 1, 2}; // [3][2], the first column is used

static double embedding_loss(void *context)
{
    (void)context;
    memset(y, 0, sizeof y);
    embedding_forward(y, O, w, chosen, 2, 3, 3, 4);
    return dot(dy, y, 3 * O);
}

static void embedding_has_its_derivatives(void **state)
{
    (void)state;
    embedding_backward(dw, dy, O, chosen, 2, 3, 3, 4);
    check_gradient("dtable", w, dw, 4 * 4, 1, embedding_loss, NULL);
    embedding_loss(NULL);
    for (int i = 0; i < 4; i++) {
        assert_near(y[i], w[1 * 4 + i], 0.0);     // value 1
        assert_near(y[O + i], w[3 * 4 + i], 0.0); // the null row is the last
    }
}

static void embed_time(void *context)
{
    (void)context;
    time_embedding(y, 8, x, 3, 8, false);
}

static void time_embedding_has_its_derivatives(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) x[i] = 2.0 * i + 0.5;
    const double one[3] = {1.0, 1.0, 1.0};
    time_embedding(ty, 8, x, 3, 8, true);
    check_tangent("dy/dt", x, one, 3, y, ty, 24, embed_time, NULL);
    assert_near(y[8], sin(2.5), 1e-15);
    assert_near(y[8 + 3], sin(2.5e-4), 1e-15);
    assert_near(y[8 + 4], cos(2.5), 1e-15);
}

// ---- The fused epilogue equals the layers one by one --------------------------------------------

static void epilogue_case(bool with_film, bool with_residual)
{
    static double u[MAX], h[MAX], skip[MAX], m[MAX], hat[MAX], r2[MAX], scratch[O], vectors[3 * O];
    static double dense[MAX], dm[MAX], dn[MAX], du[MAX], dh[MAX], fused_dfilm[MAX], slope[MAX];
    const EpilogueParams p = {bias, gamma_, beta_};
    const int size = B * T * O;
    seq_pack(u, x, B, T, O);
    seq_pack(skip, w, B, T, O);
    epilogue_forward(h, u, rstd, p, with_film ? film : NULL, 2 * O, with_residual ? skip : NULL, 0,
                     (int)seq_rows(B, T), T, O);
    // One by one.
    for (int i = 0; i < size; i++) dense[i] = x[i] + bias[i % O];
    norm_forward(dn, hat, r2, dense, gamma_, beta_, B * T, O);
    mish_forward(m, dn, size);
    if (with_film)
        film_forward(y, m, film, B, T, O);
    else
        memcpy(y, m, sizeof m);
    if (with_residual) residual_forward(y, y, w, size);
    seq_unpack(out, h, B, T, O);
    for (int i = 0; i < size; i++) assert_near(out[i], y[i], 1e-13);
    for (int b = 0; b <= B; b++) assert_near(h[b * (T + 1) * O], 0.0, 0.0);
    // Tangent.
    for (int b = 0; b < B; b++) {
        static double th[MAX], tu[MAX];
        size_t at = seq_start(b, T) * O;
        memcpy(tu, tx + b * T * O, T * O * sizeof *tu);
        epilogue_slope(slope, u + at, p, with_film ? film + b * 2 * O : NULL, T, O);
        epilogue_tangent(th, tu, slope, u + at, rstd + b * T, with_residual ? tfilm : NULL, T, O);
        norm_tangent(dm, tx + b * T * O, hat + b * T * O, r2 + b * T, gamma_, 1, T, O);
        mish_tangent(dm, dm, dn + b * T * O, 1, T * O);
        if (with_film) film_tangent(dm, dm, NULL, m, film + b * 2 * O, 1, 1, T, O);
        if (with_residual) residual_forward(dm, dm, tfilm, T * O);
        for (int i = 0; i < T * O; i++) assert_near(th[i], dm[i], 1e-13);
    }
    // Backward.
    seq_pack(dh, dy, B, T, O);
    memset(vectors, 0, sizeof vectors);
    epilogue_backward(u, vectors, fused_dfilm, dh, rstd, p, with_film ? film : NULL, 2 * O, scratch,
                      B, T, O);
    memcpy(dm, dy, sizeof dm);
    if (with_film) film_backward(dm, dfilm, dy, m, film, B, T, O);
    mish_backward(dm, dm, dn, size);
    norm_backward(du, dgamma, dbeta, dm, hat, r2, gamma_, B * T, O);
    column_sums(dbias, du, B * T, O);
    seq_unpack(out, u, B, T, O);
    for (int i = 0; i < size; i++) assert_near(out[i], du[i], 1e-13);
    for (int i = 0; with_film && i < B * 2 * O; i++) assert_near(fused_dfilm[i], dfilm[i], 1e-13);
    for (int o = 0; o < O; o++) {
        assert_near(vectors[o], dbias[o], 1e-13);
        assert_near(vectors[O + o], dgamma[o], 1e-13);
        assert_near(vectors[2 * O + o], dbeta[o], 1e-13);
    }
}

static void epilogue_plain(void **state)
{
    (void)state;
    epilogue_case(false, false);
}

static void epilogue_film(void **state)
{
    (void)state;
    epilogue_case(true, false);
}

static void epilogue_residual(void **state)
{
    (void)state;
    epilogue_case(false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(conv1d_has_its_derivatives, reset),
        cmocka_unit_test_setup(conv1d_packed, reset),
        cmocka_unit_test_setup(linear_has_its_derivatives, reset),
        cmocka_unit_test_setup(norm_has_its_derivatives, reset),
        cmocka_unit_test_setup(group_norm, reset),
        cmocka_unit_test_setup(mish_has_its_derivatives, reset),
        cmocka_unit_test_setup(film_has_its_derivatives, reset),
        cmocka_unit_test_setup(residuals_add, reset),
        cmocka_unit_test_setup(embedding_has_its_derivatives, reset),
        cmocka_unit_test_setup(time_embedding_has_its_derivatives, reset),
        cmocka_unit_test_setup(epilogue_plain, reset),
        cmocka_unit_test_setup(epilogue_film, reset),
        cmocka_unit_test_setup(epilogue_residual, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
