// The ladder: from the first vision study's setting to the second's, one change at a time.
//
// The first study showed no advantage of the factored policies in pool, the second one did, and
// between them six things had changed together (docs/vision.md). A rung has the changes of those
// below it and one more; the last is the second study. Each is trained and flown in its own world,
// by the same trials. The baseline is shown no factors, so it has nothing to select with: the rung
// of the selection has one row. Beside the ladder stands the first study's setting with the flights
// and updates of the last rung, which tells whether those do it alone.
#include "gate_cells.h"

#include <assert.h>

enum { FIRST, FIRST_LONGER, LAYOUT, COLORS, LOOKS, SELECTION, RESOLUTION, RUNGS };

// Frames of 160 x 120; 480 of 600 flights, 2,000 of 10,000 updates.
#define LARGE_FRAMES .encoder = "small160", .shrink = 2
#define SHORT        .demos = 0.8, .updates = 0.2

static const GateSetting settings[RUNGS] = {
    // Gates farther apart, all in the colour of the task, and a start that looks away by 25 degrees
    // at most; then those of today, at 35 degrees.
    [FIRST] =
        {.courses = "ladder/first", .no_looks = true, .no_selection = true, LARGE_FRAMES, SHORT},
    [FIRST_LONGER] = {.courses = "ladder/first",
                      .no_looks = true,
                      .no_selection = true,
                      LARGE_FRAMES},
    [LAYOUT] =
        {.courses = "ladder/layout", .no_looks = true, .no_selection = true, LARGE_FRAMES, SHORT},
    [COLORS] = {.no_looks = true, .no_selection = true, LARGE_FRAMES, SHORT},
    [LOOKS] = {.no_selection = true, LARGE_FRAMES, SHORT},
    [SELECTION] = {LARGE_FRAMES, SHORT},
    [RESOLUTION] = {SHORT},
};

enum {
    FIRST_DEMOS,
    FIRST_LONGER_DEMOS,
    LAYOUT_DEMOS,
    COLORS_DEMOS,
    LOOKS_DEMOS,
    RESOLUTION_DEMOS,
    TODAYS_DEMOS,
    DEMOS
};

static const GateDemos demos[DEMOS] = {
    [FIRST_DEMOS] = {"first.h5", ZERO_SHOT, &settings[FIRST]},
    [FIRST_LONGER_DEMOS] = {"first-longer.h5", ZERO_SHOT, &settings[FIRST_LONGER]},
    [LAYOUT_DEMOS] = {"layout.h5", ZERO_SHOT, &settings[LAYOUT]},
    [COLORS_DEMOS] = {"colors.h5", ZERO_SHOT, &settings[COLORS]},
    [LOOKS_DEMOS] = {"looks.h5", ZERO_SHOT, &settings[LOOKS]},
    [RESOLUTION_DEMOS] = {"resolution.h5", ZERO_SHOT, &settings[RESOLUTION]},
    [TODAYS_DEMOS] = {"zero-shot.h5", ZERO_SHOT, NULL},
};

#define BASELINE(name, of, setting)                                                                \
    {                                                                                              \
        name "-baseline", of, "baseline", NULL, NULL, NULL, false, setting                         \
    }
#define OURS(name, of, setting)                                                                    \
    {                                                                                              \
        name "-ours", of, "factored", "0.3", NULL, NULL, false, setting                            \
    }

static const GateModel models[] = {
    BASELINE("first", FIRST_DEMOS, &settings[FIRST]),
    OURS("first", FIRST_DEMOS, &settings[FIRST]),
    BASELINE("first-longer", FIRST_LONGER_DEMOS, &settings[FIRST_LONGER]),
    OURS("first-longer", FIRST_LONGER_DEMOS, &settings[FIRST_LONGER]),
    BASELINE("layout", LAYOUT_DEMOS, &settings[LAYOUT]),
    OURS("layout", LAYOUT_DEMOS, &settings[LAYOUT]),
    BASELINE("colors", COLORS_DEMOS, &settings[COLORS]),
    OURS("colors", COLORS_DEMOS, &settings[COLORS]),
    BASELINE("looks", LOOKS_DEMOS, &settings[LOOKS]),
    OURS("looks", LOOKS_DEMOS, &settings[LOOKS]),
    OURS("selection", LOOKS_DEMOS, &settings[SELECTION]),
    BASELINE("resolution", RESOLUTION_DEMOS, &settings[RESOLUTION]),
    OURS("resolution", RESOLUTION_DEMOS, &settings[RESOLUTION]),
    BASELINE("zero-shot", TODAYS_DEMOS, NULL),
    OURS("zero-shot", TODAYS_DEMOS, NULL),
};

#define BASELINE_ROW(change, name)                                                                 \
    {                                                                                              \
        change ", baseline", name "-baseline", name "-baseline", ZERO_SHOT, "joint", NULL, NULL,   \
            name "-ours"                                                                           \
    }
#define OURS_ROW(change, name)                                                                     \
    {                                                                                              \
        change ", ours", name "-ours", name "-ours", ZERO_SHOT, "composed", NULL, NULL, NULL       \
    }

static const GateRow rows[] = {
    BASELINE_ROW("First study", "first"),
    OURS_ROW("First study", "first"),
    BASELINE_ROW("First study, longer", "first-longer"),
    OURS_ROW("First study, longer", "first-longer"),
    BASELINE_ROW("+ layout", "layout"),
    OURS_ROW("+ layout", "layout"),
    BASELINE_ROW("+ colours", "colors"),
    OURS_ROW("+ colours", "colors"),
    BASELINE_ROW("+ looks", "looks"),
    OURS_ROW("+ looks", "looks"),
    OURS_ROW("+ selection", "selection"),
    BASELINE_ROW("+ resolution", "resolution"),
    OURS_ROW("+ resolution", "resolution"),
    BASELINE_ROW("+ updates", "zero-shot"),
    OURS_ROW("+ updates", "zero-shot"),
};

static const GateTitle titles[] = {
    {"ladder", "From the first study to the second, one change at a time: pool is never seen"}};

const GateTable gate_ladder_table = {
    .demos = demos,
    .models = models,
    .rows = rows,
    .titles = titles,
    .demo_count = DEMOS,
    .model_count = sizeof models / sizeof *models,
    .row_count = sizeof rows / sizeof *rows,
    .title_count = 1,
};
static_assert(sizeof models / sizeof *models <= GATE_MODELS_MAX, "room for all models");
static_assert(sizeof rows / sizeof *rows <= GATE_ROWS_MAX, "room for all rows");
static_assert((int)DEMOS <= (int)GATE_DEMOS_MAX, "room for all frames");
