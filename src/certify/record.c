// Records of certificates as JSON (see certify/record.h).
#include "certify/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Writing ------------------------------------------------------------------------------------

static void set_bound(Json *object, const char *key, CertifyBound bound)
{
    Json *out = json_object();
    json_set_number(out, "value", bound.value);
    json_set_number(out, "step", bound.step);
    json_set(object, key, out);
}

static Json *json_from_gate(const GateRecord *gate)
{
    Json *out = json_object();
    json_set_bool(out, "crossed", gate->crossed);
    json_set_number(out, "miss", gate->miss);
    json_set_number(out, "radius", gate->radius);
    json_set_number(out, "disturbance", gate->disturbance);
    json_set_number(out, "reach", gate->reach);
    json_set_number(out, "slope", gate->slope);
    json_set_bool(out, "certified", gate->certified);
    return out;
}

static Json *json_from_check(const GateCheck *check)
{
    Json *out = json_object();
    json_set_number(out, "compared", check->compared);
    json_set_number(out, "lost", check->lost);
    json_set_number(out, "shift_mean", check->shift_mean);
    json_set_number(out, "shift_max", check->shift_max);
    json_set_number(out, "gap_mean", check->gap_mean);
    json_set_number(out, "gap_max", check->gap_max);
    json_set_number(out, "relative", check->relative);
    json_set_number(out, "ratio_largest", check->ratio_largest);
    return out;
}

Json *json_from_record(const CertifyRecord *record, const Course *course)
{
    Json *out = json_object(), *gates = json_array();
    const PlanCertificate *plan = &record->plan;
    char task[2 * COURSE_NAME_MAX + 2];
    snprintf(task, sizeof task, "%s/%s", course->tracks[record->task.track].name,
             course->openings[record->task.opening].name);
    json_set_string(out, "task", task);
    json_set_number(out, "steps", record->steps);
    json_set_number(out, "turn", record->turn);
    if (record->failure[0]) json_set_string(out, "failure", record->failure);
    set_bound(out, "ltv", plan->ltv);
    set_bound(out, "ode", plan->ode);
    set_bound(out, "product", plan->product);
    set_bound(out, "path", plan->path);
    json_set_number(out, "eps_s", plan->eps_s);
    json_set_number(out, "actual", plan->actual);
    json_set_number(out, "linear", plan->linear);
    json_set_number(out, "amplification", plan->amplification);
    for (int g = 0; g < record->gate_count; g++)
        json_push(gates, json_from_gate(&record->gates[g]));
    json_set(out, "gates", gates);
    json_set(out, "check", json_from_check(&record->check));
    return out;
}

// ---- Reading ------------------------------------------------------------------------------------

// A member that is a number, or null where it was not finite.
static Status read_number(double *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    if (!json_number(out, &at, -INFINITY, INFINITY).ok) *out = nan("");
    return status_ok();
}

static Status read_int(int *out, const JsonRef *object, const char *key)
{
    double value;
    TRY(json_member_number(&value, object, key, -1e9, 1e9));
    *out = (int)value;
    return status_ok();
}

static Status read_bool(bool *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return json_bool(out, &at);
}

static Status read_bound(CertifyBound *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    TRY(read_number(&out->value, &at, "value"));
    return read_int(&out->step, &at, "step");
}

static Status read_gate(GateRecord *gate, const JsonRef *at)
{
    TRY(read_bool(&gate->crossed, at, "crossed"));
    TRY(read_number(&gate->miss, at, "miss"));
    TRY(read_number(&gate->radius, at, "radius"));
    TRY(read_number(&gate->disturbance, at, "disturbance"));
    TRY(read_number(&gate->reach, at, "reach"));
    TRY(read_number(&gate->slope, at, "slope"));
    return read_bool(&gate->certified, at, "certified");
}

