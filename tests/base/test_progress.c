// Counting for a host: what it is told and when, stops, parts of other work, threads.
#include "base/pool.h"
#include "base/progress.h"
#include "testing.h"

#include <stdatomic.h>

// A host that remembers what it was told.
typedef struct Host {
    int events;
    FacetProgressEvent last;
    long stop_at;      // items; -1 goes on for ever
    atomic_int inside; // calls at this moment
    int most_inside;
} Host;

static bool hear(void *context, const FacetProgressEvent *event)
{
    Host *host = context;
    int inside = atomic_fetch_add(&host->inside, 1) + 1;
    if (inside > host->most_inside) host->most_inside = inside;
    host->events++;
    assert_true(event->done >= host->last.done || event->stage != host->last.stage);
    host->last = *event;
    atomic_fetch_sub(&host->inside, 1);
    return host->stop_at < 0 || event->done < host->stop_at;
}

static void a_host_hears_the_beginning_and_every_item(void **state)
{
    (void)state;
    Host host = {.stop_at = -1};
    const FacetProgress watcher = {.report = hear, .context = &host};
    Progress progress;
    progress_begin(&progress, &watcher, "demos", 3);
    assert_int_equal(host.events, 1);
    assert_string_equal(host.last.stage, "demos");
    assert_int_equal(host.last.done, 0);
    assert_int_equal(host.last.total, 3);
    assert_null(host.last.note);
    assert_ok(progress_add(&progress, 2, "two"));
    assert_int_equal(host.last.done, 2);
    assert_string_equal(host.last.note, "two");
    assert_false(progress_stopped(&progress));
    assert_ok(progress_add(&progress, 1, NULL));
    assert_int_equal(host.last.done, 3);
    assert_int_equal(host.events, 4);
    progress_end(&progress);
}

static void nobody_watches(void **state)
{
    (void)state;
    Progress progress;
    progress_begin(&progress, NULL, "demos", 3);
    assert_ok(progress_add(&progress, 3, "note"));
    assert_false(progress_stopped(&progress));
    const FacetProgress within[] = {progress_part(&progress), progress_aside(&progress)};
    for (int i = 0; i < 2; i++) {
        Progress inner;
        progress_begin(&inner, &within[i], "inner", 2);
        assert_ok(progress_add(&inner, 2, NULL));
        progress_end(&inner);
    }
    assert_int_equal(progress.part, 2);
    progress_end(&progress);
}

static void a_stop_holds_and_is_not_asked_for_twice(void **state)
{
    (void)state;
    Host host = {.stop_at = 2};
    const FacetProgress watcher = {.report = hear, .context = &host};
    Progress progress;
    progress_begin(&progress, &watcher, "demos", 5);
    assert_ok(progress_add(&progress, 1, NULL));
    assert_false(progress_stopped(&progress));
    assert_int_equal(progress_add(&progress, 1, NULL).code, FACET_INTERRUPTED);
    int events = host.events;
    host.stop_at = -1; // too late
    assert_true(progress_stopped(&progress));
    assert_int_equal(progress_add(&progress, 1, NULL).code, FACET_INTERRUPTED);
    assert_int_equal(host.events, events);
    progress_end(&progress);
}

// Work inside work: the items of parts add up, those of an aside are not seen.
static void parts_count_and_asides_do_not(void **state)
{
    (void)state;
    Host host = {.stop_at = -1};
    const FacetProgress watcher = {.report = hear, .context = &host};
    Progress progress;
    progress_begin(&progress, &watcher, "plans", 6);
    for (int k = 0; k < 2; k++) {
        const FacetProgress part = progress_part(&progress), aside = progress_aside(&progress);
        Progress inner;
        progress_begin(&inner, &aside, "aside", 10);
        assert_ok(progress_add(&inner, 10, NULL));
        progress_end(&inner);
        assert_int_equal(host.last.done, 3 * k);
        progress_begin(&inner, &part, "steps", 3);
        assert_ok(progress_add(&inner, 1, NULL));
        assert_ok(progress_add(&inner, 2, "last"));
        progress_end(&inner);
        assert_string_equal(host.last.stage, "plans");
        assert_string_equal(host.last.note, "last");
        assert_int_equal(host.last.done, 3 * k + 3);
        assert_int_equal(host.last.total, 6);
        assert_int_equal(progress.part, 3);
    }
    progress_end(&progress);
}

static void a_stop_reaches_parts_and_asides(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        Host host = {.stop_at = 0};
        const FacetProgress watcher = {.report = hear, .context = &host};
        Progress outer, inner;
        progress_begin(&outer, &watcher, "outer", 6);
        const FacetProgress within = kind ? progress_part(&outer) : progress_aside(&outer);
        progress_begin(&inner, &within, "inner", 3);
        assert_true(progress_stopped(&inner));
        assert_int_equal(host.events, 1);
        progress_end(&inner);
        progress_end(&outer);
    }
}

static FacetStatus step(void *context, int index, int worker)
{
    (void)index, (void)worker;
    return progress_add(context, 1, NULL);
}

static void threads_are_heard_one_at_a_time(void **state)
{
    (void)state;
    for (long stop_at = -1; stop_at <= 700; stop_at += 701) {
        Host host = {.stop_at = stop_at};
        const FacetProgress watcher = {.report = hear, .context = &host};
        FacetPool *pool;
        Progress progress;
        assert_ok(facet_pool_create(&pool, 4));
        progress_begin(&progress, &watcher, "steps", 5000);
        FacetStatus status = pool_try(pool, 5000, step, &progress);
        progress_end(&progress);
        facet_pool_destroy(pool);
        assert_int_equal(host.most_inside, 1);
        assert_int_equal(status.code, stop_at < 0 ? FACET_OK : FACET_INTERRUPTED);
        assert_int_equal(host.last.done, stop_at < 0 ? 5000 : stop_at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_hears_the_beginning_and_every_item),
        cmocka_unit_test(nobody_watches),
        cmocka_unit_test(a_stop_holds_and_is_not_asked_for_twice),
        cmocka_unit_test(parts_count_and_asides_do_not),
        cmocka_unit_test(a_stop_reaches_parts_and_asides),
        cmocka_unit_test(threads_are_heard_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
