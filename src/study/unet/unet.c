// The U-Net's shape and its table of tensors (see unet/unet.h).
#include "unet/unet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH_MAX = 1024 };

static int in_groups(double width)
{
    int groups = (int)lround(width / UNET_GROUPS);
    return UNET_GROUPS * (groups > 1 ? groups : 1);
}

UnetConfig unet_like(const ScoreNetConfig *n)
{
    UnetConfig config = {.horizon = n->horizon,
                         .dim = n->dim,
                         .levels = 3,
                         .widths = {in_groups(n->channels / 4.0), in_groups(n->channels / 2.0),
                                    in_groups(n->channels * 2.0 / 3.0)},
                         .cond = n->cond,
                         .time_width = n->time_width,
                         .embed = n->embed,
                         .factors = n->factors};
    for (int i = 0; i < n->factors; i++) config.values[i] = n->values[i];
    return config;
}

// ---- What makes a network -----------------------------------------------------------------------

static FacetStatus expect(const char *what, int found, int low, int high)
{
    if (found < low || found > high)
        return status_fail(FACET_BAD_ARGUMENT, "U-Net: expected %s from %d to %d, found %d", what,
                           low, high, found);
    return status_ok();
}

static FacetStatus check(const UnetConfig *c)
{
    TRY(expect("levels", c->levels, 1, UNET_LEVELS_MAX));
    TRY(expect("a horizon", c->horizon, 1, 4096));
    TRY(expect("numbers a step", c->dim, 1, 1024));
    TRY(expect("a condition width", c->cond, 1, 4096));
    TRY(expect("a time embedding width", c->time_width, 4, 4096));
    TRY(expect("an embedding width", c->embed, 1, 4096));
    TRY(expect("factors", c->factors, 0, SCORE_FACTORS_MAX));
    int multiple = 1 << (c->levels - 1);
    if (c->horizon % multiple)
        return status_fail(FACET_BAD_ARGUMENT,
                           "U-Net: expected a horizon that is a multiple of %d, found %d", multiple,
                           c->horizon);
    if (c->time_width % 2)
        return status_fail(FACET_BAD_ARGUMENT,
                           "U-Net: expected an even time embedding width, found %d", c->time_width);
    for (int i = 0; i < c->factors; i++)
        TRY(expect("values of a factor", c->values[i], 1, 1 << 20));
    for (int l = 0; l < c->levels; l++) {
        TRY(expect("channels", c->widths[l], UNET_GROUPS, WIDTH_MAX));
        if (c->widths[l] % UNET_GROUPS)
            return status_fail(FACET_BAD_ARGUMENT,
                               "U-Net: expected channels that are a multiple of %d, found %d",
                               UNET_GROUPS, c->widths[l]);
    }
    return status_ok();
}

// ---- Steps --------------------------------------------------------------------------------------

static UnetStep *add_step(Unet *net, UnetKind kind, int out, int time_out)
{
    const UnetStep *before = net->step_count ? &net->steps[net->step_count - 1] : NULL;
    UnetStep *step = &net->steps[net->step_count++];
    *step = (UnetStep){.kind = kind,
                       .in = before ? before->out : net->config.dim,
                       .out = out,
                       .time_in = before ? before->time_out : net->config.horizon,
                       .time_out = time_out};
    return step;
}

static void add_blocks(Unet *net, int out, int time)
{
    for (int i = 0; i < 2; i++) {
        add_step(net, UNET_BLOCK, out, time)->film = net->film;
        net->film += 2 * out;
    }
}

static void add_steps(Unet *net)
{
    const UnetConfig *c = &net->config;
    int gave[UNET_LEVELS_MAX], time = c->horizon, last = c->levels - 1;
    for (int l = 0; l <= last; l++) {
        add_blocks(net, c->widths[l], time);
        gave[l] = net->step_count - 1;
        if (l < last) add_step(net, UNET_DOWN, c->widths[l], time /= 2);
    }
    add_blocks(net, c->widths[last], time);
    for (int l = last; l > 0; l--) {
        add_step(net, UNET_JOIN, 2 * c->widths[l], time)->joined = gave[l];
        add_blocks(net, c->widths[l - 1], time);
        add_step(net, UNET_UP, c->widths[l - 1], time *= 2);
    }
    add_step(net, UNET_HEAD, c->dim, time);
}

// ---- Tensors ------------------------------------------------------------------------------------

// Uniform in 1/sqrt(fan in), as PyTorch initialises linear and convolution layers.
static size_t weight(TensorDeclare *d, const char *name, int a, int b, int c)
{
    int fan_in = c > 0 ? a * b : a;
    return tensor_declare(d, name, a, b, c, INIT_UNIFORM, 1.0 / sqrt((double)fan_in), true);
}

static size_t vector(TensorDeclare *d, const char *name, int size, double value)
{
    return tensor_declare(d, name, size, 0, 0, INIT_CONSTANT, value, false);
}

