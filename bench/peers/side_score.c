// The score network: training steps, forward passes and Jacobians (see side.h).
#include "../bench.h"
#include "base/rng.h"
#include "certify/score_jacobian.h"
#include "side.h"
#include "train/score_backward.h"
#include "train/trainer.h"

#include <string.h>

enum { BATCH = 32 };

int side_branches(const FacetPolicy *policy) { return 1 + policy->net->config.factors; }

// Row 0 shows nothing and row i factor i alone; those after them show any.
static int shown_value(int row, int factor, const ScoreNetConfig *c, FacetRng *rng)
{
    int value = (int)(rng_uniform(rng) * c->values[factor]);
    bool shown = row > c->factors ? rng_uniform(rng) < 0.7 : row == factor + 1;
    return shown ? value : FACET_FACTOR_NULL;
}

ScoreInputs side_score_inputs(const FacetPolicy *policy, int rows)
{
    const ScoreNetConfig *c = &policy->net->config;
    ScoreInputs in = {.rows = rows};
    in.x = side_normal((size_t)(rows * c->horizon * c->dim), 1);
    in.t = side_room((size_t)rows, sizeof *in.t);
    in.z = side_room((size_t)(rows * c->factors), sizeof *in.z);
    if (c->context) in.context = side_normal((size_t)(rows * c->context), 2);
    FacetRng rng = rng_make(1, 3);
    for (int r = 0; r < rows; r++) {
        in.t[r] = (float)((r + 1) * (policy->schedule.steps - 1) / rows);
        for (int f = 0; f < c->factors; f++) in.z[r * c->factors + f] = shown_value(r, f, c, &rng);
    }
    return in;
}

static int64_t *whole_numbers(const int *values, int count)
{
    int64_t *out = side_room((size_t)count, sizeof *out);
    for (int i = 0; i < count; i++) out[i] = values[i];
    return out;
}

void side_add_score(Case *to, const FacetPolicy *policy, const ScoreInputs *in, FacetPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    const int64_t rows = in->rows, chunk[] = {rows, c->horizon, c->dim};
    float *prediction = side_room((size_t)(in->rows * c->horizon * c->dim), sizeof *prediction);
    ScoreWork *work;
    must(score_work_create(&work, policy->net, in->rows, facet_pool_threads(pool)));
    score_load(work, policy->params[0], pool);
    score_forward(prediction, work, in->x, in->t, in->z, in->context, in->rows, pool);
    score_work_free(work);
    case_add(to, "x", TENSOR_F32, in->x, 3, chunk);
    case_add(to, "t", TENSOR_F32, in->t, 1, &rows);
    case_add(to, "z", TENSOR_I64, whole_numbers(in->z, in->rows * c->factors), 2,
             (int64_t[]){rows, c->factors});
    if (in->context)
        case_add(to, "context", TENSOR_F32, in->context, 2, (int64_t[]){rows, c->context});
    case_add(to, "prediction", TENSOR_F32, prediction, 3, chunk);
}

// ---- Forward passes -----------------------------------------------------------------------------

typedef struct Forward {
    ScoreWork *work;
    const ScoreInputs *in;
    int rows;
    float *out;
} Forward;

static void run_forward(void *self, FacetPool *pool)
{
    const Forward *f = self;
    score_forward(f->out, f->work, f->in->x, f->in->t, f->in->z, f->in->context, f->rows, pool);
}

static Forward *make_forward(const FacetPolicy *policy, const ScoreInputs *in, int rows,
                             FacetPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    Forward *f = side_room(1, sizeof *f);
    f->in = in, f->rows = rows;
    f->out = side_room((size_t)(rows * c->horizon * c->dim), sizeof *f->out);
    must(score_work_create(&f->work, policy->net, rows, facet_pool_threads(pool)));
    score_load(f->work, policy->params[0], pool);
    return f;
}

static void add_forward(Works *works, const char *name, const FacetPolicy *policy,
                        const ScoreInputs *in, int rows, FacetPool *pool)
{
    works_add(works, name, rows * score_net_flops(policy->net), run_forward,
              make_forward(policy, in, rows, pool));
}

// ---- Training steps -----------------------------------------------------------------------------

typedef struct Training {
    Trainer *trainer;
    float *x0; // [BATCH][T][D]
    int *z;    // [BATCH][K]
} Training;

static void run_training(void *self, FacetPool *pool)
{
    Training *t = self;
    if (!trainer_step(t->trainer, t->x0, t->z, NULL, pool).finite)
        must(status_fail(FACET_NOT_FINITE, "the loss is not finite"));
}

