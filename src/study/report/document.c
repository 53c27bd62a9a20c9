// All of the page's data as one document (see docs/report.md).
#include "report/document.h"

#include "paper/paper.h"
#include "report/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static FacetCourseTask task_at(const Report *report, int index)
{
    int openings = report->race->course->opening_count;
    return (FacetCourseTask){index / openings, index % openings};
}

void document_set_text(Json *object, const char *key, const char *text)
{
    if (text && text[0])
        json_set_string(object, key, text);
    else
        json_set_number(object, key, nan(""));
}

// ---- Where it comes from ------------------------------------------------------------------------

static Json *source_of_file(Report *report, InputKind kind)
{
    static const struct {
        const char *name, *command;
    } made[INPUT_KINDS] = {
        [INPUT_RACE] = {"Race", "race"},
        [INPUT_EVAL] = {"Evaluation", "eval"},
        [INPUT_STEPS] = {"Step study", "eval --step-study"},
        [INPUT_CERTIFY] = {"Certificates", "certify"},
        [INPUT_VERIFY] = {"Verification before flight", "fly --verify"},
        [INPUT_BUDGET] = {"Budget of Theorem 2", "certify --budget"},
        [INPUT_LEAVE_ONE_OUT] = {"Leave one pair out", "study leave-one-out"},
        [INPUT_MECHANISM] = {"What makes composition work", "study mechanism"},
        [INPUT_METAWORLD] = {"Meta-World study", ""},
        [INPUT_RACE_STUDY] = {"Race study", "reproduce"},
        [INPUT_PAIRS] = {"Number of training pairs", "study pairs"},
        [INPUT_OPERATORS] = {"Composition operators", "study operators"},
        [INPUT_GATE] = {"Single gate", "gate"},
        [INPUT_GATE_STUDY] = {"Single-gate study", "gate study"},
        [INPUT_GATE_LADDER] = {"Single-gate ladder", "gate study --ladder"},
        [INPUT_MODALITY] = {"Camera and beacon", "gate modality"},
    };
    char note[1200];
    Json *out = json_object();
    InputOrigin origin = input_origin(report, kind);
    bool read = report->inputs[kind].document != NULL;
    json_set_string(out, "id", input_name(kind));
    json_set_string(out, "name", made[kind].name);
    json_set_string(out, "state", read ? "read" : "missing");
    document_set_text(out, "path", origin.path);
    if (!read)
        snprintf(note, sizeof note,
                 "No results of facet %s: write them with facet %s --json FILE and name the file "
                 "with --%s.",
                 made[kind].command, made[kind].command, input_name(kind));
    else if (origin.command[0])
        snprintf(note, sizeof note, "Made by: %.1000s", origin.command);
    else
        snprintf(note, sizeof note, "The file does not say which command made it.");
    json_set_string(out, "note", note);
    document_set_text(out, "command", origin.command);
    json_set_number(out, "seed", origin.seed);
    document_set_text(out, "version", origin.version);
    return out;
}

static Json *source_of_flights(const Report *report)
{
    Json *out = json_object();
    json_set_string(out, "id", "flights");
    json_set_string(out, "name", "Flights");
    json_set_string(out, "state", "computed");
    json_set_number(out, "path", nan(""));
    json_set_string(out, "note", "Every plan was flown again for this page, in still air.");
    json_set_string(out, "command", report->command);
    json_set_uint64(out, "seed", report->seed);
    json_set_string(out, "version", report->version);
    return out;
}

static Json *source_of_training(const TrainingLog *log)
{
    Json *out = json_object();
    char note[80];
    snprintf(note, sizeof note, "Losses of %ld updates.", log->updates);
    json_set_string(out, "id", "training");
    json_set_string(out, "name", "Training");
    json_set_string(out, "state", "read");
    json_set_string(out, "path", log->path);
    json_set_string(out, "note", note);
    json_set_number(out, "command", nan("")); // the log does not say
    json_set_number(out, "seed", nan(""));
    json_set_number(out, "version", nan(""));
    return out;
}

