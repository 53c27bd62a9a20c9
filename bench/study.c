// How long the race study takes: the speed map of the shipped courses, and 1,000 demonstrations.
//
//   study [threads]
//
// Prints seconds beside the target. Absolute times depend on the machine and on what else it does.
#include "bench.h"
#include "report/table.h"

#include <facet_study/race.h>
#include <stdlib.h>
#include <unistd.h>

static void row(Table *table, const char *what, double seconds, double target)
{
    table_cell(table, "%s", what);
    table_cell(table, "%.2f", seconds);
    table_cell(table, "%.0f", target);
    table_cell(table, "%s", seconds < target ? "reached" : "short");
}

int main(int count, char **argument)
{
    FacetPool *pool;
    must(facet_pool_create(&pool, count > 1 ? atoi(argument[1]) : 0));
    char file[64];
    snprintf(file, sizeof file, "bench-demos.%ld.h5", (long)getpid());
    FacetRace *race;
    double started = wall_seconds();
    FacetStatus status = facet_race_open(&race, &(FacetRaceOptions){0}, pool, NULL);
    double map_seconds = wall_seconds() - started, demo_seconds = 0.0;
    int demos = 0;
    if (status.ok) {
        FacetDemoOptions demo = facet_demo_defaults();
        demos = facet_race_feasible_count(race) * demo.rollouts;
        started = wall_seconds();
        status = facet_race_write_demos(file, race, &demo, NULL);
        demo_seconds = wall_seconds() - started;
        unlink(file);
    }
    if (!status.ok) {
        fprintf(stderr, "study: %s\n", status.text);
        return 1;
    }
    printf("The race study on %d threads, in seconds\n\n", facet_pool_threads(pool));
    const TableColumn heads[] = {
        {"work", TABLE_LEFT}, {"seconds", TABLE_RIGHT}, {"target", TABLE_RIGHT}, {"", TABLE_LEFT}};
    Table *table = table_create(heads, 4);
    char what[64];
    snprintf(what, sizeof what, "speed map, %d cells", facet_race_task_max(race));
    row(table, what, map_seconds, 5.0);
    snprintf(what, sizeof what, "%d demonstrations", demos);
    row(table, what, demo_seconds, 20.0);
    table_print(table, stdout);
    table_destroy(table);
    facet_race_close(race);
    facet_pool_destroy(pool);
    return 0;
}
