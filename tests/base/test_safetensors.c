// The safetensors format: what we write is read by numpy and the other way round, halves are
// rounded as numpy rounds them, and every broken file is refused in one line.
#include "base/safetensors.h"
#include "data/samples.h"

#include <time.h>

static void set(TensorSource *source, const char *name, TensorType type, int rank, int64_t a,
                int64_t b, int64_t c, const void *data)
{
    *source = (TensorSource){.type = type, .rank = rank, .shape = {a, b, c}, .data = data};
    strcpy(source->name, name);
}

static void write_tensors(const char *path)
{
    static float numbers[24], scalar = 0.25f;
    static const int64_t counter[2] = {(int64_t)1 << 40, -1};
    static const unsigned char bytes[3] = {0, 1, 2};
    for (int i = 0; i < 24; i++) numbers[i] = (float)i / 7.0f;
    TensorSource sources[5];
    set(&sources[0], "bytes", TENSOR_U8, 1, 3, 0, 0, bytes);
    set(&sources[1], "halves", TENSOR_F16, 1, 5, 0, 0, numbers);
    set(&sources[2], "numbers", TENSOR_F32, 3, 2, 3, 4, numbers);
    set(&sources[3], "counter", TENSOR_I64, 1, 2, 0, 0, counter);
    set(&sources[4], "scalar", TENSOR_F32, 0, 0, 0, 0, &scalar);
    Json *metadata = json_object();
    json_set_string(metadata, "title", "Zürich \"quoted\"\nline");
    json_set_string(metadata, "empty", "");
    assert_ok(safetensors_write(path, metadata, sources, 5));
}

static void check_tensors(const char *path)
{
    Safetensors *file;
    float values[24];
    assert_ok(safetensors_read(&file, path));
    assert_int_equal(safetensors_count(file), 5);
    assert_string_equal(safetensors_metadata(file, "title"), "Zürich \"quoted\"\nline");
    assert_string_equal(safetensors_metadata(file, "empty"), "");
    assert_null(safetensors_metadata(file, "missing"));
    assert_ok(safetensors_floats(values, file, "numbers", 3, (int[]){2, 3, 4}));
    for (int i = 0; i < 24; i++) assert_true(values[i] == (float)i / 7.0f);
    assert_ok(safetensors_floats(values, file, "halves", 1, (int[]){5}));
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == half_to_float(half_from_float((float)i / 7.0f)));
    assert_ok(safetensors_floats(values, file, "scalar", 0, NULL));
    assert_true(values[0] == 0.25f);
    const StoredTensor *counter = safetensors_find(file, "counter");
    int64_t counts[2];
    memcpy(counts, counter->data, sizeof counts);
    assert_true(counter->type == TENSOR_I64);
    assert_true(counts[0] == (int64_t)1 << 40);
    assert_true(counts[1] == -1);
    assert_refused(safetensors_floats(values, file, "numbers", 2, (int[]){6, 4}),
                   "tensor numbers: expected the shape [6, 4], found [2, 3, 4]");
    assert_refused(safetensors_floats(values, file, "counter", 1, (int[]){2}),
                   "tensor counter: expected F32 or F16, found I64");
    assert_refused(safetensors_floats(values, file, "other", 1, (int[]){2}),
                   "expected a tensor other, found none");
    safetensors_free(file);
}

static void what_we_write_is_read_by_us_and_numpy(void **state)
{
    (void)state;
    write_tensors("ours.safetensors");
    check_tensors("ours.safetensors");
    run_python("safetensors_numpy.py", "check", "ours.safetensors");
    assert_int_equal(scratch_count("."), 1); // no temporary file stays
}

static void what_numpy_writes_is_read_by_us(void **state)
{
    (void)state;
    run_python("safetensors_numpy.py", "write", "theirs.safetensors");
    check_tensors("theirs.safetensors");
}

