// A trained policy as one object: load, sample, save, and train.
//
// A policy turns a task into an action chunk of T x D numbers by denoising. It carries all that
// sampling needs: the factors' names, the channels' ranges, the network's shape and weights, the
// noise schedule, what the network predicts, and the record of its training. It lives in one
// safetensors file (docs/policies.md describes it).
#ifndef FACET_POLICY_H
#define FACET_POLICY_H

#include <facet/factor.h>
#include <facet/normalizer.h>
#include <facet/pool.h>
#include <facet/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Policy Policy;

// The methods of the paper's comparison.
typedef enum PolicyMethod {
    POLICY_FACTORED, // one network that is shown the factors, some of them null
    POLICY_BASELINE, // the same network without factor input
    POLICY_KNET,     // 1 + sum |values| networks without factor input, one a value and one for all
    POLICY_ORACLE,   // factored, with nothing held out
} PolicyMethod;

const char *policy_method_name(PolicyMethod method); // "factored", "baseline", "knet", "oracle"
Status policy_method_parse(PolicyMethod *method, const char *name);

// ---- Files --------------------------------------------------------------------------------------

typedef enum PolicyPrecision {
    POLICY_FP32,
    POLICY_FP16, // half the size; weights are rounded to 11 bits
} PolicyPrecision;

// A failure names the file, the tensor or setting, what was expected and what was found. Destroy
// accepts NULL.
Status policy_load(Policy **policy, const char *path);
Status policy_save(const Policy *policy, const char *path, PolicyPrecision precision);
void policy_destroy(Policy *policy);

// ---- What a policy is ---------------------------------------------------------------------------

enum { POLICY_TEXT = 4096 };

// How a policy was trained.
typedef struct PolicyRecord {
    char recipe[32];
    char command[POLICY_TEXT];
    char data[256];     // file name of the demonstrations
    char data_hash[20]; // of their contents
    char version[32];   // of Facet
    uint64_t seed;
    int epochs, batch;
    long warmup;             // updates
    double rate, rate_floor; // peak learning rate, and the part of it left at the end
    double drop[FACTOR_MAX]; // probability that a factor is null
    double composed_weight;  // of the composed loss
    int draws;               // rows a sample; 1 unless the policy sees
    double jitter;           // strength of the changes of exposure and colour in training
    bool frozen_encoder;     // kept as it was
    long updates;            // done, over all networks
    double loss;             // mean of the last epoch, or the last tenth if it sees
} PolicyRecord;

PolicyMethod policy_method(const Policy *policy);
const FactorSpace *policy_space(const Policy *policy);
const FactorSplit *policy_training(const Policy *policy); // the tasks it was trained on
const FactorSplit *policy_held_out(const Policy *policy); // the tasks held out of training
const Normalizer *policy_normalizer(const Policy *policy);
const PolicyRecord *policy_record(const Policy *policy);
int policy_horizon(const Policy *policy);       // T
int policy_dim(const Policy *policy);           // D
int policy_noise_steps(const Policy *policy);   // of training; no sampler takes more
int policy_default_steps(const Policy *policy); // of sampling
double policy_default_temperature(const Policy *policy);
int policy_networks(const Policy *policy);      // 1, or those of POLICY_KNET
size_t policy_parameters(const Policy *policy); // of all networks and of the encoder

// A policy that sees takes a frame of its camera beside the task: an encoder turns the frame into
// the features that condition the network. The size of its frames in pixels; a frame of another
// size is refused.
bool policy_sees(const Policy *policy);
void policy_frame_size(const Policy *policy, int *width, int *height); // of one that sees
int policy_frame_shrink(const Policy *policy); // frames are averaged over shrink x shrink pixels
Status policy_check_frame(const Policy *policy, int width, int height);

// Whether training showed this value. A task with a value that it did not is refused.
bool policy_knows(const Policy *policy, int factor, int value);

// ---- Sampling -----------------------------------------------------------------------------------

typedef enum PolicyMode {
    POLICY_COMPOSED, // s_null + sum_i w_i (s_i - s_null)
    POLICY_JOINT,    // all factors shown at once; POLICY_KNET has no such network
} PolicyMode;

typedef enum PolicySampler {
    POLICY_DDIM,
    POLICY_DPMPP, // DPM-Solver++ 2M
} PolicySampler;

Status policy_mode_parse(PolicyMode *mode, const char *name);          // "composed", "joint"
Status policy_sampler_parse(PolicySampler *sampler, const char *name); // "ddim", "dpmpp"

