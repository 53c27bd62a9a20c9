// Cells of the race study and their summary (see race_cells.h).
#include "race_cells.h"

#include "base/file.h"
#include "base/text.h"
#include "evidence/evidence.h"
#include "speed_share.h"
#include "speeds_off.h"

#include <facet/course.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const RaceMethod race_methods[RACE_METHODS] = {
    {.name = "ours", .method = "factored", .composed_loss = "3", .agreement = "10", .minutes = 18},
    {.name = "paper", .method = "factored", .minutes = 7},
    {.name = "baseline", .method = "baseline", .minutes = 6.5},
    {.name = "oracle", .method = "oracle", .minutes = 9},
    {.name = "knet", .method = "knet", .minutes = 23},
    {.name = "told", .when = RACE_CONTROL, .method = "factored", .drop = "0", .minutes = 7},
    {.name = "told-longer",
     .when = RACE_CONTROL,
     .method = "factored",
     .drop = "0",
     .longer = true,
     .minutes = 22},
    {.name = "paper-longer",
     .when = RACE_CONTROL,
     .method = "factored",
     .longer = true,
     .minutes = 22},
    {.name = "paper-drop", .when = RACE_CONTROL, .method = "factored", .drop = "0.3", .minutes = 7},
    {.name = "paper-drop-longer",
     .when = RACE_CONTROL,
     .method = "factored",
     .drop = "0.3",
     .longer = true,
     .minutes = 22},
    {.name = "paper-eps",
     .when = RACE_CONTROL,
     .method = "factored",
     .predict = "eps",
     .minutes = 7},
    {.name = "composed-loss",
     .when = RACE_CONTROL,
     .method = "factored",
     .composed_loss = "3",
     .minutes = 13},
    {.name = "oracle-ours",
     .when = RACE_CONTROL,
     .method = "oracle",
     .composed_loss = "3",
     .agreement = "10",
     .minutes = 25},
    {.name = "recipe-v",
     .method = "factored",
     .recipe = "paper",
     .predict = "v",
     .when = RACE_NAMED,
     .minutes = 55},
    {.name = "recipe-eps",
     .method = "factored",
     .recipe = "paper",
     .predict = "eps",
     .when = RACE_NAMED,
     .minutes = 55},
};

// The rows of the summary: a method with its way of inference, by the key that `facet eval` gives
// it. A network that never saw a null token is composed all the same, of tokens at their random
// initial values: what composition is without anything that trains it.
static const struct {
    const char *method, *key, *name, *brief;
    bool control; // which older cells do without
} rows[] = {
    {"baseline", "baseline", "Baseline, not told its task", "Baseline, not told", false},
    {"told", "factored_joint", "Told its task, no dropout, joint", "Told, no dropout", false},
    {"told-longer", "factored_joint", "Told its task, operations as ours, joint", "Told, longer",
     false},
    {"told", "factored_composed", "Told its task, no dropout, composed all the same",
     "Told, composed", false},
    {"told-longer", "factored_composed", "Told its task, operations as ours, composed all the same",
     "Told, longer, composed", false},
    {"knet", "knet", "K networks, composed", "K networks", false},
    {"paper", "factored_composed", "The paper's loss, composed", "Paper's loss", false},
    {"paper", "factored_joint", "The paper's loss, joint", "Paper's loss, joint", false},
    {"paper-longer", "factored_composed", "The paper's loss, operations as ours, composed",
     "Paper, longer", false},
    {"paper-longer", "factored_joint", "The paper's loss, operations as ours, joint",
     "Paper, longer, joint", false},
    {"paper-drop", "factored_composed", "The paper's loss, dropout 0.3, composed",
     "Paper, drop 0.3", false},
    {"paper-drop", "factored_joint", "The paper's loss, dropout 0.3, joint",
     "Paper, drop 0.3, joint", false},
    {"paper-drop-longer", "factored_composed",
     "The paper's loss, dropout and operations as ours, composed", "Paper, drop, longer", false},
    {"paper-drop-longer", "factored_joint",
     "The paper's loss, dropout and operations as ours, joint", "Paper, both, joint", false},
    {"paper-eps", "factored_composed", "The paper's loss, eps, composed", "Paper, eps", false},
    {"paper-eps", "factored_joint", "The paper's loss, eps, joint", "Paper, eps, joint", false},
    {"recipe-v", "factored_composed", "The paper's recipe, v, composed", "Recipe, v", false},
    {"recipe-v", "factored_joint", "The paper's recipe, v, joint", "Recipe, v, joint", false},
    {"recipe-eps", "factored_composed", "The paper's recipe, eps, composed", "Recipe, eps", false},
    {"recipe-eps", "factored_joint", "The paper's recipe, eps, joint", "Recipe, eps, joint", false},
    {"composed-loss", "ours_composed", "The composed loss alone, composed", "Composed loss", false},
    {"composed-loss", "ours_joint", "The composed loss alone, joint", "Composed loss, joint",
     false},
    {"ours", "ours_composed", "Ours, composed", "Ours", false},
    {"ours", "ours_joint", "Ours, joint", "Ours, joint", false},
    {"ours", "ours_track", "Ours, told the track alone", "Ours, track alone", true},
    {"oracle", "oracle", "Oracle, the paper's loss, composed", "Oracle", false},
    {"oracle-ours", "oracle", "Oracle, our loss, composed", "Oracle, our loss", false},
};
enum { ROWS = sizeof rows / sizeof *rows };

