// Reading results that may be incomplete (see input.h).
#include "report/input.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *id, *file;
} kinds[INPUT_KINDS] = {
    [INPUT_RACE] = {"race", "race.json"},
    [INPUT_EVAL] = {"eval", "eval.json"},
    [INPUT_STEPS] = {"steps", "steps.json"},
    [INPUT_CERTIFY] = {"certify", "certify.json"},
    [INPUT_VERIFY] = {"verify", "verify.json"},
    [INPUT_BUDGET] = {"budget", "budget.json"},
    [INPUT_LEAVE_ONE_OUT] = {"leave-one-out", "leave-one-out.json"},
    [INPUT_MECHANISM] = {"mechanism", "mechanism.json"},
    [INPUT_METAWORLD] = {"metaworld", "metaworld.json"},
    [INPUT_RACE_STUDY] = {"race-study", "race-study.json"},
    [INPUT_PAIRS] = {"pairs", "pairs.json"},
    [INPUT_OPERATORS] = {"operators", "operators.json"},
    [INPUT_GATE] = {"gate", "gate.json"},
    [INPUT_GATE_STUDY] = {"gate-study", "gate-study.json"},
    [INPUT_GATE_LADDER] = {"gate-ladder", "gate-ladder.json"},
    [INPUT_MODALITY] = {"modality", "modality.json"},
};

const char *input_name(InputKind kind) { return kinds[kind].id; }

void report_note(Report *report, const char *format, ...)
{
    char line[REPORT_NOTE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_clean(line);
    for (int i = 0; i < report->note_count; i++)
        if (strcmp(report->notes[i], line) == 0) return;
    if (report->note_count == REPORT_NOTES_MAX) return;
    if (report->note_count == REPORT_NOTES_MAX - 1)
        snprintf(line, sizeof line, "and more of the same kind");
    memcpy(report->notes[report->note_count++], line, sizeof line);
}

// ---- Files --------------------------------------------------------------------------------------

// Replaces the words NaN, Infinity and -Infinity, which some writers of JSON use and JSON does not
// know, by null. Returns how many there were; the text has room for it.
static int replace_non_finite(char *out, const char *in)
{
    static const char *const words[] = {"NaN", "-NaN", "Infinity", "-Infinity"};
    int count = 0;
    bool quoted = false;
    while (*in) {
        if (quoted && *in == '\\' && in[1]) {
            *out++ = *in++;
        } else if (*in == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            size_t length = 0;
            for (size_t i = 0; i < sizeof words / sizeof *words && !length; i++)
                if (strncmp(in, words[i], strlen(words[i])) == 0) length = strlen(words[i]);
            if (length) {
                memcpy(out, "null", 4);
                out += 4;
                in += length;
                count++;
                continue;
            }
        }
        *out++ = *in++;
    }
    *out = '\0';
    return count;
}

static FacetStatus read_document(Report *report, ReportInput *input, const char *path)
{
    char *text;
    size_t size;
    TRY(file_read(&text, &size, path));
    char *clean = malloc(2 * size + 1); // "NaN" grows by one letter
    FacetStatus status =
        clean ? status_ok() : status_fail(FACET_NO_MEMORY, "%s: out of memory", input->path);
    if (status.ok && strlen(text) != size)
        status =
            status_fail(FACET_BAD_FILE, "%s: expected JSON text, found a zero byte", input->path);
    if (status.ok) {
        int count = replace_non_finite(clean, text);
        status = json_parse(&input->document, clean, input->path);
        if (status.ok && count > 0)
            report_note(report, "%s: %d %s not a number (NaN or infinite) and left out",
                        input->path, count, count == 1 ? "value is" : "values are");
    }
    free(clean);
    free(text);
    JsonRef root = json_root(input->document, input->path);
    if (status.ok && !json_is_object(&root)) status = json_wrong(&root, "an object");
    return status;
}

// Where a file stands when nobody names it: a run's own in out/, the study's among what ships.
static bool default_place(char path[FILE_PATH_MAX], char shown[FILE_PATH_MAX], InputKind kind)
{
    const char *below = kind == INPUT_RACE ? "out" : "results";
    char folder[FILE_PATH_MAX] = "out";
    if (kind != INPUT_RACE && !file_shipped(folder, below).ok) return false;
    snprintf(path, FILE_PATH_MAX, "%.900s/%s", folder, kinds[kind].file);
    snprintf(shown, FILE_PATH_MAX, "%s/%s", below, kinds[kind].file);
    return access(path, F_OK) == 0;
}

FacetStatus input_read(Report *report, InputKind kind, const ReportSetup *setup)
{
    ReportInput *input = &report->inputs[kind];
    char path[FILE_PATH_MAX];
    if (setup->files[kind]) {
        snprintf(input->path, sizeof input->path, "%s", setup->files[kind]);
        TRY(read_document(report, input, setup->files[kind]));
        return input_check(report, kind);
    }
    bool given =
        (kind == INPUT_RACE && setup->no_race_file) || (kind == INPUT_GATE && setup->no_gate_file);
    bool wanted = !setup->no_defaults && !given;
    if (wanted && default_place(path, input->path, kind)) {
        TRY(read_document(report, input, path));
        FacetStatus status = input_check(report, kind);
        if (status.ok) return status;
        report_note(report, "Left out, as nobody named it: %s", status.text);
        json_free(input->document);
        input->document = NULL;
    }
    input->path[0] = '\0';
    return status_ok();
}

// ---- Values -------------------------------------------------------------------------------------

JsonRef input_root(const Report *report, InputKind kind)
{
    return json_root(report->inputs[kind].document, report->inputs[kind].path);
}

JsonRef input_member(const JsonRef *at, const char *key)
{
    JsonRef out = {.file = at->file};
    if (at->node && json_is_object(at) && json_has(at, key) && json_member(&out, at, key).ok)
        return out;
    return (JsonRef){.file = at->file};
}

JsonRef input_element(const JsonRef *at, int index)
{
    JsonRef out;
    return json_element(&out, at, index).ok ? out : (JsonRef){.file = at->file};
}

int input_length(const JsonRef *at)
{
    int length = 0;
    return at->node && json_length(&length, at).ok ? length : 0;
}

double input_number(Report *report, const JsonRef *at, const char *key)
{
    double value;
    JsonRef member = input_member(at, key);
    if (!member.node || json_is_null(&member)) return nan("");
    if (json_number(&value, &member, -INFINITY, INFINITY).ok) return value;
    report_note(report, "%s: %s: not a finite number, left out", member.file, member.path);
    return nan("");
}

double input_share(Report *report, const JsonRef *at, const char *key)
{
    double value = input_number(report, at, key);
    if (isnan(value) || (value >= 0.0 && value <= 1.0)) return value;
    JsonRef member = input_member(at, key);
    report_note(report, "%s: %s: expected a share from 0 to 1, found %g, left out", member.file,
                member.path, value);
    return nan("");
}

const char *input_text(const JsonRef *at, const char *key)
{
    JsonRef member = input_member(at, key);
    const char *text = member.node ? json_chars(&member) : NULL;
    return text ? text : "";
}

bool input_flag(const JsonRef *at, const char *key)
{
    JsonRef member = input_member(at, key);
    return member.node && json_is_true(&member);
}

JsonRef input_within(const char **last, const JsonRef *at, const char *path)
{
    JsonRef out = *at;
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        out = input_member(&out, key);
    }
    *last = path;
    return out;
}

