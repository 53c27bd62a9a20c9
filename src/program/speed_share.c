// How much of a size plans show in their speeds (see speed_share.h).
#include "speed_share.h"

#include <math.h>
#include <string.h>

static void add_two(SpeedShare *share, const SpeedPlan *a, const SpeedPlan *b)
{
    double wanted = log(a->reference / b->reference);
    if (strcmp(a->track, b->track) != 0 || (a->left_out && b->left_out) || fabs(wanted) < 1e-9)
        return;
    SpeedGroup group = a->left_out || b->left_out ? SPEED_LEFT_OUT : SPEED_LEARNED;
    share->shown[group] += log(a->planned / b->planned) * wanted;
    share->wanted[group] += wanted * wanted;
}

void speed_share_add(SpeedShare *share, const SpeedPlan *plans, int count)
{
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++) add_two(share, &plans[a], &plans[b]);
}

Json *json_from_speed_share(const SpeedShare *share)
{
    double of[SPEED_GROUPS];
    for (int g = 0; g < SPEED_GROUPS; g++)
        of[g] = share->wanted[g] > 0.0 ? share->shown[g] / share->wanted[g] : nan("");
    Json *out = json_object();
    json_set_numbers(out, {"learned", of[SPEED_LEARNED]}, {"left_out", of[SPEED_LEFT_OUT]});
    return out;
}
