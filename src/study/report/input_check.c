// Whether a file holds what it is taken for: results of the right command, and of this course.
#include "report/input.h"

#include <math.h>
#include <string.h>

// ---- The command --------------------------------------------------------------------------------

static const char *const commands[INPUT_KINDS] = {
    [INPUT_RACE] = "facet race",
    [INPUT_EVAL] = "facet eval",
    [INPUT_STEPS] = "facet eval --step-study",
    [INPUT_CERTIFY] = "facet certify",
    [INPUT_VERIFY] = "facet fly --verify",
    [INPUT_BUDGET] = "facet certify --budget",
    [INPUT_LEAVE_ONE_OUT] = "facet study leave-one-out",
    [INPUT_MECHANISM] = "facet study mechanism",
    [INPUT_METAWORLD] = "examples/metaworld/run.sh",
    [INPUT_RACE_STUDY] = "facet reproduce",
    [INPUT_PAIRS] = "facet study pairs",
    [INPUT_OPERATORS] = "facet study operators",
    [INPUT_GATE] = "facet gate",
    [INPUT_GATE_STUDY] = "facet gate study",
    [INPUT_GATE_LADDER] = "facet gate study --ladder",
    [INPUT_MODALITY] = "facet gate modality",
};

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if (at > text && at[-1] == ' ' && (at[length] == ' ' || !at[length])) return true;
    return false;
}

// Whether a command line is of a command, with the options that make another kind of results.
static bool is_from(const char *line, InputKind kind)
{
    bool steps = has_word(line, "--step-study"), verify = has_word(line, "--verify");
    const char *options = strstr(commands[kind], " --");
    size_t length = options ? (size_t)(options - commands[kind]) : strlen(commands[kind]);
    if (strncmp(line, commands[kind], length) != 0 || (line[length] && line[length] != ' '))
        return false;
    if (kind == INPUT_EVAL || kind == INPUT_STEPS) return steps == (kind == INPUT_STEPS);
    if (kind == INPUT_CERTIFY || kind == INPUT_BUDGET)
        return has_word(line, "--budget") == (kind == INPUT_BUDGET);
    if (kind == INPUT_VERIFY) return verify;
    if (kind == INPUT_GATE_STUDY || kind == INPUT_GATE_LADDER)
        return has_word(line, "--ladder") == (kind == INPUT_GATE_LADDER);
    // Other commands of the single gate begin alike.
    return kind != INPUT_GATE ||
           !(is_from(line, INPUT_GATE_STUDY) || is_from(line, INPUT_GATE_LADDER) ||
             is_from(line, INPUT_MODALITY));
}

// A file that does not tell which command made it has a member that only its kind has.
static bool is_like(const JsonRef *root, InputKind kind)
{
    static const char *const members[INPUT_KINDS] = {
        [INPUT_RACE] = "planner",          [INPUT_EVAL] = "methods",
        [INPUT_STEPS] = "curves",          [INPUT_CERTIFY] = "by_noise_level",
        [INPUT_VERIFY] = "verification",   [INPUT_BUDGET] = "budgets",
        [INPUT_LEAVE_ONE_OUT] = "recipes", [INPUT_MECHANISM] = "variants",
        [INPUT_METAWORLD] = "metaworld",   [INPUT_RACE_STUDY] = "rows",
        [INPUT_PAIRS] = "orders",          [INPUT_OPERATORS] = "operators",
        [INPUT_GATE] = "venues",           [INPUT_GATE_STUDY] = "protocols",
        [INPUT_GATE_LADDER] = "protocols", [INPUT_MODALITY] = "choice",
    };
    return json_has(root, members[kind]);
}

static FacetStatus check_kind(const JsonRef *root, InputKind kind)
{
    const char *line = input_text(root, "command");
    if (strncmp(line, "facet ", 6) != 0 && !is_from(line, INPUT_METAWORLD))
        line = ""; // somebody else made it
    const char *found = line;
    if (line[0] ? is_from(line, kind) : is_like(root, kind)) return status_ok();
    for (InputKind other = 0; !line[0] && other < INPUT_KINDS; other++)
        if (is_like(root, other)) found = commands[other];
    if (!found[0]) return status_ok(); // nothing is known of it
    return status_fail(FACET_BAD_FILE, "%s: expected results of %s, found those of %.60s",
                       root->file, commands[kind], found);
}

// ---- The course ---------------------------------------------------------------------------------