typedef struct PolicySampling {
    PolicyMode mode;
    PolicySampler sampler;
    int steps;               // 0 for the policy's default
    double temperature;      // scale of the starting noise; 0 for the policy's default
    uint64_t seed;           // of the starting noise
    const uint64_t *numbers; // [plans], which noise of the seed each plan starts from; NULL: below
    const double *weights;   // [factors], w_i of composed sampling; NULL for ones
    double *path;            // [steps + 1][plans][T][D], the way from noise to plans; NULL for none
} PolicySampling;

// The steps that a sampling takes, and how much noise is left before each of them and at the end:
// levels [steps + 1], sqrt(1 - abar), 0 at the end.
int policy_sampling_steps(const Policy *policy, const PolicySampling *sampling);
Status policy_noise_levels(double *levels, const Policy *policy, const PolicySampling *sampling);

// Samples actions [plans][T][D], in the data's units, for tasks [plans]. A null value of a task
// leaves that factor open. Without numbers, the noise of a plan follows from the seed, its task and
// how many plans of this call before it have the same task: what else is sampled with it changes
// nothing, and neither does the number of threads. Several threads may sample from one policy, each
// with its own pool; a NULL pool is the calling thread alone.
Status policy_sample(double *actions, const Policy *policy, const FactorTask *tasks, int plans,
                     const PolicySampling *sampling, ThreadPool *pool);

// Sampling again and again, such as a plan a frame: weights are packed and memory is made once, and
// a sampling allocates nothing. It is made for `plans` at once (more are taken in batches) and for
// pools of up to `threads` threads. The policy must outlive its runners, and they share nothing
// else: each of several threads may have its own. Destroy accepts NULL.
typedef struct PolicyRunner PolicyRunner;
Status policy_runner_create(PolicyRunner **runner, const Policy *policy, int plans, int threads);
void policy_runner_destroy(PolicyRunner *runner);

// What policy_sample gives, to the bit. A policy that sees takes frames [plans][height][width][3]
// of its camera, one a plan; for any other they are NULL.
Status policy_runner_sample(double *actions, PolicyRunner *runner, const FactorTask *tasks,
                            const uint8_t *frames, int plans, const PolicySampling *how,
                            ThreadPool *pool);

// ---- Training -----------------------------------------------------------------------------------

// Zeros and NULLs take the recipe's or the default value.
typedef struct TrainOptions {
    PolicyMethod method;
    const char *recipe; // "default" or "paper"
    const char *const *hold_out;
    int hold_out_count;     // tasks as texts; the oracle trains on them all the same
    const char *drop;       // "0.1", or "track=0.1,size=0.3"
    double composed_weight; // of the composed loss; 0 leaves it out
    const char *predict;    // "v", "eps" or "x0"
    int epochs, batch;
    double rate;
    int blocks, channels, embed;
    uint64_t seed;
    int threads;
    bool resume; // go on from OUT.ckpt, or begin when there is none
    bool quiet;
    PolicyPrecision precision; // of the finished policy
    long checkpoint_every;     // updates
    double knee;               // of the normalizer (facet/normalizer.h); below 0 for none
    const char *command;       // for the record
    const char *version;       // of the program, for the record

    // Only for policies that see.
    const char *encoder;      // "small" or "resnet18"; it must be given
    const char *encoder_from; // a policy whose encoder is taken over and kept as it is
    int draws;                // of noise for each frame of a batch
    double jitter;            // strength of random exposure, contrast and colour; below 0 for none
    long updates;             // in all, instead of epochs
    long until;               // stop after this one, to go on later with more frames; 0 for the end
} TrainOptions;

typedef struct TrainSummary {
    int demos, tasks; // trained on
    int networks;
    size_t parameters; // of all networks
    int epochs;
    long updates;   // of all networks
    long resumed;   // of those, done in earlier runs
    double loss;    // mean of the last epoch, or tenth of a policy that sees
    double seconds; // of this run
} TrainSummary;

// Trains on demonstrations and writes the policy to `out`. Beside it stand OUT.csv, the losses of
// every update, and, until training is complete, OUT.ckpt, from which training resumes bit for bit
// however it ended. After a Ctrl-C that the program watches for, it writes a checkpoint and fails
// with a line that says so.
Status policy_train(TrainSummary *summary, const char *data, const char *out,
                    const TrainOptions *options);

// The same for a policy that sees, on the frames of image sets (facet/image_set.h), trained for a
// number of updates. Held-out tasks may leave factors open: "venue=pool" holds out all of pool's.
// Ranges and training tasks are those of the first file. Training that stops at `until` writes the
// policy as it is then and keeps OUT.ckpt; more files may be there when it resumes.
Status policy_train_images(TrainSummary *summary, const char *const *files, int count,
                           const char *out, const TrainOptions *options);

#ifdef __cplusplus
}
#endif

#endif
