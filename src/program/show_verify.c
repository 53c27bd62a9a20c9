// Table and JSON of verification before flight (see show_verify.h).
#include "show_verify.h"

#include "report/table.h"
#include "show_race.h"

#include <stdio.h>

static void show_rows(const FacetRace *race, const VerifiedFlights *f)
{
    const TableColumn heads[] = {{"task", TABLE_LEFT},   {"split", TABLE_LEFT},
                                 {"gates", TABLE_RIGHT}, {"slowest", TABLE_RIGHT},
                                 {"m/s", TABLE_RIGHT},   {"lap s", TABLE_RIGHT},
                                 {"plans", TABLE_RIGHT}};
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < f->count; i++) {
        const FacetRaceResult *raw = &f->raw[i], *verified = &f->verified[i];
        if (i > 0 && raw->task.track != f->raw[i - 1].task.track) table_rule(table);
        table_cell(table, "%s/%s", race->course->tracks[raw->task.track].name,
                   race->course->openings[raw->task.opening].name);
        table_cell(table, "%s", raw->held_out ? "held out" : "training");
        table_cell(table, "%d/%d → %d/%d", raw->flight.passed, raw->flight.gate_count,
                   verified->flight.passed, verified->flight.gate_count);
        table_cell(table, "%.2f", f->reports[i].slowest_factor);
        table_cell(table, "%.2f → %.2f", raw->flight.speed_mean, verified->flight.speed_mean);
        table_cell(table, "%.2f → %.2f", raw->flight.duration, verified->flight.duration);
        table_cell(table, "%d", f->reports[i].tries);
    }
    table_print(table, stdout);
    table_destroy(table);
}

static void show_blocked(const FacetRace *race, const VerifiedFlights *f)
{
    for (int i = 0; i < f->count; i++) {
        const FacetVerifyReport *report = &f->reports[i];
        FacetCourseTask task = f->raw[i].task;
        const FacetTrack *track = &race->course->tracks[task.track];
        const FacetOpening *opening = &race->course->openings[task.opening];
        if (report->rounds == 0)
            printf("%s/%s cannot: nothing can fly this plan\n", track->name, opening->name);
        for (int k = 0; k < report->blocked_count; k++) {
            const FacetVerifyBlock *block = &report->blocked[k];
            printf("%s/%s cannot: gate %d misses by %.3f m even at %.2f m/s, its path by %.3f m\n",
                   track->name, opening->name, block->gate + 1, block->miss, block->speed,
                   block->path);
        }
    }
}

static void show_totals(const char *name, FacetRaceTally raw, FacetRaceTally verified)
{
    if (raw.gates == 0) return;
    printf("  %-9s %3d/%d raw, %3d/%d verified\n", name, raw.passed, raw.gates, verified.passed,
           verified.gates);
}

void show_verified(const FacetRace *race, const VerifiedFlights *f)
{
    show_rows(race, f);
    FacetRaceTotals raw = facet_race_totals(f->raw, f->count),
                    verified = facet_race_totals(f->verified, f->count);
    int within = 0;
    for (int i = 0; i < f->count; i++) within += f->reports[i].within_margin;
    printf("\nRaw plan → verified plan. slowest: least share of its speed a keypoint keeps.\n"
           "plans: looked at, with the seeds that follow, until one kept the margin.\n");
    show_blocked(race, f);
    printf("\n");
    show_totals("all", raw.all, verified.all);
    show_totals("training", raw.training, verified.training);
    show_totals("held out", raw.held_out, verified.held_out);
    printf("  %-9s %3d raw, %d verified of %d flights\n", "crashes", raw.crashes, verified.crashes,
           f->count);
    printf("  %-9s %3d of %d tasks keep %.0f %% of every half-width free in still air\n", "margin",
           within, f->count, 100.0 * f->options.margin);
}

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
