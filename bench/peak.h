// The sgemm peak: one large square OpenBLAS product a thread, on all threads at once.
//
// An OpenBLAS that does not know the processor takes kernels of a very old one and reaches a tenth
// of the peak. So the kernels are chosen by trial: a child a choice, and the fastest stays.
#ifndef FACET_BENCH_PEAK_H
#define FACET_BENCH_PEAK_H

#include "base/pool.h"
#include "bench.h"
#include "linalg/gemm.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEAK_SQUARE = 1024, PEAK_TRIES = 5 };
#define PEAK_TRIAL   "--sgemm-trial" // a child is called with this alone
#define PEAK_KERNELS "OPENBLAS_CORETYPE"

typedef struct Peak {
    float *matrices; // three squares a thread
} Peak;

static inline void peak_create(Peak *peak, int threads)
{
    gemm_set_threads(1); // the pool has the others
    size_t count = (size_t)threads * 3 * PEAK_SQUARE * PEAK_SQUARE;
    peak->matrices = malloc(count * sizeof *peak->matrices);
    if (!peak->matrices) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    for (size_t i = 0; i < count; i++) peak->matrices[i] = (float)(i % 97) * 0.01f;
}

static inline void peak_destroy(Peak *peak) { free(peak->matrices); }

static inline void peak_square(void *matrices, int index, int worker)
{
    (void)worker;
    const size_t square = (size_t)PEAK_SQUARE * PEAK_SQUARE;
    float *a = (float *)matrices + (size_t)index * 3 * square, *b = a + square, *c = b + square;
    linalg_gemm_f32(c, PEAK_SQUARE, GEMM_PLAIN, a, PEAK_SQUARE, GEMM_PLAIN, b, PEAK_SQUARE,
                    PEAK_SQUARE, PEAK_SQUARE, PEAK_SQUARE, 0.0f);
}

// One product on each thread of the pool, and the operations of one of them.
static inline void peak_run(const Peak *peak, FacetPool *pool)
{
    pool_for(pool, facet_pool_threads(pool), peak_square, peak->matrices);
}

static inline double peak_operations(void) { return 2.0 * PEAK_SQUARE * PEAK_SQUARE * PEAK_SQUARE; }

// What a child does: prints the operations a second of one thread.
static inline void peak_print_trial(void)
{
    Peak peak;
    double seconds[PEAK_TRIES];
    peak_create(&peak, 1);
    peak_square(peak.matrices, 0, 0);
    for (int i = 0; i < PEAK_TRIES; i++) {
        double start = wall_seconds();
        peak_square(peak.matrices, 0, 0);
        seconds[i] = wall_seconds() - start;
    }
    printf("%g\n", peak_operations() / median(seconds, PEAK_TRIES));
    peak_destroy(&peak);
}

// The rate of a child with these kernels, 0 when the processor cannot run them.
static inline double peak_try(const char *kernels)
{
    int ends[2];
    if (pipe(ends)) return 0.0;
    pid_t child = fork();
    if (child == 0) {
        if (*kernels) setenv(PEAK_KERNELS, kernels, 1);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "peak", PEAK_TRIAL, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    char line[32] = "";
    if (answer && fgets(line, sizeof line, answer) == NULL) line[0] = '\0';
    if (answer) fclose(answer);
    waitpid(child, NULL, 0);
    return strtod(line, NULL);
}

// To be called first in main: goes on with the fastest kernels, in this process anew if they are
// not OpenBLAS's own choice. Kernels that the user named stay.
static inline void peak_choose_kernels(int argc, char **argv)
{
    static const char *const known[] = {"",         "Haswell",    "Zen",
                                        "SkylakeX", "Cooperlake", "Sapphirerapids"};
    if (argc == 2 && strcmp(argv[1], PEAK_TRIAL) == 0) {
        peak_print_trial();
        exit(0);
    }
    if (getenv(PEAK_KERNELS)) return;
    const char *best = "";
    double fastest = 0.0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double rate = peak_try(known[i]);
        if (rate > 1.02 * fastest) best = known[i], fastest = rate; // a tie keeps the plainer
    }
    if (!*best) return;
    setenv(PEAK_KERNELS, best, 1);
    execv("/proc/self/exe", argv);
    must(status_fail(FACET_BAD_FILE, "/proc/self/exe: cannot run it again"));
}

// The name of the kernels in use.
static inline const char *peak_kernels(void)
{
    const char *named = getenv(PEAK_KERNELS);
    return named ? named : "its own choice";
}

#endif
