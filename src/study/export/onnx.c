// The score network as an ONNX model (see export/onnx.h).
//
// A stream of the network is [rows, T, C]; Conv wants time last, so it stands between two
// transpositions. Mish is x n / (n + 2) with n = e (e + 2), e = exp(min(x, 20)), as in nn/real.h:
// opset 17 has no Mish, and x tanh(softplus(x)) is slower in ONNX Runtime. The time embedding is a
// table of the schedule's steps. Gather counts a negative index from the end, so -1 picks the last
// row of an embedding, its null token.
#include "export/onnx.h"

#include "base/text.h"
#include "export/onnx_encoder.h"
#include "nn/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 2 + SCORE_FACTORS_MAX }; // of the condition

// ---- Constants ----------------------------------------------------------------------------------

static void put_time_table(Graph *g, int steps, int width)
{
    float *table = malloc((size_t)steps * (size_t)width * sizeof *table);
    g->bytes.failed |= !table;
    if (!table) return;
    for (int i = 0; i < steps; i++)
        time_embedding(table + (size_t)i * (size_t)width, width, &(float){(float)i}, 1, width,
                       false);
    onnx_put_floats(g, "time", (int64_t[]){steps, width}, 2, table);
    free(table);
}

static void put_constants(Graph *g, const ScoreNet *net, const float *params, int steps)
{
    const ScoreNetConfig *c = &net->config;
    for (int i = 0; i < net->table.count; i++)
        onnx_put_tensor(g, &net->table.tensors[i], params, 1);
    put_time_table(g, steps, c->time_width);
    onnx_put_floats(g, "one", NULL, 0, &(float){1.0f});
    onnx_put_floats(g, "two", NULL, 0, &(float){2.0f});
    onnx_put_floats(g, "twenty", NULL, 0, &(float){20.0f});
    onnx_put_whole(g, "time_axis", (int64_t[]){1}, 1, 1);
    for (int64_t i = 0; i < c->factors; i++) {
        char name[32];
        snprintf(name, sizeof name, "factor.%d", (int)i);
        onnx_put_whole(g, name, &i, 1, 0);
    }
    int64_t sizes[2 * SCORE_BLOCKS_MAX];
    for (int i = 0; i < 2 * c->blocks; i++) sizes[i] = c->channels;
    onnx_put_whole(g, "film_sizes", sizes, 2 * c->blocks, 1);
}

// ---- Layers -------------------------------------------------------------------------------------

static Name mish(Graph *g, Name x)
{
    Name two = onnx_name("two");
    Name e = onnx_unary(g, "Exp", onnx_binary(g, "Min", x, onnx_name("twenty")));
    Name n = onnx_binary(g, "Mul", e, onnx_binary(g, "Add", e, two));
    return onnx_binary(g, "Mul", x, onnx_binary(g, "Div", n, onnx_binary(g, "Add", n, two)));
}

// Between [rows, T, C] and [rows, C, T].
static Name turn(Graph *g, Name x) { return onnx_transpose(g, x, (int64_t[]){0, 2, 1}, 3); }

static Name convolution(Graph *g, Name x, const char *layer, int dilation)
{
    const Attribute attributes[] = {
        {.name = "kernel_shape", .kind = KIND_INTS, .whole = {3}, .count = 1},
        {.name = "pads", .kind = KIND_INTS, .whole = {dilation, dilation}, .count = 2},
        {.name = "dilations", .kind = KIND_INTS, .whole = {dilation}, .count = 1}};
    Name inputs[] = {turn(g, x), onnx_name_in(layer, "weight"), onnx_name_in(layer, "bias")};
    return turn(g, onnx_node(g, "Conv", inputs, 3, attributes, dilation > 1 ? 3 : 2));
}

static Name gather(Graph *g, Name from, Name index, int axis)
{
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {axis}, .count = 1};
    return onnx_node(g, "Gather", (Name[]){from, index}, 2, &along, 1);
}

// ---- The network --------------------------------------------------------------------------------

static Name concat(Graph *g, const Name *parts, int count)
{
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {1}, .count = 1};
    return onnx_node(g, "Concat", parts, count, &along, 1);
}

// The context, or what the factors' embeddings select of it.
static Name context(Graph *g, const ScoreNetConfig *c, const Name *embeds)
{
    if (!score_selects(c)) return onnx_name("context");
    Name select =
        onnx_binary(g, "MatMul", concat(g, embeds, c->factors), onnx_name("select.weight"));
    return onnx_binary(g, "Mul", onnx_name("context"),
                       onnx_binary(g, "Add", select, onnx_name("one")));
}

