// Work on request: Facet's side of the comparison with its peers (see side.h).
//
// usage: facet_side RACE_POLICY GATE_POLICY FOLDER THREADS
//
// Exports the networks to FOLDER/race.onnx, gate.onnx and gate-encoder.onnx, writes what the peers
// are held to into FOLDER/race.safetensors and gate.safetensors, and prints one line of JSON about
// the work it knows. Then every line "WORK THREADS REPEATS" on stdin is answered by one line, the
// milliseconds of each repeat.
#include "side.h"
#include "../peak.h"
#include "base/rng.h"
#include "export/onnx.h"

#include <string.h>

enum { THREADS_MAX = 64, COMPOSED_STEPS = 50, PILOT_STEPS = 10, PATH_SIZE = 4096 };

typedef struct Side {
    FacetPolicy *race, *gate;
    const char *folder;
    int threads;
    FacetPool *pools[THREADS_MAX + 1]; // by their threads
    Works works;
} Side;

// ---- Shared by the parts ------------------------------------------------------------------------

void works_add(Works *works, const char *name, double operations, WorkRun *run, void *self)
{
    works->list[works->count++] =
        (Work){.name = name, .operations = operations, .run = run, .self = self};
}

void case_add(Case *to, const char *name, TensorType type, const void *data, int rank,
              const int64_t *shape)
{
    TensorSource *tensor = &to->tensors[to->count++];
    *tensor = (TensorSource){.type = type, .rank = rank, .data = data};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    memcpy(tensor->shape, shape, (size_t)rank * sizeof *shape);
}

void case_add_block(Case *to, const char *prefix, const TensorTable *table, const float *block)
{
    policy_sources(to->tensors + to->count, table, block, TENSOR_F32, prefix);
    to->count += table->count;
}

void *side_room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    return memory;
}

float *side_normal(size_t count, uint64_t stream)
{
    float *out = side_room(count, sizeof *out);
    FacetRng rng = rng_make(1, stream);
    for (size_t i = 0; i < count; i++) out[i] = (float)rng_normal(&rng);
    return out;
}

// ---- Preparing ----------------------------------------------------------------------------------

static const char *file_in(char path[PATH_SIZE], const Side *side, const char *name)
{
    snprintf(path, PATH_SIZE, "%s/%s", side->folder, name);
    return path;
}

static void run_peak(void *self, FacetPool *pool) { peak_run(self, pool); }

static void prepare_race(Side *side)
{
    static Case to;
    char path[PATH_SIZE];
    FacetPool *pool = side->pools[side->threads];
    must(onnx_export(side->race, NULL, file_in(path, side, "race.onnx")));
    side_add_training(&side->works, &to, side->race, pool);
    side_add_plan(&side->works, "plan-50", side->race, COMPOSED_STEPS, pool);
    side_add_plan(&side->works, "plan-default", side->race, 0, pool);
    must(safetensors_write(file_in(path, side, "race.safetensors"), json_object(), to.tensors,
                           to.count));
}

static void prepare_gate(Side *side)
{
    static Case to;
    char path[PATH_SIZE];
    FacetPool *pool = side->pools[side->threads];
    must(onnx_export(side->gate, NULL, file_in(path, side, "gate.onnx")));
    must(onnx_export(side->gate, "encoder", file_in(path, side, "gate-encoder.onnx")));
    ScoreInputs in = side_score_inputs(side->gate, side_branches(side->gate));
    side_add_score(&to, side->gate, &in, pool);
    side_add_encoder(&side->works, &to, side->gate, pool);
    side_add_plan(&side->works, "pilot-10", side->gate, PILOT_STEPS, pool);
    side_add_plan(&side->works, "pilot-default", side->gate, 0, pool);
    must(safetensors_write(file_in(path, side, "gate.safetensors"), json_object(), to.tensors,
                           to.count));
}

static Json *describe_policy(const FacetPolicy *policy)
{
    Json *out = json_object();
    json_set_numbers(out, {"parameters", (double)policy_parameters(policy)},
                     {"default_steps", policy_default_steps(policy)},
                     {"branches", side_branches(policy)});
    return out;
}

static void print_hello(const Side *side)
{
    Json *hello = json_object(), *operations = json_object();
    for (int i = 0; i < side->works.count; i++)
        json_set_number(operations, side->works.list[i].name, side->works.list[i].operations);
    json_set_string(hello, "kernels", peak_kernels());
    json_set(hello, "race", describe_policy(side->race));
    json_set(hello, "gate", describe_policy(side->gate));
    json_set(hello, "operations", operations);
    char *text = json_line(hello);
    puts(text);
    fflush(stdout);
    free(text);
    json_free(hello);
}

// ---- Answering ----------------------------------------------------------------------------------

static const Work *find_work(const Works *works, const char *name)
{
    for (int i = 0; i < works->count; i++)
        if (strcmp(works->list[i].name, name) == 0) return &works->list[i];
    return NULL;
}

static void answer(Side *side, const char *request)
{
    char name[32] = "";
    int threads = 0, repeats = 0;
    sscanf(request, "%31s %d %d", name, &threads, &repeats);
    const Work *work = find_work(&side->works, name);
    if (!work || threads < 1 || threads > side->threads)
        must(status_fail(FACET_BAD_ARGUMENT, "expected WORK THREADS REPEATS, found %s", request));
    for (int i = 0; i < repeats; i++) {
        double start = wall_seconds();
        work->run(work->self, side->pools[threads]);
        printf("%.4f ", 1e3 * (wall_seconds() - start));
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    peak_choose_kernels(argc, argv);
    int threads = argc == 5 ? atoi(argv[4]) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: facet_side RACE_POLICY GATE_POLICY FOLDER THREADS\n");
        return 2;
    }
    static Side side;
    static Peak peak;
    side.folder = argv[3], side.threads = threads;
    must(facet_policy_load(&side.race, argv[1]));
    must(facet_policy_load(&side.gate, argv[2]));
    for (int i = 1; i <= threads; i++) must(facet_pool_create(&side.pools[i], i));
    peak_create(&peak, threads);
    works_add(&side.works, "peak", peak_operations(), run_peak, &peak);
    prepare_race(&side);
    prepare_gate(&side);
    print_hello(&side);
    for (char line[128]; fgets(line, sizeof line, stdin);) answer(&side, line);
    return 0;
}
