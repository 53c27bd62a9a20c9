// Another look of a venue: its surfaces, sky and light drawn anew, with everything in its place.
//
// A policy that has seen a few venues knows them by their colours. Frames of redrawn venues show it
// what does not depend on those (domain randomisation; Tobin et al., 2017).
#include "base/rng.h"
#include "camera/scene.h"

static float between(FacetRng *rng, double low, double high)
{
    return (float)rng_range(rng, low, high);
}

// A colour as light: the square of what a picture shows.
static void draw_color(float color[3], FacetRng *rng)
{
    for (int c = 0; c < 3; c++) {
        float shown = between(rng, 0.05, 0.95);
        color[c] = shown * shown;
    }
}

static void mix_color(float color[3], const float towards[3], float share)
{
    for (int c = 0; c < 3; c++) color[c] += share * (towards[c] - color[c]);
}

static void tint(float light[3], float gain, double spread, FacetRng *rng)
{
    for (int c = 0; c < 3; c++) light[c] *= gain * between(rng, 1.0 - spread, 1.0 + spread);
}

static void redraw_pattern(Material *m, FacetRng *rng)
{
    static const Pattern choice[] = {PATTERN_PLAIN,  PATTERN_NOISE,   PATTERN_GRASS, PATTERN_TILES,
                                     PATTERN_BRICKS, PATTERN_STRIPES, PATTERN_RIBS};
    enum { CHOICES = sizeof choice / sizeof *choice };
    m->pattern = choice[(int)(rng_uniform(rng) * CHOICES)];
    m->scale[0] = 0.15f * powf(20.0f, between(rng, 0.0, 1.0));
    m->scale[1] = m->scale[0] * between(rng, 0.3, 1.0);
    m->joint = m->scale[1] * between(rng, 0.02, 0.15);
    m->slant = between(rng, -1.0, 1.0);
}

static void redraw_material(Material *m, FacetRng *rng)
{
    float base[3], share = between(rng, 0.0, 1.0);
    draw_color(base, rng);
    for (int k = 0; k < 3; k++) {
        float towards[3] = {base[0], base[1], base[2]};
        tint(towards, between(rng, 0.5, 1.5), 0.15, rng);
        mix_color(m->color[k], towards, share);
        for (int c = 0; c < 3; c++) m->color[k][c] = fminf(m->color[k][c], 1.0f);
    }
    // Water, facades and lamps keep their pattern: it is also their shape.
    bool fixed = m->pattern == PATTERN_WATER || m->pattern == PATTERN_FACADE || m->emit > 0.0f;
    if (rng_uniform(rng) < 0.5 && !fixed) redraw_pattern(m, rng);
    if (rng_uniform(rng) < 0.25 && !fixed) m->mirror = between(rng, 0.0, 0.6);
}

static void redraw_sky(Sky *sky, FacetRng *rng)
{
    float *colors[] = {sky->zenith, sky->horizon, sky->cloud, sky->cloud_shade};
    float share = between(rng, 0.0, 1.0);
    for (int i = 0; i < 4; i++) {
        float towards[3];
        draw_color(towards, rng);
        mix_color(colors[i], towards, share);
    }
    float cover = between(rng, 0.0, 0.8);
    if (sky->cover > 0.0f) sky->cover = cover;
}

// The sun keeps its height, so that a roof's lights stay above.
static void redraw_light(Light *light, FacetRng *rng)
{
    float turn = between(rng, -FACET_PI, FACET_PI), c = cosf(turn), s = sinf(turn);
    float x = light->sun_direction[0], y = light->sun_direction[1];
    light->sun_direction[0] = c * x - s * y;
    light->sun_direction[1] = s * x + c * y;
    tint(light->sun_color, between(rng, 0.4, 1.3), 0.15, rng);
    float around = between(rng, 0.6, 1.3);
    tint(light->above, around, 0.1, rng);
    tint(light->below, around * between(rng, 0.7, 1.3), 0.1, rng);
}

void look_redraw(Look *look, int first, uint64_t number)
{
    FacetRng rng = rng_make(number, 0);
    redraw_light(&look->light, &rng);
    redraw_sky(&look->sky, &rng);
    for (int i = first; i < look->material_count; i++) redraw_material(&look->materials[i], &rng);
}