// The row that others are held against: ours, composed.
static bool is_ours(int r)
{
    return strcmp(rows[r].method, "ours") == 0 && strcmp(rows[r].key, "ours_composed") == 0;
}

FacetStatus race_method_find(int *index, const char *name)
{
    const char *names[RACE_METHODS];
    char text[300];
    for (int i = 0; i < RACE_METHODS; i++) {
        names[i] = race_methods[i].name;
        *index = i;
        if (strcmp(name, names[i]) == 0) return status_ok();
    }
    text_unknown(text, sizeof text, "method", name, names, RACE_METHODS);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

int race_method_epochs(const RaceMethod *method, int epochs)
{
    enum { RECIPE_EPOCHS = 160 };
    if (!method->longer) return epochs;
    return ((epochs ? epochs : RECIPE_EPOCHS) * 7 + 1) / 2;
}

void race_method_options(Step *step, const RaceMethod *method)
{
    const char *const options[][2] = {
        {"--method", method->method},       {"--composed-loss", method->composed_loss},
        {"--agreement", method->agreement}, {"--drop", method->drop},
        {"--recipe", method->recipe},       {"--predict", method->predict}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i][1]) step_pair(step, options[i][0], options[i][1]);
}

void race_cell_file(char out[STEP_WORD_SIZE], const char *folder, const RaceMethod *method,
                    uint64_t seed, const char *suffix)
{
    char name[100];
    snprintf(name, sizeof name, "%.40s-%llu.%.40s", method->name, (unsigned long long)seed, suffix);
    step_file(out, folder, name);
}

// ---- One row ------------------------------------------------------------------------------------

enum { TASKS_MAX = 256, NAME_SIZE = 128 };

// What a group of tasks is counted by.
typedef enum Group {
    ALL,
    TRAINING,
    HELD_OUT,
    HELD_OUT_NEW,
    VEHICLE,
    VEHICLE_HELD_OUT,
    GROUPS
} Group;
static const char *const group_keys[GROUPS] = {
    "all", "training", "held_out", "held_out_new", "vehicle", "vehicle_held_out",
};

typedef struct Task {
    char name[NAME_SIZE], same_as[NAME_SIZE]; // "" when no training task has its path and speed
    bool held_out;
    double gates;
} Task;

typedef struct Row {
    int tasks, seeds;
    Task task[TASKS_MAX]; // of the first cell
    uint64_t seed[RACE_SEEDS_MAX];
    EvidenceCounts counts[GROUPS]; // [TASKS_MAX][RACE_SEEDS_MAX]
    double plans, crashes, error, order_right, order_pairs, rows, parameters; // sums over the cells
    SpeedsOff speeds; // of plans of held-out tasks
    SpeedShare speed_share;
} Row;

static FacetStatus read_task(Task *task, double *share, double *vehicle, const JsonRef *at)
{
    char track[NAME_SIZE / 2 - 1], size[NAME_SIZE / 2 - 1];
    TRY(json_member_string(track, sizeof track, at, "track"));
    TRY(json_member_string(size, sizeof size, at, "size"));
    snprintf(task->name, sizeof task->name, "%s/%s", track, size);
    task->same_as[0] = '\0';
    if (json_has(at, "same_as"))
        TRY(json_member_string(task->same_as, sizeof task->same_as, at, "same_as"));
    TRY(json_member_bool(&task->held_out, at, "held_out"));
    TRY(json_member_number(&task->gates, at, "gates", 1.0, FACET_TRACK_GATES_MAX));
    TRY(json_member_number(share, at, "share_all_seeds", 0.0, 1.0));
    return json_member_number(vehicle, at, "share_vehicle", 0.0, 1.0);
}

