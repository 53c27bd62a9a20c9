// An update shared out over ranks (see train/sharing.h).
#include "train/sharing.h"

#include "diffusion/score_work.h"
#include "train/score_backward.h"

#include <stdlib.h>

// ---- Dealing ------------------------------------------------------------------------------------

static int row_limit(const Sharing *s, int shard)
{
    int row = shard * s->work->shard;
    return row < s->rows ? row : s->rows;
}

// Each rank's range of shards ends where it is nearest to its share of the rows.
static void deal_shards(Sharing *s)
{
    int count = s->ranks->count, shards = (s->rows + s->work->shard - 1) / s->work->shard;
    for (int r = 1, shard = 0; r <= count; r++) {
        double share = (double)s->rows * r / count;
        while (shard < shards && row_limit(s, shard + 1) - share < share - row_limit(s, shard))
            shard++;
        s->shards[r] = r < count ? shard : shards;
    }
}

// How long a part's gradient and update take, in uses of one weight in a convolution. The condition
// also takes the way back through FiLM.
static double part_cost(const Sharing *s, int part)
{
    enum { LINEAR_USE = 4, UPDATE = 200 }; // as measured
    const ScoreNet *net = s->work->net;
    double weights = (double)(score_part_start(net, part + 1) - score_part_start(net, part));
    double film = (double)(net->in_weight - net->film_weight);
    double uses = part < SCORE_PART_STEM ? (double)s->rows * LINEAR_USE
                                         : (double)s->rows * net->config.horizon;
    return weights * (uses + UPDATE) + (part == SCORE_PART_CONDITION ? film * uses : 0.0);
}

static void deal_parts(Sharing *s)
{
    int count = s->ranks->count, parts = score_parts(s->work->net);
    double all = 0.0, done = 0.0;
    for (int p = 0; p < parts; p++) all += part_cost(s, p);
    for (int r = 1, part = 0; r <= count; r++) {
        double share = all * r / count;
        while (part < parts && done + part_cost(s, part) - share < share - done)
            done += part_cost(s, part++);
        s->parts[r] = r < count ? part : parts;
    }
}

static void set_bytes(Sharing *s, const Optimizer *o)
{
    for (int r = 1; r <= s->ranks->count; r++) {
        size_t end = score_part_start(s->work->net, s->parts[r]);
        int chunk = 0;
        while (chunk < o->chunks && o->chunk_start[chunk] < end) chunk++;
        s->block[r] = end * sizeof(Real);
        s->chunks[r] = (size_t)chunk * sizeof *o->chunk_square;
    }
}

static FacetStatus allocate(Sharing *s)
{
    size_t ends = (size_t)s->ranks->count + 1;
    s->shards = calloc(ends, sizeof *s->shards);
    s->parts = calloc(ends, sizeof *s->parts);
    s->block = calloc(ends, sizeof *s->block);
    s->chunks = calloc(ends, sizeof *s->chunks);
    s->scratch = calloc(ends, sizeof *s->scratch);
    if (!s->shards || !s->parts || !s->block || !s->chunks || !s->scratch)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d ranks", s->ranks->count);
    // A part has at most two inputs and two gradients.
    return ranks_reserve(s->ranks, 4 * score_parts(s->work->net) * s->ranks->count);
}

FacetStatus sharing_create(Sharing **out, FacetRanks *ranks, ScoreWork *work, Optimizer *o,
                           int rows)
{
    *out = NULL;
    if (facet_ranks_count(ranks) == 1) return status_ok();
    Sharing *s = calloc(1, sizeof *s);
    if (!s) return status_fail(FACET_NO_MEMORY, "out of memory for the ranks");
    s->ranks = ranks;
    s->work = work;
    s->rows = rows;
    FacetStatus status = allocate(s);
    if (!status.ok) {
        sharing_free(s);
        return status;
    }
    deal_shards(s);
    deal_parts(s);
    set_bytes(s, o);
    int rank = ranks->rank;
    s->first = s->parts[rank];
    s->last = s->parts[rank + 1];
    score_limit(work, s->shards[rank], s->shards[rank + 1]);
    o->first = (int)(s->chunks[rank] / sizeof *o->chunk_square);
    o->last = (int)(s->chunks[rank + 1] / sizeof *o->chunk_square);
    *out = s;
    return status_ok();
}

