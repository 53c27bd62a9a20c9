// Facet's side of the comparison with its peers (bench/peers/compare.py): kinds of work that can be
// timed by name, and a file of inputs and outputs that the peers are held to.
//
// What is made here lives as long as the program.
#ifndef FACET_BENCH_PEERS_SIDE_H
#define FACET_BENCH_PEERS_SIDE_H

#include "base/pool.h"
#include "policy/parts.h"

// ---- Work ---------------------------------------------------------------------------------------

enum { WORKS_MAX = 16 };

typedef void WorkRun(void *self, FacetPool *pool);

typedef struct Work {
    const char *name;
    double operations; // of its products, computed directly; 0 where they are not counted
    WorkRun *run;
    void *self;
} Work;

typedef struct Works {
    Work list[WORKS_MAX];
    int count;
} Works;

void works_add(Works *works, const char *name, double operations, WorkRun *run, void *self);

// ---- Inputs and outputs -------------------------------------------------------------------------

enum { CASE_TENSORS_MAX = 256 };

typedef struct Case {
    TensorSource tensors[CASE_TENSORS_MAX];
    int count;
} Case;

void case_add(Case *to, const char *name, TensorType type, const void *data, int rank,
              const int64_t *shape);

// A block of numbers of a table, "PREFIX.NAME" each.
void case_add_block(Case *to, const char *prefix, const TensorTable *table, const float *block);

// ---- The parts ----------------------------------------------------------------------------------

// Zeroed memory, or the end.
void *side_room(size_t count, size_t size);
float *side_normal(size_t count, uint64_t stream);

// The score network of a policy: one case of `rows` rows, of which the first are a composed step's,
// the null branch and one a factor.
typedef struct ScoreInputs {
    int rows;
    float *x, *t, *context; // context is NULL without
    int *z;
} ScoreInputs;

int side_branches(const FacetPolicy *policy);
ScoreInputs side_score_inputs(const FacetPolicy *policy, int rows);

// Adds the inputs and the prediction.
void side_add_score(Case *to, const FacetPolicy *policy, const ScoreInputs *in, FacetPool *pool);

// train, train-composed, forward-3, forward-1 and jacobian. Adds the inputs of 32 rows and all that
// follows from them to the case.
void side_add_training(Works *works, Case *to, const FacetPolicy *policy, FacetPool *pool);

// Composed plans of `steps` steps, 0 for the policy's default; of a policy that sees from the frame
// on.
void side_add_plan(Works *works, const char *name, const FacetPolicy *policy, int steps,
                   FacetPool *pool);

// encoder-train. Adds images, features and gradients to the case.
void side_add_encoder(Works *works, Case *to, const FacetPolicy *policy, FacetPool *pool);

#endif
