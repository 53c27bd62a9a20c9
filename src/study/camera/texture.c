// Procedural materials: colours as functions of the point that a ray meets, eight points at a time.
//
// Patterns are laid out in surface coordinates (a, b) in metres: along the world's x and y on what
// lies flat, along the wall and up on what stands. Detail finer than what a pixel covers fades to
// its mean, so that far surfaces do not flicker.
#include "camera/scene.h"

typedef uint32_t LanesWord
    __attribute__((vector_size(BATCH_LANES * sizeof(uint32_t)), aligned(16)));

// ---- Pieces -------------------------------------------------------------------------------------

LANES_INLINE Lanes unit(Lanes a) { return lanes_clamp(a, lanes(0.0f), lanes(1.0f)); }

LANES_INLINE Lanes3 light_of(const float color[3])
{
    return lanes3(lanes(color[0]), lanes(color[1]), lanes(color[2]));
}

LANES_INLINE Lanes smooth(Lanes low, Lanes high, Lanes a)
{
    Lanes t = unit((a - low) / (high - low));
    return t * t * (3.0f - 2.0f * t);
}

LANES_INLINE LanesWord whole(Lanes floored)
{
    return (LanesWord) __builtin_convertvector(floored, LanesMask);
}

// A whole (x, y) as one number, and the way from it to its neighbours.
#define STEP_X 0x9E3779B1u
#define STEP_Y 0x85EBCA77u

LANES_INLINE LanesWord place(LanesWord x, LanesWord y) { return x * STEP_X + y * STEP_Y; }

// A whole number below 2^24 that belongs to a place: two rounds of multiply and shift.
LANES_INLINE Lanes draw(LanesWord h)
{
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h ^= h >> 12;
    return __builtin_convertvector((LanesMask)(h >> 8), Lanes);
}

// A number in [0, 1) that belongs to a whole (x, y).
LANES_INLINE Lanes scatter(LanesWord x, LanesWord y) { return draw(place(x, y)) * 0x1p-24f; }

// Noise in [0, 1): random values on the whole numbers, smooth in between.
LANES_INLINE Lanes value_noise(Lanes a, Lanes b)
{
    Lanes fa = lanes_floor(a), fb = lanes_floor(b);
    LanesWord at = place(whole(fa), whole(fb));
    Lanes s = a - fa, t = b - fb;
    s = s * s * (3.0f - 2.0f * s);
    t = t * t * (3.0f - 2.0f * t);
    Lanes near = lanes_mix(draw(at), draw(at + STEP_X), s);
    Lanes far = lanes_mix(draw(at + STEP_Y), draw(at + STEP_X + STEP_Y), s);
    return lanes_mix(near, far, t) * 0x1p-24f;
}

// How much of a detail of this size a pixel that covers `foot` still shows.
LANES_INLINE Lanes shown(Lanes foot, float size) { return unit(2.0f - foot * (2.0f / size)); }

// Octaves of noise around one half, each twice as fine and half as strong as the one before.
LANES_INLINE Lanes layered_noise(Lanes a, Lanes b, float size, int octaves, Lanes foot)
{
    Lanes sum = lanes(0.5f);
    float strength = 0.6f;
    a /= size, b /= size;
    for (int k = 0; k < octaves; k++, size *= 0.5f, strength *= 0.5f) {
        Lanes weight = shown(foot, size);
        if (!lanes_bits(weight > 0.0f)) break;
        float shift = 17.3f * (float)k;
        sum += strength * weight * (value_noise(a + shift, b - shift) - 0.5f);
        a *= 2.0f, b *= 2.0f;
    }
    return sum;
}

// The share of a pixel inside a band |d| < half, d being the distance from the band's middle.
LANES_INLINE Lanes band(Lanes d, float half, Lanes foot)
{
    Lanes blur = lanes_max(foot, lanes(1e-3f));
    Lanes low = lanes_max(d - 0.5f * blur, lanes(-half));
    Lanes high = lanes_min(d + 0.5f * blur, lanes(half));
    return unit((high - low) / blur);
}

