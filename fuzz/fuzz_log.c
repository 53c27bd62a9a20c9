// The log of a training that goes on: its rows up to the checkpoint stay, and what is missing is
// counted.
#include "fuzz.h"
#include "train/training.h"

enum { BEFORE = 8 }; // updates before the checkpoint

// Opens the log at update 3 of the second network. Returns the rows that are missing.
static long open_log(const char *path)
{
    const FacetTrainOptions options = {0};
    Training training = {.options = &options};
    snprintf(training.csv, sizeof training.csv, "%s", path);
    if (!log_open(&training, 1, 3, BEFORE).ok || !log_close(&training).ok) abort();
    if (training.log_missing < 0 || training.log_missing > BEFORE) abort();
    return training.log_missing;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size);
    long missing = open_log(path);
    if (open_log(path) != missing) abort(); // what stays is a log
    return 0;
}
