// JSON of verification before flight (see json_verify.h).
#include "json_verify.h"

#include "show_race.h"

static Json *json_from_report(const FacetRace *race, const VerifiedFlights *f, int index)
{
    const FacetVerifyReport *report = &f->reports[index];
    FacetCourseTask task = f->raw[index].task;
    const FacetTrack *track = &race->course->tracks[task.track];
    Json *out = json_object(), *speeds = json_array(), *blocked = json_array();
    json_set_task(out, race->course, task);
    json_set_bool(out, "within_margin", report->within_margin);
    json_set_numbers(out, {"slowest_factor", report->slowest_factor},
                     {"slowed_gates", report->slowed_gates}, {"rounds", report->rounds},
                     {"tries", report->tries});
    for (int k = 0; k < report->blocked_count; k++) {
        Json *block = json_object();
        json_set_string(block, "gate", track->gates[report->blocked[k].gate].name);
        json_set_numbers(block, {"miss", report->blocked[k].miss},
                         {"speed", report->blocked[k].speed},
                         {"path_miss", report->blocked[k].path});
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