static Name condition(Graph *g, const ScoreNetConfig *c)
{
    int count = 0;
    Name parts[INPUTS_MAX];
    g->scope = "cond";
    parts[count++] = gather(g, onnx_name("time"), onnx_name("t"), 0);
    for (int i = 0; i < c->factors; i++) {
        char table[32], column[32];
        snprintf(table, sizeof table, "embed.%d", i);
        snprintf(column, sizeof column, "factor.%d", i);
        parts[count++] =
            gather(g, onnx_name(table), gather(g, onnx_name("z"), onnx_name(column), 1), 0);
    }
    if (c->context) parts[count++] = context(g, c, parts + 1);
    Name in = concat(g, parts, count);
    return mish(g, onnx_linear(g, mish(g, onnx_linear(g, in, "cond.0")), "cond.1"));
}

// Scale and shift of every block, [rows, 1, C] each.
static void films(Name out[2 * SCORE_BLOCKS_MAX], Graph *g, const ScoreNetConfig *config)
{
    Name c = condition(g, config);
    g->scope = "film";
    Name both = onnx_binary(g, "Unsqueeze", onnx_linear(g, c, "film"), onnx_name("time_axis"));
    int count = 2 * config->blocks;
    for (int i = 0; i < count; i++)
        snprintf(out[i].text, sizeof out[i].text, "film/%s.%d", i % 2 ? "shift" : "scale", i / 2);
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {2}, .count = 1};
    onnx_put_node(g, "Split", out, count, (Name[]){both, onnx_name("film_sizes")}, 2, &along, 1);
}

static Name unit(Graph *g, const ScoreNetConfig *c, Name h, int block, int half)
{
    char layer[32];
    snprintf(layer, sizeof layer, "block.%d.%d", block, half);
    Name u = convolution(g, h, layer, score_dilation(c, 2 * block));
    return mish(g, onnx_layer_norm(g, u, layer));
}

static void put_network(Graph *g, const ScoreNetConfig *c)
{
    Name film[2 * SCORE_BLOCKS_MAX];
    films(film, g, c);
    g->scope = "in";
    Name h = convolution(g, onnx_name("x"), "in", 1);
    if (!c->no_position) h = onnx_binary(g, "Add", h, onnx_name("position"));
    for (int l = 0; l < c->blocks; l++) {
        char scope[32];
        snprintf(scope, sizeof scope, "block.%d", l);
        g->scope = scope;
        Name scale = onnx_binary(g, "Add", film[2 * l], onnx_name("one"));
        Name u = onnx_binary(g, "Mul", unit(g, c, h, l, 0), scale);
        u = onnx_binary(g, "Add", u, film[2 * l + 1]);
        h = onnx_binary(g, "Add", h, unit(g, c, u, l, 1));
    }
    g->scope = "out";
    Name out = convolution(g, mish(g, onnx_layer_norm(g, h, "out")), "out", 1);
    onnx_put_node(g, "Identity", (Name[]){onnx_name("prediction")}, 1, &out, 1, NULL, 0);
}

// ---- The model ----------------------------------------------------------------------------------

static const char *const prediction_docs[] = {
    [PREDICT_EPSILON] = "the noise eps of x",
    [PREDICT_V] = "v = sqrt(abar) eps - sqrt(1 - abar) x0",
    [PREDICT_X0] = "the clean chunk x0",
};

static void put_score(Graph *g, const FacetPolicy *policy, const float *params)
{
    const ScoreNetConfig *c = &policy->net->config;
    const int chunk[] = {c->horizon, c->dim};
    char steps[80];
    snprintf(steps, sizeof steps, "diffusion steps, 0 to %d; 0 has the least noise",
             policy->schedule.steps - 1);
    put_network(g, c);
    put_constants(g, policy->net, params, policy->schedule.steps);
    onnx_put_input(g, "x", "noisy chunks, normalised to [-1, 1]", TYPE_FLOAT, chunk, 2);
    onnx_put_input(g, "t", steps, TYPE_INT64, NULL, 0);
    if (c->factors)
        onnx_put_input(
            g, "z",
            "value of each factor by its place in the metadata's factors; -1 is the null "
            "token",
            TYPE_INT64, &c->factors, 1);
    if (c->context)
        onnx_put_input(g, "context", "features of the frame, from the encoder's model", TYPE_FLOAT,
                       &c->context, 1);
    onnx_put_output(g, "prediction", prediction_docs[policy->prediction], TYPE_FLOAT, chunk, 2);
}