static const char *named(char out[TENSOR_NAME_MAX], int step, const char *rest)
{
    snprintf(out, TENSOR_NAME_MAX, "step.%d.%s", step, rest);
    return out;
}

static UnetUnit declare_unit(TensorDeclare *d, int step, int number, int in, int out)
{
    static const char *const names[2][4] = {{"0.weight", "0.bias", "0.gamma", "0.beta"},
                                            {"1.weight", "1.bias", "1.gamma", "1.beta"}};
    char name[TENSOR_NAME_MAX];
    UnetUnit unit;
    unit.weight = weight(d, named(name, step, names[number][0]), 3, in, out);
    unit.bias = vector(d, named(name, step, names[number][1]), out, 0.0);
    unit.gamma = vector(d, named(name, step, names[number][2]), out, 1.0);
    unit.beta = vector(d, named(name, step, names[number][3]), out, 0.0);
    return unit;
}

static void declare_step(TensorDeclare *d, UnetStep *s, int i)
{
    char name[TENSOR_NAME_MAX];
    named(name, i, "weight");
    if (s->kind == UNET_JOIN) return;
    if (s->kind == UNET_BLOCK) {
        s->units[0] = declare_unit(d, i, 0, s->in, s->out);
        s->units[1] = declare_unit(d, i, 1, s->out, s->out);
        if (!unet_projects(s)) return;
        s->weight = weight(d, name, 1, s->in, s->out);
    } else if (s->kind == UNET_DOWN) {
        s->weight = weight(d, name, 3, s->in, s->out);
    } else if (s->kind == UNET_UP) {
        // An output is made of two of the four parts of the kernel.
        double scale = 1.0 / sqrt(2.0 * s->in);
        s->weight = tensor_declare(d, name, s->in, 4, s->out, INIT_UNIFORM, scale, true);
    } else {
        // The head starts at zero: the first prediction is zero everywhere.
        s->units[0] = declare_unit(d, i, 0, s->in, s->in);
        s->weight = tensor_declare(d, name, 1, s->in, s->out, INIT_CONSTANT, 0.0, true);
    }
    s->bias = vector(d, named(name, i, "bias"), s->out, 0.0);
}

static FacetStatus declare_all(Unet *net)
{
    const UnetConfig *c = &net->config;
    TensorDeclare d = {&net->table, status_ok()};
    char name[TENSOR_NAME_MAX];
    for (int i = 0; i < c->factors; i++) {
        snprintf(name, sizeof name, "embed.%d", i);
        net->embed[i] =
            tensor_declare(&d, name, c->values[i] + 1, c->embed, 0, INIT_NORMAL, 1.0, false);
    }
    net->cond1_weight = weight(&d, "cond.0.weight", unet_cond_in(c), c->cond, 0);
    net->cond1_bias = vector(&d, "cond.0.bias", c->cond, 0.0);
    net->cond2_weight = weight(&d, "cond.1.weight", c->cond, c->cond, 0);
    net->cond2_bias = vector(&d, "cond.1.bias", c->cond, 0.0);
    net->film_weight = weight(&d, "film.weight", c->cond, net->film, 0);
    net->film_bias = vector(&d, "film.bias", net->film, 0.0);
    for (int i = 0; i < net->step_count; i++) declare_step(&d, &net->steps[i], i);
    return d.status;
}

FacetStatus unet_create(Unet **out, UnetConfig config)
{
    *out = NULL;
    TRY(check(&config));
    Unet *net = calloc(1, sizeof *net);
    if (!net) return status_fail(FACET_NO_MEMORY, "out of memory for the U-Net");
    net->config = config;
    add_steps(net);
    FacetStatus status = declare_all(net);
    if (!status.ok) {
        unet_free(net);
        return status;
    }
    *out = net;
    return status_ok();
}

void unet_free(Unet *net)
{
    if (!net) return;
    tensor_table_free(&net->table);
    free(net);
}

// ---- Counts -------------------------------------------------------------------------------------

int unet_blocks(const Unet *net)
{
    int blocks = 0;
    for (int i = 0; i < net->step_count; i++) blocks += net->steps[i].kind == UNET_BLOCK;
    return blocks;
}

static double step_flops(const UnetStep *s)
{
    double in = s->in, out = s->out;
    if (s->kind == UNET_BLOCK)
        return s->time_out * (3.0 * in * out + 3.0 * out * out + (unet_projects(s) ? in * out : 0));
    if (s->kind == UNET_DOWN) return s->time_out * 3.0 * in * out;
    if (s->kind == UNET_UP) return s->time_in * 4.0 * in * out;
    return s->kind == UNET_HEAD ? s->time_out * (3.0 * in * in + in * out) : 0.0;
}

double unet_flops(const Unet *net)
{
    const UnetConfig *c = &net->config;
    double sum = (double)c->cond * (unet_cond_in(c) + c->cond + net->film);
    for (int i = 0; i < net->step_count; i++) sum += step_flops(&net->steps[i]);
    return 2.0 * sum;
}
