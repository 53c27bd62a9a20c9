// The score network's shape and its table of tensors (see diffusion/score_net.h).
#include "diffusion/score_net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

ScoreNetConfig score_net_default(void)
{
    return (ScoreNetConfig){.horizon = 32,
                            .dim = 4,
                            .blocks = 8,
                            .channels = 256,
                            .cond = 256,
                            .time_width = 64,
                            .embed = 64};
}

static FacetStatus expect(const char *what, int found, int low, int high)
{
    if (found < low || found > high)
        return status_fail(FACET_BAD_ARGUMENT, "network: expected %s from %d to %d, found %d", what,
                           low, high, found);
    return status_ok();
}

static FacetStatus check(const ScoreNetConfig *c)
{
    TRY(expect("a horizon", c->horizon, 1, 4096));
    TRY(expect("numbers a step", c->dim, 1, 1024));
    TRY(expect("blocks", c->blocks, 1, SCORE_BLOCKS_MAX));
    TRY(expect("channels", c->channels, 2, 4096));
    TRY(expect("a condition width", c->cond, 1, 4096));
    TRY(expect("a time embedding width", c->time_width, 4, 4096));
    TRY(expect("an embedding width", c->embed, 1, 4096));
    TRY(expect("factors", c->factors, 0, SCORE_FACTORS_MAX));
    if (c->time_width % 2)
        return status_fail(FACET_BAD_ARGUMENT,
                           "network: expected an even time embedding width, found %d",
                           c->time_width);
    for (int i = 0; i < c->factors; i++)
        TRY(expect("values of a factor", c->values[i], 1, 1 << 20));
    for (int l = 0; l < c->blocks; l++)
        if (c->dilation[l]) TRY(expect("a dilation", c->dilation[l], 1, c->horizon));
    return expect("a context width", c->context, 0, 4096);
}

static size_t weight(TensorDeclare *d, const char *name, int a, int b, int c)
{
    // Uniform in 1/sqrt(fan in), as PyTorch initialises linear and convolution layers.
    int fan_in = c > 0 ? a * b : a;
    return tensor_declare(d, name, a, b, c, INIT_UNIFORM, 1.0 / sqrt((double)fan_in), true);
}

static size_t vector(TensorDeclare *d, const char *name, int size, double value)
{
    return tensor_declare(d, name, size, 0, 0, INIT_CONSTANT, value, false);
}

static FacetStatus declare_all(ScoreNet *net)
{
    const ScoreNetConfig *c = &net->config;
    TensorDeclare d = {&net->table, status_ok()};
    char name[TENSOR_NAME_MAX];
    for (int i = 0; i < c->factors; i++) {
        snprintf(name, sizeof name, "embed.%d", i);
        net->embed[i] =
            tensor_declare(&d, name, c->values[i] + 1, c->embed, 0, INIT_NORMAL, 1.0, false);
    }
    net->cond1_weight = weight(&d, "cond.0.weight", score_cond_in(c), c->cond, 0);
    net->cond1_bias = vector(&d, "cond.0.bias", c->cond, 0.0);
    net->cond2_weight = weight(&d, "cond.1.weight", c->cond, c->cond, 0);
    net->cond2_bias = vector(&d, "cond.1.bias", c->cond, 0.0);
    net->film_weight = weight(&d, "film.weight", c->cond, c->blocks * 2 * c->channels, 0);
    net->film_bias = vector(&d, "film.bias", c->blocks * 2 * c->channels, 0.0);
    net->in_weight = weight(&d, "in.weight", 3, c->dim, c->channels);
    net->in_bias = vector(&d, "in.bias", c->channels, 0.0);
    if (!c->no_position)
        net->position =
            tensor_declare(&d, "position", c->horizon, c->channels, 0, INIT_NORMAL, 0.1, false);
    for (int i = 0; i < 2 * c->blocks; i++) {
        ScoreUnit *unit = &net->units[i];
        int block = i / 2, half = i % 2;
        snprintf(name, sizeof name, "block.%d.%d.weight", block, half);
        unit->weight = weight(&d, name, 3, c->channels, c->channels);
        snprintf(name, sizeof name, "block.%d.%d.bias", block, half);
        unit->bias = vector(&d, name, c->channels, 0.0);
        snprintf(name, sizeof name, "block.%d.%d.gamma", block, half);
        unit->gamma = vector(&d, name, c->channels, 1.0);
        snprintf(name, sizeof name, "block.%d.%d.beta", block, half);
        unit->beta = vector(&d, name, c->channels, 0.0);
    }
    net->out_gamma = vector(&d, "out.gamma", c->channels, 1.0);
    net->out_beta = vector(&d, "out.beta", c->channels, 0.0);
    // The head starts at zero: the first prediction is zero everywhere.
    net->out_weight =
        tensor_declare(&d, "out.weight", 3, c->channels, c->dim, INIT_CONSTANT, 0.0, true);
    net->out_bias = vector(&d, "out.bias", c->dim, 0.0);
    // The selection starts at zero: the first conditions see the whole context.
    if (score_selects(c))
        net->select_weight = tensor_declare(&d, "select.weight", score_embed_width(c), c->context,
                                            0, INIT_CONSTANT, 0.0, true);
    return d.status;
}

FacetStatus score_net_create(ScoreNet **out, ScoreNetConfig config)
{
    *out = NULL;
    TRY(check(&config));
    ScoreNet *net = calloc(1, sizeof *net);
    if (!net) return status_fail(FACET_NO_MEMORY, "out of memory for the network");
    net->config = config;
    FacetStatus status = declare_all(net);
    if (!status.ok) {
        score_net_free(net);
        return status;
    }
    *out = net;
    return status_ok();
}

void score_net_free(ScoreNet *net)
{
    if (!net) return;
    tensor_table_free(&net->table);
    free(net);
}

double score_net_flops(const ScoreNet *net)
{
    const ScoreNetConfig *c = &net->config;
    double channels = c->channels, cond = c->cond;
    double steps = 2.0 * c->blocks * 3.0 * channels * channels + 6.0 * c->dim * channels;
    double condition = cond * (score_cond_in(c) + cond + c->blocks * 2.0 * channels);
    double selection = (double)score_embed_width(c) * c->context;
    return 2.0 * (c->horizon * steps + condition + selection);
}
