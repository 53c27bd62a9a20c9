// Reading the single-gate study (see gate_study.h).
#include "report/gate_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Says what was wrong. Returns whether nothing was.
static bool accept(Report *report, FacetStatus status)
{
    if (!status.ok) report_note(report, "%s, left out", status.text);
    return status.ok;
}

static FacetStatus obtained(const void *memory)
{
    return memory ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for the gate study");
}

static FacetStatus member_text(const char **out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    *out = json_chars(&at);
    return *out && (*out)[0] ? status_ok() : json_wrong(&at, "a text");
}

static FacetStatus member_list(JsonRef *out, const JsonRef *object, const char *key)
{
    TRY(json_member(out, object, key));
    return json_is_array(out) ? status_ok() : json_wrong(out, "a list");
}

// A place that is on the map.
static FacetStatus read_place(FacetVec3 *out, const JsonRef *at)
{
    TRY(json_vec3(out, at));
    double farthest = fmax(fabs(out->x), fmax(fabs(out->y), fabs(out->z)));
    return farthest <= 1e5 ? status_ok() : json_wrong(at, "a place within 100 km");
}

// ---- Counts -------------------------------------------------------------------------------------

static FacetStatus read_count(int *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    double value;
    TRY(json_member(&at, object, key));
    TRY(json_number(&value, &at, 0.0, 1e6));
    if (value != floor(value)) return json_wrong(&at, "a whole number");
    *out = (int)value;
    return status_ok();
}

FacetStatus study_read_counts(FacetGateTally *out, const JsonRef *at)
{
    int64_t sum = 0;
    TRY(read_count(&out->trials, at, "trials"));
    for (int i = 0; i < FACET_GATE_ENDS; i++) {
        TRY(read_count(&out->ends[i], at, facet_gate_end_name((FacetGateEnd)i)));
        sum += out->ends[i];
    }
    facet_gate_tally_intervals(out);
    if (sum == out->trials) return status_ok();
    return status_fail(FACET_BAD_FILE,
                       "%s: %s: expected success, crash and timeout to add up to %d trials, found "
                       "%d, %d and %d",
                       at->file, at->path, out->trials, out->ends[0], out->ends[1], out->ends[2]);
}

FacetGateTally study_counts(Report *report, const JsonRef *object, const char *key)
{
    JsonRef at = input_member(object, key);
    FacetGateTally counts = {0};
    if (!at.node || json_is_null(&at)) return counts;
    return accept(report, study_read_counts(&counts, &at)) ? counts : (FacetGateTally){0};
}

FacetGateTally study_flown(const GateStudy *study, int venue)
{
    FacetGateTally counts = {0};
    for (int i = 0; i < study->flight_count; i++) {
        if (study->flights[i].venue != venue) continue;
        counts.trials++;
        counts.ends[study->flights[i].end]++;
    }
    return counts;
}

// ---- Venues and gates ---------------------------------------------------------------------------

static void read_venues(GateStudy *study, Report *report, const JsonRef *venues)
{
    JsonRef root = input_root(report, INPUT_GATE);
    const char *held_out = input_text(&root, "held_out_venue");
    int count = input_length(venues);
    bool found = !held_out[0];
    study->venues = calloc((size_t)count + 1, sizeof *study->venues);
    if (!accept(report, obtained(study->venues))) return;
    for (int i = 0; i < count; i++) {
        JsonRef at = input_element(venues, i);
        const char *name = json_key(&at);
        study->venues[study->venue_count++] =
            (StudyVenue){.name = name,
                         .held_out = strcmp(name, held_out) == 0,
                         .counts = study_counts(report, venues, name),
                         .shown = -1};
        found = found || strcmp(name, held_out) == 0;
    }
    JsonRef at = input_member(&root, "held_out_venue");
    if (!found) accept(report, json_wrong(&at, "one of the venues"));
}

static FacetStatus read_gate(StudyGate *gate, const JsonRef *at)
{
    JsonRef center;
    TRY(member_text(&gate->name, at, "name"));
    TRY(json_member(&center, at, "center"));
    TRY(read_place(&gate->center, &center));
    return json_member_vec3(&gate->normal, at, "normal");
}

static void read_gates(GateStudy *study, Report *report, const JsonRef *root)
{
    JsonRef gates;
    study->half_width = 0.762;
    if (json_has(root, "half_width"))
        accept(report, json_member_number(&study->half_width, root, "half_width", 0.01, 100.0));
    if (!accept(report, member_list(&gates, root, "gates"))) return;
    int count = input_length(&gates);
    study->gates = calloc((size_t)count + 1, sizeof *study->gates);
    if (!accept(report, obtained(study->gates))) return;
    for (int i = 0; i < count; i++) {
        JsonRef at = input_element(&gates, i);
        StudyGate gate;
        if (accept(report, read_gate(&gate, &at))) study->gates[study->gate_count++] = gate;
    }
}

// ---- Flights ------------------------------------------------------------------------------------

static FacetStatus find_venue(int *out, const GateStudy *study, const JsonRef *flight)
{
    const char *name;
    TRY(member_text(&name, flight, "venue"));
    for (*out = 0; *out < study->venue_count; ++*out)
        if (strcmp(study->venues[*out].name, name) == 0) return status_ok();
    JsonRef at = input_member(flight, "venue");
    return json_wrong(&at, "one of the venues");
}

static FacetStatus find_gate(int *out, const GateStudy *study, const JsonRef *flight)
{
    const char *name;
    TRY(member_text(&name, flight, "gate"));
    for (*out = 0; *out < study->gate_count; ++*out)
        if (strcmp(study->gates[*out].name, name) == 0) return status_ok();
    JsonRef at = input_member(flight, "gate");
    return json_wrong(&at, "one of the gates");
}