static void halves_are_numpys(void **state)
{
    (void)state;
    run_python("safetensors_numpy.py", "halves", "halves.safetensors");
    Safetensors *file;
    assert_ok(safetensors_read(&file, "halves.safetensors"));
    const StoredTensor *all = safetensors_find(file, "all");
    for (uint32_t i = 0; i < 1u << 16; i++) {
        float value;
        memcpy(&value, all->data + 4 * i, 4);
        if ((i & 0x7c00u) == 0x7c00u) continue;
        assert_true(half_to_float((uint16_t)i) == value);
        assert_int_equal(half_from_float(value), i);
    }
    const StoredTensor *floats = safetensors_find(file, "floats");
    const StoredTensor *rounded = safetensors_find(file, "rounded");
    for (size_t i = 0; i < floats->count; i++) {
        float value;
        uint16_t half;
        memcpy(&value, floats->data + 4 * i, 4);
        memcpy(&half, rounded->data + 2 * i, 2);
        if (half_from_float(value) != half)
            fail_msg("%a: %04x, expected %04x", (double)value, half_from_float(value), half);
    }
    assert_int_equal(half_from_float(INFINITY), 0x7c00);
    assert_int_equal(half_from_float(-nanf("")) & 0x7e00, 0x7e00);
    assert_true(isnan(half_to_float(0x7e01)));
    assert_true(isinf(half_to_float(0xfc00)));
    safetensors_free(file);
}

// ---- Broken files -------------------------------------------------------------------------------

// Writes a file of this header and so many bytes of data.
static void write_raw(const char *header, size_t data)
{
    char bytes[2048] = {0};
    size_t length = strlen(header);
    assert_true(8 + length + data <= sizeof bytes);
    bytes[0] = (char)(length & 255);
    bytes[1] = (char)(length >> 8);
    memcpy(bytes + 8, header, length);
    write_bytes("broken", bytes, 8 + length + data);
}

static void refused(const char *header, size_t data, const char *words)
{
    Safetensors *file;
    write_raw(header, data);
    assert_refused(safetensors_read(&file, "broken"), words);
    assert_null(file);
}

#define TENSOR(name, type, shape, offsets)                                                         \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void broken_headers_are_refused(void **state)
{
    (void)state;
    refused("{nonsense", 0, "expected valid JSON");
    refused("[1, 2]", 0, "expected an object of tensors");
    refused("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__.a: expected a text");
    refused("{\"a\":3}", 0, "a: expected a tensor, found 3");
    refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "a.dtype: expected a value");
    refused("{" TENSOR("a", "F7", "[1]", "[0,4]") "}", 4,
            "a.dtype: expected F32, F16, I64 or U8, found \"F7\"");
    refused("{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4, "a.shape[0]: expected a number");
    refused("{" TENSOR("a", "F32", "[1.5]", "[0,4]") "}", 4, "a.shape[0]: expected a whole number");
    refused("{" TENSOR("a", "F32", "[1,1,1,1,1]", "[0,4]") "}", 4, "at most 4 dimensions");
    refused("{" TENSOR("a", "F32", "[9007199254740992,9007199254740992]", "[0,4]") "}", 4,
            "fits in memory");
    refused("{" TENSOR("a", "F32", "[1]", "[0]") "}", 4, "a.data_offsets: expected two offsets");
    refused("{" TENSOR("a", "F32", "[1]", "[4,0]") "}", 4,
            "tensor a: expected 4 bytes for its shape, found the offsets 4 to 0");
    refused("{" TENSOR("a", "F32", "[2]", "[0,4]") "}", 4, "expected 8 bytes for its shape");
    refused("{" TENSOR("a", "F32", "[2]", "[0,8]") "}", 7,
            "tensor a: expected data up to byte 8, found 7 bytes: truncated");
    refused("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[2,6]") "}", 6,
            "tensor b: expected its data at byte 4, found 2: it overlaps another");
    refused("{" TENSOR("a", "F32", "[1]", "[4,8]") "}", 8, "there is a gap");
    refused("{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 9, "expected 4 bytes of data, found 9");
    refused("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[4,8]") "}", 8,
            "tensor a: expected once, found again");
    refused("{" TENSOR("a\\nb", "F32", "[1]", "[4,8]") "}", 8, "tensor a?b");
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    write_tensors("whole");
    size_t size;
    char *bytes = read_bytes(&size, "whole");
    Safetensors *file;
    for (size_t cut = 0; cut < size; cut++) {
        write_bytes("cut", bytes, cut);
        FacetStatus status = safetensors_read(&file, "cut");
        assert_false(status.ok);
        assert_null(strchr(status.text, '\n'));
    }
    write_bytes("cut", bytes, 5);
    assert_refused(safetensors_read(&file, "cut"), "expected a safetensors file, found 5 bytes");
    memset(bytes, 0xff, 8);
    write_bytes("cut", bytes, size);
    assert_refused(safetensors_read(&file, "cut"),
                   "expected a header of 18446744073709551615 bytes");
    free(bytes);
    assert_refused(safetensors_read(&file, "missing"), "missing: cannot open");
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    float numbers[3] = {1.0f, INFINITY, 7e4f}, out[3];
    TensorSource source;
    Safetensors *file;
    set(&source, "weights", TENSOR_F32, 1, 3, 0, 0, numbers);
    assert_ok(safetensors_write("infinite", json_object(), &source, 1));
    assert_ok(safetensors_read(&file, "infinite"));
    assert_refused(safetensors_floats(out, file, "weights", 1, (int[]){3}),
                   "tensor weights: expected finite numbers, found inf at element 1");
    safetensors_free(file);
    numbers[1] = 2.0f;
    source.type = TENSOR_F16;
    assert_refused(safetensors_write("half", json_object(), &source, 1),
                   "half: tensor weights: expected numbers that half precision holds, found 70000");
    assert_int_equal(access("half", F_OK), -1);
    assert_refused(safetensors_write("no/such/folder", json_object(), &source, 1), "no/such");
}

