// An update of the score network shared out over ranks, with the bits of one rank.
//
// The shards of an update's rows are dealt to the ranks in ranges, and each rank takes its own
// through the network, forward and back. The parts of the table (train/score_backward.h) are dealt
// to them in ranges as well. What the gradient of a part is made of, the kept inputs and the
// gradients of the outputs, goes to the rank that has the part, which sums it over all rows in
// their order as one rank would, updates its weights, moments and moving average, and hands the
// weights to all. Sums of gradients over ranks, whose order would matter, do not occur.
#ifndef FACET_TRAIN_SHARING_H
#define FACET_TRAIN_SHARING_H

#include "diffusion/score_pass.h"
#include "ranks/ranks.h"
#include "train/optim.h"

#define Sharing              REAL_NAME(Sharing)
#define sharing_create       REAL_NAME(sharing_create)
#define sharing_free         REAL_NAME(sharing_free)
#define sharing_rows         REAL_NAME(sharing_rows)
#define sharing_begin        REAL_NAME(sharing_begin)
#define sharing_finish       REAL_NAME(sharing_finish)
#define sharing_squares      REAL_NAME(sharing_squares)
#define sharing_block        REAL_NAME(sharing_block)
#define sharing_block_lead   REAL_NAME(sharing_block_lead)
#define sharing_block_spread REAL_NAME(sharing_block_spread)

typedef struct Sharing {
    FacetRanks *ranks;
    ScoreWork *work;
    int rows;
    int first, last; // the parts of this rank
    // Rank r has these from [r] to [r + 1]:
    int *shards, *parts;
    size_t *block;  // bytes of the table's block
    size_t *chunks; // bytes of the optimizer's sums of squares
    size_t *scratch;
} Sharing;

// Deals out passes of `rows` rows, and limits the workspace and the optimizer to this rank's share.
// *sharing stays NULL for one rank, and every function here takes NULL.
FacetStatus sharing_create(Sharing **sharing, FacetRanks *ranks, ScoreWork *work, Optimizer *o,
                           int rows);
void sharing_free(Sharing *sharing);

// data [rows][numbers], of which each rank has its own rows: all get all.
void sharing_rows(Sharing *sharing, Real *data, size_t numbers);

// After the forward pass: begins to hand out the inputs that were kept. After the backward pass of
// the rows: hands out the rest, so that the gradients of this rank's parts can be summed.
void sharing_begin(Sharing *sharing);
void sharing_finish(Sharing *sharing);

// The optimizer's sums of squares: all get all.
void sharing_squares(Sharing *sharing, Optimizer *optimizer);

// A block of the table, of which each rank has its own parts: all get all, or rank 0 gets all. Or
// all get that of rank 0.
void sharing_block(Sharing *sharing, Real *block);
void sharing_block_lead(Sharing *sharing, Real *block);
void sharing_block_spread(Sharing *sharing, Real *block);

#endif
