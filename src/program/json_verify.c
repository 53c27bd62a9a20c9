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
    json_set_bool(out, "good", report->good);
    json_set_bool(out, "within_margin", report->within_margin);
    json_set_numbers(out, {"shift", report->shift}, {"raw_clear", report->raw_clear},
                     {"clear", report->clear}, {"checked", report->checked},
                     {"flown", (double)report->flown});
    json_set_string(out, "reason", report->reason);
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

static Json *json_from_verdicts(const FacetRace *race, const VerifiedFlights *f)
{
    const VerdictOptions *o = &f->verdict_options;
    Json *out = json_object(), *tasks = json_array();
    json_set_numbers(out, {"samples", o->samples}, {"confidence", o->confidence},
                     {"least", o->least}, {"gusts", o->gusts}, {"start_spread", o->start_spread},
                     {"speed_least", o->speed_least});
    for (int i = 0; i < f->count; i++) {
        const Verdict *verdict = &f->verdicts[i];
        Json *entry = json_object();
        json_set_task(entry, race->course, f->raw[i].task);
        json_set_bool(entry, "held_out", f->raw[i].held_out);
        json_set_string(entry, "verdict", verdict_name(verdict->kind));
        json_set_numbers(entry, {"pace", verdict->pace}, {"raw_clear", verdict->raw_clear},
                         {"raw_lower", verdict->raw_lower}, {"clear", verdict->clear},
                         {"lower", verdict->lower});
        json_push(tasks, entry);
    }
    json_set(out, "tasks", tasks);
    return out;
}

Json *json_from_verified(const FacetRace *race, const VerifiedFlights *f)
{
    Json *document = json_from_results(race, f->verified, f->count), *reports = json_array();
    for (int i = 0; i < f->count; i++) json_push(reports, json_from_report(race, f, i));
    json_set(document, "raw", json_from_results(race, f->raw, f->count));
    json_set_number(document, "margin", f->options.margin);
    json_set(document, "verification", reports);
    if (f->verdicts) json_set(document, "verdicts", json_from_verdicts(race, f));
    return document;
}
