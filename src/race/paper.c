// Figures printed in the paper, to stand beside ours.
#include <facet/race.h>

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
