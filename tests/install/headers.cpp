// A C++ program that includes every public header and links against the library.
#include <facet/batch.h>
#include <facet/camera.h>
#include <facet/certify.h>
#include <facet/control.h>
#include <facet/course.h>
#include <facet/dataset.h>
#include <facet/eval.h>
#include <facet/factor.h>
#include <facet/flight.h>
#include <facet/gate.h>
#include <facet/gyro.h>
#include <facet/image_set.h>
#include <facet/math.h>
#include <facet/normalizer.h>
#include <facet/policy.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>
#include <facet/race.h>
#include <facet/rng.h>
#include <facet/status.h>

#include <cinttypes>
#include <cstdio>

int main()
{
    QuadParams params = quad_params_default();
    QuadModel model = quad_model(&params, 1.0 / QUAD_RATE);
    QuadState state = quad_hover(&model, vec3(0.0, 0.0, 1.0), 0.0);
    quad_step(&state, &model, state.thrust, vec3(0.0, 0.0, 0.0));
    uint32_t words[4];
    rng_block(words, 0, 0, 0);
    std::printf("%08" PRIx32 "\n", quad_finite(&state) ? words[0] : 0);
    return 0;
}
