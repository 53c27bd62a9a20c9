// facet gate: a policy that sees flies through single gates of every venue.
#include "base/rng.h"
#include "base/text.h"
#include "commands.h"
#include "factor/factor.h"
#include "gate_world.h"
#include "interrupt.h"
#include "picture/base64.h"
#include "picture/png.h"
#include "places.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct GateCommand {
    CommonOptions common;
    const char *policy, *mode, *open;
    bool expert;
    int trials; // a venue
    TextList venues;
    const char *report;
    bool no_report;
    char path[FILE_PATH_MAX];   // of the policy that ships
    char command[COMMAND_TEXT]; // for the record
} GateCommand;

// ---- Trials -----------------------------------------------------------------------------------

static bool is_held_out(const FacetPolicy *policy, FacetFactorTask task)
{
    return policy && !facet_factor_split_contains(facet_policy_training(policy), task);
}

// The tasks of a venue in an order that the seed decides, again and again.
static FacetStatus add_venue(GateTrials *trials, const FacetGateWorld *world,
                             const FacetPolicy *policy, int venue, const GateCommand *o)
{
    int count = (int)factor_task_count(world->space) / world->venue_count;
    int *order = calloc((size_t)count, sizeof *order);
    if (!order) return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", count);
    FacetRng rng = rng_make(o->common.seed, (uint64_t)venue);
    for (int i = 0; i < count; i++) {
        int j = (int)(rng_uniform(&rng) * (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < o->trials; i++) {
        FacetFactorTask task =
            factor_task_at(world->space, (int64_t)venue * count + order[i % count]);
        gate_trials_add(trials, task, is_held_out(policy, task));
    }
    free(order);
    return status_ok();
}

static FacetStatus choose_trials(GateTrials *trials, const FacetGateWorld *world,
                                 const FacetPolicy *policy, const GateCommand *o)
{
    bool wanted[FACET_VENUES_MAX] = {false};
    for (int i = 0; i < o->venues.count; i++) {
        int venue;
        TRY(facet_factor_find_value(&venue, world->space, FACET_GATE_FACTOR_VENUE,
                                    o->venues.items[i]));
        wanted[venue] = true;
    }
    TRY(gate_trials_create(trials, world->venue_count * o->trials));
    for (int v = 0; v < world->venue_count; v++)
        if (o->venues.count == 0 || wanted[v]) TRY(add_venue(trials, world, policy, v, o));
    return status_ok();
}

// ---- Flights for the page -----------------------------------------------------------------------

enum { PICTURES = 3 };

// Follows a flight: where it went, and when asked for three of its frames.
typedef struct Trail {
    Json *path, *frames;
    int wanted[PICTURES]; // frames, when there are to be pictures
    bool pictures;
    const FacetGateWorld *world;
} Trail;

static FacetStatus add_picture(Trail *trail, const FacetGateView *view)
{
    const FacetCamera *camera = &trail->world->camera;
    uint8_t *png;
    size_t size;
    TRY(png_encode(&png, &size, view->rgb, camera->width, camera->height));
    char *text = base64_encode(png, size);
    Json *frame = json_object();
    json_set_number(frame, "time", view->frame / trail->world->rate);
    json_set_string(frame, "png", text);
    json_push(trail->frames, frame);
    free(text);
    free(png);
    return status_ok();
}

static FacetStatus follow(void *context, const FacetGateView *view, const double *offsets,
                          FacetVec3 estimate)
{
    (void)offsets;
    (void)estimate;
    Trail *trail = context;
    FacetVec3 pos = view->truth->pos_world;
    const double place[3] = {pos.x, pos.y, pos.z};
    if (!trail->pictures) json_push(trail->path, json_from_numbers(place, 3, 3));
    for (int i = 0; trail->pictures && i < PICTURES; i++)
        if (trail->wanted[i] == view->frame) TRY(add_picture(trail, view));
    return status_ok();
}

// Flies a trial once more for its pictures.
static FacetStatus take_pictures(Trail *trail, const GateTrials *trials, int index,
                                 FacetGateFlyer *flyer, uint64_t seed)
{
    FacetGateTrial trial;
    FacetGateFlight again;
    FacetGatePilot pilot;
    FacetGateCrew crew = facet_gate_flyer_crew(flyer);
    FacetGateWatch watch = {.frame = follow, .context = trail, .sees = true};
    trail->pictures = true;
    trail->frames = json_array();
    for (int i = 0; i < PICTURES; i++)
        trail->wanted[i] = (2 * i + 1) * trials->flights[index].frames / (2 * PICTURES);
    TRY(facet_gate_trial(&trial, flyer->world, trials->tasks[index], seed,
                         facet_gate_number(FACET_GATE_FOR_SHOW, (uint64_t)index)));
    TRY(crew.make(&pilot, crew.context, 0));
    FacetStatus status = facet_gate_fly(&again, flyer->world, &trial, &pilot, &watch);
    if (crew.release) crew.release(&pilot, crew.context);
    return status;
}

// The successful flight of a venue that is shown with pictures: the one of middle length among
// them, or -1.
static int highlight(const GateTrials *trials, int venue)
{
    int best = -1;
    double least = 0.0, mean = gate_trials_tally(trials, venue, -1).duration;
    for (int i = 0; i < trials->count; i++) {
        const FacetGateFlight *flight = &trials->flights[i];
        double off = fabs(flight->duration - mean);
        if (trials->tasks[i].value[FACET_GATE_FACTOR_VENUE] != venue ||
            flight->end != FACET_GATE_SUCCESS)
            continue;
        if (best < 0 || off < least) best = i, least = off;
    }
    return best;
}

static Json *flight_json(const GateTrials *trials, int index, Trail *trail)
{
    const FacetFactorSpace *space = trail->world->space;
    const FacetGateFlight *flight = &trials->flights[index];
    Json *object = json_object();
    for (int f = 0; f < FACET_GATE_FACTORS; f++)
        json_set_string(object, facet_factor_name(space, f),
                        facet_factor_value_name(space, f, trials->tasks[index].value[f]));
    json_set_string(object, "end", facet_gate_end_name(flight->end));
    json_set_number(object, "duration", flight->duration);
    json_set(object, "path", trail->path);
    if (trail->frames) json_set(object, "frames", trail->frames);
    trail->path = trail->frames = NULL;
    return object;
}

static Json *gates_json(const FacetGateWorld *world)
{
    Json *gates = json_array();
    for (int i = 0; i < facet_venue_gate_count(world->venues[0]); i++) {
        const FacetCourseGate *gate = facet_venue_gate(world->venues[0], i);
        Json *object = json_object();
        json_set_string(object, "name", gate->name);
        json_set(object, "center", json_from_vec3(gate->center));
        json_set(object, "normal", json_from_vec3(gate->normal));
        json_push(gates, object);
    }
    return gates;
}

// ---- The command ------------------------------------------------------------------------------

// The venue that training never showed; "" when there is none.
static const char *held_out_venue(const FacetGateWorld *world, const FacetPolicy *policy)
{
    for (int v = 0; policy && v < world->venue_count; v++)
        if (!facet_policy_knows(policy, FACET_GATE_FACTOR_VENUE, v))
            return facet_venue_name(world->venues[v]);
    return "";
}

static Json *document_of(const GateTrials *trials, const FacetGateFlyer *flyer, Trail *trails,
                         const GateCommand *o)
{
    const FacetGateWorld *world = flyer->world;
    Json *document = json_object(), *flights = json_array();
    json_set_string(document, "policy", flyer->policy ? o->policy : "expert");
    json_set_string(document, "mode", o->mode);
    json_set(document, "venues", json_from_venues(world, trials));
    json_set_string(document, "held_out_venue", held_out_venue(world, flyer->policy));
    json_set(document, "gates", gates_json(world));
    json_set_number(document, "half_width", facet_venue_half_width(world->venues[0]));
    for (int i = 0; i < trials->count; i++) json_push(flights, flight_json(trials, i, &trails[i]));
    json_set(document, "flights", flights);
    json_set_origin(document, o->command, o->common.seed);
    return document;
}

// Shows what was flown, and writes the results and the page.
static FacetStatus present(GateTrials *trials, FacetGateFlyer *flyer, Trail *trails,
                           const GateCommand *o)
{
    const FacetGateWorld *world = flyer->world;
    const char *slash = o->policy ? strrchr(o->policy, '/') : NULL;
    const char *name = slash ? slash + 1 : o->policy;
    printf("%s, %s, %g s to a trial:\n\n", flyer->policy ? name : "The expert",
           flyer->policy ? o->mode : "on the true state", world->time_out);
    for (int v = 0; v < world->venue_count && !o->no_report; v++) {
        int index = highlight(trials, v);
        if (index >= 0) TRY(take_pictures(&trails[index], trials, index, flyer, o->common.seed));
    }
    Json *document = document_of(trials, flyer, trails, o);
    print_document(stdout, NULL, INPUT_GATE, document);
    FacetStatus status = status_ok();
    const ReportSetup setup = {.no_defaults = o->common.courses,
                               .version = facet_version(),
                               .command = o->command,
                               .seed = o->common.seed,
                               .progress = interrupt_progress()};
    if (!o->no_report) status = report_write_gate(o->report, document, &setup);
    if (status.ok && !o->no_report) printf("\nThe flights with camera frames: %s\n", o->report);
    if (status.ok) return json_finish(document, &o->common);
    json_free(document);
    return status;
}

static FacetStatus fly(GateTrials *trials, FacetGateFlyer *flyer, const GateCommand *o)
{
    TRY(choose_trials(trials, flyer->world, flyer->policy, o));
    Trail *trails = calloc((size_t)trials->count + 1, sizeof *trails);
    FacetGateWatch *watches = calloc((size_t)trials->count + 1, sizeof *watches);
    FacetStatus status =
        trails && watches
            ? status_ok()
            : status_fail(FACET_NO_MEMORY, "out of memory for %d trials", trials->count);
    for (int i = 0; status.ok && i < trials->count; i++) {
        trails[i] = (Trail){.path = json_array(), .world = flyer->world};
        watches[i] = (FacetGateWatch){.frame = follow, .context = &trails[i]};
    }
    if (status.ok)
        status = gate_trials_fly(trials, flyer, FACET_GATE_FOR_SHOW, watches, &o->common);
    if (status.ok) status = present(trials, flyer, trails, o);
    for (int i = 0; trails && i < trials->count; i++) {
        if (trails[i].path) json_free(trails[i].path);
        if (trails[i].frames) json_free(trails[i].frames);
    }
    free(trails);
    free(watches);
    return status;
}

static FacetStatus run(GateCommand *o)
{
    GateTrials trials = {0};
    FacetGateFlyer flyer = {.open = o->open};
    FacetGateWorld *world = NULL;
    FacetPolicy *policy = NULL;
    TRY(facet_policy_mode_parse(&flyer.how.mode, o->mode));
    FacetStatus status = facet_gate_world_create(&world, o->common.courses);
    if (status.ok && !o->expert) status = gate_policy_load(&policy, world, o->policy);
    flyer.world = world;
    flyer.policy = policy;
    if (status.ok) status = fly(&trials, &flyer, o);
    gate_trials_free(&trials);
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    return status;
}

static int cmd_gate_fly(int argc, char **argv)
{
    GateCommand o = {
        .common = common_defaults(), .mode = "composed", .trials = 20, .report = "out/gate.html"};
    const Option options[] = {
        option_int("trials", &o.trials, "N", 1, 1 << 16, "in each venue"),
        option_list("venue", &o.venues, "NAME", "fly in this venue alone"),
        without(reads(option_text("policy", &o.policy, "FILE",
                                  "the pilot (default: the one that ships)")),
                "expert"),
        option_flag("expert", &o.expert, "the expert flies, on the true state"),
        without(option_text("mode", &o.mode, "MODE", mode_help("")), "expert"),
        without(option_text("open", &o.open, "FACTOR", "never show this factor to the policy"),
                "expert"),
        without(in_new_folder(
                    writes(option_text("report", &o.report, "FILE", "the page with the flights"))),
                "no-report"),
        option_flag("no-report", &o.no_report, "write no page"),
    };
    const Usage usage = {
        .command = "gate",
        .description =
            "Flies through single gates by camera and gyro, in every venue, prints how many "
            "trials succeeded, and writes a page with the flights and camera frames. Also: facet "
            "gate demos, train, eval, study, certify, beacon and modality, each with its own "
            "--help.",
        .example = "facet gate --json gate.json\nfacet gate --venue pool --trials 60",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.policy && !o.expert) {
        if (!shipped_gate_policy(o.path))
            return command_failed(usage.command,
                                  status_fail(FACET_BAD_ARGUMENT,
                                              "no policy ships with this copy: give one with "
                                              "--policy FILE, or fly the --expert"));
        o.policy = o.path;
        FacetStatus apart = places_apart(&usage, o.path);
        if (!apart.ok) return command_misused(usage.command, apart);
    }
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetStatus status = run(&o);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}

int cmd_gate(int argc, char **argv)
{
    static const struct {
        const char *name;
        char *full;
        int (*run)(int argc, char **argv);
        bool alone; // it does not share its work over ranks
    } parts[] = {
        {"demos", "gate demos", cmd_gate_demos, false},
        {"train", "gate train", cmd_gate_train, true},
        {"eval", "gate eval", cmd_gate_eval, true},
        {"study", "gate study", cmd_gate_study, false},
        {"certify", "gate certify", cmd_gate_certify, true},
        {"beacon", "gate beacon", cmd_gate_beacon, true},
        {"modality", "gate modality", cmd_gate_modality, true},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    FacetStatus refused = team_refuse();
    if (argc < 2 || argv[1][0] == '-')
        return refused.ok ? cmd_gate_fly(argc, argv)
                          : command_failed("gate", ranks_agree(team_ranks(), refused));
    const char *names[PARTS];
    for (int i = 0; i < PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(argv[1], names[i]) != 0) continue;
        argv[1] = parts[i].full;
        if (parts[i].alone && !refused.ok)
            return command_failed(parts[i].full, ranks_agree(team_ranks(), refused));
        return parts[i].run(argc - 1, argv + 1);
    }
    char text[300];
    text_unknown(text, sizeof text, "part of gate", argv[1], names, PARTS);
    return command_misused("gate", status_fail(FACET_NOT_FOUND, "%s", text));
}
