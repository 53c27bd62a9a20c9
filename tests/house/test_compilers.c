// The same bits from gcc and clang: flights of the expert with their passages, demonstrations and
// frames of the camera, whose arithmetic no compiler may rearrange. Plans of a network agree to
// 1e-5: there sums are fused and ordered as the processor likes.
#include "base/isa.h"
#include "hashes.h"

static Scratch scratch;

static void facet(const char *command)
{
    char line[512];
    int used = 0;
    for (const char *c = command; *c; c++)
        used += snprintf(line + used, sizeof line - (size_t)used, *c == '@' ? "%s" : "%.1s",
                         *c == '@' ? scratch.folder : c);
    snprintf(line + used, sizeof line - (size_t)used, " --quiet --threads 2");
    Run result = run(line);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
}

static void check(uint64_t expected, uint64_t (*hash)(const char *path), const char *file,
                  const char *command)
{
    facet(command);
    uint64_t found = hash(scratch_path(&scratch, file));
    if (found != expected)
        fail_msg("%s: found 0x%016llx, expected 0x%016llx", command, (unsigned long long)found,
                 (unsigned long long)expected);
}

static void flights_and_passages(void **state)
{
    (void)state;
    check(0x5d1baa5b2a514cb7, json_hash, "expert.json",
          "fly --expert --courses " SMALL_COURSE " --gusts 0.5 --json @/expert.json");
    check(0x79d4f41f9e0090ae, json_hash, "speeds.json",
          "speeds --courses " SMALL_COURSE " --json @/speeds.json");
}

static void demonstrations(void **state)
{
    (void)state;
    check(0x152fee4a0d603768, demos_hash, "demos.h5",
          "demos --courses " SMALL_COURSE " --rollouts 2 --out @/demos.h5");
}

static void frames(void **state)
{
    (void)state;
    check(0x05ca580da3e5698f, frame_hash, "frame.png",
          "camera --venue pool --gate 3 --size 80x60 --out @/frame.png");
}

// Every fourth keypoint of a plan of the shipped policy: x, y, z (m) and speed (m/s).
static const double plan[8][4] = {
    {8.8139644, -3.5777154, 2.7620671, 2.5227774},  {3.6436607, -3.2837526, 2.3182724, 2.4410728},
    {-1.7064554, -2.8492061, 2.2836726, 2.4878444}, {0.7983042, 0.0552287, 1.9827682, 2.4737488},
    {4.3757557, -1.3648175, 1.4581906, 2.5073811},  {6.6787078, 2.6327558, 1.3941105, 2.5093653},
    {1.4431505, 4.0696688, 2.4336779, 2.5197709},   {-3.7970410, 5.1033483, 1.8857473, 2.5459446},
};

static void plans_agree_closely(void **state)
{
    (void)state;
    facet("sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task race1/wide "
          "--steps 6 --json @/plan.json");
    Json *document;
    const char *path = scratch_path(&scratch, "plan.json");
    assert_ok(json_read(&document, path));
    JsonRef root = json_root(document, path), actions, keypoint, number;
    assert_ok(json_member(&actions, &root, "actions"));
    for (int k = 0; k < 8; k++) {
        assert_ok(json_element(&keypoint, &actions, 4 * k));
        for (int c = 0; c < 4; c++) {
            double found;
            assert_ok(json_element(&number, &keypoint, c));
            assert_ok(json_number(&found, &number, -HUGE_VAL, HUGE_VAL));
            assert_near(found, plan[k][c], 1e-5);
        }
    }
    json_free(document);
}

// The C library's functions and the processor's fused operations are part of the results.
static const char *unlike(void)
{
#if !defined(__x86_64__)
    return "the build is not for x86-64";
#elif !defined(__GLIBC__) || __GLIBC__ != 2 || __GLIBC_MINOR__ != 36
    return "the C library is not glibc 2.36";
#elif defined(TEST_SANITIZED)
    return "the build is sanitized";
#else
    return strcmp(isa_name(), "sse2") == 0 ? "the processor does not fuse multiplications" : NULL;
#endif
}

int main(void)
{
    enum { SKIPPED = 77 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flights_and_passages),
        cmocka_unit_test(demonstrations),
        cmocka_unit_test(frames),
        cmocka_unit_test(plans_agree_closely),
    };
    if (unlike()) {
        print_message("skipped, the hashes are for another build: %s\n", unlike());
        return SKIPPED;
    }
    scratch = scratch_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_end(&scratch);
    return failed;
}
