// Parameters of the quadrotor: defaults, JSON, and the constants that follow from them.
#include "base/json.h"
#include "quad/quad.h"

// Flightmare's 25 cm vehicle (0.752 kg) scaled to the paper's 0.5 kg at the same size; rotor drag
// from Faessler, Franchi and Scaramuzza, RA-L 2018. See docs/quadrotor.md.
FacetQuadParams facet_quad_params_default(void)
{
    return (FacetQuadParams){
        .mass = 0.5,
        .inertia = {1.7e-3, 1.4e-3, 2.9e-3},
        .arm = 0.125,
        .thrust_max = 5.65,
        .torque_ratio = 0.022,
        .motor_lag = 0.033,
        .drag = {0.544, 0.386, 0.0},
        .gravity = 9.81,
    };
}

static FacetStatus positive_member(double *out, const JsonRef *root, const char *key, double max)
{
    if (!json_has(root, key)) return status_ok();
    TRY(json_member_number(out, root, key, 0.0, max));
    JsonRef at;
    TRY(json_member(&at, root, key));
    return *out > 0.0 ? status_ok() : json_wrong(&at, "a number above 0");
}

static FacetStatus vector_member(FacetVec3 *out, const JsonRef *root, const char *key, double above)
{
    if (!json_has(root, key)) return status_ok();
    JsonRef at;
    TRY(json_member(&at, root, key));
    TRY(json_vec3(out, &at));
    if (out->x > above && out->y > above && out->z > above) return status_ok();
    return json_wrong(&at, above < 0.0 ? "three numbers of at least 0" : "three numbers above 0");
}

// No body has a moment of inertia greater than the sum of the other two. A flat one comes within
// rounding of it.
static FacetStatus parse_inertia(FacetVec3 *j, const JsonRef *root)
{
    TRY(vector_member(j, root, "inertia", 0.0));
    double sum = j->x + j->y + j->z, most = greater(greater(j->x, j->y), j->z);
    if (2.0 * most <= sum * (1.0 + 1e-9)) return status_ok();
    JsonRef at;
    TRY(json_member(&at, root, "inertia"));
    return json_wrong(&at, "three moments of which none is above the sum of the others");
}

static FacetStatus parse(FacetQuadParams *params, const JsonRef *root)
{
    static const char *const keys[] = {"mass",         "inertia",   "arm",  "thrust_max",
                                       "torque_ratio", "motor_lag", "drag", "gravity"};
    TRY(json_only(root, keys, sizeof keys / sizeof *keys));
    TRY(positive_member(&params->mass, root, "mass", 1e3));
    TRY(parse_inertia(&params->inertia, root));
    TRY(positive_member(&params->arm, root, "arm", 10.0));
    TRY(positive_member(&params->thrust_max, root, "thrust_max", 1e4));
    TRY(positive_member(&params->torque_ratio, root, "torque_ratio", 1.0));
    if (json_has(root, "motor_lag"))
        TRY(json_member_number(&params->motor_lag, root, "motor_lag", 0.0, 10.0));
    TRY(vector_member(&params->drag, root, "drag", -1e-300));
    TRY(positive_member(&params->gravity, root, "gravity", 100.0));
    if (4.0 * params->thrust_max <= params->mass * params->gravity)
        return status_fail(FACET_BAD_FILE,
                           "%s: thrust_max: expected more than a quarter of the weight (%.3g N), "
                           "found %.3g",
                           root->file, 0.25 * params->mass * params->gravity, params->thrust_max);
    return status_ok();
}

FacetStatus facet_quad_params_load(FacetQuadParams *params, const char *file)
{
    Json *document;
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    *params = facet_quad_params_default();
    FacetStatus status = parse(params, &root);
    json_free(document);
    return status;
}

FacetQuadModel facet_quad_model(const FacetQuadParams *params, double step)
{
    FacetVec3 j = params->inertia;
    // An ideal motor has reached its command as soon as the step begins.
    double lag = params->motor_lag;
    return (FacetQuadModel){
        .params = *params,
        .step = step,
        .decay_half = lag > 0.0 ? exp(-0.5 * step / lag) : 0.0,
        .decay_full = lag > 0.0 ? exp(-step / lag) : 0.0,
        .inverse_mass = 1.0 / params->mass,
        .inverse_inertia = {1.0 / j.x, 1.0 / j.y, 1.0 / j.z},
        .gyro = {(j.y - j.z) / j.x, (j.z - j.x) / j.y, (j.x - j.y) / j.z},
        .lever = params->arm * sqrt(0.5),
    };
}

FacetQuadState facet_quad_hover(const FacetQuadModel *model, FacetVec3 pos_world, double yaw)
{
    FacetQuadState state = {.pos_world = pos_world, .attitude = quat_from_yaw(yaw)};
    double share = 0.25 * model->params.mass * model->params.gravity;
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) state.thrust[i] = share;
    return state;
}