// A report of races does not miss other studies.
static Json *document_sources(Report *report)
{
    Json *out = json_array();
    for (InputKind kind = 0; kind < INPUT_KINDS; kind++) {
        const void *wanted = report->race;
        if (kind >= INPUT_BUDGET) wanted = report->inputs[kind].document;
        if (wanted) json_push(out, source_of_file(report, kind));
    }
    for (int i = 0; i < report->training_count; i++)
        json_push(out, source_of_training(&report->training[i]));
    if (report->race) json_push(out, source_of_flights(report));
    return out;
}

static Json *document_methods(const Report *report)
{
    Json *out = json_array();
    for (int i = 0; i < REPORT_METHODS; i++) {
        const ReportMethod *method = &report_methods[i];
        if (!report_has_method(report, i)) continue;
        Json *entry = json_object();
        json_set_string(entry, "id", method->id);
        json_set_string(entry, "name", method->name);
        json_set_string(entry, "short", method->short_name);
        json_set_string(entry, "description", method->description);
        json_set_string(entry, "color_light", method->light);
        json_set_string(entry, "color_dark", method->dark);
        json_set_string(entry, "dash", method->dash);
        json_set_number(entry, "width", method->width);
        json_set_bool(entry, "shown", method->shown);
        json_set_string(entry, "source", report->origins[i]);
        json_push(out, entry);
    }
    return out;
}

// ---- Course and tasks ---------------------------------------------------------------------------

static Json *rounded(FacetVec3 v)
{
    const double values[] = {v.x, v.y, v.z};
    return json_from_numbers(values, 3, 4);
}

static Json *document_track(const FacetTrack *track)
{
    Json *out = json_object(), *points = json_array(), *gates = json_array();
    json_set_string(out, "name", track->name);
    json_set_string(out, "description", track->description);
    for (int i = 0; i < track->point_count; i++) json_push(points, rounded(track->points[i]));
    for (int i = 0; i < track->gate_count; i++) {
        Json *gate = json_object();
        json_set_string(gate, "name", track->gates[i].name);
        json_set(gate, "center", rounded(track->gates[i].center));
        json_set(gate, "normal", rounded(track->gates[i].normal));
        json_push(gates, gate);
    }
    json_set(out, "points", points);
    json_set(out, "gates", gates);
    return out;
}

static Json *document_course(const FacetCourse *course)
{
    Json *out = json_object(), *arena = json_object(), *openings = json_array();
    json_set(arena, "min", rounded(course->arena.min));
    json_set(arena, "max", rounded(course->arena.max));
    json_set(out, "arena", arena);
    for (int i = 0; i < course->opening_count; i++) {
        Json *opening = json_object();
        json_set_string(opening, "name", course->openings[i].name);
        json_set_number(opening, "half_width", course->openings[i].half_width);
        json_push(openings, opening);
    }
    json_set(out, "openings", openings);
    Json *tracks = json_array();
    for (int i = 0; i < course->track_count; i++)
        json_push(tracks, document_track(&course->tracks[i]));
    json_set(out, "tracks", tracks);
    return out;
}

// Gates of a task that the certificate covers, or NaN where none was attacked.
static double certified_gates(Report *report, FacetCourseTask task)
{
    JsonRef entry = report_certified_task(report, task), gates = input_member(&entry, "gates");
    return input_attacked(&gates) ? input_certified(&gates) : nan("");
}

JsonRef report_certified_task(const Report *report, FacetCourseTask task)
{
    JsonRef root = input_root(report, INPUT_CERTIFY), tasks = input_member(&root, "tasks");
    return input_find_task(report, &tasks, task);
}

double report_ltv(double *deviation, Report *report, const JsonRef *entry)
{
    JsonRef list = input_member(entry, "seeds");
    Summary seeds = input_summary(report, &list, "c_ltv", false);
    *deviation = seeds.deviation;
    return seeds.count < 2 ? input_number(report, entry, "c_ltv") : seeds.mean;
}

void report_task_name(char out[REPORT_TASK_NAME], const Report *report, FacetCourseTask task)
{
    const FacetCourse *course = report->race->course;
    snprintf(out, REPORT_TASK_NAME, "%s/%s", course->tracks[task.track].name,
             course->openings[task.opening].name);
}

