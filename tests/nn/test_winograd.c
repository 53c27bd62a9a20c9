// Winograd's convolutions against plain ones, in double: the same algebra, for sequences of any
// length and with dilations, and bits that do not depend on how the work is shared out.
#define FACET_REAL_DOUBLE
#include "math/gemm_packed.h"
#include "nn/derivative.h"
#include "nn/reference_layers.h"
#include "nn/winograd.h"

enum { B = 3, IN = 5, OUT = 37, LONGEST = 11, MAX = 40000 };

static double x[MAX], w[MAX], bias[MAX], dy[MAX], padded[MAX], padded_dy[MAX];
static double expected[MAX], found[MAX], packed[MAX], scratch[MAX];

static int reset(void **state)
{
    (void)state;
    fill_normal(x, MAX, 0);
    fill_normal(w, MAX, 1);
    fill_normal(dy, MAX, 2);
    memset(bias, 0, sizeof bias);
    assert_true(winograd_packed_size(IN, OUT) <= MAX);
    assert_true(winograd_packed_size(OUT, IN) <= MAX);
    assert_true(winograd_gradient_scratch(IN, OUT) <= MAX);
    return 0;
}

// Rows of the samples; the zero rows between them are nobody's.
static void assert_same_samples(int time, int channels, double tolerance)
{
    for (int b = 0; b < B; b++)
        for (int i = 0; i < time * channels; i++) {
            size_t at = seq_start(b, time) * (size_t)channels + (size_t)i;
            assert_near(found[at], expected[at], tolerance);
        }
}

static void a_convolution_is_the_plain_one(void **state)
{
    (void)state;
    for (int time = 1; time <= LONGEST; time++) {
        seq_pack(padded, x, B, time, IN);
        conv1d_forward(expected, padded, w, bias, B, time, IN, OUT);
        winograd_pack(packed, w, IN, OUT);
        winograd_conv(found, scratch, padded, packed, B, time, 1, IN, OUT, false);
        assert_same_samples(time, OUT, 1e-12);
    }
}

// With any dilation, also one that leaves some of the interleaved sequences shorter than others, or
// empty.
static void a_dilated_convolution_is_the_plain_one(void **state)
{
    (void)state;
    winograd_pack(packed, w, IN, OUT);
    for (int time = 1; time <= LONGEST; time++)
        for (int dilation = 1; dilation <= LONGEST + 1; dilation++) {
            seq_pack(padded, x, B, time, IN);
            conv1d_dilated(expected, padded, w, B, time, dilation, IN, OUT);
            winograd_conv(found, scratch, padded, packed, B, time, dilation, IN, OUT, false);
            assert_same_samples(time, OUT, 1e-12);
        }
}

// Every step belongs to one tile.
static void tiles_cover_a_sequence_once(void **state)
{
    (void)state;
    for (int time = 1; time <= 40; time++)
        for (int dilation = 1; dilation <= 12; dilation++) {
            int times[40] = {0};
            for (int tile = 0; tile < winograd_tiles(time, dilation); tile++)
                for (int i = 0; i < winograd_steps(tile, time, dilation); i++)
                    times[winograd_first(tile, time, dilation) + i * dilation]++;
            for (int t = 0; t < time; t++) assert_int_equal(times[t], 1);
        }
    assert_int_equal(winograd_tiles(32, 8), winograd_tiles(32, 1)); // no more work
}

// The transposed convolution and the sums of products, by plain loops.
static void dilated_gradients_are_the_plain_ones(void **state)
{
    (void)state;
    static double dw[MAX];
    winograd_pack_backward(packed, w, IN, OUT);
    for (int time = 1; time <= LONGEST; time += 2)
        for (int dilation = 2; dilation <= 5; dilation++) {
            seq_pack(padded, x, B, time, IN);
            seq_pack(padded_dy, dy, B, time, OUT);
            memset(expected, 0, sizeof expected);
            memset(dw, 0, sizeof dw);
            for (int b = 0; b < B; b++)
                for (int t = 0; t < time; t++)
                    for (int k = 0; k < 3; k++) {
                        int from = t + (k - 1) * dilation;
                        if (from < 0 || from >= time) continue;
                        size_t in = (seq_start(b, time) + (size_t)from) * IN;
                        size_t out = (seq_start(b, time) + (size_t)t) * OUT;
                        for (int i = 0; i < IN; i++)
                            for (int o = 0; o < OUT; o++) {
                                expected[in + i] += padded_dy[out + o] * w[(k * IN + i) * OUT + o];
                                dw[(k * IN + i) * OUT + o] += padded_dy[out + o] * padded[in + i];
                            }
                    }
            winograd_conv(found, scratch, padded_dy, packed, B, time, dilation, OUT, IN, false);
            assert_same_samples(time, IN, 1e-11);
            const SeqLayout layout = {B, B, seq_rows(B, time), time, dilation};
            winograd_backward_weight(found, scratch, padded, padded_dy, layout, IN, OUT);
            for (int i = 0; i < 3 * IN * OUT; i++) assert_near(found[i], dw[i], 1e-11);
        }
}

