// Calibrates the shipped courses: moves gates, turning points and the carrot until the expert's
// speed map has the shape of the paper's Table "Race tracks and maximum feasible speeds".
//
//   facet-calibrate DRAFT OUT MOVES SEED TIME LEAST MOST
//
// DRAFT is a course folder drawn by hand: which gates each track takes, and roughly where they
// are. TIME, LEAST and MOST are the carrot's look-ahead to start from. The search is a random hill
// climb. One move shifts one gate or one other point of a path (or, rarely, the carrot's three
// lengths), flies the tracks it touches again, and stays when the cost falls. The cost of a cell is
// the squared log-ratio of its speed to the paper's; a cell that should be infeasible pays for
// every speed that comes near to clearing it, and a cell that should be feasible pays for how far
// it is from it, and a little for losing the flight altogether just above its speed. Gates pay for
// standing too near to each other or to the bounds, and for being crossed at a slant. A gate's
// normal follows from the tracks through it. The result goes to OUT in the same layout, the carrot
// to the terminal. docs/calibration.md tells the whole procedure.
#include "base/file.h"
#include "base/json.h"
#include "base/pool.h"
#include "base/rng.h"
#include "control/control.h"
#include "flight/flight.h"
#include "paper/paper.h"
#include "program/interrupt.h"

#include <facet_study/race.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TRACKS = 8, OPENINGS = 3, GATES_MAX = 64, CELLS = TRACKS * OPENINGS };

// The paper's speed of a cell, m/s; 0 is infeasible.
static double target(int track, int opening)
{
    static const char *const tracks[] = {"race1", "race2", "race3", "race4",
                                         "race5", "race6", "race7", "race8"};
    static const char *const openings[] = {"narrow", "standard", "wide"};
    return paper_speed(tracks[track], openings[opening]);
}

// A layout that can be changed: a path refers to gates by number, and has points of its own.
typedef struct Layout {
    int gate_count;
    FacetVec3 gates[GATES_MAX];
    int point_count[TRACKS];
    int gate_of[TRACKS][FACET_TRACK_POINTS_MAX]; // -1 where the path has a point of its own
    FacetVec3 own[TRACKS][FACET_TRACK_POINTS_MAX];
    FacetCarrotParams carrot;
} Layout;

typedef struct Score {
    FacetSpeedCell cells[CELLS];
    bool abrupt[CELLS];         // a little faster, and the flight is lost
    double worst_slant[TRACKS]; // least cosine between a track and the normals of its gates
    double cost;
} Score;

typedef struct Calibration {
    FacetCourse *course;
    FacetQuadModel model;
    FacetControlPreset preset;
    FacetPool *pool;
    Layout layout, draft;
    Score score;
    FacetTrack tracks[TRACKS]; // the layout's tracks as the flights want them
    FacetVec3 normals[GATES_MAX];
} Calibration;

// ---- From a layout to tracks ------------------------------------------------------------------

static FacetVec3 path_point(const Layout *layout, int t, int i)
{
    int gate = layout->gate_of[t][i];
    return gate >= 0 ? layout->gates[gate] : layout->own[t][i];
}

// The horizontal unit tangents of track t's spline at its points.
static void path_tangents(FacetVec3 *tangents, const Layout *layout, int t)
{
    FacetVec3 points[FACET_TRACK_POINTS_MAX];
    int count = layout->point_count[t];
    for (int i = 0; i < count; i++) points[i] = path_point(layout, t, i);
    Spline *spline;
    bool made = spline_create(&spline, points, count).ok;
    for (int i = 0; i < count; i++) {
        FacetVec3 tangent =
            made ? spline_derivative(spline, spline_parameter(spline, i), 1) : vec3(1.0, 0.0, 0.0);
        tangent.z = 0.0;
        tangents[i] = vec3_unit(tangent, vec3(1.0, 0.0, 0.0));
    }
    spline_destroy(spline);
}