// A grid of cells: which one, the place in it (m from its middle), and the share of joints.
typedef struct Cell {
    LanesWord x, y;
    Lanes a, b;
    Lanes joint;
} Cell;

LANES_INLINE Cell grid(Lanes a, Lanes b, const Material *m, bool shifted, Lanes foot)
{
    float width = m->scale[0], height = m->scale[1];
    Lanes row = lanes_floor(b / height);
    if (shifted) a += 0.5f * width * (row - 2.0f * lanes_floor(0.5f * row));
    Lanes column = lanes_floor(a / width);
    Cell cell = {.x = whole(column), .y = whole(row)};
    cell.a = a - (column + 0.5f) * width;
    cell.b = b - (row + 0.5f) * height;
    Lanes inside = band(cell.a, 0.5f * (width - m->joint), foot) *
                   band(cell.b, 0.5f * (height - m->joint), foot);
    float mean = (1.0f - m->joint / width) * (1.0f - m->joint / height);
    float least = width < height ? width : height;
    cell.joint = 1.0f - lanes_mix(lanes(mean), inside, shown(foot, least));
    return cell;
}

// ---- Patterns -----------------------------------------------------------------------------------

LANES_INLINE Lanes3 tiles(const Material *m, Lanes a, Lanes b, bool shifted, Lanes foot)
{
    Cell cell = grid(a, b, m, shifted, foot);
    Lanes pick = lanes_mix(lanes(0.5f), scatter(cell.x, cell.y), shown(foot, m->scale[0]));
    Lanes3 tile = lanes3_mix(light_of(m->color[0]), light_of(m->color[1]), pick);
    return lanes3_mix(tile, light_of(m->color[2]), cell.joint);
}

LANES_INLINE Lanes3 grass(const Material *m, Lanes a, Lanes b, Lanes foot)
{
    Lanes patch = layered_noise(a, b, m->scale[0], 3, foot);
    Lanes blade = layered_noise(a + 0.3f * b, b, m->scale[1], 2, foot);
    Lanes3 color = lanes3_mix(light_of(m->color[0]), light_of(m->color[1]),
                              unit(0.5f * patch + 2.2f * (blade - 0.5f) + 0.25f));
    Lanes worn = smooth(lanes(0.62f), lanes(0.8f),
                        layered_noise(a + 91.0f, b - 37.0f, 2.0f * m->scale[0], 3, foot));
    return lanes3_mix(color, light_of(m->color[2]), 0.8f * worn);
}

LANES_INLINE Lanes3 stripes(const Material *m, Lanes a, Lanes b, Lanes foot)
{
    float period = 2.0f * m->scale[0];
    Lanes at = (a + m->slant * b) / period;
    Lanes d = (at - lanes_floor(at) - 0.5f) * period;
    Lanes first = lanes_mix(lanes(0.5f), band(d, 0.25f * period, foot), shown(foot, period));
    return lanes3_mix(light_of(m->color[1]), light_of(m->color[0]), first);
}

LANES_INLINE Lanes3 ribs(const Material *m, Lanes a, Lanes foot)
{
    Lanes at = a / m->scale[0];
    Lanes d = 2.0f * (at - lanes_floor(at)) - 1.0f; // a parabola is wave enough
    Lanes wave = lanes_mix(lanes(0.5f), 1.0f - d * d, shown(foot, m->scale[0]));
    return lanes3_mix(light_of(m->color[1]), light_of(m->color[0]), wave);
}

