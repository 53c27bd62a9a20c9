// Damaged HDF5 files end in a line of our own: no byte of a file can crash the reader, make it run
// on or take memory that the file has no right to, and nothing outside a file is read through it.
#include "data/hdf5_file.h"
#include "samples.h"

#include <sys/resource.h>

static void no_file_leads_to_another(void **state)
{
    (void)state;
    FacetDataset *dataset;
    run_python("write_damaged.py", ".", NULL);
    assert_refused(
        facet_dataset_read(&dataset, "external_numbers.h5"),
        "external_numbers.h5: data/demo_1/actions: cannot read: found numbers in another "
        "file, which Facet does not follow");
    assert_refused(facet_dataset_read(&dataset, "external_link.h5"),
                   "external_link.h5: data: cannot list 'demo_1': found a link to another file");
    assert_ok(facet_dataset_read(&dataset, "links_in_a_circle.h5"));
    assert_int_equal(dataset->demos, 3); // those that lead nowhere are none
    facet_dataset_destroy(dataset);
}

static void a_claim_is_held_against_the_size_of_the_file(void **state)
{
    (void)state;
    FacetDataset *dataset;
    run_python("write_damaged.py", ".", NULL);
    assert_refused(
        facet_dataset_read(&dataset, "claims_gigabytes.h5"),
        "data/demo_0/actions: cannot read: found 50000000 elements of 8 bytes in a file of");
}

static void an_array_has_all_its_numbers(void **state)
{
    (void)state;
    double numbers[14] = {0};
    Hdf5File *file;
    run_python("write_damaged.py", ".", NULL);
    assert_ok(hdf5_open(&file, "compact.h5"));
    assert_ok(hdf5_doubles(numbers, file, "numbers"));
    assert_near(numbers[12], 12.0, 0.0);
    hdf5_close(file);
    assert_ok(hdf5_open(&file, "fewer.h5"));
    assert_refused(hdf5_doubles(numbers, file, "numbers"), "found fewer elements");
    hdf5_close(file);
}

// A tree of chunks is no tree of links.
static void a_tree_of_something_else_is_refused(void **state)
{
    (void)state;
    size_t size;
    FacetDataset *dataset;
    run_python("write_damaged.py", ".", NULL);
    char *bytes = read_bytes(&size, "plain.h5"), *tree = bytes;
    while (tree + 8 < bytes + size && memcmp(tree, "TREE", 5) != 0) tree++;
    assert_memory_equal(tree, "TREE", 5); // with the type of links, 0
    tree[4] = 1;
    write_bytes("tree.h5", bytes, size);
    assert_refused(facet_dataset_read(&dataset, "tree.h5"),
                   "tree.h5: data: expected a group, found another object");
    free(bytes);
}

// The one byte that made the library run into memory that is not there.
static void a_damaged_heap_of_texts_is_refused(void **state)
{
    (void)state;
    size_t size;
    FacetDataset *dataset;
    run_python("write_damaged.py", ".", NULL);
    char *bytes = read_bytes(&size, "plain.h5"), *heap = bytes;
    while (heap + 32 < bytes + size && memcmp(heap, "GCOL", 4) != 0) heap++;
    assert_memory_equal(heap, "GCOL", 4);
    heap[29] = 0x21;
    write_bytes("heap.h5", bytes, size);
    assert_refused(facet_dataset_read(&dataset, "heap.h5"),
                   "heap.h5: data: cannot read an attribute: found a damaged heap of texts");
    uint64_t whole, room;
    memcpy(&whole, heap + 8, sizeof whole); // of the heap, its head of 16 bytes included
    room = whole - 32 + 1;                  // one byte more than there is for the first text
    memcpy(heap + 24, &room, sizeof room);
    write_bytes("heap.h5", bytes, size);
    assert_refused(facet_dataset_read(&dataset, "heap.h5"),
                   "heap.h5: data: cannot read an attribute: found a damaged heap of texts");
    free(bytes);
}

// One byte of a small file in so many takes values that are likely to hurt. Most of these files are
// refused; those whose byte says nothing are read.
static void any_byte_may_be_damaged(const char *path, size_t stride)
{
    static const unsigned char values[] = {0x00, 0x01, 0x21, 0x7f, 0x80, 0xff};
    size_t size;
    char *bytes = read_bytes(&size, path);
    long refused = 0, read = 0;
    for (size_t at = 0; at < size; at += stride)
        for (size_t k = 0; k < sizeof values; k++) {
            char kept = bytes[at];
            if ((unsigned char)kept == values[k]) continue;
            bytes[at] = (char)values[k];
            write_bytes("damaged.h5", bytes, size);
            bytes[at] = kept;
            FacetDataset *dataset;
            FacetStatus status = facet_dataset_read(&dataset, "damaged.h5");
            assert_true(status.ok || strstr(status.text, "damaged.h5: ") == status.text);
            refused += !status.ok;
            read += status.ok;
            facet_dataset_destroy(dataset);
        }
    print_message("%s: %ld refused, %ld read\n", path, refused, read);
    assert_true(refused > 100);
    assert_true(read > 100);
    free(bytes);
}

static void damaged_files_are_read_or_refused(void **state)
{
    (void)state;
    run_python("write_damaged.py", ".", NULL);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    any_byte_may_be_damaged("plain.h5", 37);
    any_byte_may_be_damaged("latest.h5", 23);
    any_byte_may_be_damaged("many.h5", 31);
    getrusage(RUSAGE_SELF, &after);
#ifndef TEST_SANITIZED
    assert_less((double)(after.ru_maxrss - before.ru_maxrss), 200e3); // kB
#endif
    (void)before, (void)after;
}

// Arrays of the newest layout with more chunks than one page of their index.
static void paged_indices_are_read(void **state)
{
    (void)state;
    static double values[5000];
    run_python("write_damaged.py", ".", NULL);
    for (int file_index = 0; file_index < 2; file_index++)
        for (int k = 0; k < 2; k++) {
            Hdf5File *file;
            char array[16];
            assert_ok(hdf5_open(&file, file_index ? "growing_index.h5" : "fixed_index.h5"));
            snprintf(array, sizeof array, "numbers_%d", k);
            memset(values, 0, sizeof values);
            assert_ok(hdf5_doubles(values, file, array));
            for (int i = 0; i < 5000; i++) assert_near(values[i], i, 0.0);
            hdf5_close(file);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(no_file_leads_to_another, scratch_clean),
        cmocka_unit_test_teardown(a_claim_is_held_against_the_size_of_the_file, scratch_clean),
        cmocka_unit_test_teardown(an_array_has_all_its_numbers, scratch_clean),
        cmocka_unit_test_teardown(a_tree_of_something_else_is_refused, scratch_clean),
        cmocka_unit_test_teardown(a_damaged_heap_of_texts_is_refused, scratch_clean),
        cmocka_unit_test_teardown(damaged_files_are_read_or_refused, scratch_clean),
        cmocka_unit_test_teardown(paged_indices_are_read, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