double input_at(Report *report, const JsonRef *at, const char *path)
{
    const char *key;
    JsonRef within = input_within(&key, at, path);
    return input_number(report, &within, key);
}

int input_count(const JsonRef *list, const char *key)
{
    int count = 0;
    for (int i = 0; i < input_length(list); i++) {
        JsonRef entry = input_element(list, i);
        count += input_flag(&entry, key);
    }
    return count;
}

bool input_is_row(const JsonRef *row, const char *method, const char *key)
{
    return strcmp(input_text(row, "method"), method) == 0 &&
           strcmp(input_text(row, "key"), key) == 0;
}

JsonRef input_row(const JsonRef *rows, const char *method, const char *key)
{
    for (int i = 0; i < input_length(rows); i++) {
        JsonRef row = input_element(rows, i);
        if (input_is_row(&row, method, key)) return row;
    }
    return (JsonRef){.file = rows->file};
}

JsonRef input_same_task(const JsonRef *list, const JsonRef *task)
{
    for (int i = 0; i < input_length(list); i++) {
        JsonRef entry = input_element(list, i);
        if (strcmp(input_text(&entry, "track"), input_text(task, "track")) == 0 &&
            strcmp(input_text(&entry, "size"), input_text(task, "size")) == 0)
            return entry;
    }
    return (JsonRef){.file = list->file};
}

Summary input_summary(Report *report, const JsonRef *list, const char *path, bool training)
{
    enum { VALUES_MAX = 4096 };
    double values[VALUES_MAX];
    int count = 0;
    for (int i = 0; i < input_length(list) && count < VALUES_MAX; i++) {
        JsonRef entry = input_element(list, i);
        if (training && input_flag(&entry, "held_out")) continue;
        values[count++] = input_at(report, &entry, path);
    }
    return summarise(values, count);
}

InputOrigin input_origin(Report *report, InputKind kind)
{
    JsonRef root = input_root(report, kind);
    return (InputOrigin){
        .path = report->inputs[kind].path,
        .command = input_text(&root, "command"),
        .version = input_text(&root, "version"),
        .seed = input_number(report, &root, "seed"),
    };
}

bool input_attacked(const JsonRef *gates)
{
    for (int g = 0; g < input_length(gates); g++) {
        JsonRef gate = input_element(gates, g);
        if (!json_has(&gate, "attack")) return false;
    }
    return input_length(gates) > 0;
}

int input_certified(const JsonRef *gates)
{
    return input_attacked(gates) ? input_count(gates, "certified") : 0;
}

void report_recipe_name(char out[REPORT_RECIPE_NAME], Report *report, const JsonRef *recipe)
{
    double weight = input_number(report, recipe, "composed_loss");
    if (weight > 0.0 && input_member(recipe, "agreement").node)
        snprintf(out, REPORT_RECIPE_NAME, "loss %g, agreement %g", weight,
                 input_number(report, recipe, "agreement"));
    else if (weight > 0.0)
        snprintf(out, REPORT_RECIPE_NAME, "composed loss %g", weight);
    else
        snprintf(out, REPORT_RECIPE_NAME, "the paper's loss");
}

bool input_task(FacetCourseTask *task, const Report *report, const JsonRef *at)
{
    const FacetCourse *course = report->race->course;
    return facet_course_find_track(&task->track, course, input_text(at, "track")).ok &&
           facet_course_find_opening(&task->opening, course, input_text(at, "size")).ok;
}

JsonRef input_find_task(const Report *report, const JsonRef *list, FacetCourseTask task)
{
    for (int i = 0; i < input_length(list); i++) {
        JsonRef entry = input_element(list, i);
        FacetCourseTask found;
        if (input_task(&found, report, &entry) && found.track == task.track &&
            found.opening == task.opening)
            return entry;
    }
    return (JsonRef){.file = list->file};
}
