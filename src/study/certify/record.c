// Records of certificates as JSON (see certify/record.h).
#include "certify/record.h"

#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gates_certified(const GateRecord *gates, int count)
{
    for (int g = 0; g < count; g++)
        if (!gates[g].certified) return false;
    return count > 0;
}

// ---- Structs of numbers -------------------------------------------------------------------------

// The name of a double in a struct, and where it is.
typedef struct Field {
    const char *key;
    size_t offset;
} Field;

#define FIELD(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(type, member)                                                            \
    }
#define COUNT(fields) (int)(sizeof(fields) / sizeof *(fields))

static const Field plan_fields[] = {
    FIELD(FacetPlanCertificate, eps_s),
    FIELD(FacetPlanCertificate, actual),
    FIELD(FacetPlanCertificate, linear),
    FIELD(FacetPlanCertificate, amplification),
};

static const Field gate_fields[] = {
    FIELD(GateRecord, miss),  FIELD(GateRecord, radius), FIELD(GateRecord, disturbance),
    FIELD(GateRecord, reach), FIELD(GateRecord, slope),  FIELD(GateRecord, probe),
    FIELD(GateRecord, bound), FIELD(GateRecord, attack),
};

static const Field pace_fields[] = {
    FIELD(PaceRecord, pace),
    FIELD(PaceRecord, time),
    FIELD(PaceRecord, shift),
    FIELD(PaceRecord, fold),
};

static const Field check_fields[] = {
    FIELD(CrossingCheck, shift_mean), FIELD(CrossingCheck, shift_max),
    FIELD(CrossingCheck, gap_mean),   FIELD(CrossingCheck, gap_max),
    FIELD(CrossingCheck, relative),   FIELD(CrossingCheck, ratio_largest),
};

static const Field loop_fields[] = {
    FIELD(ClosedLoop, step),       FIELD(ClosedLoop, ratio),        FIELD(ClosedLoop, entry),
    FIELD(ClosedLoop, gain),       FIELD(ClosedLoop, gain_bound),   FIELD(ClosedLoop, oblique),
    FIELD(ClosedLoop, lambda_fit), FIELD(ClosedLoop, lambda_worst), FIELD(ClosedLoop, lambda_mark),
    FIELD(ClosedLoop, gain_seen),  FIELD(ClosedLoop, gust_seen),    FIELD(ClosedLoop, gust_bound),
};

static const Field constant_fields[] = {
    FIELD(FacetTubeConstants, lambda),
    FIELD(FacetTubeConstants, b_kappa),
    FIELD(FacetTubeConstants, w),
};

static void set_fields(Json *object, const void *base, const Field *fields, int count)
{
    for (int i = 0; i < count; i++)
        json_set_number(object, fields[i].key,
                        *(const double *)((const char *)base + fields[i].offset));
}

// A number that was not finite is null in the file, and not a number here.
static FacetStatus read_number(double *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    if (!json_number(out, &at, -INFINITY, INFINITY).ok) *out = nan("");
    return status_ok();
}

static FacetStatus read_fields(void *base, const JsonRef *object, const Field *fields, int count)
{
    for (int i = 0; i < count; i++)
        TRY(read_number((double *)((char *)base + fields[i].offset), object, fields[i].key));
    return status_ok();
}

static FacetStatus read_int(int *out, const JsonRef *object, const char *key)
{
    double value;
    TRY(json_member_number(&value, object, key, -1e9, 1e9));
    *out = (int)value;
    return status_ok();
}

static FacetStatus read_bool(bool *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return json_bool(out, &at);
}

// ---- Writing ------------------------------------------------------------------------------------

static void set_bound(Json *object, const char *key, FacetCertifyBound bound)
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
    set_fields(out, gate, gate_fields, COUNT(gate_fields));
    json_set_bool(out, "formula", gate->formula);
    json_set_bool(out, "certified", gate->certified);
    json_set_bool(out, "certified_still", gate->certified_still);
    return out;
}

