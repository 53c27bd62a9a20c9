// Packing and unpacking in zlib's format.
#include "picture/deflate.h"
#include "testing.h"

#include <stdlib.h>

enum { SIZE = 100000 };

// Noise on a slope: most of it is literals, with runs in between.
static void fill(uint8_t *bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < SIZE; i++) {
        uint32_t noise = (i + seed) * 2654435761u >> 16;
        bytes[i] = (uint8_t)(i / 1000 % 3 ? i / 500 + noise % 7 : 9);
    }
}

static void what_is_packed_comes_back(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(SIZE), *packed = malloc(deflate_room(SIZE)), *back = malloc(SIZE);
    assert_true(bytes);
    assert_true(packed);
    assert_true(back);
    Inflater *inflater = inflater_create();
    assert_non_null(inflater);
    size_t sizes[2];
    for (int style = 0; style < 2; style++) {
        Deflater *deflater = deflater_create(style ? DEFLATE_SMALL : DEFLATE_FAST);
        assert_non_null(deflater);
        // The same packer again and again, also for nothing and for a single byte.
        const size_t lengths[] = {SIZE, 0, 1, SIZE / 3, SIZE};
        for (uint32_t i = 0; i < 5; i++) {
            fill(bytes, i);
            memset(back, 0, SIZE);
            size_t size = deflater_pack(packed, deflater, bytes, lengths[i]);
            assert_int_equal(inflater_unpack(back, lengths[i], inflater, packed, size),
                             INFLATE_DONE);
            assert_memory_equal(back, bytes, lengths[i]);
            sizes[style] = size;
        }
        deflater_destroy(deflater);
    }
    assert_true(sizes[0] < SIZE * 3 / 4);
    assert_true(sizes[1] < sizes[0]);
    inflater_destroy(inflater);
    inflater_destroy(NULL);
    deflater_destroy(NULL);
    free(bytes);
    free(packed);
    free(back);
}

static void pieces_are_one_stream(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(SIZE), *packed = malloc(deflate_room(SIZE)), *back = malloc(SIZE);
    Inflater *inflater = inflater_create();
    Deflater *deflater = deflater_create(DEFLATE_SMALL);
    assert_true(bytes && packed && back && inflater && deflater);
    fill(bytes, 1);
    for (size_t piece = SIZE / 7; piece <= SIZE; piece *= 2) {
        size_t at = 0;
        deflater_begin(packed, deflater, SIZE);
        for (; SIZE - at > piece; at += piece) deflater_add(deflater, bytes + at, piece, false);
        size_t size = deflater_add(deflater, bytes + at, SIZE - at, true);
        memset(back, 0, SIZE);
        assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, size), INFLATE_DONE);
        assert_memory_equal(back, bytes, SIZE);
    }
    inflater_destroy(inflater);
    deflater_destroy(deflater);
    free(bytes);
    free(packed);
    free(back);
}

static void wrong_streams_are_told_apart(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(SIZE), *packed = malloc(deflate_room(SIZE)), *back = malloc(SIZE + 1);
    Inflater *inflater = inflater_create();
    Deflater *deflater = deflater_create(DEFLATE_FAST);
    assert_true(bytes);
    assert_true(packed);
    assert_true(back);
    assert_true(inflater);
    assert_true(deflater);
    fill(bytes, 3);
    size_t size = deflater_pack(packed, deflater, bytes, SIZE);
    assert_int_equal(inflater_unpack(back, SIZE + 1, inflater, packed, size), INFLATE_SHORTER);
    assert_int_equal(inflater_unpack(back, SIZE - 1, inflater, packed, size), INFLATE_LONGER);
    assert_int_equal(inflater_unpack(back, 1, inflater, packed, size), INFLATE_LONGER);
    // A wrong checksum is damage, also when more bytes follow it.
    uint8_t checked = packed[size - 4];
    packed[size - 4] ^= 1;
    assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, size + 1), INFLATE_DAMAGED);
    packed[size - 4] = checked;
    assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, 0), INFLATE_DAMAGED);
    for (size_t cut = 1; cut < size; cut += 1 + size / 50)
        assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, cut), INFLATE_DAMAGED);
    assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, size - 1), INFLATE_DAMAGED);
    packed[size - 1] ^= 1; // the checksum
    assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, size), INFLATE_DAMAGED);
    packed[size - 1] ^= 1;
    for (size_t at = 0; at < size; at += 1 + size / 50) {
        packed[at] ^= 0x40;
        assert_int_not_equal(inflater_unpack(back, SIZE, inflater, packed, size), INFLATE_DONE);
        packed[at] ^= 0x40;
    }
    // And after all that it still works.
    assert_int_equal(inflater_unpack(back, SIZE, inflater, packed, size), INFLATE_DONE);
    assert_memory_equal(back, bytes, SIZE);
    inflater_destroy(inflater);
    deflater_destroy(deflater);
    free(bytes);
    free(packed);
    free(back);
}

static void the_checksum_is_that_of_png(void **state)
{
    (void)state;
    const uint8_t end[] = {'I', 'E', 'N', 'D'}; // the last chunk of every PNG file
    assert_int_equal(deflate_crc32(end, 4), 0xAE426082u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_back),
        cmocka_unit_test(pieces_are_one_stream),
        cmocka_unit_test(wrong_streams_are_told_apart),
        cmocka_unit_test(the_checksum_is_that_of_png),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