LANES_INLINE Lanes3 facade(const Material *m, Lanes a, Lanes b, Lanes foot)
{
    Cell cell = grid(a, b, m, false, foot);
    float width = 0.19f * m->scale[0], height = 0.29f * m->scale[1];
    Lanes opening = band(cell.a, width, foot) * band(cell.b, height, foot);
    Lanes surround = band(cell.a, width + m->joint, foot) * band(cell.b, height + m->joint, foot);
    Lanes bars = 1.0f - (1.0f - band(cell.a, 0.03f, foot)) * (1.0f - band(cell.b, 0.03f, foot));
    Lanes3 wall = light_of(m->color[0]), frame = light_of(m->color[2]);
    Lanes3 glass = lanes3_scale(light_of(m->color[1]), 0.6f + 0.8f * scatter(cell.x, cell.y));
    Lanes floor_line = band(cell.b + 0.5f * m->scale[1], 0.12f, foot);
    wall = lanes3_mix(wall, frame, 0.7f * floor_line);
    Lanes3 window = lanes3_mix(glass, frame, bars);
    return lanes3_mix(lanes3_mix(wall, frame, surround), window, opening);
}

// Surface coordinates of the points p.
LANES_INLINE void lay_out(Lanes *a, Lanes *b, const Lanes3 *p, const Lanes3 *n)
{
    *a = p->x, *b = p->y;
    LanesMask flat = lanes_abs(n->z) > 0.7f;
    if (lanes_bits(flat) == LANES_ALL) return;
    Lanes along = lanes_max(lanes_sqrt(n->x * n->x + n->y * n->y), lanes(1e-6f));
    *a = lanes_select(flat, *a, (n->x * p->y - n->y * p->x) / along);
    *b = lanes_select(flat, *b, p->z);
}

void material_color(Lanes3 *color, const Material *m, const Lanes3 *p, const Lanes3 *n,
                    const Lanes *foot_at)
{
    Lanes a, b, foot = *foot_at;
    lay_out(&a, &b, p, n);
    switch (m->pattern) {
    case PATTERN_NOISE:
        *color = lanes3_mix(light_of(m->color[0]), light_of(m->color[1]),
                            unit(1.8f * layered_noise(a, b, m->scale[0], 4, foot) - 0.4f));
        break;
    case PATTERN_GRASS:
        *color = grass(m, a, b, foot);
        break;
    case PATTERN_TILES:
    case PATTERN_BRICKS:
        *color = tiles(m, a, b, m->pattern == PATTERN_BRICKS, foot);
        break;
    case PATTERN_STRIPES:
        *color = stripes(m, a, b, foot);
        break;
    case PATTERN_RIBS:
        *color = ribs(m, a, foot);
        break;
    case PATTERN_FACADE:
        *color = facade(m, a, b, foot);
        break;
    default:
        *color = light_of(m->color[0]);
        break;
    }
    if (m->variation > 0.0f) {
        Lanes uneven = layered_noise(a + 5.3f, b + 8.1f, 1.7f, 3, foot) - 0.5f;
        *color = lanes3_scale(*color, lanes_max(1.0f + 2.0f * m->variation * uneven, lanes(0.0f)));
    }
}

// ---- Water --------------------------------------------------------------------------------------

// Four sine waves of falling length in four directions, each with the speed of its length on deep
// water: omega^2 = g k.
void water_normal(Lanes3 *normal, const Material *m, const Lanes3 *p, const Lanes *foot, float time)
{
    static const float lengths[4] = {1.0f, 0.61f, 0.37f, 0.21f};
    static const float turns[4] = {0.3f, 1.5f, 2.6f, -0.7f}; // rad, directions
    Lanes slope_x = lanes(0.0f), slope_y = lanes(0.0f);
    for (int i = 0; i < 4; i++) {
        float length = m->wave_length * lengths[i], k = 2.0f * (float)FACET_PI / length;
        float x = cosf(turns[i]), y = sinf(turns[i]);
        float phase = fmodf(sqrtf(9.81f * k) * time, 2.0f * (float)FACET_PI);
        Lanes sine, cosine;
        lanes_sincos(&sine, &cosine, k * (x * p->x + y * p->y) - phase);
        Lanes slope =
            m->wave_height * lengths[i] * k * cosine * (0.25f + 0.75f * shown(*foot, length));
        slope_x += x * slope;
        slope_y += y * slope;
    }
    Lanes scale = 1.0f / lanes_sqrt(1.0f + slope_x * slope_x + slope_y * slope_y);
    *normal = lanes3(-slope_x * scale, -slope_y * scale, scale);
}

