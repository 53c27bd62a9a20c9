// Hashes of what the program computes: of numbers alone. Of a JSON file its numbers, truths and
// nulls in order, of demonstrations their values, of a policy its tensors, of a picture its pixels.
#ifndef FACET_TESTS_HOUSE_HASHES_H
#define FACET_TESTS_HOUSE_HASHES_H

#include "base/file.h"
#include "base/json.h"
#include "program/program.h"
#include "read_png.h"
#include "scratch.h"

#include <facet_study/dataset.h>

enum { FRAME_WIDTH = 80, FRAME_HEIGHT = 60 };

#define SMALL_COURSE TEST_SOURCE "/tests/race/sample"

// ---- Hashes: FNV-1a over bytes ----------------------------------------------------------------

static const uint64_t HASH_START = 0xcbf29ce484222325u;

static inline void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    for (const unsigned char *b = bytes, *end = b + size; b < end; b++)
        *hash = (*hash ^ *b) * 0x100000001b3u;
}

static inline void hash_doubles(uint64_t *hash, const double *values, size_t count)
{
    hash_bytes(hash, values, count * sizeof *values);
}

static inline void hash_node(uint64_t *hash, const JsonRef *at)
{
    int count;
    double number;
    if (json_is_array(at) || json_is_object(at)) {
        assert_ok(json_length(&count, at));
        for (int i = 0; i < count; i++) {
            JsonRef child;
            assert_ok(json_element(&child, at, i));
            hash_node(hash, &child);
        }
    } else if (json_number(&number, at, -HUGE_VAL, HUGE_VAL).ok) {
        hash_doubles(hash, &number, 1);
    } else if (!json_chars(at)) {
        hash_bytes(hash, json_is_null(at) ? "n" : json_is_true(at) ? "t" : "f", 1);
    }
}

static inline uint64_t json_hash(const char *path)
{
    Json *document;
    uint64_t hash = HASH_START;
    assert_ok(json_read(&document, path));
    JsonRef root = json_root(document, path);
    hash_node(&hash, &root);
    json_free(document);
    return hash;
}

static inline uint64_t demos_hash(const char *path)
{
    FacetDataset *data;
    uint64_t hash = HASH_START;
    assert_ok(facet_dataset_read(&data, path));
    size_t rows = (size_t)data->demos * (size_t)data->steps;
    hash_bytes(&hash, data->tasks, (size_t)data->demos * sizeof *data->tasks);
    hash_doubles(&hash, data->actions, rows * (size_t)data->action_dim);
    for (int i = 0; i < data->observation_count; i++)
        hash_doubles(&hash, data->observations[i].values, rows * (size_t)data->observations[i].dim);
    facet_dataset_destroy(data);
    return hash;
}

// A safetensors file is the size of its head in eight bytes, the head, and the tensors.
static inline uint64_t tensors_hash(const char *path)
{
    char *bytes;
    size_t size;
    uint64_t head, hash = HASH_START;
    assert_ok(file_read(&bytes, &size, path));
    memcpy(&head, bytes, sizeof head);
    assert_true(size > 8 + head);
    hash_bytes(&hash, bytes + 8 + head, size - 8 - head);
    free(bytes);
    return hash;
}

static inline uint64_t frame_hash(const char *path)
{
    char raw[160];
    uint64_t hash = HASH_START;
    snprintf(raw, sizeof raw, "%s.raw", path);
    uint8_t *rgb = read_png(path, raw, FRAME_WIDTH, FRAME_HEIGHT);
    hash_bytes(&hash, rgb, FRAME_WIDTH * FRAME_HEIGHT * 3);
    free(rgb);
    return hash;
}

#endif
