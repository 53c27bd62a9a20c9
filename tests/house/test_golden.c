// Golden hashes: what the program computed when these constants were written is what it computes
// now, to the bit, on one, two and three threads.
//
// The hashes are of numbers alone: of a JSON file its numbers, truths and nulls in order, of
// demonstrations their values, of a policy its tensors, of a picture its pixels. They hold for the
// compiler and the processors named in `unlike` and for the libraries of the same system; elsewhere
// the last bits of sums may differ, and the test is skipped. A change that is meant to change a
// result changes its constant with it: the test prints the new one.
#include "base/file.h"
#include "base/json.h"
#include "program/program.h"
#include "read_png.h"
#include "scratch.h"

#include <facet_study/certify.h>
#include <facet_study/dataset.h>

enum { SKIPPED = 77, THREADS_MAX = 3, FRAME_WIDTH = 80, FRAME_HEIGHT = 60 };

#define SMALL_COURSE TEST_SOURCE "/tests/race/sample"

static Scratch scratch;

// ---- Hashes: FNV-1a over bytes ----------------------------------------------------------------

static const uint64_t HASH_START = 0xcbf29ce484222325u;

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    for (const unsigned char *b = bytes, *end = b + size; b < end; b++)
        *hash = (*hash ^ *b) * 0x100000001b3u;
}

static void hash_doubles(uint64_t *hash, const double *values, size_t count)
{
    hash_bytes(hash, values, count * sizeof *values);
}

static void hash_node(uint64_t *hash, const JsonRef *at)
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

static uint64_t json_hash(const char *path)
{
    Json *document;
    uint64_t hash = HASH_START;
    assert_ok(json_read(&document, path));
    JsonRef root = json_root(document, path);
    hash_node(&hash, &root);
    json_free(document);
    return hash;
}

static uint64_t demos_hash(const char *path)
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
static uint64_t tensors_hash(const char *path)
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

static uint64_t frame_hash(const char *path)
{
    char raw[160];
    uint64_t hash = HASH_START;
    snprintf(raw, sizeof raw, "%s.raw", path);
    uint8_t *rgb = read_png(path, raw, FRAME_WIDTH, FRAME_HEIGHT);
    hash_bytes(&hash, rgb, FRAME_WIDTH * FRAME_HEIGHT * 3);
    free(rgb);
    return hash;
}

// ---- Runs ---------------------------------------------------------------------------------------

// The constants of a result, for builds whose compiler works with vectors of 512 bits and of 256.
typedef struct Golden {
    uint64_t wide, narrow;
} Golden;

// The first result tells which of the two this build is; the others must be the same.
static void compare(const char *what, int threads, uint64_t found, Golden golden)
{
    static enum { UNKNOWN, WIDE, NARROW } build;
    if (build == UNKNOWN) build = found == golden.wide ? WIDE : NARROW;
    uint64_t expected = build == WIDE ? golden.wide : golden.narrow;
    if (found == expected) return;
    fail_msg("%s on %d threads: found 0x%016llx, expected 0x%016llx", what, threads,
             (unsigned long long)found, (unsigned long long)expected);
}

// Runs `facet COMMAND`, in which every @ is the scratch folder.
static void facet(const char *command, int threads)
{
    char line[512];
    int used = 0;
    for (const char *c = command; *c; c++)
        used += snprintf(line + used, sizeof line - (size_t)used, *c == '@' ? "%s" : "%.1s",
                         *c == '@' ? scratch.folder : c);
    snprintf(line + used, sizeof line - (size_t)used, " --quiet --threads %d", threads);
    Run result = run(line);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
}

// Runs a command on one, two and three threads; its results are in `file` of the scratch folder.
static void check(Golden golden, uint64_t (*hash)(const char *path), const char *file,
                  const char *command)
{
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        facet(command, threads);
        compare(command, threads, hash(scratch_path(&scratch, file)), golden);
    }
}

static void plans(void **state)
{
    (void)state;
    check((Golden){0xb43531ca659cc370, 0x8d04ef4f208e1081}, json_hash, "plans.json",
          "sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task race1/wide "
          "--steps 6 --count 2 --json @/plans.json");
    check((Golden){0x4fdaf242f118ba97, 0x3c5a9446d8116bda}, json_hash, "joint.json",
          "sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task race2/narrow "
          "--steps 5 --mode joint --sampler dpmpp --json @/joint.json");
}