// A header that claims one byte more than the file has is refused before it is looked at.
static void a_header_ends_within_its_file(void **state)
{
    (void)state;
    char text[] = "\0\0\0\0\0\0\0\0{}      ";
    size_t size = sizeof text - 1;
    Safetensors *file;
    for (size_t more = 0; more < 12; more++) {
        text[0] = (char)(size - 8 + more);
        write_bytes("claims", text, size);
        if (more == 0) {
            assert_ok(safetensors_read(&file, "claims"));
            safetensors_free(file);
        } else {
            assert_refused(safetensors_read(&file, "claims"), "truncated, or not a safetensors");
        }
    }
}

// A header of many tensors takes time in proportion.
static void many_tensors_are_read_in_time(void **state)
{
    (void)state;
    enum { MANY = 80000 };
    char *text = malloc(MANY * 64 + 16);
    assert_non_null(text);
    size_t used = 8;
    text[used++] = '{';
    for (int i = 0; i < MANY; i++)
        used += (size_t)sprintf(text + used,
                                "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[0],"
                                "\"data_offsets\":[0,0]}",
                                i ? "," : "", i);
    text[used++] = '}';
    for (int i = 0; i < 8; i++) text[i] = (char)((used - 8) >> 8 * i);
    write_bytes("many", text, used);
    free(text);
    clock_t start = clock();
    Safetensors *file;
    assert_ok(safetensors_read(&file, "many"));
    assert_int_equal(safetensors_count(file), MANY);
    safetensors_free(file);
#ifndef TEST_SANITIZED
    assert_less((double)(clock() - start) / CLOCKS_PER_SEC, 4.0); // s of this process
#endif
    (void)start;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_we_write_is_read_by_us_and_numpy, scratch_clean),
        cmocka_unit_test_teardown(what_numpy_writes_is_read_by_us, scratch_clean),
        cmocka_unit_test_teardown(halves_are_numpys, scratch_clean),
        cmocka_unit_test_teardown(broken_headers_are_refused, scratch_clean),
        cmocka_unit_test_teardown(cut_files_are_refused, scratch_clean),
        cmocka_unit_test_teardown(numbers_that_are_not_finite_are_refused, scratch_clean),
        cmocka_unit_test_teardown(a_header_ends_within_its_file, scratch_clean),
        cmocka_unit_test_teardown(many_tensors_are_read_in_time, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
