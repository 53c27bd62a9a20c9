// Training shared out over ranks, beside as many threads of one rank, and a model of what more
// ranks would do (see docs/cluster.md).
//
// The sides take turns, each started anew, so that what else runs on the machine disturbs both
// alike; the medians are compared. Usage: ranks [rounds]. `ranks side THREADS` is one of the sides,
// alone or under mpirun, and prints the median seconds of an update.
#include "base/rng.h"
#include "bench.h"
#include "diffusion/score_work.h"
#include "linalg/gemm.h"
#include "train/score_backward.h"
#include "train/trainer.h"

#include <facet/progress.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UPDATES = 15, ROUNDS_MAX = 100, BATCH = 16, BATCH_LARGE = 256 };

// The default network and recipe, with the composed loss.
typedef struct Work {
    ScoreNet *net;
    NoiseSchedule schedule;
    Trainer *trainer;
    float *x0; // [batch][T][D]
    int *z;    // [batch][2]
    FacetPool *pool;
} Work;

static void begin(Work *w, FacetRanks *ranks, int threads)
{
    ScoreNetConfig shape = score_net_default();
    TrainConfig config = trainer_default();
    shape.factors = 2, shape.values[0] = 8, shape.values[1] = 3;
    config.batch = BATCH;
    config.composed_weight = 3.0;
    config.ranks = ranks;
    must(facet_pool_create(&w->pool, threads));
    must(score_net_create(&w->net, shape));
    must(schedule_cosine(&w->schedule, 100));
    must(trainer_create(&w->trainer, w->net, &w->schedule, config, facet_pool_threads(w->pool)));
    int size = shape.horizon * shape.dim;
    w->x0 = calloc((size_t)BATCH * size, sizeof *w->x0);
    w->z = calloc((size_t)BATCH * 2, sizeof *w->z);
    if (!w->x0 || !w->z) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < BATCH * size; i++) w->x0[i] = (float)rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < BATCH; i++) w->z[2 * i] = i % 8, w->z[2 * i + 1] = i % 3;
}

static void end(Work *w)
{
    trainer_free(w->trainer);
    score_net_free(w->net);
    facet_pool_destroy(w->pool);
    free(w->x0);
    free(w->z);
}

// ---- A side -------------------------------------------------------------------------------------

static int run_side(int threads)
{
    FacetRanks *ranks;
    Work w;
    double seconds[UPDATES];
    must(facet_ranks_join(&ranks));
    begin(&w, ranks, threads);
    for (int i = -2; i < UPDATES; i++) { // the first ones warm up
        double start = wall_seconds();
        trainer_step(w.trainer, w.x0, w.z, NULL, w.pool);
        seconds[i < 0 ? 0 : i] = wall_seconds() - start;
    }
    if (ranks_lead(ranks)) printf("%.9f\n", median(seconds, UPDATES));
    end(&w);
    facet_ranks_leave(ranks);
    return 0;
}

// Seconds of an update on so many ranks and threads, or below 0.
static double time_side(const char *self, int ranks, int threads)
{
    char command[4400];
    double seconds = -1.0;
    if (ranks > 1)
        snprintf(command, sizeof command,
                 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n %d --bind-to "
                 "core '%s' side %d 2>/dev/null",
                 ranks, self, threads);
    else
        snprintf(command, sizeof command, "'%s' side %d", self, threads);
    FILE *out = popen(command, "r");
    if (!out) return -1.0;
    if (fscanf(out, "%lf", &seconds) != 1) seconds = -1.0;
    return pclose(out) == 0 ? seconds : -1.0;
}

// ---- The model ----------------------------------------------------------------------------------

// Seconds on one thread: what every rank does, what the rows take, what the weights take.
typedef struct Costs {
    double fixed, rows, weights;
    double row_bytes, weight_bytes; // handed over: of a row to sum gradients, of all weights
} Costs;

