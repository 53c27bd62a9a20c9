// Named presets of gains and carrot. docs/control.md gives their sources and how the carrot of
// `race` was found.
#include "base/status.h"
#include "base/text.h"
#include "control/control.h"

#include <string.h>

static const FacetControlPreset presets[] = {
    {.name = "race",
     .gains = {.position = 6.5, .velocity = 4.0, .attitude = 544.0, .rate = 46.6},
     .carrot =
         {.lookahead_time = 0.74, .lookahead_min = 1.29, .lookahead_max = 5.09, .window = 1.0}},
    {.name = "soft",
     .gains = {.position = 4.0, .velocity = 3.2, .attitude = 225.0, .rate = 25.0},
     .carrot = {.lookahead_time = 0.3, .lookahead_min = 0.3, .lookahead_max = 1.0, .window = 1.0}},
};

FacetStatus facet_control_preset(FacetControlPreset *preset, const char *name)
{
    enum { COUNT = sizeof presets / sizeof *presets };
    const char *names[COUNT];
    for (int i = 0; i < COUNT; i++) {
        names[i] = presets[i].name;
        if (strcmp(name, names[i]) == 0) {
            *preset = presets[i];
            return status_ok();
        }
    }
    char text[320];
    text_unknown(text, sizeof text, "control preset", name, names, COUNT);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}
