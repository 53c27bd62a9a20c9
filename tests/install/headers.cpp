// A C++ program that includes every public header and links against the library.
#include "flight/flight.h"
#include <facet_study/camera.h>
#include <facet_study/certify.h>
#include "control/control.h"
#include "course/course.h"
#include <facet_study/dataset.h>
#include "race/eval.h"
#include "factor/factor.h"
#include "flight/flight.h"
#include <facet_study/gate.h>
#include "gate/gyro.h"
#include <facet_study/image_set.h>
#include "math/geometry.h"
#include "policy/normalizer.h"
#include "policy/policy.h"
#include "base/pool.h"
#include <facet/progress.h>
#include "quad/quad.h"
#include <facet_study/race.h>
#include "base/rng.h"
#include "base/status.h"

#include <cinttypes>
#include <cstdio>

int main()
{
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetQuadState state = facet_quad_hover(&model, vec3(0.0, 0.0, 1.0), 0.0);
    facet_quad_step(&state, &model, state.thrust, vec3(0.0, 0.0, 0.0));
    uint32_t words[4];
    rng_block(words, 0, 0, 0);
    std::printf("%08" PRIx32 "\n", quad_finite(&state) ? words[0] : 0);
    return 0;
}
