// Motors: the wrench of four thrusts, and the four thrusts of a wrench within their limits.
//
// Rotors stand on the diagonals: front left, rear left, rear right, front right. The first and
// the third turn so that their drag pushes the body about +z.
#include <facet/quad.h>

QuadWrench quad_wrench(const QuadModel *model, const double t[4])
{
    return (QuadWrench){
        .force = (t[0] + t[1]) + (t[2] + t[3]),
        .torque = {model->lever * ((t[0] + t[1]) - (t[2] + t[3])),
                   model->lever * ((t[1] + t[2]) - (t[0] + t[3])),
                   model->params.torque_ratio * ((t[0] + t[2]) - (t[1] + t[3]))},
    };
}

void quad_mix(double thrust[4], const QuadModel *model, QuadWrench wanted)
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

    // Yaw widens the spread to |roll - pitch| + |roll + pitch| + 2 |yaw| and gets what is left.
    double room = 0.5 * (limit - fabs(roll - pitch) - fabs(roll + pitch));
    yaw = clamp(yaw, -room, room);

    // The collective moves all four into the range together.
    double share[4] = {roll - pitch + yaw, roll + pitch - yaw, pitch - roll + yaw,
                       -roll - pitch - yaw};
    double low = lesser(lesser(share[0], share[1]), lesser(share[2], share[3]));
    double high = greater(greater(share[0], share[1]), greater(share[2], share[3]));
    double collective = clamp(0.25 * wanted.force, -low, limit - high);
    for (int i = 0; i < QUAD_MOTORS; i++) thrust[i] = clamp(collective + share[i], 0.0, limit);
}
