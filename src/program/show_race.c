// Options and JSON of the race study's commands (see show_race.h).
#include "show_race.h"

#include "bar.h"
#include "base/file.h"
#include "base/hash.h"
#include "cache.h"
#include "commit.h"
#include "race/speed_cache.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Ranks need the same course, vehicle and controller, and have the same speeds then.
static FacetStatus compare_speeds(FacetRanks *ranks, const FacetRace *race)
{
    char text[32];
    const FacetSpeedMap *map = &race->speeds;
    uint64_t hash = HASH_START;
    for (int track = 0; track < map->tracks; track++)
        for (int opening = 0; opening < map->openings; opening++) {
            double speed = facet_speed_map_at(map, (FacetCourseTask){track, opening})->speed;
            hash = hash_bytes(hash, &speed, sizeof speed);
        }
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return ranks_same(ranks, "speeds of the course", text);
}

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
    FacetPool *pool;
    TRY(facet_pool_create(&pool, common->threads));
    FacetStatus status = facet_race_open(race, &options, pool, bar_open(common->quiet));
    if (!status.ok) facet_pool_destroy(pool);
    TRY(ranks_agree(team_ranks(), status));
    return compare_speeds(team_ranks(), *race);
}

void study_close(FacetRace *race)
{
    if (!race) return;
    FacetPool *pool = race->pool;
    facet_race_close(race);
    facet_pool_destroy(pool);
}

FacetStatus study_state_open(StudyState *state, const CommonOptions *common)
{
    struct stat about;
    const char *json = common->json;
    *state = (StudyState){.keeps = json && (stat(json, &about) != 0 || S_ISREG(about.st_mode))};
    if (!state->keeps) return status_ok();
    snprintf(state->path, sizeof state->path, "%s.state", json);
    TRY(file_check(state->path));
    return lock_take(&state->lock, state->path);
}

void study_state_close(StudyState *state, bool complete)
{
    if (state->keeps && complete) unlink(state->path);
    lock_drop(&state->lock);
}

bool study_is_own(const CommonOptions *common, const StudyOptions *study)
{
    return common->courses || study->quad || strcmp(study->preset, "race") != 0;
}

void study_name(char out[STUDY_NAME_SIZE], const FacetRace *race, const CommonOptions *common,
                const StudyOptions *study)
{
    char numbers[40] = "";
    if (study_is_own(common, study))
        snprintf(numbers, sizeof numbers, " of numbers %016llx",
                 (unsigned long long)speed_cache_key(race->course, &race->model, &race->preset));
    snprintf(out, STUDY_NAME_SIZE, "preset %.60s, quad %.300s, courses %.300s%s", study->preset,
             study->quad ? study->quad : "default", common->courses ? common->courses : "shipped",
             numbers);
}

FacetStatus study_tasks(FacetCourseTask *tasks, int *count, const FacetRace *race,
                        const TextList *names, const char *use)
{
    *count = names->count;
    if (names->count == 0) *count = facet_race_feasible_tasks(tasks, race);
    for (int i = 0; i < names->count; i++) {
        TRY(facet_course_find_task(&tasks[i], race->course, names->items[i]));
        if (!facet_speed_map_at(&race->speeds, tasks[i])->feasible)
            return status_fail(FACET_NOT_FOUND,
                               "task %s: no speed clears every gate, so there is nothing to %s",
                               names->items[i], use);
        for (int k = 0; k < i; k++)
            if (tasks[k].track == tasks[i].track && tasks[k].opening == tasks[i].opening)
                return status_fail(FACET_BAD_ARGUMENT, "task %s: expected once, found again",
                                   names->items[i]);
    }
    return status_ok();
}

void json_set_task(Json *entry, const FacetCourse *course, FacetCourseTask task)
{
    json_set_string(entry, "track", course->tracks[task.track].name);
    json_set_string(entry, "size", course->openings[task.opening].name);
}

Json *json_from_speeds(const FacetRace *race)
{
    const FacetCourse *course = race->course;
    Json *document = json_object(), *tasks = json_array();
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            const FacetSpeedCell *cell = facet_speed_map_at(&race->speeds, (FacetCourseTask){t, o});
            Json *task = json_object();
            json_set_task(task, course, (FacetCourseTask){t, o});
            json_set_numbers(task, {"half_width", course->openings[o].half_width},
                             {"gates", course->tracks[t].gate_count});
            json_set_bool(task, "feasible", cell->feasible);
            json_set_number(task, "speed", cell->feasible ? cell->speed : nan(""));
            json_push(tasks, task);
        }
    json_set(document, "tasks", tasks);
    return document;
}

static Json *json_from_tally(FacetRaceTally tally)
{
    Json *out = json_object();
    json_set_numbers(out, {"passed", tally.passed}, {"gates", tally.gates});
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
        json_set_numbers(gate, {"miss", result->miss},
                         {"time", result->crossed ? result->time : nan("")},
                         {"speed", result->crossed ? result->speed : nan("")});
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
    json_set_task(out, race->course, r->task);
    json_set_bool(out, "held_out", r->held_out);
    json_set_uint64(out, "seed", r->seed);
    json_set_numbers(out, {"gates", r->flight.gate_count}, {"passed", r->flight.passed});
    json_set_bool(out, "crashed", r->flight.end == FACET_FLIGHT_CRASHED);
    json_set_numbers(out, {"speed_generated", r->speed_generated},
                     {"speed_reference", r->speed_reference}, {"error_m", r->error},
                     {"half_width", opening->half_width});
    json_set_string(out, "end", ends[r->flight.end]);
    json_set_string(out, "crash", facet_crash_name(r->flight.crash));
    json_set_numbers(out, {"duration", r->flight.duration}, {"speed_flown", r->flight.speed_mean});
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
    json_set_string(document, "commit", program_commit());
}

FacetStatus json_finish(Json *document, const CommonOptions *common)
{
    if (common->json) return json_write(document, common->json);
    json_free(document);
    return status_ok();
}
