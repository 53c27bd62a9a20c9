// Reading what a policy observes: demos of several lengths, keys, images and filters, as
// robomimic's tools write them.
#include "samples.h"

enum { DEMOS = 5, HEIGHT = 5, WIDTH = 4, IMAGE = HEIGHT * WIDTH * 3 };
static const int lengths[DEMOS] = {3, 7, 5, 1, 4};

static int write_files(void **state)
{
    int failed = scratch_enter(state);
    if (!failed) run_python("write_observed.py", ".", NULL);
    return failed;
}

static FacetStatus read_keys(FacetDataset **dataset, const char *path, const char *first,
                             const char *second, const char *filter)
{
    const char *const keys[] = {first, second};
    const FacetDatasetRequest request = {keys, second ? 2 : first ? 1 : 0, filter, NULL};
    return facet_dataset_read_some(dataset, path, &request);
}

static double joint(int demo, int row, int column) { return demo + 0.25 * row + 0.125 * column; }

static int pixel(int demo, int row, int at)
{
    int y = at / (3 * WIDTH), x = at / 3 % WIDTH, c = at % 3;
    return (50 * demo + 20 * row + 7 * y + 3 * x + c) % 256;
}

// ---- What is read -------------------------------------------------------------------------------

// Demo `n` of the file is demo `at` of the dataset.
static void assert_demo(const FacetDataset *dataset, int at, int n)
{
    const FacetDatasetObservation *joints, *wrist;
    assert_ok(facet_dataset_find_observation(&joints, dataset, "joints"));
    assert_ok(facet_dataset_find_observation(&wrist, dataset, "wrist"));
    assert_int_equal(facet_dataset_length(dataset, at), lengths[n]);
    assert_int_equal(dataset->tasks[at].value[0], n % 2);
    assert_int_equal(dataset->tasks[at].value[1], n / 2 % 2);
    for (int row = 0; row < lengths[n]; row++) {
        for (int i = 0; i < 2; i++)
            assert_near(facet_dataset_actions(dataset, at)[2 * row + i], -joint(n, row, i), 0.0);
        for (int i = 0; i < 3; i++)
            assert_near(facet_dataset_observed(dataset, joints, at)[3 * row + i], joint(n, row, i),
                        0.0);
        const uint8_t *image = wrist->pixels + (dataset->starts[at] + row) * IMAGE;
        for (int i = 0; i < IMAGE; i++) assert_int_equal(image[i], pixel(n, row, i));
    }
}

static void demos_of_several_lengths_are_read(void **state)
{
    (void)state;
    FacetDataset *dataset;
    assert_ok(read_keys(&dataset, "robot.h5", "wrist", "joints", NULL));
    assert_int_equal(dataset->demos, DEMOS);
    assert_int_equal(dataset->rows, 20);
    assert_int_equal(dataset->steps, 0); // they differ
    assert_int_equal(dataset->action_dim, 2);
    assert_int_equal(dataset->observation_count, 2);
    assert_string_equal(dataset->observations[0].name, "wrist"); // as asked for
    assert_int_equal(dataset->observations[0].width, WIDTH);
    assert_int_equal(dataset->observations[0].height, HEIGHT);
    assert_int_equal(dataset->observations[0].dim, 0);
    assert_null(dataset->observations[0].values);
    assert_int_equal(dataset->observations[1].dim, 3);
    assert_null(dataset->observations[1].pixels);
    for (int n = 0; n < DEMOS; n++) assert_demo(dataset, n, n);
    facet_dataset_destroy(dataset);
}

static void a_request_of_nothing_reads_actions(void **state)
{
    (void)state;
    FacetDataset *dataset;
    assert_ok(read_keys(&dataset, "robot.h5", NULL, NULL, NULL));
    assert_int_equal(dataset->observation_count, 0);
    assert_int_equal(dataset->demos, DEMOS);
    facet_dataset_destroy(dataset);
    assert_ok(read_keys(&dataset, "no_obs.h5", NULL, NULL, NULL));
    facet_dataset_destroy(dataset);
}

static void a_whole_file_has_its_numbers(void **state)
{
    (void)state;
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "robot.h5"));
    assert_int_equal(dataset->observation_count, 2);
    assert_string_equal(dataset->observations[0].name, "gripper");
    assert_string_equal(dataset->observations[1].name, "joints");
    facet_dataset_destroy(dataset);
}

