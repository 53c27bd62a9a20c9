// Speeds of held-out plans (see speeds_off.h).
#include "speeds_off.h"

#include <math.h>
#include <string.h>

FacetStatus speeds_off_read(SpeedsOff *off, const JsonRef *root, const char *method)
{
    JsonRef list, at = {0};
    char name[64];
    TRY(json_member(&list, root, "heldout"));
    while (json_next(&at, &list)) {
        double speed, reference;
        TRY(json_member_string(name, sizeof name, &at, "method"));
        if (strcmp(name, method) != 0) continue;
        TRY(json_member_number(&speed, &at, "speed_generated", 0.0, 1e6));
        TRY(json_member_number(&reference, &at, "speed_reference", 1e-3, 1e6));
        off->sum += fabs(speed / reference - 1.0);
        off->count += 1.0;
    }
    return status_ok();
}
