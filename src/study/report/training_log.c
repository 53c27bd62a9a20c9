// Reading the log of a training (see report/training_log.h).
#include "report/training_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 32 };
static const double LOSS_MAX = 1e100;

static const char *const names[TRAINING_COLUMNS] = {
    [TRAINING_DENOISE] = "denoise",   [TRAINING_COMPOSED] = "composed",
    [TRAINING_VALID] = "valid",       [TRAINING_VALID_COMPOSED] = "valid_composed",
    [TRAINING_HELD_OUT] = "held_out", [TRAINING_HELD_OUT_COMPOSED] = "held_out_composed",
};

typedef struct Reader {
    const char *path;
    int cells;                                               // of a row
    int column[CELLS_MAX];                                   // what is drawn of a cell, or -1
    long row, rows;                                          // from 0, and of all
    double sums[TRAINING_COLUMNS], places[TRAINING_COLUMNS]; // of a piece
    long counts[TRAINING_COLUMNS];
} Reader;

// ---- Rows ---------------------------------------------------------------------------------------

// Cuts a line at its commas, in place. Returns the cells, CELLS_MAX + 1 for too many.
static int split(char *cells[CELLS_MAX], char *line)
{
    int count = 0;
    for (char *at = line; at; count++) {
        if (count == CELLS_MAX) return CELLS_MAX + 1;
        cells[count] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return count;
}

static FacetStatus read_head(Reader *r, char *line)
{
    char *cells[CELLS_MAX];
    int known = 0;
    r->cells = split(cells, line);
    bool log = r->cells >= 3 && r->cells <= CELLS_MAX && strcmp(cells[0], "network") == 0 &&
               strcmp(cells[1], "update") == 0;
    for (int i = 0; log && i < r->cells; i++) {
        r->column[i] = -1;
        for (int c = 0; c < TRAINING_COLUMNS; c++)
            if (strcmp(cells[i], names[c]) == 0) r->column[i] = c, known++;
    }
    if (log && known > 0) return status_ok();
    return status_fail(FACET_BAD_FILE,
                       "%s: expected the losses of facet train, found another head line", r->path);
}

// Ends a piece of the curve.
static void end_piece(TrainingCurve *curve, Reader *r, int column)
{
    if (r->counts[column] > 0 && curve->count < TRAINING_POINTS) {
        curve->update[curve->count] = r->places[column] / (double)r->counts[column];
        curve->loss[curve->count++] = r->sums[column] / (double)r->counts[column];
    }
    r->sums[column] = r->places[column] = 0.0;
    r->counts[column] = 0;
}

static FacetStatus read_cell(TrainingLog *log, Reader *r, const char *cell, int column)
{
    char *end;
    double value = strtod(cell, &end);
    if (!*cell) return status_ok(); // not looked at
    if (*end)
        return status_fail(FACET_BAD_FILE, "%s: row %ld, %s: expected a number, found '%.40s'",
                           r->path, r->row + 1, names[column], cell);
    if (!(value > 0.0) || value > LOSS_MAX) return status_ok(); // it diverged, or is not there
    r->sums[column] += value;
    r->places[column] += (double)(r->row + 1);
    r->counts[column]++;
    log->curves[column].last = value;
    return status_ok();
}

static FacetStatus read_row(TrainingLog *log, Reader *r, char *line)
{
    char *cells[CELLS_MAX], *end;
    int count = split(cells, line);
    if (count != r->cells)
        return status_fail(FACET_BAD_FILE, "%s: row %ld: expected %d cells, found %s%d", r->path,
                           r->row + 1, r->cells, count > CELLS_MAX ? "more than " : "",
                           count > CELLS_MAX ? CELLS_MAX : count);
    long network = strtol(cells[0], &end, 10);
    if (*end || end == cells[0] || network < 0 || network > 1000000)
        return status_fail(FACET_BAD_FILE, "%s: row %ld: expected a network, found '%.40s'",
                           r->path, r->row + 1, cells[0]);
    if (network >= log->networks) log->networks = (int)network + 1;
    for (int i = 0; i < count; i++)
        if (r->column[i] >= 0) TRY(read_cell(log, r, cells[i], r->column[i]));
    r->row++;
    // Piece p ends with the last row whose number is below (p + 1) rows / pieces.
    bool ends = r->row * TRAINING_POINTS / r->rows != (r->row - 1) * TRAINING_POINTS / r->rows;
    for (int c = 0; ends && c < TRAINING_COLUMNS; c++) end_piece(&log->curves[c], r, c);
    return status_ok();
}

static FacetStatus read_rows(TrainingLog *log, Reader *r, char *text)
{
    char *next = strchr(text, '\n');
    if (!next) return read_head(r, text); // and nothing below it
    *next++ = '\0';
    TRY(read_head(r, text));
    for (char *at = next; (at = strchr(at, '\n')); at++) r->rows++;
    for (char *end; (end = strchr(next, '\n')); next = end + 1) {
        *end = '\0';
        TRY(read_row(log, r, next));
    }
    return status_ok();
}

FacetStatus training_log_read(TrainingLog *log, const char *path)
{
    Reader r = {.path = path};
    char *text;
    size_t size;
    *log = (TrainingLog){.updates = 0};
    for (int c = 0; c < TRAINING_COLUMNS; c++) log->curves[c].last = NAN;
    snprintf(log->path, sizeof log->path, "%s", path);
    TRY(file_read(&text, &size, path));
    FacetStatus status =
        strlen(text) == size
            ? read_rows(log, &r, text)
            : status_fail(FACET_BAD_FILE, "%s: expected text, found a zero byte", path);
    if (status.ok && r.row == 0)
        status =
            status_fail(FACET_BAD_FILE, "%s: expected the losses of updates, found none", path);
    log->updates = r.row;
    free(text);
    return status;
}
