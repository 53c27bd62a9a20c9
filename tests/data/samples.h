// What the tests of this room share: sample demonstrations that C and Python compute alike, and a
// way to run the Python scripts beside the tests.
#ifndef FACET_TESTS_DATA_SAMPLES_H
#define FACET_TESTS_DATA_SAMPLES_H

#include "factor/factor.h"
#include "scratch.h"

#include <facet_study/dataset.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Files ------------------------------------------------------------------------------------

static inline char *read_bytes(size_t *size, const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    long length = ftell(stream);
    rewind(stream);
    char *bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)length, stream), length);
    fclose(stream);
    *size = (size_t)length;
    return bytes;
}

static inline void assert_same_files(const char *a, const char *b)
{
    size_t first_size, second_size;
    char *first = read_bytes(&first_size, a), *second = read_bytes(&second_size, b);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first);
    free(second);
}

static inline void assert_other_files(const char *a, const char *b)
{
    size_t first_size, second_size;
    char *first = read_bytes(&first_size, a), *second = read_bytes(&second_size, b);
    assert_false(first_size == second_size && memcmp(first, second, first_size) == 0);
    free(first);
    free(second);
}

static inline void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

// ---- Demonstrations ---------------------------------------------------------------------------

enum { SAMPLE_STEPS = 32, SAMPLE_ACTIONS = 3, SAMPLE_STATES = 13 };

// Sevenths are not exact in binary, so that a detour through fewer bits would show.
static inline double sample_action(int demo, int step, int column)
{
    return (1000.0 * demo + 10.0 * step + column) / 7.0;
}

static inline double sample_state(int demo, int step, int column)
{
    return -(1000.0 * demo + 20.0 * step + column) / 7.0;
}

static inline FacetFactorSpace *sample_space(void)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(&space,
                                     "{\"track\":[\"race1\",\"race2\",\"Zürich\"],"
                                     "\"size\":[\"narrow\",\"standard\",\"wide\"]}",
                                     "sample"));
    return space;
}

static const FacetDatasetField sample_fields[] = {{"state", SAMPLE_STATES}, {"gate", 1}};

static inline FacetDatasetLayout sample_layout(const FacetFactorSpace *space)
{
    return (FacetDatasetLayout){.space = space,
                                .steps = SAMPLE_STEPS,
                                .action_dim = SAMPLE_ACTIONS,
                                .observations = sample_fields,
                                .observation_count = 2,
                                .env_name = "facet-race",
                                .env_type = 2,
                                .env_kwargs = "{\"rate\":600,\"wind\":[0.5,0]}"};
}

// Demo n has task 4 n mod 9: demo 1 is race2/standard.
static inline FacetStatus append_sample(FacetDatasetWriter *writer, const FacetFactorSpace *space,
                                        int demo)
{
    double actions[SAMPLE_STEPS][SAMPLE_ACTIONS], states[SAMPLE_STEPS][SAMPLE_STATES];
    double gates[SAMPLE_STEPS];
    for (int t = 0; t < SAMPLE_STEPS; t++) {
        for (int i = 0; i < SAMPLE_ACTIONS; i++) actions[t][i] = sample_action(demo, t, i);
        for (int i = 0; i < SAMPLE_STATES; i++) states[t][i] = sample_state(demo, t, i);
        gates[t] = t;
    }
    const double *observations[] = {states[0], gates};
    return facet_dataset_writer_append(writer, factor_task_at(space, 4 * demo % 9), actions[0],
                                       observations);
}

static inline void write_sample(const char *path, int demos)
{
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, path, &layout));
    for (int demo = 0; demo < demos; demo++) assert_ok(append_sample(writer, space, demo));
    assert_ok(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

// ---- Python -----------------------------------------------------------------------------------

// Runs a script of this folder with Debian's Python, or that of FACET_PYTHON, and its h5py.
static inline void run_python(const char *script, const char *first, const char *second)
{
    const char *python = getenv("FACET_PYTHON") ? getenv("FACET_PYTHON") : "/usr/bin/python3";
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, script);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl(python, python, path, first, second, (char *)NULL);
        fprintf(stderr, "cannot run %s\n", python);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        print_error("%s %s failed; it needs Python with h5py (python3-h5py)\n", python, path);
        fail();
    }
}

#endif
