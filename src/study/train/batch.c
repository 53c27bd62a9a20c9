// The order of a training's data, and its batches (see train/training.h).
//
// Demonstrations are taken in a new random order every epoch. Row r of update u (from 0) is place
// u batch + r in the endless sequence of epochs, so the update's number says all about the data,
// and a batch may reach over the end of an epoch. A network with n demos takes
// ceil(epochs n / batch) updates; for knet, n is the demos with the network's value, as in the
// paper, which trains every network for the same number of epochs of its own subset. A policy that
// sees takes the number of updates that it is told, as its frames become more on the way.
#include "base/rng.h"
#include "diffusion/streams.h"
#include "factor/factor.h"
#include "train/training.h"

#include <stdlib.h>
#include <string.h>

int training_members(int *members, const Training *t, const Samples *samples, int network)
{
    int factor, value, count = 0;
    policy_network_value(&factor, &value, t->policy, network);
    bool all = t->policy->method != FACET_POLICY_KNET || value == FACET_FACTOR_NULL;
    for (int i = 0; i < samples->count; i++)
        if (all || samples->z[samples->demo[i] * samples->factors + factor] == value)
            members[count++] = i;
    return count;
}

long training_updates(const Training *t, int members)
{
    if (t->options->updates) return t->options->updates;
    long places = (long)t->policy->record.epochs * members, batch = t->policy->record.batch;
    return (places + batch - 1) / batch;
}

// The first network takes the seed itself, so a knet's null network is the baseline.
static uint64_t network_seed(uint64_t seed, int network)
{
    uint32_t words[4];
    if (network == 0) return seed;
    rng_block(words, seed, (UINT64_C(4) << 60) + (uint64_t)network, 0);
    return (uint64_t)words[0] << 32 | words[1];
}

TrainConfig training_network(Training *t)
{
    t->member_count = training_members(t->members, t, &t->samples, t->network);
    t->total = training_updates(t, t->member_count);
    t->order_epoch = -1;
    TrainConfig config = t->config;
    config.seed = network_seed(t->policy->record.seed, t->network);
    config.total = t->total;
    config.ranks = t->options->ranks;
    long warmup = t->policy->record.warmup;
    config.warmup = warmup < t->total / 10 ? warmup : t->total / 10;
    return config;
}

void training_order(int *order, const int *members, int count, uint64_t seed, long epoch)
{
    FacetRng rng = rng_make(seed, STREAM_DATA + (uint64_t)epoch);
    memcpy(order, members, (size_t)count * sizeof *order);
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(rng_uniform(&rng) * (i + 1));
        int moved = order[i];
        order[i] = order[j];
        order[j] = moved;
    }
}

void training_lay(Training *t, const Samples *samples, int i, int row)
{
    const ScoreNetConfig *net = &t->policy->net->config;
    LearnerShape shape = learner_shape(t->policy);
    size_t at = (size_t)row, size = (size_t)net->horizon * (size_t)net->dim, image = 0;
    if (shape.encoder) {
        const EncoderConfig *config = encoder_config(shape.encoder);
        image = (size_t)shape.images * 3 * (size_t)config->width * (size_t)config->height;
    }
    samples_get(t->batch_x + at * size, t->batch_z + row * net->factors,
                t->batch_numbers + at * (size_t)shape.numbers, t->batch_rgb + at * image, samples,
                i, net->factors);
    t->batch_frames[row] = samples->source[samples->demo[i]];
}

LearnerBatch training_batch(const Training *t)
{
    return (LearnerBatch){t->batch_x, t->batch_z, t->batch_numbers, t->batch_rgb};
}

void training_fill(Training *t, uint64_t seed, long update)
{
    for (int r = 0; r < t->config.batch; r++) {
        long place = update * t->config.batch + r, epoch = place / t->member_count;
        if (epoch != t->order_epoch)
            training_order(t->order, t->members, t->member_count, seed, epoch);
        t->order_epoch = epoch;
        training_lay(t, &t->samples, t->order[place % t->member_count], r);
    }
}

FacetStatus training_allocate(Training *t)
{
    const ScoreNetConfig *net = &t->policy->net->config;
    size_t batch = (size_t)t->config.batch, most = (size_t)t->samples.count, image = 0;
    LearnerShape shape = learner_shape(t->policy);
    for (int i = 0; i < CHECK_SETS; i++)
        if (most < (size_t)t->checked[i].count) most = (size_t)t->checked[i].count;
    if (shape.encoder) {
        const EncoderConfig *config = encoder_config(shape.encoder);
        image = (size_t)shape.images * 3 * (size_t)config->width * (size_t)config->height;
    }
    t->members = calloc(most, sizeof *t->members);
    t->order = calloc(most, sizeof *t->order);
    t->batch_x = calloc(batch * (size_t)(net->horizon * net->dim), sizeof *t->batch_x);
    t->batch_z = calloc(batch * (size_t)(net->factors + 1), sizeof *t->batch_z);
    t->batch_numbers = calloc(batch * (size_t)shape.numbers + 1, sizeof *t->batch_numbers);
    t->batch_rgb = calloc(batch * image + 1, 1);
    t->batch_frames = calloc(batch, sizeof *t->batch_frames);
    bool complete = t->members && t->order && t->batch_x && t->batch_z && t->batch_numbers &&
                    t->batch_rgb && t->batch_frames;
    return complete ? status_ok()
                    : status_fail(FACET_NO_MEMORY, "out of memory for batches of %zu", batch);
}
