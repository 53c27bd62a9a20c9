// Checkpoints of a training run and the log of its losses (see train/training.h).
//
// A checkpoint holds, beside the settings, the number of the network that is being trained and of
// its updates so far, the weights, moments and moving average of that network, and the finished
// weights of those before it. Random numbers and the order of the data follow from the update's
// number. The rows of the log are on disk before a checkpoint is, so after any end of a run the log
// has every row up to the checkpoint, and a resumed run drops those behind it.
#include "base/text.h"
#include "train/training.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Checkpoints --------------------------------------------------------------------------------

#define ENCODER_PREFIX "encoder." // before the names of the encoder's tensors
static const char *const block_names[CHECKPOINT_BLOCKS] = {"weights.", "m.", "v.", "average."};

static void state_blocks(float *blocks[CHECKPOINT_BLOCKS], float *params,
                         const Optimizer *optimizer)
{
    blocks[0] = params;
    blocks[1] = optimizer->m;
    blocks[2] = optimizer->v;
    blocks[3] = optimizer->ema;
}

void checkpoint_sources(TensorSource *sources, float *params, const Optimizer *optimizer,
                        const char *prefix)
{
    float *blocks[CHECKPOINT_BLOCKS];
    char name[SAFETENSORS_NAME_SIZE];
    state_blocks(blocks, params, optimizer);
    for (int b = 0; b < CHECKPOINT_BLOCKS; b++) {
        snprintf(name, sizeof name, "%s%s", prefix, block_names[b]);
        policy_sources(sources + b * optimizer->table->count, optimizer->table, blocks[b],
                       TENSOR_F32, name);
    }
}

FacetStatus checkpoint_read_state(float *params, Optimizer *optimizer, const Safetensors *file,
                                  const char *prefix)
{
    float *blocks[CHECKPOINT_BLOCKS];
    char name[SAFETENSORS_NAME_SIZE];
    state_blocks(blocks, params, optimizer);
    for (int b = 0; b < CHECKPOINT_BLOCKS; b++) {
        snprintf(name, sizeof name, "%s%s", prefix, block_names[b]);
        TRY(policy_read_block(blocks[b], optimizer->table, file, name));
    }
    return status_ok();
}

static void done_prefix(char out[SAFETENSORS_NAME_SIZE], const FacetPolicy *policy, int network)
{
    char prefix[SAFETENSORS_NAME_SIZE];
    policy_prefix(prefix, policy, network);
    snprintf(out, SAFETENSORS_NAME_SIZE, "done.%.180s", prefix);
}

void checkpoint_set_number(Json *metadata, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    json_set_string(metadata, key, text);
}

static FacetStatus write_state(Training *t)
{
    const FacetPolicy *policy = t->policy;
    const TensorTable *table = &policy->net->table;
    int tensors = table->count, blocks = CHECKPOINT_BLOCKS + t->network, count = blocks * tensors;
    int encoder = policy->encoder ? encoder_table(policy->encoder)->count : 0;
    count += blocks * encoder;
    if (fflush(t->log) != 0 || fsync(fileno(t->log)) != 0)
        return status_fail(status_errno(errno), "%s: cannot write: %s", t->csv, strerror(errno));
    TensorSource *sources = calloc((size_t)count, sizeof *sources);
    if (!sources) return status_fail(FACET_NO_MEMORY, "%s: out of memory", t->checkpoint);
    checkpoint_sources(sources, t->trainer->params, t->trainer->optimizer, "");
    for (int i = 0; i < t->network; i++) {
        char prefix[SAFETENSORS_NAME_SIZE];
        done_prefix(prefix, policy, i);
        policy_sources(sources + (CHECKPOINT_BLOCKS + i) * tensors, table, policy->params[i],
                       TENSOR_F32, prefix);
        if (!encoder) continue;
        strcat(prefix, ENCODER_PREFIX);
        policy_sources(sources + blocks * tensors + (CHECKPOINT_BLOCKS + i) * encoder,
                       encoder_table(policy->encoder), policy->encoder_params[i], TENSOR_F32,
                       prefix);
    }
    if (encoder)
        checkpoint_sources(sources + blocks * tensors, t->learner->params, t->learner->optimizer,
                           ENCODER_PREFIX);
    Json *metadata = policy_metadata(policy, CHECKPOINT_FORMAT);
    checkpoint_set_number(metadata, "at_network", t->network);
    checkpoint_set_number(metadata, "at_update", (double)t->trainer->optimizer->updates);
    checkpoint_set_number(metadata, "at_total", (double)t->total);
    checkpoint_set_number(metadata, "at_tail", t->tail);
    checkpoint_set_number(metadata, "at_losses", t->losses);
    FacetStatus status = safetensors_write(t->checkpoint, metadata, sources, count);
    free(sources);
    return status;
}

