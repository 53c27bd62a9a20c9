// The rows of the training tasks, reduced as Gauss does, one at a time (see train/links.h).
#include "train/links.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Rows that begin with a one in different columns. Row `column` is the one that begins there.
typedef struct Basis {
    double *rows; // [columns][columns]
    bool *there;  // [columns]
    double *row;  // [columns], the one at hand
    int columns;
} Basis;

#define NOTHING 1e-9 // rows are whole numbers before they are reduced

static void set_row(Basis *b, const FacetFactorSpace *space, FacetFactorTask task)
{
    memset(b->row, 0, (size_t)b->columns * sizeof *b->row);
    int first = 0;
    for (int f = 0; f < facet_factor_count(space); f++) {
        b->row[first + task.value[f]] = 1.0;
        first += facet_factor_value_count(space, f);
    }
}

// Takes from the row what the basis has of it. Returns the column that is left first, or -1.
static int reduce(Basis *b)
{
    int left = -1;
    for (int c = 0; c < b->columns; c++) {
        double share = b->row[c];
        if (fabs(share) < NOTHING) continue;
        if (!b->there[c]) {
            if (left < 0) left = c;
            continue;
        }
        const double *known = b->rows + (size_t)c * b->columns;
        for (int i = c; i < b->columns; i++) b->row[i] -= share * known[i];
    }
    return left;
}

static void keep(Basis *b, int column)
{
    double *row = b->rows + (size_t)column * b->columns, scale = 1.0 / b->row[column];
    for (int i = 0; i < b->columns; i++) row[i] = scale * b->row[i];
    b->there[column] = true;
}

static void find(bool *linked, Basis *b, const FacetFactorSplit *asked,
                 const FacetFactorSplit *training)
{
    const FacetFactorSpace *space = factor_split_space(training);
    for (int i = 0; i < facet_factor_split_count(training); i++) {
        set_row(b, space, facet_factor_split_task(training, i));
        int column = reduce(b);
        if (column >= 0) keep(b, column);
    }
    for (int i = 0; i < facet_factor_split_count(asked); i++) {
        set_row(b, space, facet_factor_split_task(asked, i));
        linked[i] = reduce(b) < 0;
    }
}

FacetStatus links_find(bool *linked, const FacetFactorSplit *asked,
                       const FacetFactorSplit *training)
{
    const FacetFactorSpace *space = factor_split_space(training);
    int columns = 0;
    for (int f = 0; f < facet_factor_count(space); f++)
        columns += facet_factor_value_count(space, f);
    size_t n = (size_t)columns;
    Basis basis = {.rows = calloc(n * n + 1, sizeof *basis.rows),
                   .there = calloc(n + 1, sizeof *basis.there),
                   .row = calloc(n + 1, sizeof *basis.row),
                   .columns = columns};
    FacetStatus status = status_ok();
    if (basis.rows && basis.there && basis.row)
        find(linked, &basis, asked, training);
    else
        status = status_fail(FACET_NO_MEMORY, "out of memory for the links of %d values", columns);
    free(basis.rows);
    free(basis.there);
    free(basis.row);
    return status;
}