// A gate's normal is the horizontal axis that lies nearest to all the tangents through it.
static void build_tracks(Calibration *c)
{
    const Layout *layout = &c->layout;
    FacetVec3 tangents[TRACKS][FACET_TRACK_POINTS_MAX];
    double xx[GATES_MAX] = {0}, yy[GATES_MAX] = {0}, xy[GATES_MAX] = {0};
    for (int t = 0; t < TRACKS; t++) {
        path_tangents(tangents[t], layout, t);
        for (int i = 0; i < layout->point_count[t]; i++) {
            int g = layout->gate_of[t][i];
            FacetVec3 u = tangents[t][i];
            if (g >= 0) xx[g] += u.x * u.x, yy[g] += u.y * u.y, xy[g] += u.x * u.y;
        }
    }
    for (int g = 0; g < layout->gate_count; g++) {
        double angle = 0.5 * atan2(2.0 * xy[g], xx[g] - yy[g]);
        c->normals[g] = vec3(cos(angle), sin(angle), 0.0);
    }
    for (int t = 0; t < TRACKS; t++) {
        FacetTrack *track = &c->tracks[t];
        *track = c->course->tracks[t];
        c->score.worst_slant[t] = 1.0;
        for (int i = 0, gate = 0; i < layout->point_count[t]; i++) {
            int g = layout->gate_of[t][i];
            track->points[i] = path_point(layout, t, i);
            if (g < 0) continue;
            double along = vec3_dot(tangents[t][i], c->normals[g]);
            track->gates[gate].center = layout->gates[g];
            track->gates[gate++].normal = vec3_scale(c->normals[g], along < 0.0 ? -1.0 : 1.0);
            c->score.worst_slant[t] = fmin(c->score.worst_slant[t], fabs(along));
        }
    }
}

// ---- Cost -------------------------------------------------------------------------------------

static double above(double value, double limit) { return value > limit ? value - limit : 0.0; }

static double cell_cost(const FacetSpeedCell *cell, double paper)
{
    if (paper == 0.0) {
        double short_of = above(1.12, cell->best_ratio);
        return (cell->feasible ? 2.0 : 0.0) + 8.0 * short_of;
    }
    if (!cell->feasible) return 2.0 + 2.0 * fmin(cell->best_ratio, 3.0);
    double ratio = fabs(log(cell->speed / paper)), far = above(ratio, log(1.3));
    return ratio * ratio + 20.0 * far * far + 4.0 * above(cell->best_ratio, 0.65);
}

static double speed_of(const Score *score, int t, int o)
{
    const FacetSpeedCell *cell = &score->cells[t * OPENINGS + o];
    return cell->feasible ? cell->speed : 0.0;
}

// Races 1-3 the slowest and 7-8 the fastest, with a margin of 5 %.
static double order_cost(const Score *score)
{
    double cost = 0.0;
    for (int o = 1; o < OPENINGS; o++)
        for (int middle = 3; middle < 6; middle++) {
            double v = speed_of(score, middle, o);
            for (int slow = 0; slow < 3; slow++) cost += above(1.05 * speed_of(score, slow, o), v);
            for (int fast = 6; fast < 8; fast++) cost += above(1.05 * v, speed_of(score, fast, o));
        }
    return cost;
}

static double place_cost(const Calibration *c)
{
    const Layout *layout = &c->layout;
    double cost = 0.0;
    for (int g = 0; g < layout->gate_count; g++) {
        FacetVec3 p = layout->gates[g];
        cost += above(fabs(p.x), 11.0) + above(fabs(p.y), 7.5) + above(p.z, 4.5) + above(1.2, p.z);
        for (int h = 0; h < g; h++) cost += above(1.5, vec3_distance(p, layout->gates[h]));
        double moved = vec3_distance(p, c->draft.gates[g]);
        cost += 0.002 * moved * moved;
    }
    for (int t = 0; t < TRACKS; t++) {
        int last = layout->point_count[t] - 1;
        for (int i = 0; i <= last; i++) {
            FacetVec3 p = path_point(layout, t, i);
            cost += above(fabs(p.x), 12.0) + above(fabs(p.y), 8.0);
            cost += above(p.z, 4.5) + above(1.0, p.z);
            if (i > 0) cost += above(1.5, vec3_distance(p, path_point(layout, t, i - 1)));
        }
        double run_in = vec3_distance(path_point(layout, t, 0), path_point(layout, t, 1));
        double run_out =
            vec3_distance(path_point(layout, t, last), path_point(layout, t, last - 1));
        cost +=
            above(2.5, run_in) + above(2.5, run_out) + 4.0 * above(0.75, c->score.worst_slant[t]);
    }
    return 2.0 * cost;
}