static Status read_check(GateCheck *check, const JsonRef *object)
{
    JsonRef at;
    TRY(json_member(&at, object, "check"));
    TRY(read_int(&check->compared, &at, "compared"));
    TRY(read_int(&check->lost, &at, "lost"));
    TRY(read_number(&check->shift_mean, &at, "shift_mean"));
    TRY(read_number(&check->shift_max, &at, "shift_max"));
    TRY(read_number(&check->gap_mean, &at, "gap_mean"));
    TRY(read_number(&check->gap_max, &at, "gap_max"));
    TRY(read_number(&check->relative, &at, "relative"));
    return read_number(&check->ratio_largest, &at, "ratio_largest");
}

static Status read_plan(PlanCertificate *plan, const JsonRef *at, int steps)
{
    plan->steps = steps;
    TRY(read_bound(&plan->ltv, at, "ltv"));
    TRY(read_bound(&plan->ode, at, "ode"));
    TRY(read_bound(&plan->product, at, "product"));
    TRY(read_bound(&plan->path, at, "path"));
    TRY(read_number(&plan->eps_s, at, "eps_s"));
    TRY(read_number(&plan->actual, at, "actual"));
    TRY(read_number(&plan->linear, at, "linear"));
    return read_number(&plan->amplification, at, "amplification");
}

Status record_from_json(CertifyRecord *record, const JsonRef *at, const Course *course)
{
    char task[2 * COURSE_NAME_MAX + 2];
    JsonRef gates;
    *record = (CertifyRecord){0};
    TRY(json_member_string(task, sizeof task, at, "task"));
    TRY(course_find_task(&record->task, course, task));
    TRY(read_int(&record->steps, at, "steps"));
    TRY(read_int(&record->turn, at, "turn"));
    if (json_has(at, "failure"))
        TRY(json_member_string(record->failure, sizeof record->failure, at, "failure"));
    TRY(read_plan(&record->plan, at, record->steps));
    TRY(read_check(&record->check, at));
    TRY(json_member(&gates, at, "gates"));
    TRY(json_length(&record->gate_count, &gates));
    if (record->gate_count > TRACK_GATES_MAX) return json_wrong(&gates, "the gates of a track");
    for (int g = 0; g < record->gate_count; g++) {
        JsonRef gate;
        TRY(json_element(&gate, &gates, g));
        TRY(read_gate(&record->gates[g], &gate));
    }
    return status_ok();
}

// ---- The file -----------------------------------------------------------------------------------

static Status read_all(CertifyRecord **records, int *count, const JsonRef *root, const char *key,
                       const Course *course)
{
    JsonRef study, list;
    TRY(json_member(&study, root, "study"));
    const char *found = json_chars(&study);
    if (!found || strcmp(found, key) != 0)
        return status_fail("%s: holds results of another policy or study; remove it to begin anew",
                           root->file);
    TRY(json_member(&list, root, "records"));
    TRY(json_length(count, &list));
    *records = calloc((size_t)*count + 1, sizeof **records);
    if (!*records) return status_fail("out of memory for %d records", *count);
    for (int i = 0; i < *count; i++) {
        JsonRef at;
        TRY(json_element(&at, &list, i));
        TRY(record_from_json(&(*records)[i], &at, course));
    }
    return status_ok();
}

Status records_read(CertifyRecord **records, int *count, const char *path, const char *key,
                    const Course *course)
{
    *records = NULL;
    *count = 0;
    if (access(path, F_OK) != 0) return status_ok();
    Json *document;
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    Status status = read_all(records, count, &root, key, course);
    json_free(document);
    if (!status.ok) {
        free(*records);
        *records = NULL;
        *count = 0;
    }
    return status;
}

Status records_write(const char *path, const char *key, const CertifyRecord *records, int count,
                     const Course *course)
{
    Json *document = json_object(), *list = json_array();
    json_set_string(document, "study", key);
    for (int i = 0; i < count; i++) json_push(list, json_from_record(&records[i], course));
    json_set(document, "records", list);
    return json_write(document, path);
}