static void it_adds_when_asked(void **state)
{
    (void)state;
    enum { TIME = 7 };
    seq_pack(padded, x, B, TIME, IN);
    conv1d_forward(expected, padded, w, bias, B, TIME, IN, OUT);
    winograd_pack(packed, w, IN, OUT);
    memcpy(found, dy, sizeof found);
    winograd_conv(found, scratch, padded, packed, B, TIME, 1, IN, OUT, true);
    for (size_t i = 0; i < seq_rows(B, TIME) * OUT; i++) expected[i] += dy[i];
    assert_same_samples(TIME, OUT, 1e-12);
}

static void the_zero_rows_are_left_alone(void **state)
{
    (void)state;
    enum { TIME = 6 };
    seq_pack(padded, x, B, TIME, IN);
    winograd_pack(packed, w, IN, OUT);
    for (int i = 0; i < MAX; i++) found[i] = 7.0;
    winograd_conv(found, scratch, padded, packed, B, TIME, 1, IN, OUT, false);
    for (int b = 0; b <= B; b++)
        for (int o = 0; o < OUT; o++) assert_true(found[b * (TIME + 1) * OUT + o] == 7.0);
}

static void the_gradient_of_the_input_is_the_plain_one(void **state)
{
    (void)state;
    for (int time = 1; time <= LONGEST; time++) {
        seq_pack(padded_dy, dy, B, time, OUT);
        conv1d_backward_input(expected, padded_dy, w, B, time, IN, OUT);
        winograd_pack_backward(packed, w, IN, OUT);
        winograd_conv(found, scratch, padded_dy, packed, B, time, 1, OUT, IN, false);
        assert_same_samples(time, IN, 1e-11);
    }
}

// Over samples in blocks of two, as training keeps them in shards.
static void the_gradient_of_the_weights_is_the_plain_one(void **state)
{
    (void)state;
    static double sharded[MAX], sharded_dy[MAX], plain[MAX];
    for (int time = 1; time <= LONGEST; time++) {
        int rows = (int)seq_rows(B, time);
        size_t block = seq_rows(2, time);
        seq_pack(padded, x, B, time, IN);
        seq_pack(padded_dy, dy, B, time, OUT);
        assert_true(conv1d_scratch(rows, IN, OUT) <= MAX);
        conv1d_backward_weight(plain, scratch, padded, padded_dy, rows, IN, OUT);
        memset(sharded, 0, sizeof sharded);
        memset(sharded_dy, 0, sizeof sharded_dy);
        for (int b = 0; b < B; b++) {
            size_t to = (size_t)(b / 2) * block + seq_start(b % 2, time);
            size_t from = seq_start(b, time), size = (size_t)time * sizeof(double);
            memcpy(sharded + to * IN, padded + from * IN, size * IN);
            memcpy(sharded_dy + to * OUT, padded_dy + from * OUT, size * OUT);
        }
        winograd_backward_weight(found, scratch, sharded, sharded_dy,
                                 (SeqLayout){B, 2, block, time, 1}, IN, OUT);
        for (int i = 0; i < 3 * IN * OUT; i++) assert_near(found[i], plain[i], 1e-11);
    }
}

// The products by parts, and tiles alone or in company: the same bits.
static void sharing_out_changes_no_bit(void **state)
{
    (void)state;
    enum { TIME = 8, ROWS = 6 };
    static double v[MAX], whole[MAX], parts[MAX], alone[MAX];
    int tiles = winograd_tiles(TIME, 1);
    assert_int_equal(tiles * B, ROWS);
    seq_pack(padded, x, B, TIME, IN);
    winograd_pack(packed, w, IN, OUT);
    for (int i = 0; i < ROWS; i++)
        winograd_input(v + (size_t)i * winograd_row(IN), winograd_matrix(ROWS, IN),
                       padded + seq_start(i / tiles, TIME) * IN, i % tiles, TIME, 1, IN);
    memset(whole, 0, sizeof whole);
    winograd_product(whole, v, packed, ROWS, IN, OUT, 0, 1);
    for (int count = 2; count <= 5; count++) {
        memset(parts, 0, sizeof parts);
        for (int i = 0; i < count; i++) winograd_product(parts, v, packed, ROWS, IN, OUT, i, count);
        assert_memory_equal(parts, whole, sizeof whole);
    }
    winograd_input(v, winograd_matrix(1, IN), padded + seq_start(1, TIME) * IN, 1, TIME, 1, IN);
    winograd_product(alone, v, packed, 1, IN, OUT, 0, 1);
    size_t row = (size_t)(tiles + 1) * (size_t)winograd_row(OUT);
    for (int point = 0; point < WINOGRAD_POINTS; point++)
        assert_memory_equal(alone + (size_t)point * winograd_matrix(1, OUT),
                            whole + (size_t)point * winograd_matrix(ROWS, OUT) + row,
                            sizeof(double) * OUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_convolution_is_the_plain_one, reset),
        cmocka_unit_test_setup(a_dilated_convolution_is_the_plain_one, reset),
        cmocka_unit_test_setup(tiles_cover_a_sequence_once, reset),
        cmocka_unit_test_setup(dilated_gradients_are_the_plain_ones, reset),
        cmocka_unit_test_setup(it_adds_when_asked, reset),
        cmocka_unit_test_setup(the_zero_rows_are_left_alone, reset),
        cmocka_unit_test_setup(the_gradient_of_the_input_is_the_plain_one, reset),
        cmocka_unit_test_setup(the_gradient_of_the_weights_is_the_plain_one, reset),
        cmocka_unit_test_setup(sharing_out_changes_no_bit, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