static Costs measure_costs(void)
{
    double load[UPDATES], rows[UPDATES], weights[UPDATES], all[UPDATES];
    Work w;
    begin(&w, NULL, 1);
    Trainer *k = w.trainer;
    for (int i = -2; i < UPDATES; i++) {
        int slot = i < 0 ? 0 : i;
        double t0 = wall_seconds();
        TrainReport report = trainer_step(k, w.x0, w.z, NULL, NULL);
        double t1 = wall_seconds();
        score_load(k->work, k->params, NULL);
        double t2 = wall_seconds();
        score_forward(k->rows.out, k->work, k->rows.x, k->rows.t, k->rows.z, NULL, k->rows.count,
                      NULL);
        score_backward_rows(NULL, k->work, k->rows.dout, NULL);
        double t3 = wall_seconds();
        score_backward_weights(k->grads, NULL, k->work, 0, score_parts(w.net), NULL);
        optimizer_step(k->optimizer, k->params, k->grads, report.grad_norm, report.rate, NULL);
        double t4 = wall_seconds();
        all[slot] = t1 - t0, load[slot] = t2 - t1, rows[slot] = t3 - t2, weights[slot] = t4 - t3;
    }
    const ScoreNetConfig *c = &w.net->config;
    double steps = (double)work_block(k->work) / k->work->shard;
    Costs costs = {.rows = median(rows, UPDATES),
                   .weights = median(weights, UPDATES),
                   .row_bytes = sizeof(float) * 2.0 * (2 * c->blocks + 1) * steps * c->channels,
                   .weight_bytes = sizeof(float) * (double)w.net->table.size};
    costs.fixed = median(all, UPDATES) - costs.rows - costs.weights;
    printf("one thread         %8.1f ms an update of %d rows: %.1f for the rows, %.1f for the\n"
           "                   weights, %.1f that every rank does (packing alone %.1f)\n",
           median(all, UPDATES) * 1e3, k->rows.count, costs.rows * 1e3, costs.weights * 1e3,
           costs.fixed * 1e3, median(load, UPDATES) * 1e3);
    end(&w);
    return costs;
}

// The rank with most of it: shards and units are dealt whole.
static double largest_share(int things, int ranks)
{
    return (double)((things + ranks - 1) / ranks) / things;
}

// Seconds of an update, for `scale` times the rows of the measured one, on ranks of one thread
// whose links carry so many bytes a second.
static double predict(const Costs *c, int rows, int scale, int ranks, double bandwidth)
{
    int shards = (rows * scale + SCORE_SHARD - 1) / SCORE_SHARD, units = 16;
    double share_rows = largest_share(shards, ranks), share_weights = largest_share(units, ranks);
    double others = 1.0 - 1.0 / ranks;
    double bytes = others * (c->row_bytes * rows * scale * share_weights + c->weight_bytes);
    return c->fixed + scale * c->rows * share_rows + scale * c->weights * share_weights +
           (ranks > 1 ? bytes / bandwidth : 0.0);
}

static void print_model(const Costs *costs, int rows, double here)
{
    const struct {
        const char *name;
        double bandwidth;
    } links[] = {{"as here", here}, {"100 Gb/s", 12.5e9}, {"10 Gb/s", 1.25e9}, {"1 Gb/s", 0.125e9}};
    for (int scale = 1; scale <= BATCH_LARGE / BATCH; scale *= BATCH_LARGE / BATCH) {
        printf("\nmodel, %d rows an update: times as fast as one rank of one thread\n%-12s",
               rows * scale, "ranks");
        for (int ranks = 1; ranks <= 64; ranks *= 2) printf("%7d", ranks);
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
            printf("\n%-12s", links[i].name);
            double one = predict(costs, rows, scale, 1, 1.0);
            for (int ranks = 1; ranks <= 64; ranks *= 2)
                printf("%7.2f", one / predict(costs, rows, scale, ranks, links[i].bandwidth));
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    enum { ROWS = BATCH + BATCH / 2 * 3 };
    gemm_set_threads(1);
    if (argc == 3 && strcmp(argv[1], "side") == 0) return run_side(atoi(argv[2]));
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 5;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 1;
    self[length] = '\0';
    Costs costs = measure_costs();
    double threads[ROUNDS_MAX], ranks[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) {
        threads[i] = time_side(self, 1, 2);
        ranks[i] = time_side(self, 2, 1);
        if (ranks[i] < 0.0) {
            printf("ranks: left out, mpirun or FACET_MPI is missing\n");
            return 0;
        }
    }
    double two_threads = median(threads, rounds), two_ranks = median(ranks, rounds);
    double without = predict(&costs, ROWS, 1, 2, 1e18);
    double bytes = 0.5 * (costs.row_bytes * ROWS * 0.5 + costs.weight_bytes);
    double bandwidth = two_ranks > without ? bytes / (two_ranks - without) : 1e10;
    printf(
        "1 rank, 2 threads  %8.1f ms\n2 ranks, 1 thread  %8.1f ms, %.2f times the speed\n"
        "handed over        %8.1f MB a rank and update, as if by links of %.1f GB/s: what two\n"
        "                   ranks take beyond the model's work, with all waiting for each other\n",
        two_threads * 1e3, two_ranks * 1e3, two_threads / two_ranks, bytes * 1e-6,
        bandwidth * 1e-9);
    print_model(&costs, ROWS, bandwidth);
    return 0;
}