void sharing_free(Sharing *s)
{
    if (!s) return;
    free(s->shards);
    free(s->parts);
    free(s->block);
    free(s->chunks);
    free(s->scratch);
    free(s);
}

// ---- Handing over -------------------------------------------------------------------------------

// Sends what this rank has of `data` to the rank of the part, or receives there what the others
// have. Rank r has the numbers from starts[r] to starts[r + 1].
static void hand_over(Sharing *s, int part, Real *data, const size_t *starts)
{
    int owner = 0, rank = s->ranks->rank;
    while (s->parts[owner + 1] <= part) owner++;
    for (int r = 0; r < s->ranks->count; r++) {
        size_t bytes = (starts[r + 1] - starts[r]) * sizeof *data;
        if (r != owner && rank == owner) ranks_receive(s->ranks, r, data + starts[r], bytes);
        if (r != owner && rank == r) ranks_send(s->ranks, owner, data + starts[r], bytes);
    }
}

static void hand_over_seq(Sharing *s, int part, Real *seq, int width)
{
    for (int r = 0; r <= s->ranks->count; r++)
        s->scratch[r] = (size_t)s->shards[r] * work_block(s->work) * (size_t)width;
    hand_over(s, part, seq, s->scratch);
}

static void hand_over_rows(Sharing *s, int part, Real *rows, int width)
{
    for (int r = 0; r <= s->ranks->count; r++)
        s->scratch[r] = (size_t)row_limit(s, s->shards[r]) * (size_t)width;
    hand_over(s, part, rows, s->scratch);
}

void sharing_rows(Sharing *s, Real *data, size_t numbers)
{
    if (!s) return;
    for (int r = 0; r <= s->ranks->count; r++)
        s->scratch[r] = (size_t)row_limit(s, s->shards[r]) * numbers * sizeof *data;
    ranks_gather_all(s->ranks, data, s->scratch);
}

void sharing_begin(Sharing *s)
{
    if (!s) return;
    ScoreWork *w = s->work;
    const ScoreNetConfig *c = &w->net->config;
    hand_over_seq(s, SCORE_PART_STEM, w->x, c->dim);
    for (int i = 0; i < 2 * c->blocks; i++)
        hand_over_seq(s, SCORE_PART_UNITS + i, i % 2 ? w->mid[i / 2] : w->stream[i / 2],
                      c->channels);
    hand_over_seq(s, score_parts(w->net) - 1, w->head, c->channels);
}

// The sums of a shard over its rows, which are small, go to all.
static void share_vectors(Sharing *s)
{
    const ScoreNetConfig *c = &s->work->net->config;
    size_t shard = (size_t)(2 * c->blocks + 1) * 3 * (size_t)c->channels * sizeof(Real);
    for (int r = 0; r <= s->ranks->count; r++) s->scratch[r] = (size_t)s->shards[r] * shard;
    ranks_gather_all(s->ranks, s->work->dvectors, s->scratch);
}

void sharing_finish(Sharing *s)
{
    if (!s) return;
    ScoreWork *w = s->work;
    const ScoreNetConfig *c = &w->net->config;
    int film = c->blocks * 2 * c->channels;
    hand_over_rows(s, SCORE_PART_CONDITION, w->dfilm, film);
    hand_over_rows(s, SCORE_PART_FILM, w->dfilm, film);
    hand_over_seq(s, SCORE_PART_STEM, w->head_hat, c->channels);
    for (int i = 0; i < 2 * c->blocks; i++)
        hand_over_seq(s, SCORE_PART_UNITS + i, w->hat[i], c->channels);
    hand_over_seq(s, score_parts(w->net) - 1, w->dout, c->dim);
    share_vectors(s);
}

void sharing_squares(Sharing *s, Optimizer *o)
{
    if (s) ranks_gather_all(s->ranks, o->chunk_square, s->chunks);
}

void sharing_block(Sharing *s, Real *block)
{
    if (s) ranks_gather_all(s->ranks, block, s->block);
}

void sharing_block_lead(Sharing *s, Real *block)
{
    if (s) ranks_gather(s->ranks, block, s->block);
}

void sharing_block_spread(Sharing *s, Real *block)
{
    if (s) ranks_broadcast(s->ranks, 0, block, s->block[s->ranks->count]);
}
