// Losses on samples that nothing is learned from (see train/training.h).
#include "train/training.h"

#include <math.h>

enum { CHECK_SAMPLES = 128 }; // of a set, spread evenly over it

// The samples of a set that are looked at, as `order`; their number.
static int choose(Training *t, const Samples *set)
{
    int all = training_members(t->order, t, set, t->network);
    int count = all < CHECK_SAMPLES ? all : CHECK_SAMPLES;
    for (int i = 0; i < count; i++) t->order[i] = t->order[(int64_t)i * all / count];
    return count;
}

static FacetStatus mean_loss(TrainLoss *mean, Training *t, CheckSet which)
{
    const Samples *set = &t->checked[which];
    int count = choose(t, set), batch = t->config.batch, pieces = 0;
    TrainLoss sum = {0.0, 0.0};
    for (int first = 0; first < count; first += batch, pieces++) {
        int piece = count - first < batch ? count - first : batch;
        for (int i = 0; i < piece; i++) training_lay(t, set, t->order[first + i], i);
        const LearnerBatch rows = training_batch(t);
        uint64_t number = (uint64_t)which * CHECK_SAMPLES + (uint64_t)pieces;
        TrainLoss loss = learner_loss(t->learner, &rows, piece, number, t->pool);
        sum.joint += loss.joint * piece;
        sum.composed += loss.composed * piece;
    }
    *mean = (TrainLoss){sum.joint / count, sum.composed / count};
    return status_ok();
}

FacetStatus training_check(TrainLoss losses[CHECK_SETS], Training *t)
{
    bool able =
        trainer_validates(&t->trainer->config, t->policy->net->config.factors) && !t->images;
    for (int i = 0; i < CHECK_SETS; i++) {
        losses[i] = (TrainLoss){NAN, NAN};
        if (able && t->checked[i].count) TRY(mean_loss(&losses[i], t, (CheckSet)i));
    }
    t->order_epoch = -1; // the order was used
    return status_ok();
}