Json *json_from_check(const CrossingCheck *check)
{
    Json *out = json_object();
    json_set_number(out, "compared", check->compared);
    json_set_number(out, "lost", check->lost);
    set_fields(out, check, check_fields, COUNT(check_fields));
    return out;
}

Json *json_from_loop(const ClosedLoop *loop)
{
    Json *out = json_object();
    json_set_bool(out, "contracts", loop->contracts);
    json_set_number(out, "marks", loop->marks);
    set_fields(out, &loop->constants, constant_fields, COUNT(constant_fields));
    set_fields(out, loop, loop_fields, COUNT(loop_fields));
    return out;
}

static Json *json_from_gate_list(const GateRecord *gates, int count)
{
    Json *out = json_array();
    for (int g = 0; g < count; g++) json_push(out, json_from_gate(&gates[g]));
    return out;
}

static Json *json_from_pace(const CertifyRecord *record)
{
    const PaceRecord *paced = &record->paced;
    Json *out = json_object();
    set_fields(out, paced, pace_fields, COUNT(pace_fields));
    json_set(out, "gates", json_from_gate_list(paced->gates, record->gate_count));
    json_set(out, "check", json_from_check(&paced->check));
    return out;
}

Json *json_from_record(const CertifyRecord *record, const FacetCourse *course)
{
    Json *out = json_object();
    const FacetPlanCertificate *plan = &record->plan;
    char task[2 * FACET_COURSE_NAME_MAX + 2];
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
    set_fields(out, plan, plan_fields, COUNT(plan_fields));
    json_set_number(out, "tube", record->tube);
    json_set_number(out, "fold", record->fold);
    json_set_number(out, "shift", record->shift);
    json_set(out, "gates", json_from_gate_list(record->gates, record->gate_count));
    json_set(out, "check", json_from_check(&record->check));
    json_set(out, "paced", json_from_pace(record));
    json_set(out, "loop", json_from_loop(&record->loop));
    return out;
}

// ---- Reading ------------------------------------------------------------------------------------

static FacetStatus read_bound(FacetCertifyBound *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    TRY(read_number(&out->value, &at, "value"));
    return read_int(&out->step, &at, "step");
}

static FacetStatus read_gate(GateRecord *gate, const JsonRef *at)
{
    TRY(read_bool(&gate->crossed, at, "crossed"));
    TRY(read_fields(gate, at, gate_fields, COUNT(gate_fields)));
    TRY(read_bool(&gate->formula, at, "formula"));
    TRY(read_bool(&gate->certified, at, "certified"));
    return read_bool(&gate->certified_still, at, "certified_still");
}

static FacetStatus read_check(CrossingCheck *check, const JsonRef *object)
{
    JsonRef at;
    TRY(json_member(&at, object, "check"));
    TRY(read_int(&check->compared, &at, "compared"));
    TRY(read_int(&check->lost, &at, "lost"));
    return read_fields(check, &at, check_fields, COUNT(check_fields));
}

static FacetStatus read_loop(ClosedLoop *loop, const JsonRef *object)
{
    JsonRef at;
    TRY(json_member(&at, object, "loop"));
    TRY(read_bool(&loop->contracts, &at, "contracts"));
    TRY(read_int(&loop->marks, &at, "marks"));
    TRY(read_fields(&loop->constants, &at, constant_fields, COUNT(constant_fields)));
    return read_fields(loop, &at, loop_fields, COUNT(loop_fields));
}

static FacetStatus read_plan(FacetPlanCertificate *plan, const JsonRef *at, int steps)
{
    plan->steps = steps;
    TRY(read_bound(&plan->ltv, at, "ltv"));
    TRY(read_bound(&plan->ode, at, "ode"));
    TRY(read_bound(&plan->product, at, "product"));
    TRY(read_bound(&plan->path, at, "path"));
    return read_fields(plan, at, plan_fields, COUNT(plan_fields));
}