static FacetStatus read_speeds(SpeedPlan *plan, const JsonRef *at)
{
    TRY(json_member_string(plan->track, sizeof plan->track, at, "track"));
    TRY(json_member_bool(&plan->left_out, at, "held_out"));
    TRY(json_member_number(&plan->planned, at, "speed_generated", 1e-3, 1e6));
    return json_member_number(&plan->reference, at, "speed_reference", 1e-3, 1e6);
}

static void count_task(Row *row, const Task *task, int t, double share, double vehicle,
                       double plans)
{
    bool is_new = task->held_out && !task->same_as[0];
    const bool belongs[GROUPS] = {true, !task->held_out, task->held_out, is_new,
                                  true, task->held_out};
    double trials = task->gates * plans;
    for (int g = 0; g < GROUPS; g++)
        if (belongs[g])
            evidence_count(&row->counts[g], t, row->seeds,
                           (g >= VEHICLE ? vehicle : share) * trials, trials);
}

static FacetStatus read_tasks(Row *row, const JsonRef *method, double plans)
{
    JsonRef list, at;
    SpeedPlan speeds[TASKS_MAX];
    int count;
    TRY(json_member(&list, method, "tasks"));
    TRY(json_length(&count, &list));
    if (count > TASKS_MAX || (row->seeds > 0 && count != row->tasks))
        return json_wrong(&list, "the tasks of the other seeds");
    row->tasks = count;
    for (int t = 0; t < count; t++) {
        Task task;
        double share, vehicle;
        TRY(json_element(&at, &list, t));
        TRY(read_task(&task, &share, &vehicle, &at));
        TRY(read_speeds(&speeds[t], &at));
        if (row->seeds == 0) row->task[t] = task;
        if (strcmp(task.name, row->task[t].name) != 0 || task.held_out != row->task[t].held_out)
            return json_wrong(&at, "the task of the other seeds");
        count_task(row, &task, t, share, vehicle, plans);
    }
    speed_share_add(&row->speed_share, speeds, count);
    return status_ok();
}

static FacetStatus add_number(double *sum, const JsonRef *at, const char *object, const char *key)
{
    JsonRef within = *at;
    double value;
    if (object) TRY(json_member(&within, at, object));
    TRY(json_member_number(&value, &within, key, 0.0, 1e18));
    *sum += value;
    return status_ok();
}

static FacetStatus read_numbers(Row *row, const JsonRef *method)
{
    TRY(add_number(&row->crashes, method, "all_seeds", "crashes"));
    TRY(add_number(&row->error, method, NULL, "error_m"));
    TRY(add_number(&row->order_right, method, "speed_order", "right"));
    TRY(add_number(&row->order_pairs, method, "speed_order", "pairs"));
    TRY(add_number(&row->rows, method, "training_run", "rows"));
    return add_number(&row->parameters, method, "training_run", "parameters");
}

// Adds the row of a cell's file to those of other seeds.
static FacetStatus read_cell(Row *row, const char *path, int r, uint64_t seed)
{
    Json *document;
    JsonRef methods, method;
    const char *key = rows[r].key;
    double plans = 0.0;
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = json_member(&methods, &root, "methods");
    if (status.ok && rows[r].control && !json_has(&methods, key)) {
        json_free(document);
        return status;
    }
    if (status.ok) status = json_member(&method, &methods, key);
    if (status.ok) status = json_member_number(&plans, &method, "seeds", 1.0, 1000.0);
    if (status.ok) status = read_tasks(row, &method, plans);
    if (status.ok) status = read_numbers(row, &method);
    if (status.ok) status = speeds_off_read(&row->speeds, &root, key, NULL);
    if (status.ok) {
        row->plans += plans;
        row->seed[row->seeds++] = seed;
    }
    json_free(document);
    return status;
}

// ---- The summary --------------------------------------------------------------------------------

static Json *json_from_tasks(const Row *row)
{
    Json *list = json_array();
    for (int t = 0; t < row->tasks; t++) {
        const Task *task = &row->task[t];
        if (!task->held_out) continue;
        double passed = 0.0, gates = 0.0;
        for (int s = 0; s < row->seeds; s++) {
            passed += row->counts[ALL].passed[t * RACE_SEEDS_MAX + s];
            gates += row->counts[ALL].trials[t * RACE_SEEDS_MAX + s];
        }
        Json *object = json_object();
        json_set_string(object, "task", task->name);
        if (task->same_as[0]) json_set_string(object, "same_as", task->same_as);
        json_set_number(object, "share", passed / gates);
        json_push(list, object);
    }
    return list;
}