// A pass forward and back takes three times the operations of one forward.
static void add_training(Works *works, const char *name, const FacetPolicy *policy,
                         double composed_weight, FacetPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    Training *t = side_room(1, sizeof *t);
    TrainConfig config = trainer_default();
    config.batch = BATCH, config.composed_weight = composed_weight;
    must(trainer_create(&t->trainer, policy->net, &policy->schedule, config,
                        facet_pool_threads(pool)));
    t->x0 = side_normal((size_t)(BATCH * c->horizon * c->dim), 4);
    t->z = side_room((size_t)(BATCH * c->factors), sizeof *t->z);
    for (int i = 0; i < BATCH * c->factors; i++) t->z[i] = i / 2 % c->values[i % c->factors];
    works_add(works, name, 3.0 * t->trainer->rows.count * score_net_flops(policy->net),
              run_training, t);
}

static void add_gradients(Case *to, const FacetPolicy *policy, const ScoreInputs *in,
                          FacetPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    size_t size = (size_t)(in->rows * c->horizon * c->dim);
    float *out = side_room(size, sizeof *out), *direction = side_normal(size, 5);
    float *gradients = policy_block(&policy->net->table);
    ScoreWork *work = NULL;
    must(gradients ? score_work_create_train(&work, policy->net, in->rows, facet_pool_threads(pool))
                   : status_fail(FACET_NO_MEMORY, "out of memory"));
    score_load(work, policy->params[0], pool);
    score_forward(out, work, in->x, in->t, in->z, in->context, in->rows, pool);
    score_backward(gradients, NULL, NULL, work, direction, pool);
    score_work_free(work);
    free(out);
    case_add(to, "direction", TENSOR_F32, direction, 3, (int64_t[]){in->rows, c->horizon, c->dim});
    case_add_block(to, "gradient.", &policy->net->table, gradients);
}

// ---- Jacobians ----------------------------------------------------------------------------------

typedef struct Jacobian {
    ScoreJacobian *jacobian;
    Forward *forward; // of a composed step's branches
    float *out;       // [branches][T D][T D]
} Jacobian;

static void run_jacobian(void *self, FacetPool *pool)
{
    const Jacobian *j = self;
    run_forward(j->forward, pool);
    score_jacobian(j->out, j->jacobian, j->forward->work, pool, NULL);
}

// All branches see the noisy chunk and the time of the first row.
static ScoreInputs *composed_inputs(const FacetPolicy *policy, const ScoreInputs *in)
{
    size_t size = (size_t)(policy->net->config.horizon * policy->net->config.dim);
    ScoreInputs *out = side_room(1, sizeof *out);
    *out = *in;
    out->rows = side_branches(policy);
    out->x = side_room((size_t)out->rows * size, sizeof *out->x);
    out->t = side_room((size_t)out->rows, sizeof *out->t);
    for (int r = 0; r < out->rows; r++) {
        memcpy(out->x + (size_t)r * size, in->x, size * sizeof *in->x);
        out->t[r] = in->t[0];
    }
    return out;
}

// The Jacobian of the composed prediction, null + sum (branch - null).
static float *composed_jacobian(const Jacobian *j, size_t size)
{
    float *sum = side_room(size * size, sizeof *sum);
    for (size_t i = 0; i < size * size; i++) {
        sum[i] = (float)(2 - j->forward->rows) * j->out[i];
        for (int r = 1; r < j->forward->rows; r++) sum[i] += j->out[(size_t)r * size * size + i];
    }
    return sum;
}

static void add_jacobian(Works *works, Case *to, const FacetPolicy *policy, const ScoreInputs *in,
                         FacetPool *pool)
{
    int size = policy->net->config.horizon * policy->net->config.dim;
    Jacobian *j = side_room(1, sizeof *j);
    j->forward = make_forward(policy, composed_inputs(policy, in), side_branches(policy), pool);
    j->out = side_room((size_t)(j->forward->rows * size * size), sizeof *j->out);
    must(score_jacobian_create(&j->jacobian, policy->net, j->forward->rows,
                               facet_pool_threads(pool)));
    run_jacobian(j, pool);
    case_add(to, "jacobian", TENSOR_F32, composed_jacobian(j, (size_t)size), 2,
             (int64_t[]){size, size});
    works_add(works, "jacobian", 0.0, run_jacobian, j);
}

// ---- All of it ----------------------------------------------------------------------------------

void side_add_training(Works *works, Case *to, const FacetPolicy *policy, FacetPool *pool)
{
    ScoreInputs *in = side_room(1, sizeof *in);
    *in = side_score_inputs(policy, BATCH);
    side_add_score(to, policy, in, pool);
    add_gradients(to, policy, in, pool);
    add_training(works, "train", policy, 0.0, pool);
    add_training(works, "train-composed", policy, 1.0, pool);
    add_forward(works, "forward-3", policy, in, 3, pool);
    add_forward(works, "forward-1", policy, in, 1, pool);
    add_jacobian(works, to, policy, in, pool);
}
