// Speed maps kept in a folder (see race/speed_cache.h).
#include "race/speed_cache.h"

#include "base/file.h"
#include "base/hash.h"
#include "flight/flight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Keys ---------------------------------------------------------------------------------------

static void add_numbers(uint64_t *hash, const double *numbers, int count)
{
    *hash = hash_bytes(*hash, numbers, (size_t)count * sizeof *numbers);
}

static void add_vec(uint64_t *hash, FacetVec3 v)
{
    add_numbers(hash, (const double[]){v.x, v.y, v.z}, 3);
}

static void add_track(uint64_t *hash, const FacetTrack *track)
{
    add_numbers(hash, (const double[]){track->point_count, track->gate_count}, 2);
    for (int i = 0; i < track->point_count; i++) add_vec(hash, track->points[i]);
    for (int i = 0; i < track->gate_count; i++) {
        add_vec(hash, track->gates[i].center);
        add_vec(hash, track->gates[i].normal);
    }
}

// Names do not matter to the search.
static void add_course(uint64_t *hash, const FacetCourse *course)
{
    add_vec(hash, course->arena.min);
    add_vec(hash, course->arena.max);
    add_numbers(hash, (const double[]){course->speed_min, course->speed_max}, 2);
    add_numbers(hash, (const double[]){course->track_count, course->opening_count}, 2);
    for (int i = 0; i < course->opening_count; i++)
        add_numbers(hash, &course->openings[i].half_width, 1);
    for (int i = 0; i < course->track_count; i++) add_track(hash, &course->tracks[i]);
}

static void add_vehicle(uint64_t *hash, const FacetQuadModel *model)
{
    const FacetQuadParams *p = &model->params;
    add_numbers(hash,
                (const double[]){p->mass, p->arm, p->thrust_max, p->torque_ratio, p->motor_lag,
                                 p->gravity, model->step},
                7);
    add_vec(hash, p->inertia);
    add_vec(hash, p->drag);
}

static void add_preset(uint64_t *hash, const FacetControlPreset *preset)
{
    const FacetSe3Gains *gains = &preset->gains;
    const FacetCarrotParams *carrot = &preset->carrot;
    add_numbers(hash,
                (const double[]){gains->position, gains->velocity, gains->attitude, gains->rate,
                                 carrot->lookahead_time, carrot->lookahead_min,
                                 carrot->lookahead_max, carrot->window},
                8);
}

// The state after a second's flight along the first track.
static void add_flight(uint64_t *hash, const FacetCourse *course, const FacetQuadModel *model,
                       const FacetControlPreset *preset)
{
    enum { STEPS = 600 };
    if (course->track_count == 0 || course->opening_count == 0) return;
    const FacetTrack *track = &course->tracks[0];
    const FacetFlightSetup setup = {.model = model,
                                    .preset = preset,
                                    .arena = &course->arena,
                                    .track = track,
                                    .half_width = course->openings[0].half_width};
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    FacetFlightRun run;
    if (!facet_expert_chunk(chunk, track, track->points[0], course->speed_min).ok) return;
    if (!facet_reference_from_chunk(&plan, chunk).ok) return;
    facet_flight_begin(&run, &setup, &plan, facet_flight_start(model, &plan, course->speed_min));
    for (int i = 0; i < STEPS && facet_flight_step(&run); i++) {
    }
    const FacetQuat q = run.state.attitude;
    add_vec(hash, run.state.pos_world);
    add_vec(hash, run.state.vel_world);
    add_vec(hash, run.state.omega_body);
    add_numbers(hash, (const double[]){q.w, q.x, q.y, q.z}, 4);
    add_numbers(hash, run.state.thrust, FACET_QUAD_MOTORS);
}

uint64_t speed_cache_key(const FacetCourse *course, const FacetQuadModel *model,
                         const FacetControlPreset *preset)
{
    uint64_t hash = HASH_START;
    add_numbers(&hash, (const double[]){EXPERT_SEARCH_VERSION}, 1);
    add_course(&hash, course);
    add_vehicle(&hash, model);
    add_preset(&hash, preset);
    add_flight(&hash, course, model, preset);
    return hash;
}

// ---- Files --------------------------------------------------------------------------------------

static bool path_of(char path[FILE_PATH_MAX], const char *folder, uint64_t key)
{
    int size = snprintf(path, FILE_PATH_MAX, "%s/speeds-%016" PRIx64 ".txt", folder, key);
    return size < FILE_PATH_MAX;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

// The lines before the cells.
static int head_text(char *out, size_t size, uint64_t key, const FacetSpeedMap *map)
{
    return snprintf(out, size, "facet speed map 1\n%016" PRIx64 "\n%d %d\n", key, map->tracks,
                    map->openings);
}

// Reads the cells of a text whose hash is right, and which is to be of this key and size.
static bool parse(FacetSpeedMap *map, const char *text, size_t size, uint64_t key)
{
    char head[128];
    size_t at = (size_t)head_text(head, sizeof head, key, map);
    if (size < at || memcmp(text, head, at) != 0) return false;
    for (int i = 0; i < map->tracks * map->openings; i++) {
        uint64_t speed, ratio;
        int feasible, used = 0;
        sscanf(text + at, "%d %" SCNx64 " %" SCNx64 "%n", &feasible, &speed, &ratio, &used);
        if (used == 0) return false;
        map->cells[i] = (FacetSpeedCell){feasible == 1, from_bits(speed), from_bits(ratio)};
        at += (size_t)used + 1; // the end of the line
    }
    return at == size;
}

// Whether the last line of a text is the hash of what stands before it; cuts it off.
static bool cut_hash(size_t *size, const char *bytes)
{
    enum { LINE = 17 }; // sixteen digits and the end of the line
    char line[LINE + 1];
    if (*size < LINE) return false;
    *size -= LINE;
    snprintf(line, sizeof line, "%016" PRIx64 "\n", hash_bytes(HASH_START, bytes, *size));
    return memcmp(bytes + *size, line, LINE) == 0;
}

bool speed_cache_read(FacetSpeedMap *map, const char *folder, uint64_t key, int tracks,
                      int openings)
{
    char path[FILE_PATH_MAX], *bytes;
    size_t size;
    *map = (FacetSpeedMap){tracks, openings, NULL};
    if (!path_of(path, folder, key) || !file_read(&bytes, &size, path).ok) return false;
    map->cells = calloc((size_t)(tracks * openings) + 1, sizeof *map->cells);
    bool found = map->cells && cut_hash(&size, bytes) && parse(map, bytes, size, key);
    free(bytes);
    if (!found) facet_speed_map_destroy(map);
    return found;
}

void speed_cache_write(const FacetSpeedMap *map, const char *folder, uint64_t key)
{
    char path[FILE_PATH_MAX], *bytes = NULL;
    size_t size = 0;
    if (!path_of(path, folder, key) || !file_make_folder(folder).ok) return;
    FILE *text = open_memstream(&bytes, &size);
    if (!text) return;
    char head[128];
    head_text(head, sizeof head, key, map);
    fputs(head, text);
    for (int i = 0; i < map->tracks * map->openings; i++) {
        const FacetSpeedCell *cell = &map->cells[i];
        fprintf(text, "%d %016" PRIx64 " %016" PRIx64 "\n", cell->feasible, bits_of(cell->speed),
                bits_of(cell->best_ratio));
    }
    if (fflush(text) == 0) fprintf(text, "%016" PRIx64 "\n", hash_bytes(HASH_START, bytes, size));
    bool whole = !ferror(text);
    if (fclose(text) == 0 && whole) (void)file_write(path, bytes, size);
    free(bytes);
}
