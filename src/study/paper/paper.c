// Figures of the race study's flights printed in the paper, to stand beside ours.
#include "paper/paper.h"

#include <math.h>
#include <string.h>

// Table "Race tracks and maximum feasible speeds".
static const struct {
    const char *track;
    double narrow, standard, wide;
} speeds[] = {
    {"race1", 0.0, 2.1, 2.4}, {"race2", 0.0, 2.1, 2.4}, {"race3", 0.0, 2.1, 2.5},
    {"race4", 0.0, 3.3, 3.5}, {"race5", 2.2, 3.6, 3.9}, {"race6", 2.3, 4.1, 4.6},
    {"race7", 8.2, 10., 10.}, {"race8", 7.0, 7.9, 7.9},
};

double paper_speed(const char *track, const char *size)
{
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        if (strcmp(track, speeds[i].track) != 0) continue;
        if (strcmp(size, "narrow") == 0) return speeds[i].narrow;
        if (strcmp(size, "standard") == 0) return speeds[i].standard;
        if (strcmp(size, "wide") == 0) return speeds[i].wide;
    }
    return -1.0;
}

// Tables "Gate passage on full multi-gate races" and "Composed vs. joint inference".
PaperTotals paper_totals(const char *method)
{
    static const struct {
        const char *method;
        PaperTotals totals;
    } rows[] = {
        {"baseline", {{33, 104}, {28, 74}, {5, 30}, 0}},
        {"knet", {{50, 104}, {49, 74}, {1, 30}, 2}},
        {"factored", {{98, 104}, {71, 74}, {27, 30}, 0}},
        {"factored_joint", {.all = {97, 104}}},
        {"oracle", {{99, 104}, {72, 74}, {27, 30}, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(method, rows[i].method) == 0) return rows[i].totals;
    return (PaperTotals){0};
}

// Table "Composed vs. joint inference".
double paper_error(const char *method)
{
    if (strcmp(method, "factored") == 0) return 0.23;
    return strcmp(method, "factored_joint") == 0 ? 0.20 : nan("");
}

// Table "Per-track gate passage (factored)".
int paper_passed(const char *track, const char *size)
{
    static const struct {
        const char *track;
        int narrow, standard, wide;
    } rows[] = {
        {"race1", -1, 7, 8}, {"race2", -1, 9, 9}, {"race3", -1, 7, 7}, {"race4", -1, 10, 10},
        {"race5", 5, 5, 5},  {"race6", 0, 3, 3},  {"race7", 2, 2, 2},  {"race8", 0, 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(track, rows[i].track) != 0) continue;
        if (strcmp(size, "narrow") == 0) return rows[i].narrow;
        if (strcmp(size, "standard") == 0) return rows[i].standard;
        if (strcmp(size, "wide") == 0) return rows[i].wide;
    }
    return -1;
}

// Table "Held-out tasks".
bool paper_held_out_speeds(double *generated, double *reference, const char *track,
                           const char *size)
{
    static const struct {
        const char *track, *size;
        double generated, reference;
    } rows[] = {
        {"race1", "wide", 2.2, 2.5},   {"race4", "standard", 3.0, 3.4}, {"race5", "wide", 3.0, 4.0},
        {"race6", "narrow", 3.4, 2.4}, {"race7", "standard", 5.8, 9.5}, {"race8", "wide", 5.9, 7.9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(track, rows[i].track) == 0 && strcmp(size, rows[i].size) == 0) {
            *generated = rows[i].generated;
            *reference = rows[i].reference;
            return true;
        }
    return false;
}

// Table "DDIM step sweep".
const PaperSweep paper_sweep[PAPER_SWEEP_ROWS] = {
    {10, 0.80, 0.40, 0.89},
    {20, 0.78, 0.50, 0.94},
    {30, 0.91, 0.83, 0.95},
    {50, 0.94, 0.90, 0.93},
};