static void total_cost(Calibration *c)
{
    c->score.cost = order_cost(&c->score) + place_cost(c);
    for (int i = 0; i < CELLS; i++)
        c->score.cost += cell_cost(&c->score.cells[i], target(i / OPENINGS, i % OPENINGS)) +
                         (c->score.abrupt[i] ? 0.15 : 0.0);
}

// ---- Flying the tracks a move touches ---------------------------------------------------------

// The search of facet/flight.h flies each opening anew. Where a vehicle goes does not depend on the
// opening, so here one ladder of flights serves all three, and a speed is interpolated between two
// steps of the ladder instead of bisected.
enum { LADDER = 23 };

static double ladder_speed(int step)
{
    return step < 9 ? 1.0 + 0.25 * step : 3.0 + 0.5 * (step - 8);
}

typedef struct FlyWork {
    Calibration *c;
    int tracks[TRACKS], count;
} FlyWork;

// The worst miss of a track at each step of the ladder.
static void fly_ladder(double worst[LADDER], const Calibration *c, const FacetTrack *track)
{
    FacetFlightSetup setup = {.model = &c->model,
                              .preset = &c->preset,
                              .arena = &c->course->arena,
                              .track = track,
                              .half_width = 1.0,
                              .give_up = 2.0};
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    for (int k = 0; k < LADDER; k++) {
        double speed = ladder_speed(k);
        worst[k] = 9.0; // a gate not crossed, or a crash
        if (!facet_expert_chunk(chunk, track, track->points[0], speed).ok) continue;
        if (!facet_reference_from_chunk(&plan, chunk).ok) continue;
        FacetFlight flight =
            facet_flight_fly(&setup, &plan, facet_flight_start(&c->model, &plan, speed), NULL);
        if (flight.end != FACET_FLIGHT_FINISHED) continue;
        double miss = 0.0;
        for (int g = 0; g < flight.gate_count; g++)
            miss = fmax(miss, flight.gates[g].crossed ? flight.gates[g].miss : 9.0);
        worst[k] = miss;
    }
}

// `abrupt` is set when the next step of the ladder is no near miss but a lost flight.
static FacetSpeedCell cell_from_ladder(bool *abrupt, const double worst[LADDER], double half_width)
{
    FacetSpeedCell cell = {.best_ratio = HUGE_VAL};
    double enough = (1.0 - EXPERT_RESERVE) * half_width;
    int k = 0;
    *abrupt = false;
    for (int i = 0; i < LADDER; i++) cell.best_ratio = fmin(cell.best_ratio, worst[i] / half_width);
    while (k < LADDER && worst[k] > enough) k++;
    if (k == LADDER) return cell;
    while (k + 1 < LADDER && worst[k + 1] <= enough) k++;
    cell.feasible = true;
    cell.speed = ladder_speed(k);
    if (k + 1 < LADDER && worst[k + 1] > 2.0) *abrupt = true;
    if (k + 1 < LADDER)
        cell.speed +=
            (ladder_speed(k + 1) - cell.speed) * (enough - worst[k]) / (worst[k + 1] - worst[k]);
    return cell;
}

static void fly_track(void *context, int index, int worker)
{
    (void)worker;
    const FlyWork *work = context;
    Calibration *c = work->c;
    int t = work->tracks[index];
    double worst[LADDER];
    fly_ladder(worst, c, &c->tracks[t]);
    for (int o = 0; o < OPENINGS; o++)
        c->score.cells[t * OPENINGS + o] = cell_from_ladder(
            &c->score.abrupt[t * OPENINGS + o], worst, c->course->openings[o].half_width);
}