FacetStatus checkpoint_write(Training *t)
{
    trainer_collect(t->trainer);
    return ranks_agree(t->options->ranks,
                       ranks_lead(t->options->ranks) ? write_state(t) : status_ok());
}

// What may differ between a run and the one that it resumes.
static bool may_differ(const char *key)
{
    static const char *const keys[] = {"train_command", "train_data", "facet_version",
                                       "train_updates", "train_loss"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

// Where a value is a list of settings, the refusal names the one that differs.
static FacetStatus other_setting(const char *path, const char *key, const char *expected,
                                 const char *found)
{
    char wanted[100], there[100];
    bool listed = strcmp(key, "train_frames") == 0;
    if (listed) text_difference(wanted, there, sizeof wanted, expected, found);
    if (listed && !*wanted) snprintf(wanted, sizeof wanted, "nothing more");
    if (listed && !*there) snprintf(there, sizeof there, "nothing more");
    return status_fail(FACET_BAD_FILE, "%s: expected the %s of this run, %.100s, found %.100s",
                       path, key, listed ? wanted : expected, listed ? there : found);
}

// A setting that a file has only where it is in use, and that this run does without.
static FacetStatus expect_none(const Safetensors *file, const char *path, const char *key,
                               const char *without)
{
    const char *found = safetensors_metadata(file, key);
    return found ? other_setting(path, key, without, found) : status_ok();
}

FacetStatus checkpoint_same(const Json *settings, const Safetensors *file, const char *path)
{
    JsonRef root = json_root(settings, path), at;
    int count = 0;
    FacetStatus status = json_length(&count, &root);
    for (int i = 0; i < count && status.ok; i++) {
        status = json_element(&at, &root, i);
        if (!status.ok || may_differ(json_key(&at))) continue;
        const char *found = safetensors_metadata(file, json_key(&at));
        if (found && strcmp(found, json_chars(&at)) == 0) continue;
        status = other_setting(path, json_key(&at), json_chars(&at), found ? found : "none");
    }
    return status;
}

FacetStatus checkpoint_matches(FacetPolicy *policy, const Safetensors *file, const char *path,
                               const char *format)
{
    Json *expected = policy_metadata(policy, format);
    FacetStatus status = checkpoint_same(expected, file, path);
    json_free(expected);
    PolicyRecord *record = &policy->record;
    if (status.ok && !(record->agreement_weight > 0.0))
        status = expect_none(file, path, "train_agreement_weight", "none");
    if (status.ok && !record->no_selection)
        status = expect_none(file, path, "train_selection", "on");
    const char *command = safetensors_metadata(file, "train_command");
    const char *data = safetensors_metadata(file, "train_data");
    const char *version = safetensors_metadata(file, "facet_version");
    if (command) snprintf(record->command, sizeof record->command, "%s", command);
    if (data) snprintf(record->data, sizeof record->data, "%s", data);
    if (version) snprintf(record->version, sizeof record->version, "%s", version);
    return status;
}

FacetStatus checkpoint_compare(const Training *t)
{
    FacetRanks *ranks = t->options->ranks;
    if (!ranks) return status_ok();
    TRY(ranks_same(ranks, t->policy->record.data, t->policy->record.data_hash));
    Json *settings = policy_metadata(t->policy, CHECKPOINT_FORMAT);
    JsonRef root = json_root(settings, t->out), at;
    int count = 0;
    FacetStatus status = json_length(&count, &root);
    for (int i = 0; i < count && status.ok; i++) {
        status = json_element(&at, &root, i);
        if (status.ok) status = ranks_same(ranks, json_key(&at), json_chars(&at));
    }
    json_free(settings);
    return status;
}

FacetStatus checkpoint_number(double *out, const Safetensors *file, const char *path,
                              const char *key, double max)
{
    const char *text = safetensors_metadata(file, key);
    char *end;
    *out = text ? strtod(text, &end) : -1.0;
    if (text && end != text && !*end && *out >= 0.0 && *out <= max) return status_ok();
    return status_fail(FACET_BAD_FILE, "%s: %s: expected a number from 0 to %g, found '%.40s'",
                       path, key, max, text ? text : "none");
}

static FacetStatus read_place(Training *t, const Safetensors *file, long *update)
{
    double network, updates;
    TRY(checkpoint_matches(t->policy, file, t->checkpoint, CHECKPOINT_FORMAT));
    TRY(checkpoint_number(&network, file, t->checkpoint, "at_network", t->policy->networks - 1));
    TRY(checkpoint_number(&updates, file, t->checkpoint, "at_update", 1e15));
    TRY(checkpoint_number(&t->tail, file, t->checkpoint, "at_tail", 1e300));
    TRY(checkpoint_number(&t->losses, file, t->checkpoint, "at_losses", 1e300));
    t->network = (int)network;
    *update = (long)updates;
    for (int i = 0; i < t->network; i++) {
        char prefix[SAFETENSORS_NAME_SIZE];
        done_prefix(prefix, t->policy, i);
        TRY(policy_read_block(t->policy->params[i], &t->policy->net->table, file, prefix));
        if (!t->policy->encoder) continue;
        strcat(prefix, ENCODER_PREFIX);
        TRY(policy_read_block(t->policy->encoder_params[i], encoder_table(t->policy->encoder), file,
                              prefix));
    }
    return status_ok();
}

FacetStatus checkpoint_read(Training *t, Safetensors **file, long *update)
{
    TRY(safetensors_read(file, t->checkpoint));
    FacetStatus status = read_place(t, *file, update);
    if (status.ok) return status;
    safetensors_free(*file);
    *file = NULL;
    return status;
}

// A run of another length has another schedule. The number of epochs is among the settings, but
// not that of the updates of a policy that sees.
static FacetStatus check_length(const Training *t, const Safetensors *file, long update)
{
    double total = (double)t->total;
    if (safetensors_metadata(file, "at_total"))
        TRY(checkpoint_number(&total, file, t->checkpoint, "at_total", 1e15));
    if ((long)total != t->total)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected a training of %ld updates, found one of %ld",
                           t->checkpoint, t->total, (long)total);
    long last = t->options->until ? t->options->until : t->total;
    if (update > last)
        return status_fail(FACET_BAD_FILE, "%s: expected at most %ld updates, found %ld",
                           t->checkpoint, last, update);
    return status_ok();
}

FacetStatus checkpoint_read_trainer(Training *t, const Safetensors *file, long update)
{
    TRY(check_length(t, file, update));
    TRY(checkpoint_read_state(t->trainer->params, t->trainer->optimizer, file, ""));
    if (t->policy->encoder) {
        TRY(checkpoint_read_state(t->learner->params, t->learner->optimizer, file, ENCODER_PREFIX));
        t->learner->optimizer->updates = t->learner->frozen ? 0 : update;
    }
    t->trainer->optimizer->updates = update;
    return status_ok();
}

// ---- The log ------------------------------------------------------------------------------------

// The last four are empty but where the sets that are not learned were looked at.
static const char header[] = "network,update,epoch,loss,denoise,composed,grad_norm,rate,"
                             "valid,valid_composed,held_out,held_out_composed\n";

// The whole number and the comma at the text's start, and what follows; NULL for anything else. Not
// strtol: with strict string checks a sanitizer reads on to the end of the text, which is long.
static const char *row_number(long *number, const char *text)
{
    const char *at = text;
    for (*number = 0; isdigit((unsigned char)*at) && *number < LONG_MAX / 10 - 1; at++)
        *number = 10 * *number + (*at - '0');
    return at > text && *at == ',' ? at + 1 : NULL;
}

static bool row_place(long *network, long *update, const char *row)
{
    const char *second = row_number(network, row);
    return second && row_number(update, second);
}

// The length of the rows up to this network and update, and how many there are. They rise.
static size_t rows_up_to(long *rows, const char *text, size_t size, int network, long update)
{
    const char *at = text, *last = text + size;
    long before_network = 0, before_update = 0;
    *rows = 0;
    if (strncmp(at, header, strlen(header)) != 0) return 0;
    for (at += strlen(header);; ++*rows) {
        long row_network, row_update;
        const char *end = memchr(at, '\n', (size_t)(last - at));
        bool row = end && row_place(&row_network, &row_update, at);
        if (!row || row_network > network || (row_network == network && row_update > update) ||
            row_network < before_network ||
            (row_network == before_network && row_update <= before_update))
            return (size_t)(at - text);
        before_network = row_network;
        before_update = row_update;
        at = end + 1;
    }
}

FacetStatus log_open(Training *t, int network, long update, long before)
{
    char *text = NULL;
    size_t size = 0;
    long rows = 0;
    bool resumed = network > 0 || update > 0;
    if (!ranks_lead(t->options->ranks)) return status_ok();
    FacetStatus read = resumed ? file_read(&text, &size, t->csv) : status_ok();
    if (!read.ok && read.code != FACET_NOT_FOUND) return read;
    if (text) size = rows_up_to(&rows, text, size, network, update);
    t->log_missing = before > rows ? before - rows : 0;
    FacetStatus status =
        size > 0 ? file_write(t->csv, text, size) : file_write(t->csv, header, strlen(header));
    free(text);
    if (!status.ok) return status;
    t->log = fopen(t->csv, "ab");
    return t->log
               ? status_ok()
               : status_fail(status_errno(errno), "%s: cannot open: %s", t->csv, strerror(errno));
}

// A cell, which is empty for a number that is not there.
static bool log_cell(FILE *log, double value)
{
    return fputc(',', log) != EOF && (isnan(value) || fprintf(log, "%.9g", value) >= 0);
}

FacetStatus log_row(Training *t, const TrainReport *report, long epoch,
                    const TrainLoss losses[CHECK_SETS])
{
    if (!t->log) return status_ok(); // that of another rank
    bool written = fprintf(t->log, "%d,%ld,%ld,%.9g,%.9g,%.9g,%.9g,%.9g", t->network,
                           report->update, epoch, report->loss, report->denoise, report->composed,
                           report->grad_norm, report->rate) >= 0;
    for (int i = 0; i < CHECK_SETS; i++)
        written = written && log_cell(t->log, losses ? losses[i].joint : (double)NAN) &&
                  log_cell(t->log, losses ? losses[i].composed : (double)NAN);
    if (!written || fputc('\n', t->log) == EOF)
        return status_fail(status_errno(errno), "%s: cannot write: %s", t->csv, strerror(errno));
    return status_ok();
}

FacetStatus log_close(Training *t)
{
    if (!t->log) return status_ok();
    bool written = fflush(t->log) == 0 && fsync(fileno(t->log)) == 0;
    int error = errno;
    if (fclose(t->log) != 0 && written) written = false, error = errno;
    t->log = NULL;
    return written
               ? status_ok()
               : status_fail(status_errno(error), "%s: cannot write: %s", t->csv, strerror(error));
}
