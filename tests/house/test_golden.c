// Golden hashes: what the program computed when these constants were written is what it computes
// now, to the bit, on one, two and three threads.
//
// They hold for the compiler and the processors named in `unlike` and for the libraries of the same
// system; elsewhere the last bits of sums may differ, and the test is skipped. What must not differ
// is in test_compilers.c. A change that is meant to change a
// result changes its constant with it: the test prints the new one.
#include "base/isa.h"
#include "hashes.h"

#include <facet_study/certify.h>

enum { SKIPPED = 77, THREADS_MAX = 3 };

static Scratch scratch;

// ---- Runs ---------------------------------------------------------------------------------------

static void compare(const char *what, int threads, uint64_t found, uint64_t expected)
{
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
static void check(uint64_t golden, uint64_t (*hash)(const char *path), const char *file,
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
    check(0x70e20cc676b25d49, json_hash, "plans.json",
          "sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task race1/wide "
          "--steps 6 --count 2 --json @/plans.json");
    check(0xf332d994e3ab4ffa, json_hash, "joint.json",
          "sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task race2/narrow "
          "--steps 5 --mode joint --sampler dpmpp --json @/joint.json");
}

static void flights(void **state)
{
    (void)state;
    check(0x5d1baa5b2a514cb7, json_hash, "expert.json",
          "fly --expert --courses " SMALL_COURSE " --gusts 0.5 --json @/expert.json");
    check(0x8b6e48ac7e9201f8, json_hash, "policy.json",
          "fly --task race8/wide --steps 50 --json @/policy.json");
}

static void demonstrations_and_training(void **state)
{
    (void)state;
    check(0x152fee4a0d603768, demos_hash, "demos.h5",
          "demos --courses " SMALL_COURSE " --rollouts 2 --out @/demos.h5");
    check(0xb57ec7ff8930eec1, tensors_hash, "small.safetensors",
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
        compare("a certified plan", threads, hash, 0x49bc78982edb7682);
    }
}

static void frames(void **state)
{
    (void)state;
    check(0x05ca580da3e5698f, frame_hash, "frame.png",
          "camera --venue pool --gate 3 --size 80x60 --out @/frame.png");
}

// The levels of one processor agree. AMD's with AVX-512 agree with Intel's, and those without do
// not. Not traced; the likely cause are Embree's approximate reciprocals, which are each maker's
// own but for those of AVX-512.
static bool has_amds_reciprocals(void)
{
#ifdef __x86_64__
    return __builtin_cpu_is("amd") && !__builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

static void training_on_frames(void **state)
{
    (void)state;
    facet("gate demos --flights 2 --out @/frames.h5", 2);
    check(has_amds_reciprocals() ? 0x697f520f6b18c9ad : 0x885bf7d82abc0dec, tensors_hash,
          "gate.safetensors",
          "gate train --data @/frames.h5 --out @/gate.safetensors --updates 6 --rounds 1 "
          "--flights 1 --blocks 1 --channels 16 --batch 8 --draws 1");
}

// ---- Where the hashes hold ----------------------------------------------------------------------

// What is different here from where the hashes were taken; NULL when nothing is.
static const char *unlike(void)
{
#if defined(__clang__) || __GNUC__ != 12
    return "the compiler is not gcc 12";
#elif !defined(__x86_64__)
    return "the build is not for x86-64";
#elif !defined(__GLIBC__) || __GLIBC__ != 2 || __GLIBC_MINOR__ != 36
    return "the C library is not glibc 2.36";
#elif defined(TEST_SANITIZED) || !defined(__OPTIMIZE__)
    return "the build is sanitized or not optimised";
#else
    return strcmp(isa_name(), "sse2") == 0 ? "the processor does not fuse multiplications" : NULL;
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