// Whether a track has to be flown again: its course changed, or a normal did.
static bool same_track(const FacetTrack *a, const FacetTrack *b)
{
    for (int i = 0; i < a->gate_count; i++)
        if (vec3_distance(a->gates[i].normal, b->gates[i].normal) > 1e-12) return false;
    for (int i = 0; i < a->point_count; i++)
        if (vec3_distance(a->points[i], b->points[i]) > 0.0) return false;
    return true;
}

static void evaluate(Calibration *c, bool all)
{
    FacetTrack before[TRACKS];
    memcpy(before, c->tracks, sizeof before);
    build_tracks(c);
    c->preset.carrot = c->layout.carrot;
    FlyWork work = {.c = c};
    for (int t = 0; t < TRACKS; t++)
        if (all || !same_track(&before[t], &c->tracks[t])) work.tracks[work.count++] = t;
    pool_for(c->pool, work.count, fly_track, &work);
    total_cost(c);
}

// ---- Moves ------------------------------------------------------------------------------------

static FacetVec3 rounded(FacetVec3 p)
{
    return vec3(round(1e3 * p.x) * 1e-3, round(1e3 * p.y) * 1e-3, round(1e3 * p.z) * 1e-3);
}

static FacetVec3 shifted(FacetVec3 p, double reach, FacetRng *rng)
{
    p.x += reach * rng_normal(rng), p.y += reach * rng_normal(rng);
    p.z += 0.5 * reach * rng_normal(rng);
    return rounded(p);
}

// The gate or the point of its own that a path has at index i.
static FacetVec3 *movable_point(Layout *layout, int t, int i)
{
    int gate = layout->gate_of[t][i];
    return gate >= 0 ? &layout->gates[gate] : &layout->own[t][i];
}

// Draws a whole path, with its gates, larger or smaller about its middle.
static void scale_path(Layout *layout, int t, double factor)
{
    FacetVec3 sum = vec3(0.0, 0.0, 0.0);
    int count = layout->point_count[t];
    for (int i = 0; i < count; i++) sum = vec3_add(sum, path_point(layout, t, i));
    FacetVec3 middle = vec3_scale(sum, 1.0 / count);
    bool moved[GATES_MAX] = {false};
    for (int i = 0; i < count; i++) {
        int gate = layout->gate_of[t][i];
        if (gate >= 0 && moved[gate]) continue;
        if (gate >= 0) moved[gate] = true;
        FacetVec3 *point = movable_point(layout, t, i), from = vec3_sub(*point, middle);
        *point = rounded(vec3(middle.x + factor * from.x, middle.y + factor * from.y, point->z));
    }
}

// A track to work on: half of the time by its share of the cost.
static int choose_track(const Score *score, FacetRng *rng)
{
    double costs[TRACKS], sum = 0.0, any = rng_uniform(rng) * TRACKS;
    if (rng_uniform(rng) < 0.5) return (int)any;
    for (int t = 0; t < TRACKS; t++) {
        costs[t] = 0.0;
        for (int o = 0; o < OPENINGS; o++)
            costs[t] += cell_cost(&score->cells[t * OPENINGS + o], target(t, o));
        sum += costs[t];
    }
    double pick = rng_uniform(rng) * sum;
    for (int t = 0; t < TRACKS; t++)
        if ((pick -= costs[t]) < 0.0) return t;
    return (int)any;
}

// Changes the layout a little; true when every track is touched.
static bool move(Calibration *c, FacetRng *rng)
{
    Layout *layout = &c->layout;
    double reach = 0.6 * exp(-2.5 * rng_uniform(rng)), choice = rng_uniform(rng);
    if (choice < 0.04) {
        double *lengths[] = {&layout->carrot.lookahead_time, &layout->carrot.lookahead_min,
                             &layout->carrot.lookahead_max};
        double *length = lengths[(int)(3.0 * rng_uniform(rng))];
        *length = round(100.0 * *length * exp(0.04 * rng_normal(rng))) / 100.0;
        return true;
    }
    int t = choose_track(&c->score, rng), count = layout->point_count[t];
    if (choice < 0.15)
        scale_path(layout, t, exp(0.06 * rng_normal(rng)));
    else {
        FacetVec3 *point = movable_point(layout, t, (int)(rng_uniform(rng) * count));
        *point = shifted(*point, reach, rng);
    }
    return false;
}