static void filters_choose_demos(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int count, demos[3];
    } filters[] = {
        {"train", 3, {0, 2, 4}}, {"valid", 1, {1}}, {"any_length", 2, {1, 3}}, {"twice", 1, {1}}};
    for (int f = 0; f < 4; f++) {
        FacetDataset *dataset;
        assert_ok(read_keys(&dataset, "robot.h5", "joints", "wrist", filters[f].name));
        assert_int_equal(dataset->demos, filters[f].count);
        for (int i = 0; i < filters[f].count; i++) assert_demo(dataset, i, filters[f].demos[i]);
        assert_int_equal(dataset->steps, filters[f].count == 1 ? lengths[1] : 0);
        facet_dataset_destroy(dataset);
    }
}

// Demos that are left out are not looked at.
static void what_is_filtered_out_may_be_broken(void **state)
{
    (void)state;
    FacetDataset *dataset;
    assert_ok(read_keys(&dataset, "not_finite.h5", "joints", NULL, "train"));
    facet_dataset_destroy(dataset);
    assert_refused(read_keys(&dataset, "not_finite.h5", "joints", NULL, "valid"),
                   "not_finite.h5: data/demo_1/obs/joints: expected finite numbers, found nan in "
                   "row 6, column 2");
}

// ---- What is refused ----------------------------------------------------------------------------

static void unusable_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *key, *filter, *words;
    } cases[] = {
        {"robot.h5", "wrists", NULL,
         "data/demo_0/obs: no observation 'wrists', did you mean 'wrist'? known: gripper, joints, "
         "wrist"},
        {"robot.h5", "", NULL, "data/demo_0/obs: no observation ''"},
        {"robot.h5", "../actions", NULL, "data/demo_0/obs: no observation '../actions'"},
        {"no_obs.h5", "joints", NULL, "data/demo_0/obs: expected a group, found nothing"},
        {"wider.h5", "joints", NULL, "data/demo_2/obs/joints: expected a shape of 5x3, found 5x4"},
        {"longer.h5", "joints", NULL, "data/demo_2/obs/joints: expected a shape of 5x3, found 6x3"},
        {"gone.h5", "joints", NULL,
         "data/demo_3/obs/joints: expected a matrix of numbers, found nothing"},
        {"not_finite.h5", "joints", NULL,
         "data/demo_1/obs/joints: expected finite numbers, found nan in row 6, column 2"},
        {"larger_image.h5", "wrist", NULL,
         "data/demo_1/obs/wrist: expected 7 images of 4 x 5 pixels, found 7 of 5 x 5"},
        {"fewer_images.h5", "wrist", NULL,
         "data/demo_1/obs/wrist: expected 7 images of 4 x 5 pixels, found 6 of 4 x 5"},
        {"float_image.h5", "wrist", NULL,
         "data/demo_1/obs/wrist: expected images [N][height][width][3] of bytes, found another "
         "array"},
        {"gray_image.h5", "wrist", NULL,
         "data/demo_0/obs/wrist: expected images [N][height][width][3] of bytes, found 3x5x4x1"},
        {"robot.h5", "joints", "trian", "mask: no filter 'trian', did you mean 'train'? known: "},
        {"robot.h5", "joints", "../data", "mask: no filter '../data'"},
        {"no_mask.h5", "joints", "train", "mask: no filter 'train': the file has none"},
        {"mask_of_nobody.h5", "joints", "train",
         "mask/train: expected names of demos, found 'demo_9'"},
        {"mask_of_numbers.h5", "joints", "train",
         "mask/train: expected a list of texts, found integers"},
        {"mask_empty.h5", "joints", "train", "mask/train: expected names of demos, found none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetDataset *dataset;
        char words[300];
        snprintf(words, sizeof words, "%s: %s", cases[i].path, cases[i].words);
        FacetStatus status =
            read_keys(&dataset, cases[i].path, cases[i].key, NULL, cases[i].filter);
        assert_refused(status, words);
        assert_ptr_equal(strstr(status.text, words), status.text);
        assert_null(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demos_of_several_lengths_are_read),
        cmocka_unit_test(a_request_of_nothing_reads_actions),
        cmocka_unit_test(a_whole_file_has_its_numbers),
        cmocka_unit_test(filters_choose_demos),
        cmocka_unit_test(what_is_filtered_out_may_be_broken),
        cmocka_unit_test(unusable_files_are_refused),
    };
    return cmocka_run_group_tests(tests, write_files, scratch_leave);
}
