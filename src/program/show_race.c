// Options, tables and JSON of the race study's commands (see show_race.h).
#include "show_race.h"

#include "bar.h"
#include "base/file.h"
#include "cache.h"
#include "paper/paper.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FacetStatus study_open(FacetRace **race, const CommonOptions *common, const StudyOptions *study)
{
    char cache[FILE_PATH_MAX];
    const FacetRaceOptions options = {
        .courses = common->courses,
        .quad = study->quad,
        .preset = study->preset,
        .cache = cache_folder(cache) ? cache : NULL,
        .search = study->search,
    };
    *race = NULL;
    if (common->json) TRY(file_check(common->json)); // the search takes a second or two
    FacetPool *pool;
    TRY(facet_pool_create(&pool, common->threads));
    FacetStatus status = facet_race_open(race, &options, pool, bar_open(common->quiet));
    if (!status.ok) facet_pool_destroy(pool);
    return status;
}

void study_close(FacetRace *race)
{
    if (!race) return;
    FacetPool *pool = race->pool;
    facet_race_close(race);
    facet_pool_destroy(pool);
}

bool study_is_own(const CommonOptions *common, const StudyOptions *study)
{
    return common->courses || study->quad || strcmp(study->preset, "race") != 0;
}

// ---- Speeds -----------------------------------------------------------------------------------

static void speed_cell(Table *table, const FacetSpeedCell *cell, const char *track,
                       const char *size)
{
    double paper = paper_speed(track, size);
    char ours[16] = "—", beside[16] = "";
    if (cell->feasible) snprintf(ours, sizeof ours, "%.2f", cell->speed);
    if (paper == 0.0) snprintf(beside, sizeof beside, " (  —)");
    if (paper > 0.0) snprintf(beside, sizeof beside, " (%4.1f)", paper);
    table_cell(table, "%s%s", ours, beside);
}

void show_speeds(const FacetRace *race)
{
    const FacetCourse *course = race->course;
    int columns = course->opening_count + 3;
    TableColumn *heads = calloc((size_t)columns, sizeof *heads);
    if (!heads) return;
    heads[0] = (TableColumn){"track", TABLE_LEFT};
    heads[1] = (TableColumn){"gates", TABLE_RIGHT};
    for (int o = 0; o < course->opening_count; o++)
        heads[2 + o] = (TableColumn){course->openings[o].name, TABLE_RIGHT};
    heads[columns - 1] = (TableColumn){"description", TABLE_LEFT};
    Table *table = table_create(heads, columns);
    free(heads);
    int gates = 0;
    for (int t = 0; t < course->track_count; t++) {
        const FacetTrack *track = &course->tracks[t];
        table_cell(table, "%s", track->name);
        table_cell(table, "%d", track->gate_count);
        for (int o = 0; o < course->opening_count; o++) {
            const FacetSpeedCell *cell = facet_speed_map_at(&race->speeds, (FacetCourseTask){t, o});
            speed_cell(table, cell, track->name, course->openings[o].name);
            gates += cell->feasible ? track->gate_count : 0;
        }
        table_cell(table, "%s", track->description);
    }
    table_print(table, stdout);
    table_destroy(table);
    printf("\nHighest feasible speed in m/s; in brackets the paper's; — is infeasible.\n"
           "%d of %d tasks feasible, with %d gates.\n",
           facet_race_feasible_count(race), facet_race_task_max(race), gates);
}

Json *json_from_speeds(const FacetRace *race)
{
    const FacetCourse *course = race->course;
    Json *document = json_object(), *tasks = json_array();
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            const FacetSpeedCell *cell = facet_speed_map_at(&race->speeds, (FacetCourseTask){t, o});
            Json *task = json_object();
            json_set_string(task, "track", course->tracks[t].name);
            json_set_string(task, "size", course->openings[o].name);
            json_set_number(task, "half_width", course->openings[o].half_width);
            json_set_number(task, "gates", course->tracks[t].gate_count);
            json_set_bool(task, "feasible", cell->feasible);
            json_set_number(task, "speed", cell->feasible ? cell->speed : nan(""));
            json_push(tasks, task);
        }
    json_set(document, "tasks", tasks);
    return document;
}

// ---- Results ----------------------------------------------------------------------------------

static void outcome_text(char out[32], const FacetFlight *flight)
{
    if (flight->end == FACET_FLIGHT_CRASHED)
        snprintf(out, 32, "crash: %s", facet_crash_name(flight->crash));
    else if (flight->end == FACET_FLIGHT_TIMED_OUT)
        snprintf(out, 32, "timed out");
    else
        snprintf(out, 32, "%s", flight->passed == flight->gate_count ? "clear" : "missed");
}

static double worst_miss(const FacetFlight *flight)
{
    double worst = 0.0;
    for (int i = 0; i < flight->gate_count; i++) worst = fmax(worst, flight->gates[i].miss);
    return worst;
}

static void show_tally(const char *name, FacetRaceTally tally)
{
    if (tally.gates == 0) return;
    printf("  %-9s %3d/%d gates (%.0f %%)\n", name, tally.passed, tally.gates,
           100.0 * tally.passed / tally.gates);
}