// ---- Files ------------------------------------------------------------------------------------

static int gate_number(const FacetCourse *course, const char *name)
{
    for (int g = 0; g < course->gate_count; g++)
        if (strcmp(name, course->gates[g].name) == 0) return g;
    return -1;
}

static FacetStatus read_layout(Layout *layout, const FacetCourse *course)
{
    if (course->track_count != TRACKS || course->opening_count != OPENINGS ||
        course->gate_count > GATES_MAX)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a draft with 8 tracks, 3 openings and at most 64 gates");
    layout->gate_count = course->gate_count;
    for (int g = 0; g < course->gate_count; g++) layout->gates[g] = course->gates[g].center;
    for (int t = 0; t < TRACKS; t++) {
        const FacetTrack *track = &course->tracks[t];
        layout->point_count[t] = track->point_count;
        for (int i = 0, gate = 0; i < track->point_count; i++) {
            FacetVec3 point = layout->own[t][i] = track->points[i];
            layout->gate_of[t][i] = -1;
            if (gate < track->gate_count && vec3_distance(point, track->gates[gate].center) == 0.0)
                layout->gate_of[t][i] = gate_number(course, track->gates[gate++].name);
        }
    }
    return status_ok();
}

static void print_vec3(FILE *out, FacetVec3 v)
{
    fprintf(out, "[%.3f, %.3f, %.3f]", v.x, v.y, v.z);
}

// One line a gate, so that people can read and change the files.
static void print_course(FILE *out, const Calibration *c)
{
    const FacetCourse *course = c->course;
    fprintf(out, "{\n  \"arena\": {\"min\": ");
    print_vec3(out, course->arena.min);
    fprintf(out, ", \"max\": ");
    print_vec3(out, course->arena.max);
    fprintf(out, "},\n  \"speeds\": {\"min\": %g, \"max\": %g},\n", course->speed_min,
            course->speed_max);
    fprintf(out, "  \"openings\": [\n");
    for (int o = 0; o < OPENINGS; o++)
        fprintf(out, "    {\"name\": \"%s\", \"half_width\": %g}%s\n", course->openings[o].name,
                course->openings[o].half_width, o + 1 < OPENINGS ? "," : "");
    fprintf(out, "  ],\n  \"gates\": [\n");
    for (int g = 0; g < c->layout.gate_count; g++) {
        fprintf(out, "    {\"name\": \"%s\", \"center\": ", course->gates[g].name);
        print_vec3(out, c->layout.gates[g]);
        fprintf(out, ", \"normal\": ");
        print_vec3(out, c->normals[g]);
        fprintf(out, "}%s\n", g + 1 < c->layout.gate_count ? "," : "");
    }
    fprintf(out, "  ],\n  \"held_out\": [");
    for (int i = 0; i < course->held_out_count; i++)
        fprintf(out, "%s\"%s/%s\"", i ? ", " : "", course->tracks[course->held_out[i].track].name,
                course->openings[course->held_out[i].opening].name);
    fprintf(out, "]\n}\n");
}

static void print_track(FILE *out, const Calibration *c, int t)
{
    const FacetTrack *track = &c->tracks[t];
    fprintf(out, "{\n  \"name\": \"%s\",\n  \"description\": \"%s\",\n  \"path\": [\n", track->name,
            track->description);
    for (int i = 0, gate = 0; i < track->point_count; i++) {
        int g = c->layout.gate_of[t][i];
        fprintf(out, "    ");
        if (g < 0) {
            print_vec3(out, track->points[i]);
        } else {
            bool reverse = vec3_dot(track->gates[gate++].normal, c->normals[g]) < 0.0;
            fprintf(out, "\"%s%s\"", reverse ? "-" : "", c->course->gates[g].name);
        }
        fprintf(out, "%s\n", i + 1 < track->point_count ? "," : "");
    }
    fprintf(out, "  ]\n}\n");
}