static Json *document_tasks(Report *report)
{
    const FacetRace *race = report->race;
    Json *out = json_array();
    for (int i = 0; i < report->task_count; i++) {
        FacetCourseTask task = task_at(report, i);
        const FacetSpeedCell *cell = facet_speed_map_at(&race->speeds, task);
        const char *track = race->course->tracks[task.track].name;
        const char *size = race->course->openings[task.opening].name;
        double paper = paper_speed(track, size), passed = paper_passed(track, size);
        char name[REPORT_TASK_NAME];
        Json *entry = json_object();
        report_task_name(name, report, task);
        json_set_string(entry, "id", name);
        json_set_number(entry, "track", task.track);
        json_set_number(entry, "opening", task.opening);
        json_set_bool(entry, "feasible", cell->feasible);
        json_set_bool(entry, "held_out", report_held_out(report, task));
        json_set_number(entry, "speed_reference", cell->feasible ? cell->speed : nan(""));
        json_set_number(entry, "speed_paper", paper > 0.0 ? paper : nan(""));
        json_set_number(entry, "gates", race->course->tracks[task.track].gate_count);
        json_set_number(entry, "paper_passed", passed >= 0.0 ? passed : nan(""));
        json_set_number(entry, "certified", certified_gates(report, task));
        json_push(out, entry);
    }
    return out;
}

// ---- Flights ------------------------------------------------------------------------------------

static double decimals(double value, double unit) { return round(value * unit) / unit; }

static Json *document_gates(const FacetFlight *flight)
{
    Json *out = json_array();
    for (int i = 0; i < flight->gate_count; i++) {
        const FacetPassage *result = &flight->gates[i];
        Json *gate = json_object();
        json_set_bool(gate, "crossed", result->crossed);
        json_set_bool(gate, "passed", result->passed);
        json_set_number(gate, "miss", decimals(result->miss, 1e4));
        json_set_number(gate, "time", result->crossed ? decimals(result->time, 1e3) : nan(""));
        json_set_number(gate, "speed", result->crossed ? decimals(result->speed, 1e3) : nan(""));
        json_push(out, gate);
    }
    return out;
}

Json *document_plan(const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], int places)
{
    double numbers[FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS], *next = numbers;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        *next++ = plan[i].pos.x;
        *next++ = plan[i].pos.y;
        *next++ = plan[i].pos.z;
        *next++ = plan[i].speed;
    }
    return json_from_numbers(numbers, FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS, places);
}

static Json *document_flight(const ReportFlight *flight, int task, int method)
{
    static const char *const ends[] = {"finished", "crashed", "timed out", "given up"};
    const FacetRaceResult *result = &flight->result;
    Json *out = json_object();
    json_set_number(out, "task", task);
    json_set_string(out, "method", report_methods[method].id);
    json_set_uint64(out, "seed", result->seed);
    json_set_number(out, "passed", result->flight.passed);
    json_set_number(out, "gates", result->flight.gate_count);
    json_set_string(out, "end", ends[result->flight.end]);
    json_set_string(out, "crash", facet_crash_name(result->flight.crash));
    json_set_number(out, "duration", decimals(result->flight.duration, 1e4));
    json_set_number(out, "speed_generated", decimals(result->speed_generated, 1e4));
    json_set_number(out, "speed_flown", decimals(result->flight.speed_mean, 1e4));
    json_set_number(out, "error_m", decimals(result->error, 1e4));
    json_set(out, "gate_results", document_gates(&result->flight));
    json_set(out, "plan", document_plan(result->plan, 3));
    json_set_number(out, "rate", REPORT_RATE);
    json_set(out, "positions", json_from_numbers(flight->positions, 3 * flight->samples, 3));
    json_set(out, "attitudes", json_from_numbers(flight->attitudes, 4 * flight->samples, 3));
    json_set(out, "speeds", json_from_numbers(flight->speeds, flight->samples, 2));
    return out;
}

static Json *document_flights(const Report *report)
{
    Json *out = json_array();
    for (int i = 0; i < report->task_count; i++)
        for (int m = 0; m < REPORT_METHODS; m++) {
            const ReportFlight *flight = report_flight(report, m, task_at(report, i));
            if (flight->flown) json_push(out, document_flight(flight, i, m));
        }
    return out;
}