static FacetStatus check_task(const Report *report, const JsonRef *entry)
{
    const char *track = input_text(entry, "track"), *size = input_text(entry, "size");
    FacetCourseTask task;
    if (!track[0] || !size[0]) return status_ok();
    if (!input_task(&task, report, entry))
        return status_fail(FACET_BAD_FILE,
                           "%s: %s: expected tasks of this course, found %.40s/%.40s", entry->file,
                           entry->path, track, size);
    JsonRef gates = input_member(entry, "gates"), speed = input_member(entry, "speed_reference");
    int expected = report->race->course->tracks[task.track].gate_count;
    double found = json_is_array(&gates) ? input_length(&gates) : expected;
    if (gates.node && !json_is_array(&gates)) json_number(&found, &gates, 0.0, 1e9);
    if (found != expected)
        return status_fail(FACET_BAD_FILE,
                           "%s: %s/%s: expected the %d gates of this course, found %g of another",
                           entry->file, track, size, expected, found);
    double reference = facet_race_reference_speed(report->race, task), flown = reference;
    if (speed.node && !json_is_null(&speed)) json_number(&flown, &speed, 0.0, 1e9);
    if (fabs(flown - reference) > 1e-3 * reference)
        return status_fail(FACET_BAD_FILE,
                           "%s: %s/%s: expected the reference speed of this course and vehicle, "
                           "%.4g m/s, found %.4g m/s of another",
                           entry->file, track, size, reference, flown);
    return status_ok();
}

static FacetStatus check_tasks(const Report *report, const JsonRef *object, const char *list)
{
    JsonRef tasks = input_member(object, list);
    for (int i = 0; tasks.node && i < input_length(&tasks); i++) {
        JsonRef entry = input_element(&tasks, i);
        TRY(check_task(report, &entry));
    }
    return status_ok();
}

// The same of every element of an object or a list.
static FacetStatus check_lists(const Report *report, const JsonRef *root, const char *elements,
                               const char *list)
{
    JsonRef all = input_member(root, elements);
    for (int i = 0; all.node && i < input_length(&all); i++) {
        JsonRef element = input_element(&all, i);
        TRY(check_tasks(report, &element, list));
    }
    return status_ok();
}

// The gates of all feasible tasks, which a step study flies.
static int all_gates(const FacetRace *race)
{
    int gates = 0;
    for (int t = 0; t < race->speeds.tracks; t++)
        for (int o = 0; o < race->speeds.openings; o++)
            if (facet_speed_map_at(&race->speeds, (FacetCourseTask){t, o})->feasible)
                gates += race->course->tracks[t].gate_count;
    return gates;
}

// A number of every element of a list, such as the tasks that it is about, is within the course's.
static FacetStatus check_totals(const JsonRef *root, const char *list, const char *path, int least,
                                int most, const char *what)
{
    JsonRef all = input_member(root, list);
    for (int i = 0; all.node && i < input_length(&all); i++) {
        const char *last;
        JsonRef element = input_element(&all, i), object = input_within(&last, &element, path);
        JsonRef total = input_member(&object, last);
        double found = most;
        if (total.node && !json_is_null(&total)) json_number(&found, &total, 0.0, 1e9);
        if (found < least || found > most)
            return status_fail(
                FACET_BAD_FILE, "%s: %s: expected %s%d %s of this course, found %g of another",
                total.file, total.path, least < most ? "at most " : "the ", most, what, found);
    }
    return status_ok();
}

FacetStatus input_check(const Report *report, InputKind kind)
{
    JsonRef root = input_root(report, kind);
    TRY(check_kind(&root, kind));
    if (!report->race) return status_ok();
    if (kind == INPUT_EVAL || kind == INPUT_OPERATORS)
        TRY(check_lists(report, &root, "methods", "tasks"));
    int gates = all_gates(report->race), tasks = facet_race_feasible_count(report->race);
    if (kind == INPUT_STEPS) TRY(check_totals(&root, "curves", "gates.all", gates, gates, "gates"));
    if (kind == INPUT_BUDGET) TRY(check_totals(&root, "budgets", "tasks", 0, tasks, "tasks"));
    if (kind == INPUT_LEAVE_ONE_OUT) TRY(check_lists(report, &root, "recipes", "pairs"));
    return kind < INPUT_BUDGET ? check_tasks(report, &root, "tasks") : status_ok();
}