// Writes track t, or course.json where t is negative.
static FacetStatus write_part(const Calibration *c, const char *folder, int t)
{
    char path[FILE_PATH_MAX], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%.900s/%s.json", folder, t < 0 ? "course" : c->tracks[t].name);
    FILE *out = open_memstream(&text, &size);
    if (!out) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    if (t < 0)
        print_course(out, c);
    else
        print_track(out, c, t);
    FacetStatus status = fclose(out) == 0 ? file_write(path, text, size)
                                          : status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    free(text);
    return status;
}

static FacetStatus write_all(const Calibration *c, const char *folder)
{
    for (int t = -1; t < TRACKS; t++) TRY(write_part(c, folder, t));
    return status_ok();
}

static void show(const Calibration *c, long at)
{
    FacetCarrotParams k = c->layout.carrot;
    printf("move %ld: cost %.4f, carrot time %.2f s, least %.2f m, most %.2f m\n", at,
           c->score.cost, k.lookahead_time, k.lookahead_min, k.lookahead_max);
    for (int t = 0; t < TRACKS; t++) {
        printf("  %s", c->course->tracks[t].name);
        for (int o = 0; o < OPENINGS; o++) {
            const FacetSpeedCell *cell = &c->score.cells[t * OPENINGS + o];
            printf("  %5.2f /%5.1f (%.2f%s)", cell->feasible ? cell->speed : 0.0, target(t, o),
                   cell->best_ratio, c->score.abrupt[t * OPENINGS + o] ? ", abrupt" : "");
        }
        printf("   slant %.2f\n", c->score.worst_slant[t]);
    }
    fflush(stdout);
}

static FacetStatus prepare(Calibration *c, char **argument)
{
    FacetQuadParams params = facet_quad_params_default();
    c->model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    TRY(facet_course_load(&c->course, argument[1]));
    TRY(facet_control_preset(&c->preset, "race"));
    TRY(facet_pool_create(&c->pool, 0));
    TRY(read_layout(&c->layout, c->course));
    c->layout.carrot = c->preset.carrot;
    c->layout.carrot.lookahead_time = atof(argument[5]);
    c->layout.carrot.lookahead_min = atof(argument[6]);
    c->layout.carrot.lookahead_max = atof(argument[7]);
    c->draft = c->layout;
    return status_ok();
}

// The hill climb; `kept` is room for the layout before a move.
static FacetStatus improve(Calibration *c, Calibration *kept, char **argument)
{
    mkdir(argument[2], 0755);
    interrupt_watch();
    evaluate(c, true);
    show(c, 0);
    long moves = atol(argument[3]);
    FacetRng rng = rng_make(strtoull(argument[4], NULL, 10), 0);
    for (long i = 1; i <= moves && !interrupt_requested(); i++) {
        *kept = *c;
        bool all = move(c, &rng);
        evaluate(c, all);
        if (!(c->score.cost < kept->score.cost)) *c = *kept;
        if (i % 100 == 0) {
            show(c, i);
            TRY(write_all(c, argument[2]));
        }
    }
    return write_all(c, argument[2]);
}

int main(int count, char **argument)
{
    if (count != 8) {
        fputs("usage: facet-calibrate DRAFT OUT MOVES SEED TIME LEAST MOST\n", stderr);
        return 2;
    }
    Calibration *c = calloc(1, sizeof *c), *kept = calloc(1, sizeof *kept);
    FacetStatus status =
        c && kept ? prepare(c, argument) : status_fail(FACET_NO_MEMORY, "out of memory");
    if (status.ok) status = improve(c, kept, argument);
    if (!status.ok) fprintf(stderr, "facet-calibrate: %s\n", status.text);
    if (c) {
        facet_pool_destroy(c->pool);
        facet_course_destroy(c->course);
    }
    free(kept);
    free(c);
    return status.ok ? 0 : 1;
}
