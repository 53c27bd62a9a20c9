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
    {8.8965073, -3.6790179, 2.7354931, 2.5453934},  {3.7250313, -3.2498470, 2.3406033, 2.4529222},
    {-1.6318548, -2.8249352, 2.2809581, 2.4858878}, {0.9475172, 0.0947682, 1.9722773, 2.4862132},
    {4.7278469, -1.2832175, 1.4381074, 2.5265164},  {6.7387200, 2.6281108, 1.3808814, 2.4922285},
    {1.5397419, 3.9736549, 2.4213941, 2.4846172},   {-3.9019600, 5.2076301, 1.8999329, 2.5169586},
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