static const char score_doc[] =
    "The score network of a Facet policy. x = sqrt(abar) x0 + sqrt(1 - abar) eps holds noisy "
    "chunks, t their diffusion steps, z the value of each factor (-1 for its null token; absent "
    "from a network without factors), and context what a policy observes: its normalised "
    "numbers, then the features of its images. "
    "A composed prediction is p_null + sum_i (p_i - p_null), where p_i shows factor i alone and "
    "the "
    "other factors are null. The metadata hold what sampling needs: predict, alpha_bar, "
    "normalizer, factors, sample_steps, sample_spacing, sample_clip, "
    "sample_temperature.";

// ---- Which network ------------------------------------------------------------------------------

static FacetStatus find_network(int *index, const FacetPolicy *policy, const char *network)
{
    *index = 0;
    if (policy->encoder && network)
        return status_fail(FACET_NOT_FOUND,
                           "no network '%.60s': without a name it is the score network, and "
                           "'encoder' is the other",
                           network);
    if (policy->method != FACET_POLICY_KNET)
        return network ? status_fail(FACET_BAD_ARGUMENT,
                                     "expected no name of a network, found '%.60s': a %s policy "
                                     "has one",
                                     network, facet_policy_method_name(policy->method))
                       : status_ok();
    char(*names)[SAFETENSORS_NAME_SIZE] = calloc((size_t)policy->networks, sizeof *names);
    const char **list = calloc((size_t)policy->networks, sizeof *list);
    FacetStatus status =
        names && list ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory");
    int found = -1;
    for (int i = 0; i < policy->networks && status.ok; i++) {
        policy_prefix(names[i], policy, i);
        names[i][strlen(names[i]) - 1] = '\0'; // the point
        list[i] = names[i];
        if (network && strcmp(names[i], network) == 0) found = i;
    }
    if (status.ok && !network)
        status = status_fail(FACET_BAD_ARGUMENT,
                             "expected the name of one of the %d networks of this knet policy: "
                             "%s%s%s",
                             policy->networks, list[0], policy->networks > 1 ? ", " : "",
                             policy->networks > 1 ? list[1] : "");
    if (status.ok && found < 0) {
        char text[400];
        text_unknown(text, sizeof text, "network", network, list, policy->networks);
        status = status_fail(FACET_NOT_FOUND, "%s", text);
    }
    if (status.ok) *index = found;
    free(names);
    free(list);
    return status;
}

static FacetStatus check_size(const TensorTable *table, const char *path)
{
    enum { SIZE_MAX_MB = 2000 }; // a Protocol Buffers message has at most 2 GiB
    double size = 4e-6 * (double)table->parameters;
    if (size <= SIZE_MAX_MB) return status_ok();
    return status_fail(FACET_BAD_FILE,
                       "%s: expected a network of at most %d MB, found %.0f MB: an ONNX file "
                       "holds no more",
                       path, SIZE_MAX_MB, size);
}

static FacetStatus export_score(const FacetPolicy *policy, const char *network, const char *path)
{
    int index;
    Graph graph;
    TRY(find_network(&index, policy, network));
    TRY(check_size(&policy->net->table, path));
    FacetStatus status = onnx_graph_begin(&graph, "score", score_doc, policy, network);
    if (status.ok) put_score(&graph, policy, policy->params[index]);
    return onnx_graph_write(&graph, status, path);
}

static FacetStatus export_encoder(const FacetPolicy *policy, const char *network, const char *path)
{
    Graph graph;
    TRY(check_size(encoder_table(policy->encoder), path));
    FacetStatus status = onnx_graph_begin(&graph, "encoder", onnx_encoder_doc, policy, network);
    if (status.ok) onnx_put_encoder(&graph, policy->encoder, policy->encoder_params[0]);
    return onnx_graph_write(&graph, status, path);
}

static bool names_encoder(const FacetPolicy *policy, const char *network)
{
    return policy->encoder && network && strcmp(network, "encoder") == 0;
}

FacetStatus onnx_export(const FacetPolicy *policy, const char *network, const char *path)
{
    if (policy->encoder && policy->networks > 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy with one network, found a knet policy that sees");
    return names_encoder(policy, network) ? export_encoder(policy, network, path)
                                          : export_score(policy, network, path);
}

size_t onnx_parameters(const FacetPolicy *policy, const char *network)
{
    return names_encoder(policy, network) ? encoder_table(policy->encoder)->parameters
                                          : policy->net->table.parameters;
}
