// A router: weights of the branches that follow from the noisy plan, the time and the task.
//
// After Factorized Diffusion Policy (FDP, Liu et al. 2025), where a learned router mixes K experts
// at every step. The experts here are the branches of a composition (diffusion/operator.h): b = 0
// shows no factor, b = i factor i alone. With x [T][D] and the one-hot vectors 1(z_i), zero for a
// null value,
//   u = [mean_T x; mean_T x^2; time(t); 1(z_1); ...; 1(z_K)]
//   w = softmax(Mish(u W0 + b0) W1 + b1),   s = sum_b w_b s_b.
// W1 starts at zero, where all weights are equal. FDP's experts are latent modes that it finds;
// here they are the networks of known values, and stay as they were trained.
#ifndef FACET_DIFFUSION_ROUTER_H
#define FACET_DIFFUSION_ROUTER_H

#include "diffusion/score_net.h"
#include "math/real.h"

enum { ROUTER_BRANCHES_MAX = 1 + SCORE_FACTORS_MAX };

typedef struct RouterConfig {
    int horizon, dim; // T and D of a plan
    int time_width;   // of the time embedding, even and at least 4
    int hidden;
    int factors; // K
    int values[SCORE_FACTORS_MAX];
} RouterConfig;

typedef struct Router {
    RouterConfig config;
    TensorTable table;
    size_t in_weight, in_bias;   // [inputs][hidden], [hidden]
    size_t out_weight, out_bias; // [hidden][1 + K], [1 + K]
} Router;

// Refuses sizes that make no router. Free accepts NULL.
FacetStatus router_create(Router **router, RouterConfig config);
void router_free(Router *router);

// Width of u.
int router_inputs(const RouterConfig *config);

#define RouterWork         REAL_NAME(RouterWork)
#define router_work_create REAL_NAME(router_work_create)
#define router_work_free   REAL_NAME(router_work_free)
#define router_forward     REAL_NAME(router_forward)

// What a pass leaves, for `rows` rows.
typedef struct RouterWork {
    const Router *router;
    Real *in;                 // [rows][inputs]
    Real *hidden, *activated; // [rows][hidden], before and after Mish
    Real *weights;            // [rows][1 + K], the null branch first
} RouterWork;

// The router must outlive its workspace. Free accepts NULL.
FacetStatus router_work_create(RouterWork **work, const Router *router, int rows);
void router_work_free(RouterWork *work);

// work->weights of noisy plans x [rows][T][D] at times t [rows] for tasks z [rows][K]. A row's do
// not depend on the rows computed with it.
void router_forward(RouterWork *work, const Real *params, const Real *x, const Real *t,
                    const int *z, int rows);

#endif
