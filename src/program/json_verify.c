// JSON of verification before flight (see json_verify.h).
#include "json_verify.h"

#include "show_race.h"

static Json *json_from_report(const FacetRace *race, const VerifiedFlights *f, int index)
{
    const FacetVerifyReport *report = &f->reports[index];
    FacetCourseTask task = f->raw[index].task;
    const FacetTrack *track = &race->course->tracks[task.track];
    Json *out = json_object(), *speeds = json_array(), *blocked = json_array();
    json_set_string(out, "track", track->name);
    json_set_string(out, "size", race->course->openings[task.opening].name);
    json_set_bool(out, "within_margin", report->within_margin);
    json_set_number(out, "slowest_factor", report->slowest_factor);
    json_set_number(out, "slowed_gates", report->slowed_gates);
    json_set_number(out, "rounds", report->rounds);
    json_set_number(out, "tries", report->tries);
    for (int k = 0; k < report->blocked_count; k++) {
        Json *block = json_object();
        json_set_string(block, "gate", track->gates[report->blocked[k].gate].name);
        json_set_number(block, "miss", report->blocked[k].miss);
        json_set_number(block, "speed", report->blocked[k].speed);
        json_set_number(block, "path_miss", report->blocked[k].path);
        json_push(blocked, block);
    }
    json_set(out, "blocked", blocked);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) json_push_number(speeds, report->plan[i].speed);
    json_set(out, "speeds", speeds);
    return out;
}

Json *json_from_verified(const FacetRace *race, const VerifiedFlights *f)
{
    Json *document = json_from_results(race, f->verified, f->count), *reports = json_array();
    for (int i = 0; i < f->count; i++) json_push(reports, json_from_report(race, f, i));
    json_set(document, "raw", json_from_results(race, f->raw, f->count));
    json_set_number(document, "margin", f->options.margin);
    json_set(document, "verification", reports);
    return document;
}