// ---- Denoising ----------------------------------------------------------------------------------

static Json *document_frame(const ReportDenoising *way, int plan, int step)
{
    double positions[3 * FACET_CHUNK_KEYPOINTS];
    const double *chunk = way->path + ((size_t)step * (size_t)way->count + (size_t)plan) *
                                          FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS;
    for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++)
        memcpy(positions + 3 * k, chunk + FACET_CHUNK_CHANNELS * k, 3 * sizeof *positions);
    Json *out = json_object();
    json_set_number(out, "step", step);
    json_set_number(out, "noise", decimals(way->levels[step], 1e4));
    json_set(out, "positions", json_from_numbers(positions, 3 * FACET_CHUNK_KEYPOINTS, 3));
    return out;
}

static Json *document_denoising(const Report *report)
{
    const ReportDenoising *way = &report->denoising;
    Json *out = json_array();
    for (int i = 0; i < way->count; i++) {
        Json *entry = json_object(), *frames = json_array();
        json_set_number(entry, "task", report_task_index(report, way->tasks[i]));
        json_set_string(entry, "method", report_methods[way->method].id);
        json_set_number(entry, "steps", way->steps);
        for (int step = 0; step < way->steps; step += 2)
            json_push(frames, document_frame(way, i, step));
        json_push(frames, document_frame(way, i, way->steps));
        json_set(entry, "frames", frames);
        json_push(out, entry);
    }
    return out;
}

// ---- Being told ---------------------------------------------------------------------------------

// Into `out` under these names how many of `gates` a method passes, joint, and of how many
// trainings that is the mean. False, and nothing, where the study has no such row.
static bool add_told(Json *out, Report *report, const JsonRef *rows, const char *method,
                     double gates, const char *held_out, const char *trainings)
{
    JsonRef row = input_row(rows, method, "factored_joint"), seeds = input_member(&row, "seeds");
    JsonRef rate = input_member(&row, "held_out");
    double share = input_share(report, &rate, "mean");
    if (isnan(share) || input_number(report, &row, "gates_held_out") != gates) return false;
    json_set_numbers(out, {held_out, gates * share}, {trainings, input_length(&seeds)});
    return true;
}

// What networks pass that are only told their task, as ours was trained and with as many
// operations, so that nobody takes that for composition; NULL without a study that has one, and
// ours beside it.
static Json *document_told(Report *report)
{
    JsonRef root = input_root(report, INPUT_RACE_STUDY), rows = input_member(&root, "rows");
    JsonRef ours = input_row(&rows, "ours", "ours_composed");
    double gates = input_number(report, &ours, "gates_held_out");
    Json *out = json_object();
    json_set_number(out, "gates", gates);
    bool told = add_told(out, report, &rows, "told", gates, "held_out", "trainings");
    add_told(out, report, &rows, "told-longer", gates, "longer_held_out", "longer_trainings");
    if (told) return out;
    json_free(out);
    return NULL;
}

// ---- All of it ----------------------------------------------------------------------------------

Json *report_document(Report *report)
{
    Json *out = json_object();
    json_set_number(out, "format", 1);
    json_set_string(out, "version", report->version);
    json_set_string(out, "command", report->command);
    json_set(out, "sources", document_sources(report));
    json_set(out, "colors", document_colors());
    if (report->race) {
        json_set(out, "methods", document_methods(report));
        json_set_string(out, "main_method", report_methods[report_main_method(report)].id);
        json_set(out, "course", document_course(report->race->course));
        json_set(out, "tasks", document_tasks(report));
        json_set(out, "flights", document_flights(report));
        json_set(out, "denoising", document_denoising(report));
        if (report->live.count > 0) json_set(out, "live", document_live(report));
        Json *told = document_told(report);
        if (told) json_set(out, "told", told);
    }
    if (report->gate) json_set(out, "gate", document_gate(report));
    json_set(out, "figures", document_figures(report));
    json_set(out, "tables", document_tables(report));
    Json *messages = json_array(); // last: reading the inputs adds to them
    for (int i = 0; i < report->note_count; i++) json_push_string(messages, report->notes[i]);
    json_set(out, "messages", messages);
    return out;
}