// How far ours is ahead, on all tasks and on those held out, if both flew the same tasks.
static void set_lead(Json *out, const Row *ours, const Row *row)
{
    static const Group groups[] = {ALL, HELD_OUT};
    bool same = ours->seeds > 0 && ours->tasks == row->tasks;
    for (int t = 0; same && t < row->tasks; t++)
        same = strcmp(ours->task[t].name, row->task[t].name) == 0 &&
               ours->task[t].held_out == row->task[t].held_out;
    if (!same) return;
    Json *lead = json_object();
    for (int i = 0; i < 2; i++)
        json_set(lead, group_keys[groups[i]],
                 json_from_lead(evidence_lead(&ours->counts[groups[i]], &row->counts[groups[i]])));
    json_set(out, "ours_ahead", lead);
}

static Json *json_from_row(const Row *row, const Row *ours, int r)
{
    Json *out = json_object(), *seeds = json_array(), *order = json_object();
    double gates = 0.0, held_out = 0.0, cells = row->seeds;
    for (int t = 0; t < row->tasks; t++) {
        gates += row->task[t].gates;
        if (row->task[t].held_out) held_out += row->task[t].gates;
    }
    json_set_string(out, "name", rows[r].name);
    json_set_string(out, "brief", rows[r].brief);
    json_set_string(out, "method", rows[r].method);
    json_set_string(out, "key", rows[r].key);
    for (int s = 0; s < row->seeds; s++) json_push_number(seeds, (double)row->seed[s]);
    json_set(out, "seeds", seeds);
    json_set_numbers(out, {"plans", row->plans / cells}, {"gates", gates},
                     {"gates_held_out", held_out});
    for (int g = 0; g < GROUPS; g++)
        json_set(out, group_keys[g], json_from_evidence(evidence_rate(&row->counts[g])));
    json_set_numbers(out, {"crashes", row->crashes / row->plans}, {"error_m", row->error / cells},
                     {"rows", row->rows / cells}, {"parameters", row->parameters / cells});
    json_set_numbers(order, {"right", row->order_right / cells},
                     {"pairs", row->order_pairs / cells});
    json_set(out, "speed_order", order);
    if (row->speeds.count > 0.0)
        json_set_number(out, "speed_off_held_out", row->speeds.sum / row->speeds.count);
    json_set(out, "speed_share", json_from_speed_share(&row->speed_share));
    json_set(out, "held_out_tasks", json_from_tasks(row));
    if (!is_ours(r)) set_lead(out, ours, row);
    return out;
}

static FacetStatus read_row(Row *row, int r, const char *folder, uint64_t first)
{
    int method;
    TRY(race_method_find(&method, rows[r].method));
    for (int g = 0; g < GROUPS; g++)
        TRY(evidence_counts_create(&row->counts[g], TASKS_MAX, RACE_SEEDS_MAX));
    for (uint64_t seed = first; seed < first + RACE_SEEDS_MAX; seed++) {
        char path[STEP_WORD_SIZE];
        race_cell_file(path, folder, &race_methods[method], seed, "json");
        if (file_exists(path)) TRY(read_cell(row, path, r, seed));
    }
    return status_ok();
}

static void free_row(Row *row)
{
    for (int g = 0; g < GROUPS; g++) evidence_counts_free(&row->counts[g]);
}

static FacetStatus add_rows(Json *list, Row *ours, Row *row, const char *folder, uint64_t seed)
{
    int first = 0;
    while (!is_ours(first)) first++;
    FacetStatus status = read_row(ours, first, folder, seed);
    for (int r = 0; status.ok && r < ROWS; r++) {
        *row = (Row){0};
        status = read_row(row, r, folder, seed);
        if (status.ok && row->seeds > 0) json_push(list, json_from_row(row, ours, r));
        free_row(row);
    }
    free_row(ours);
    return status;
}

FacetStatus race_cells_summary(Json **document, const char *folder, uint64_t seed)
{
    Json *list = json_array();
    Row *both = calloc(2, sizeof *both);
    FacetStatus status = both ? add_rows(list, &both[0], &both[1], folder, seed)
                              : status_fail(FACET_NO_MEMORY, "out of memory for the summary");
    free(both);
    if (!status.ok) {
        json_free(list);
        return status;
    }
    *document = json_object();
    json_set(*document, "rows", list);
    return status_ok();
}
