// Training the U-Net (see unet/trainer.h).
#include "unet/trainer.h"

#include "base/memory.h"

#include <stdlib.h>

static FacetStatus allocate(UnetTrainer *k)
{
    const TensorTable *table = &k->net->table;
    k->params = memory_block(table->size * sizeof *k->params);
    k->grads = memory_block(table->size * sizeof *k->grads);
    if (!k->params || !k->grads)
        return status_fail(FACET_NO_MEMORY, "out of memory for training %zu parameters",
                           table->parameters);
    tensor_init(k->params, table, k->config.seed);
    TRY(unet_work_create(&k->work, k->net, k->rows.count, true));
    return optimizer_create(&k->optimizer, table, k->config.optimizer, k->params);
}

FacetStatus unet_trainer_create(UnetTrainer **out, const Unet *net, const NoiseSchedule *schedule,
                                const TrainConfig *config)
{
    *out = NULL;
    UnetTrainer *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    k->config = *config;
    k->net = net;
    FacetStatus status = rows_create(&k->rows, config, schedule,
                                     net->config.horizon * net->config.dim, net->config.factors, 0);
    if (status.ok) status = allocate(k);
    if (!status.ok) {
        unet_trainer_free(k);
        return status;
    }
    *out = k;
    return status_ok();
}

void unet_trainer_free(UnetTrainer *k)
{
    if (!k) return;
    optimizer_free(k->optimizer);
    unet_work_free(k->work);
    rows_free(&k->rows);
    free(k->params);
    free(k->grads);
    free(k);
}

TrainReport unet_trainer_gradients(UnetTrainer *k, const Real *x0, const int *z, FacetPool *pool)
{
    TrainRows *rows = &k->rows;
    rows_draw(rows, x0, z, NULL, k->optimizer->updates, pool);
    unet_forward(rows->out, k->work, k->params, rows->x, rows->t, rows->z, rows->count, pool);
    TrainReport report = rows_losses(rows);
    unet_backward(k->grads, NULL, k->work, rows->dout, pool);
    report.grad_norm = optimizer_norm(k->optimizer, k->grads, pool);
    report.finite = isfinite(report.loss) && isfinite(report.grad_norm);
    report.rate = optimizer_rate(k->config.rate, k->config.rate_floor, k->config.warmup,
                                 k->config.total, report.update);
    return report;
}

TrainReport unet_trainer_step(UnetTrainer *k, const Real *x0, const int *z, FacetPool *pool)
{
    TrainReport report = unet_trainer_gradients(k, x0, z, pool);
    if (report.finite)
        optimizer_step(k->optimizer, k->params, k->grads, report.grad_norm, report.rate, pool);
    return report;
}
