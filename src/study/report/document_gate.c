// The single-gate study in the page's data, and a page of it alone.
#include "picture/base64.h"
#include "picture/png.h"
#include "report/document.h"
#include "report/gate_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double decimals(double value, double unit) { return round(value * unit) / unit; }

static void set_counts(Json *out, const FacetGateTally *counts)
{
    bool known = counts->trials > 0;
    json_set_numbers(out, {"trials", known ? counts->trials : nan("")},
                     {"success", known ? counts->ends[FACET_GATE_SUCCESS] : nan("")},
                     {"crash", known ? counts->ends[FACET_GATE_CRASH] : nan("")},
                     {"timeout", known ? counts->ends[FACET_GATE_TIMEOUT] : nan("")},
                     {"low", known ? counts->low[FACET_GATE_SUCCESS] : nan("")},
                     {"high", known ? counts->high[FACET_GATE_SUCCESS] : nan("")});
}

static Json *document_shown(const GateStudy *study, const StudyFlight *flight)
{
    Json *out = json_object();
    json_set_string(out, "color", flight->color);
    json_set_string(out, "gate", study->gates[flight->gate].name);
    json_set_string(out, "side", flight->side);
    json_set_string(out, "end", facet_gate_end_name(flight->end));
    json_set_number(out, "duration", decimals(flight->duration, 1e3));
    return out;
}

enum { FRAME_WIDE = 200 }; // px: wider frames are shown at half their size, which saves most of it

// Averages 2 x 2 pixels, in place.
static void halve(uint8_t *rgb, int width, int height)
{
    uint8_t *out = rgb;
    for (int y = 0; y + 1 < height; y += 2)
        for (int x = 0; x + 1 < width; x += 2)
            for (int c = 0; c < 3; c++) {
                const uint8_t *at = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x) + c;
                const uint8_t *below = at + 3 * (size_t)width;
                *out++ = (uint8_t)((at[0] + at[3] + below[0] + below[3] + 2) / 4);
            }
}

// A wide frame at half its size; the caller frees it. NULL for one that stays as it is.
static char *smaller_frame(const char *base64)
{
    size_t size;
    int width, height;
    uint8_t *rgb = NULL, *small = NULL, *png = base64_decode(&size, base64);
    char *text = NULL;
    if (png && png_decode(&rgb, &width, &height, png, size) && width > FRAME_WIDE && height > 1) {
        halve(rgb, width, height);
        if (png_encode(&small, &size, rgb, width / 2, height / 2).ok)
            text = base64_encode(small, size);
    }
    free(png);
    free(rgb);
    free(small);
    return text;
}

static Json *document_frames(const GateStudy *study, const StudyVenue *venue)
{
    Json *out = json_array();
    if (venue->shown < 0) return out;
    const StudyFlight *flight = &study->flights[venue->shown];
    for (int i = 0; i < STUDY_FRAMES; i++) {
        FacetVec3 at = study_position(flight, venue->times[i]);
        Json *frame = json_object();
        json_set_numbers(
            frame, {"time", decimals(venue->times[i], 1e3)},
            {"distance", decimals(vec3_distance(at, study->gates[flight->gate].center), 1e3)});
        char *small = smaller_frame(venue->frames[i]);
        json_set_string(frame, "png", small ? small : venue->frames[i]);
        free(small);
        json_push(out, frame);
    }
    return out;
}

static Json *document_venue(const GateStudy *study, int index)
{
    const StudyVenue *venue = &study->venues[index];
    char id[STUDY_ID];
    Json *out = json_object();
    study_figure_id(id, study, index);
    json_set_string(out, "name", venue->name);
    json_set_bool(out, "held_out", venue->held_out);
    set_counts(out, &venue->counts);
    json_set_string(out, "figure", id);
    if (venue->shown >= 0)
        json_set(out, "shown", document_shown(study, &study->flights[venue->shown]));
    json_set(out, "frames", document_frames(study, venue));
    return out;
}

// A file as a reader of the page may know it: folders of one machine say nothing on another.
static const char *shown_file(const char *path)
{
    const char *name = strrchr(path, '/');
    return path[0] == '/' ? name + 1 : path;
}

Json *document_gate(const Report *report)
{
    JsonRef root = input_root(report, INPUT_GATE);
    Json *out = json_object(), *venues = json_array();
    json_set_string(out, "policy", shown_file(input_text(&root, "policy")));
    json_set_string(out, "mode", input_text(&root, "mode"));
    for (int i = 0; i < report->gate->venue_count; i++)
        json_push(venues, document_venue(report->gate, i));
    json_set(out, "venues", venues);
    return out;
}

// ---- Without a file -----------------------------------------------------------------------------

// Takes the results of facet gate from its document instead of a file.
static FacetStatus set_gate(Report *report, const Json *gate)
{
    ReportInput *input = &report->inputs[INPUT_GATE];
    gate_study_free(report->gate);
    json_free(input->document);
    *input = (ReportInput){.path = "this run"};
    char *text = json_line(gate); // a copy in which every number can be read again
    FacetStatus status = text ? json_parse(&input->document, text, input->path)
                              : status_fail(FACET_NO_MEMORY, "out of memory for the study");
    free(text);
    report->gate = status.ok ? gate_study_read(report) : NULL;
    return status;
}

FacetStatus report_write_gate(const char *path, const Json *gate, const ReportSetup *setup)
{
    ReportSetup alone = *setup;
    alone.no_gate_file = true;
    Report *report;
    TRY(report_open(&report, NULL, &alone));
    FacetStatus status = set_gate(report, gate);
    if (status.ok) {
        Json *document = report_document(report);
        status = report_write_page(path, document, setup->progress);
        json_free(document);
    }
    report_close(report);
    return status;
}
