// Motors: the wrench of four thrusts, and the four thrusts of a wrench within their limits.
//
// Rotors stand on the diagonals: front left, rear left, rear right, front right. The first and
// the third turn so that their drag pushes the body about +z.
#include "quad/quad.h"

FacetQuadWrench facet_quad_wrench(const FacetQuadModel *model, const double t[4])
{
    return (FacetQuadWrench){
        .force = (t[0] + t[1]) + (t[2] + t[3]),
        .torque = {model->lever * ((t[0] + t[1]) - (t[2] + t[3])),
                   model->lever * ((t[1] + t[2]) - (t[0] + t[3])),
                   model->params.torque_ratio * ((t[0] + t[2]) - (t[1] + t[3]))},
    };
}

void facet_quad_mix(double thrust[4], const FacetQuadModel *model, FacetQuadWrench wanted)
{
    double limit = model->params.thrust_max;
    double roll = 0.25 * wanted.torque.x / model->lever;
    double pitch = 0.25 * wanted.torque.y / model->lever;
    double yaw = 0.25 * wanted.torque.z / model->params.torque_ratio;

    // Roll and pitch alone spread the thrusts over 2 (|roll| + |pitch|). Both shrink only when
    // that is more than a motor's range.
    double spread = 2.0 * (fabs(roll) + fabs(pitch));
    double scale = spread > limit ? limit / spread : 1.0;
    roll *= scale, pitch *= scale;

    // Yaw lifts the first and third motor, which roll and pitch spread by `odd` to either side, and
    // lowers the others, spread by `even`. The collective is held to where all four are in their
    // range for some part of the wanted yaw, which may well be what makes room for it.
    const double share[4] = {roll - pitch, roll + pitch, pitch - roll, -roll - pitch};
    double odd = fabs(roll - pitch), even = fabs(roll + pitch);
    double most = greater(yaw, 0.0), least = lesser(yaw, 0.0);
    double at_low = clamp(0.5 * (odd - even), least, most);
    double at_high = clamp(0.5 * (even - odd), least, most);
    double collective = clamp(0.25 * wanted.force, greater(odd - at_low, even + at_low),
                              limit - greater(odd + at_high, even - at_high));

    // Yaw gets what is left.
    yaw = clamp(yaw, greater(odd - collective, collective + even - limit),
                lesser(limit - collective - odd, collective - even));
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        thrust[i] = clamp(collective + share[i] + (i % 2 ? -yaw : yaw), 0.0, limit);
}
