// Figures of the gate study printed in the paper, to stand beside ours.
#include "paper/paper.h"

#include <math.h>
#include <string.h>

#define NONE ((double)NAN)

// Section "Vision-Based Single-Gate Traversal", paragraph "Certificates".
const PaperGateLtv paper_gate_ltv = {.steps = 10,
                                     .tasks = 18,
                                     .mean = 2074.0,
                                     .least = 2057.0,
                                     .most = 2088.0,
                                     .eps_s = 1.95,
                                     .r_ss = 2023.0};

const char paper_gate_held_out[] = "pool";

// Table "Vision-based single-gate results". Its right half has one rate of crashes a row, which
// stands with the held-out tasks here. The appendix gives "venue dropout" as differences from the
// zero-shot factored policy: -3.4 and +22.5 points.
PaperGateRow paper_gate_row(const char *name)
{
    static const struct {
        const char *name;
        PaperGateRow row;
    } rows[] = {
        {"zero-shot baseline", {{41.7, 34.4}, {25.0, 36.7}}},
        {"zero-shot factored", {{63.3, 10.6}, {36.7, 15.0}}},
        {"within baseline", {{67.8, NONE}, {58.3, 18.5}}},
        {"within factored", {{69.8, NONE}, {59.4, 14.0}}},
        {"venue dropout", {{NONE, NONE}, {33.3, 37.5}}},
        {"venue dropout, null venue", {{NONE, NONE}, {22.5, 46.7}}},
    };
    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0) return rows[i].row;
    return (PaperGateRow){{NONE, NONE}, {NONE, NONE}};
}