static FacetStatus find_end(FacetGateEnd *out, const JsonRef *flight)
{
    const char *name;
    TRY(member_text(&name, flight, "end"));
    for (int i = 0; i < FACET_GATE_ENDS; i++)
        if (strcmp(facet_gate_end_name((FacetGateEnd)i), name) == 0) {
            *out = (FacetGateEnd)i;
            return status_ok();
        }
    JsonRef at = input_member(flight, "end");
    return json_wrong(&at, "success, crash or timeout");
}

static FacetStatus read_path(StudyFlight *flight, const JsonRef *at)
{
    JsonRef path;
    TRY(member_list(&path, at, "path"));
    int count = input_length(&path);
    if (count == 0) return json_wrong(&path, "at least one place");
    flight->path = calloc((size_t)count, sizeof *flight->path);
    TRY(obtained(flight->path));
    for (; flight->samples < count; flight->samples++) {
        JsonRef place = input_element(&path, flight->samples);
        TRY(read_place(&flight->path[flight->samples], &place));
    }
    return status_ok();
}

static FacetStatus read_flight(StudyFlight *flight, const GateStudy *study, const JsonRef *at)
{
    *flight = (StudyFlight){.duration = nan("")};
    TRY(find_venue(&flight->venue, study, at));
    TRY(find_gate(&flight->gate, study, at));
    TRY(member_text(&flight->color, at, "color"));
    TRY(member_text(&flight->side, at, "side"));
    TRY(find_end(&flight->end, at));
    TRY(json_member_number(&flight->duration, at, "duration", 0.0, 1e6));
    return read_path(flight, at);
}

// A PNG file in base64 begins with its signature, and holds nothing that could end a data URI.
static bool is_png(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text), used = strspn(text, letters);
    size_t padding = strspn(text + used, "=");
    return strncmp(text, "iVBORw0KGgo", 11) == 0 && length % 4 == 0 && padding <= 2 &&
           used + padding == length;
}

static FacetStatus read_frames(StudyVenue *venue, const JsonRef *frames)
{
    if (!json_is_array(frames) || input_length(frames) != STUDY_FRAMES)
        return json_wrong(frames, "a list of three frames");
    for (int i = 0; i < STUDY_FRAMES; i++) {
        JsonRef frame = input_element(frames, i), png;
        TRY(json_member_number(&venue->times[i], &frame, "time", 0.0, 1e6));
        TRY(json_member(&png, &frame, "png"));
        venue->frames[i] = json_chars(&png);
        if (!venue->frames[i] || !is_png(venue->frames[i]))
            return json_wrong(&png, "a PNG file in base64");
    }
    return status_ok();
}

// A venue shows the first of its flights that has frames.
static void show_frames(GateStudy *study, Report *report, const JsonRef *at)
{
    StudyVenue *venue = &study->venues[study->flights[study->flight_count].venue];
    JsonRef frames = input_member(at, "frames");
    bool none = !frames.node || json_is_null(&frames) ||
                (json_is_array(&frames) && input_length(&frames) == 0);
    if (none || venue->shown >= 0) return;
    if (accept(report, read_frames(venue, &frames))) venue->shown = study->flight_count;
}

static void read_flights(GateStudy *study, Report *report, const JsonRef *root)
{
    JsonRef flights;
    if (!accept(report, member_list(&flights, root, "flights"))) return;
    int count = input_length(&flights);
    study->flights = calloc((size_t)count + 1, sizeof *study->flights);
    if (!accept(report, obtained(study->flights))) return;
    for (int i = 0; i < count; i++) {
        JsonRef at = input_element(&flights, i);
        StudyFlight *flight = &study->flights[study->flight_count];
        if (accept(report, read_flight(flight, study, &at))) {
            show_frames(study, report, &at);
            study->flight_count++;
        } else {
            free(flight->path);
            *flight = (StudyFlight){0};
        }
    }
}

FacetVec3 study_position(const StudyFlight *flight, double time)
{
    double at = fmin(fmax(time * STUDY_RATE, 0.0), flight->samples - 1);
    int before = (int)at, after = before + 1 < flight->samples ? before + 1 : before;
    return vec3_lerp(flight->path[before], flight->path[after], at - before);
}

// ---- All of it ----------------------------------------------------------------------------------

GateStudy *gate_study_read(Report *report)
{
    JsonRef root = input_root(report, INPUT_GATE), venues;
    if (!root.node) return NULL;
    FacetStatus status = json_member(&venues, &root, "venues");
    if (status.ok && (!json_is_object(&venues) || input_length(&venues) == 0))
        status = json_wrong(&venues, "an object with venues");
    if (!accept(report, status)) return NULL;
    GateStudy *study = calloc(1, sizeof *study);
    if (!accept(report, obtained(study))) return NULL;
    read_venues(study, report, &venues);
    read_gates(study, report, &root);
    read_flights(study, report, &root);
    return study;
}

void gate_study_free(GateStudy *study)
{
    if (!study) return;
    for (int i = 0; i < study->flight_count; i++) free(study->flights[i].path);
    free(study->flights);
    free(study->gates);
    free(study->venues);
    free(study);
}

void study_figure_id(char out[STUDY_ID], const GateStudy *study, int venue)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const char *name = study->venues[venue].name;
    if (name[0] && strlen(name) < 40 && strspn(name, plain) == strlen(name))
        snprintf(out, STUDY_ID, "gate-%s", name);
    else
        snprintf(out, STUDY_ID, "gate-number-%d", venue + 1);
}
