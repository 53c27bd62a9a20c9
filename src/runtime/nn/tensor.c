// The table of a network's tensors (see nn/tensor.h).
#include "nn/tensor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FacetStatus tensor_add(TensorTable *table, const char *name, int rank, const int *shape,
                       TensorInit init, double scale, bool decay)
{
    if (strlen(name) >= TENSOR_NAME_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "tensor %s: expected a name of less than %d letters",
                           name, TENSOR_NAME_MAX);
    if (tensor_find(table, name))
        return status_fail(FACET_BAD_ARGUMENT, "tensor %s: declared twice", name);
    if (rank < 1 || rank > TENSOR_RANK_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "tensor %s: expected 1 to %d dimensions, found %d",
                           name, TENSOR_RANK_MAX, rank);
    Tensor tensor = {.rank = rank, .init = init, .scale = scale, .decay = decay, .size = 1};
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    for (int i = 0; i < TENSOR_RANK_MAX; i++) {
        tensor.shape[i] = i < rank ? shape[i] : 1;
        if (tensor.shape[i] < 1 || tensor.size > INT_MAX / (size_t)tensor.shape[i])
            return status_fail(FACET_BAD_ARGUMENT, "tensor %s: dimension %d is %d", name, i,
                               tensor.shape[i]);
        tensor.size *= (size_t)tensor.shape[i];
    }
    if (table->count == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 32;
        Tensor *grown = realloc(table->tensors, (size_t)capacity * sizeof *grown);
        if (!grown) return status_fail(FACET_NO_MEMORY, "out of memory for %d tensors", capacity);
        table->tensors = grown;
        table->capacity = capacity;
    }
    tensor.offset = table->size;
    table->size += (tensor.size + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
    table->parameters += tensor.size;
    table->tensors[table->count++] = tensor;
    return status_ok();
}

size_t tensor_declare(TensorDeclare *declare, const char *name, int a, int b, int c,
                      TensorInit init, double scale, bool decay)
{
    if (!declare->status.ok) return 0;
    TensorTable *table = declare->table;
    int shape[TENSOR_RANK_MAX] = {a, b, c}, rank = c > 0 ? 3 : b > 0 ? 2 : 1;
    declare->status = tensor_add(table, name, rank, shape, init, scale, decay);
    return declare->status.ok ? table->tensors[table->count - 1].offset : 0;
}

void tensor_table_free(TensorTable *table)
{
    free(table->tensors);
    *table = (TensorTable){0};
}

const Tensor *tensor_find(const TensorTable *table, const char *name)
{
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->tensors[i].name, name) == 0) return &table->tensors[i];
    return NULL;
}