void show_results(const FacetRace *race, const FacetRaceResult *results, int count)
{
    const TableColumn heads[] = {{"task", TABLE_LEFT},     {"split", TABLE_LEFT},
                                 {"gates", TABLE_RIGHT},   {"miss/limit", TABLE_RIGHT},
                                 {"plan", TABLE_RIGHT},    {"ref m/s", TABLE_RIGHT},
                                 {"error m", TABLE_RIGHT}, {"outcome", TABLE_LEFT}};
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < count; i++) {
        const FacetRaceResult *r = &results[i];
        char outcome[32];
        outcome_text(outcome, &r->flight);
        if (i > 0 && r->task.track != results[i - 1].task.track) table_rule(table);
        const FacetOpening *opening = &race->course->openings[r->task.opening];
        table_cell(table, "%s/%s", race->course->tracks[r->task.track].name, opening->name);
        table_cell(table, "%s", r->held_out ? "held out" : "training");
        table_cell(table, "%d/%d", r->flight.passed, r->flight.gate_count);
        table_cell(table, "%.2f/%.2f", worst_miss(&r->flight), opening->half_width);
        table_cell(table, "%.2f", r->speed_generated);
        table_cell(table, "%.2f", r->speed_reference);
        table_cell(table, "%.3f", r->error);
        table_cell(table, "%s", outcome);
    }
    table_print(table, stdout);
    table_destroy(table);
    FacetRaceTotals totals = facet_race_totals(results, count);
    printf("\n");
    show_tally("all", totals.all);
    show_tally("training", totals.training);
    show_tally("held out", totals.held_out);
    printf("  %-9s %3d of %d flights\n", "crashes", totals.crashes, count);
    printf("  %-9s %3d of %d tasks\n", "feasible", facet_race_feasible_count(race),
           facet_race_task_max(race));
}

static Json *json_from_tally(FacetRaceTally tally)
{
    Json *out = json_object();
    json_set_number(out, "passed", tally.passed);
    json_set_number(out, "gates", tally.gates);
    return out;
}

static Json *json_from_gates(const FacetTrack *track, const FacetFlight *flight)
{
    Json *out = json_array();
    for (int i = 0; i < flight->gate_count; i++) {
        const FacetPassage *result = &flight->gates[i];
        Json *gate = json_object();
        json_set_string(gate, "gate", track->gates[i].name);
        json_set_bool(gate, "crossed", result->crossed);
        json_set_bool(gate, "passed", result->passed);
        json_set_number(gate, "miss", result->miss);
        json_set_number(gate, "time", result->crossed ? result->time : nan(""));
        json_set_number(gate, "speed", result->crossed ? result->speed : nan(""));
        json_push(out, gate);
    }
    return out;
}

static Json *json_from_result(const FacetRace *race, const FacetRaceResult *r)
{
    static const char *const ends[] = {"finished", "crashed", "timed out", "given up"};
    const FacetTrack *track = &race->course->tracks[r->task.track];
    const FacetOpening *opening = &race->course->openings[r->task.opening];
    Json *out = json_object();
    json_set_string(out, "track", track->name);
    json_set_string(out, "size", opening->name);
    json_set_bool(out, "held_out", r->held_out);
    json_set_uint64(out, "seed", r->seed);
    json_set_number(out, "gates", r->flight.gate_count);
    json_set_number(out, "passed", r->flight.passed);
    json_set_bool(out, "crashed", r->flight.end == FACET_FLIGHT_CRASHED);
    json_set_number(out, "speed_generated", r->speed_generated);
    json_set_number(out, "speed_reference", r->speed_reference);
    json_set_number(out, "error_m", r->error);
    json_set_number(out, "half_width", opening->half_width);
    json_set_string(out, "end", ends[r->flight.end]);
    json_set_string(out, "crash", facet_crash_name(r->flight.crash));
    json_set_number(out, "duration", r->flight.duration);
    json_set_number(out, "speed_flown", r->flight.speed_mean);
    json_set(out, "gate_results", json_from_gates(track, &r->flight));
    return out;
}

Json *json_from_results(const FacetRace *race, const FacetRaceResult *results, int count)
{
    FacetRaceTotals sums = facet_race_totals(results, count);
    Json *document = json_object(), *tasks = json_array(), *totals = json_object();
    for (int i = 0; i < count; i++) json_push(tasks, json_from_result(race, &results[i]));
    json_set(document, "tasks", tasks);
    json_set(totals, "all", json_from_tally(sums.all));
    json_set(totals, "training", json_from_tally(sums.training));
    json_set(totals, "held_out", json_from_tally(sums.held_out));
    json_set_number(totals, "crashes", sums.crashes);
    json_set(document, "totals", totals);
    return document;
}

Json *json_from_plans(const FacetRace *race, const FacetRaceResult *results, int count)
{
    Json *plans = json_object();
    for (int i = 0; i < count; i++) {
        const FacetRaceResult *r = &results[i];
        Json *plan = json_array();
        for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++) {
            const FacetKeypoint *at = &r->plan[k];
            const double numbers[] = {at->pos.x, at->pos.y, at->pos.z, at->speed};
            json_push(plan, json_from_numbers(numbers, FACET_CHUNK_CHANNELS, 6));
        }
        char name[2 * FACET_COURSE_NAME_MAX];
        snprintf(name, sizeof name, "%s/%s", race->course->tracks[r->task.track].name,
                 race->course->openings[r->task.opening].name);
        json_set(plans, name, plan);
    }
    return plans;
}

void json_set_origin(Json *document, const char *command, uint64_t seed)
{
    json_set_string(document, "command", command);
    json_set_uint64(document, "seed", seed);
    json_set_string(document, "version", facet_version());
}