static void flights(void **state)
{
    (void)state;
    check((Golden){0xc004cb446783d033, 0xc004cb446783d033}, json_hash, "expert.json",
          "fly --expert --courses " SMALL_COURSE " --gusts 0.5 --json @/expert.json");
    check((Golden){0x4d1a82bf929fb652, 0xa0a13e456a543890}, json_hash, "policy.json",
          "fly --task race8/wide --steps 50 --json @/policy.json");
}

static void demonstrations_and_training(void **state)
{
    (void)state;
    check((Golden){0x152fee4a0d603768, 0x152fee4a0d603768}, demos_hash, "demos.h5",
          "demos --courses " SMALL_COURSE " --rollouts 2 --out @/demos.h5");
    check((Golden){0xfdb60174f8e8ad63, 0xf8fc7c7fc0934145}, tensors_hash, "small.safetensors",
          "train --data @/demos.h5 --out @/small.safetensors --epochs 3 --blocks 1 --channels 16 "
          "--composed-loss 1");
}

// The plan of the policy that has just been trained.
static void certificates(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        FacetPool *pool;
        FacetPolicy *policy;
        FacetCertifier *certifier;
        FacetPlanCertificate certificate;
        assert_ok(facet_pool_create(&pool, threads));
        assert_ok(facet_policy_load(&policy, scratch_path(&scratch, "small.safetensors")));
        FacetFactorTask task = facet_factor_split_task(facet_policy_training(policy), 0);
        assert_ok(facet_certifier_create(&certifier, policy, 3, pool));
        assert_ok(facet_certifier_plan(&certificate, certifier, task, 1, NULL));
        const double numbers[] = {certificate.ltv.value,  certificate.ode.value,
                                  certificate.path.value, certificate.product.value,
                                  certificate.eps_s,      certificate.actual,
                                  certificate.linear,     certificate.amplification};
        uint64_t hash = HASH_START;
        hash_doubles(&hash, numbers, sizeof numbers / sizeof *numbers);
        facet_certifier_destroy(certifier);
        facet_policy_destroy(policy);
        facet_pool_destroy(pool);
        compare("a certified plan", threads, hash,
                (Golden){0x9f92af58e34e07ec, 0x903eae170d940142});
    }
}

static void frames(void **state)
{
    (void)state;
    check((Golden){0x05ca580da3e5698f, 0x05ca580da3e5698f}, frame_hash, "frame.png",
          "camera --venue pool --gate 3 --size 80x60 --out @/frame.png");
}

static void training_on_frames(void **state)
{
    (void)state;
    facet("gate demos --flights 2 --out @/frames.h5", 2);
    check((Golden){0xe90fe59da2fa542d, 0x956ba2be93e7225c}, tensors_hash, "gate.safetensors",
          "gate train --data @/frames.h5 --out @/gate.safetensors --updates 6 --rounds 1 "
          "--flights 1 --blocks 1 --channels 16 --batch 8 --draws 1");
}

// ---- Where the hashes hold ----------------------------------------------------------------------

// What is different here from where the hashes were taken; NULL when nothing is.
static const char *unlike(void)
{
#if defined(__clang__) || __GNUC__ != 12
    return "the compiler is not gcc 12";
#elif !defined(__x86_64__) || !defined(__AVX2__) || !defined(__FMA__)
    return "the build is not for x86-64 with AVX2 and FMA";
#elif !defined(__GLIBC__) || __GLIBC__ != 2 || __GLIBC_MINOR__ != 36
    return "the C library is not glibc 2.36";
#elif defined(TEST_SANITIZED) || !defined(__OPTIMIZE__)
    return "the build is sanitized or not optimised";
#else
    return NULL;
#endif
}

int main(int argc, char **argv)
{
    (void)argc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),
        cmocka_unit_test(flights),
        cmocka_unit_test(demonstrations_and_training),
        cmocka_unit_test(certificates),
        cmocka_unit_test(frames),
        cmocka_unit_test(training_on_frames),
    };
    if (unlike()) {
        print_message("skipped, the golden hashes are for another build: %s\n", unlike());
        return SKIPPED;
    }
    // The matrix library chooses its kernels by processor, when it is loaded; these are the
    // family's.
    if (!getenv("OPENBLAS_CORETYPE")) {
        setenv("OPENBLAS_CORETYPE", "Haswell", 1);
        execv("/proc/self/exe", argv);
    }
    scratch = scratch_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_end(&scratch);
    return failed;
}
