// Progress away from a terminal: a line a tenth once the work takes time, and the truth about it.
#include "base/pool.h"
#include "testing.h"

#include <facet/progress.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *captured;
static int saved_stderr;

static void capture_begin(void)
{
    captured = tmpfile();
    assert_non_null(captured);
    saved_stderr = dup(STDERR_FILENO);
    dup2(fileno(captured), STDERR_FILENO);
}

// What was written to stderr since capture_begin, in `out`.
static void capture_end(char *out, size_t size)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    rewind(captured);
    out[fread(out, 1, size - 1, captured)] = '\0';
    fclose(captured);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

// Long enough for plain lines to appear.
static void take_time(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 50000000}, NULL);
}

static void one_line_a_tenth(void **state)
{
    (void)state;
    char text[4096];
    capture_begin();
    FacetProgress *progress = facet_progress_begin("demos", 1000, false);
    take_time();
    for (int i = 0; i < 1000; i++) facet_progress_add(progress, 1, i == 999 ? "done" : NULL);
    facet_progress_end(progress);
    capture_end(text, sizeof text);
    assert_int_equal(count_lines(text), 10);
    assert_memory_equal(text, "demos 100/1000 ETA ", 19);
    assert_non_null(strstr(text, "s  done\n"));
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
}

static void quiet_says_nothing(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    FacetProgress *progress = facet_progress_begin("demos", 10, true);
    facet_progress_add(progress, 10, NULL);
    facet_progress_end(progress);
    capture_end(text, sizeof text);
    assert_null(progress);
    assert_string_equal(text, "");
}

static void short_work_is_silent(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    FacetProgress *progress = facet_progress_begin("short", 10, false);
    facet_progress_add(progress, 10, NULL);
    facet_progress_end(progress);
    capture_end(text, sizeof text);
    assert_string_equal(text, "");
}

static void no_work_is_done_at_once(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    FacetProgress *progress = facet_progress_begin("empty", 0, false);
    take_time();
    facet_progress_add(progress, 0, NULL);
    facet_progress_end(progress);
    capture_end(text, sizeof text);
    assert_memory_equal(text, "empty 0/0 in ", 13);
}

static void step(void *context, int index, int worker)
{
    (void)index, (void)worker;
    facet_progress_add(context, 1, NULL);
}

static void threads_share_one_bar(void **state)
{
    (void)state;
    char text[4096];
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 4));
    capture_begin();
    FacetProgress *progress = facet_progress_begin("steps", 5000, false);
    take_time();
    pool_for(pool, 5000, step, progress);
    facet_progress_end(progress);
    capture_end(text, sizeof text);
    facet_pool_destroy(pool);
    assert_int_equal(count_lines(text), 10);
    assert_non_null(strstr(text, "steps 5000/5000 in "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_a_tenth),      cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(short_work_is_silent),  cmocka_unit_test(no_work_is_done_at_once),
        cmocka_unit_test(threads_share_one_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