// A list of gates, at most those of a track.
static FacetStatus read_gates(GateRecord *gates, int *count, const JsonRef *object)
{
    JsonRef list, gate;
    TRY(json_member(&list, object, "gates"));
    TRY(json_length(count, &list));
    if (*count > FACET_TRACK_GATES_MAX) return json_wrong(&list, "the gates of a track");
    for (int g = 0; g < *count; g++) {
        TRY(json_element(&gate, &list, g));
        TRY(read_gate(&gates[g], &gate));
    }
    return status_ok();
}

static FacetStatus read_pace(PaceRecord *paced, const JsonRef *object)
{
    JsonRef at;
    int count;
    TRY(json_member(&at, object, "paced"));
    TRY(read_fields(paced, &at, pace_fields, COUNT(pace_fields)));
    TRY(read_gates(paced->gates, &count, &at));
    return read_check(&paced->check, &at);
}

static FacetStatus record_from_json(CertifyRecord *record, const JsonRef *at,
                                    const FacetCourse *course)
{
    char task[2 * FACET_COURSE_NAME_MAX + 2];
    *record = (CertifyRecord){0};
    TRY(json_member_string(task, sizeof task, at, "task"));
    TRY(facet_course_find_task(&record->task, course, task));
    TRY(read_int(&record->steps, at, "steps"));
    TRY(read_int(&record->turn, at, "turn"));
    if (json_has(at, "failure"))
        TRY(json_member_string(record->failure, sizeof record->failure, at, "failure"));
    TRY(read_plan(&record->plan, at, record->steps));
    TRY(read_number(&record->tube, at, "tube"));
    TRY(read_number(&record->fold, at, "fold"));
    TRY(read_number(&record->shift, at, "shift"));
    TRY(read_check(&record->check, at));
    TRY(read_loop(&record->loop, at));
    TRY(read_gates(record->gates, &record->gate_count, at));
    return read_pace(&record->paced, at);
}

// ---- The file -----------------------------------------------------------------------------------

static FacetStatus read_all(CertifyRecord **records, int *count, const JsonRef *root,
                            const char *key, const FacetCourse *course)
{
    JsonRef study, list;
    TRY(json_member(&study, root, "study"));
    const char *found = json_chars(&study);
    if (!found || strcmp(found, key) != 0) {
        char wanted[120], there[120];
        text_difference(wanted, there, sizeof wanted, key, found ? found : "");
        return status_fail(FACET_BAD_FILE,
                           "%s: expected results of this study, with %s, found %s; remove it to "
                           "begin anew",
                           root->file, wanted, there);
    }
    TRY(json_member(&list, root, "records"));
    TRY(json_length(count, &list));
    *records = calloc((size_t)*count + 1, sizeof **records);
    if (!*records) return status_fail(FACET_NO_MEMORY, "out of memory for %d records", *count);
    for (int i = 0; i < *count; i++) {
        JsonRef at;
        TRY(json_element(&at, &list, i));
        TRY(record_from_json(&(*records)[i], &at, course));
    }
    return status_ok();
}

FacetStatus records_read(CertifyRecord **records, int *count, const char *path, const char *key,
                         const FacetCourse *course)
{
    *records = NULL;
    *count = 0;
    if (access(path, F_OK) != 0) return status_ok();
    Json *document;
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = read_all(records, count, &root, key, course);
    json_free(document);
    if (!status.ok) {
        free(*records);
        *records = NULL;
        *count = 0;
    }
    return status;
}

FacetStatus records_write(const char *path, const char *key, const CertifyRecord *records,
                          int count, const FacetCourse *course)
{
    Json *document = json_object(), *list = json_array();
    json_set_string(document, "study", key);
    for (int i = 0; i < count; i++) json_push(list, json_from_record(&records[i], course));
    json_set(document, "records", list);
    return json_write(document, path);
}