// The floor of tiles seen by refraction (Snell, 1.33), dimmed and tinted by the way through the
// water, with dark lines along x and a moving net of light.
void water_color(Lanes3 *color, const Material *m, const Lanes3 *p, const Lanes3 *n,
                 const Lanes3 *direction, const Lanes *foot, float time)
{
    const float eta = 1.0f / 1.33f;
    Lanes cosine = -lanes3_dot(*direction, *n);
    Lanes below = lanes_sqrt(lanes_max(1.0f - eta * eta * (1.0f - cosine * cosine), lanes(0.01f)));
    Lanes3 bent = lanes3_axpy(lanes3_scale(*direction, lanes(eta)), eta * cosine - below, *n);
    Lanes way = m->depth / lanes_max(-bent.z, lanes(0.1f));
    Lanes a = p->x + way * bent.x, b = p->y + way * bent.y;

    Lanes3 ground = tiles(m, a, b, false, *foot);
    if (m->lanes > 0.0f) {
        Lanes lane = lanes_floor(b / m->lanes);
        Lanes line = band(b - (lane + 0.5f) * m->lanes, 0.15f, *foot);
        ground = lanes3_mix(ground, lanes3(lanes(0.004f), lanes(0.02f), lanes(0.09f)), line);
    }
    float drift = fmodf(0.35f * time, 4096.0f);
    Lanes net = value_noise(1.9f * a + drift, 1.9f * b - 0.7f * drift) -
                value_noise(2.3f * a - drift, 2.1f * b + 0.4f * drift);
    net = 1.0f - lanes_min(lanes_abs(3.0f * net), lanes(1.0f));
    ground = lanes3_scale(ground, 0.8f + 0.9f * net * net * shown(*foot, 0.5f));
    // Red is swallowed first.
    *color = lanes3(ground.x / (1.0f + 0.30f * way), ground.y / (1.0f + 0.05f * way),
                    ground.z / (1.0f + 0.02f * way));
}

// ---- Sky ----------------------------------------------------------------------------------------

// A layer of clouds overhead, seen in perspective.
LANES_INLINE void add_clouds(Lanes3 *color, const Sky *sky, const Lanes3 *direction, Lanes up)
{
    Lanes away = 1.0f / ((up + 0.07f) * sky->cloud_scale);
    Lanes a = direction->x * away, b = direction->y * away, none = lanes(0.0f);
    Lanes thick = layered_noise(a, b, 1.0f, 3, none);
    Lanes cover = smooth(lanes(0.95f - sky->cover), lanes(1.25f - sky->cover), thick + 0.1f);
    cover *= unit(direction->z * 12.0f);
    if (!lanes_bits(cover > 0.0f)) return;
    Lanes dark = unit(2.2f * layered_noise(a + 3.7f, b + 1.9f, 0.8f, 2, none) - 0.6f);
    Lanes3 cloud = lanes3_mix(light_of(sky->cloud), light_of(sky->cloud_shade), dark);
    *color = lanes3_mix(*color, cloud, cover);
}

void sky_color(Lanes3 *color, const Sky *sky, const Light *light, const Lanes3 *direction)
{
    Lanes up = lanes_max(direction->z, lanes(0.0f));
    Lanes3 clear = lanes3_mix(light_of(sky->horizon), light_of(sky->zenith), lanes_sqrt(up));
    const float *sun = light->sun_direction;
    Lanes facing = lanes_max(sun[0] * direction->x + sun[1] * direction->y + sun[2] * direction->z,
                             lanes(0.0f));
    Lanes glow = facing * facing; // to the 64th power in the end
    for (int i = 0; i < 5; i++) glow *= glow;
    Lanes3 out = lanes3_axpy(clear, 0.35f * glow, light_of(light->sun_color));
    *color = out;
    if (sky->cover > 0.0f) add_clouds(color, sky, direction, up);
}
