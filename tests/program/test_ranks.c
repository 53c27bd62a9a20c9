// The program under mpirun: the same bytes on any number of ranks, ranks that stop, die or differ.
// Without MPI it says what to install.
#include "base/file.h"
#include "program.h"
#include "scratch.h"

#include <signal.h>
#include <time.h>

#define COURSES "--courses " TEST_SOURCE "/tests/race/sample"
#define TRAIN                                                                                      \
    "train --data demos.h5 --out p.safetensors --blocks 2 --channels 16 --epochs 120 --batch 16 "  \
    "--composed-loss 3 --threads 1 --quiet --resume"

enum { PATIENCE = 60 }; // s

static Run result_of(int code)
{
    Run run = {.code = WIFEXITED(code) ? WEXITSTATUS(code) : -1};
    read_back(run.out, sizeof run.out, fopen("out.txt", "r"));
    read_back(run.err, sizeof run.err, fopen("err.txt", "r"));
    return run;
}

#ifndef FACET_MPI

static void ranks_without_mpi_say_what_to_install(void **state)
{
    (void)state;
    Run run = result_of(system("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 '" FACET_PROGRAM
                               "' version >out.txt 2>err.txt"));
    assert_int_equal(run.code, 1);
    assert_string_equal(run.out, "");
    assert_non_null(strstr(run.err, "install libopenmpi-dev and openmpi-bin"));
    assert_non_null(strstr(run.err, "one of 2 ranks"));
    // The other rank leaves that to the first.
    run = result_of(system("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 '" FACET_PROGRAM
                           "' version >out.txt 2>err.txt"));
    assert_int_equal(run.code, 0);
    assert_string_equal(run.err, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_without_mpi_say_what_to_install),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}

#else

// ---- Ranks --------------------------------------------------------------------------------------

// `program` stands between mpirun and the arguments.
static void mpi_command(char *out, size_t size, int ranks, const char *program,
                        const char *arguments)
{
    snprintf(out, size,
             "exec env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun --oversubscribe -n %d '%s' %s "
             ">out.txt 2>err.txt",
             ranks, program, arguments);
}

static Run run_program_on(int ranks, const char *program, const char *arguments)
{
    char command[2048];
    mpi_command(command, sizeof command, ranks, program, arguments);
    return result_of(system(command));
}

static Run run_on(int ranks, const char *arguments)
{
    return run_program_on(ranks, FACET_PROGRAM, arguments);
}

static pid_t start_on(int ranks, const char *arguments)
{
    char command[2048];
    mpi_command(command, sizeof command, ranks, FACET_PROGRAM, arguments);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

static Run wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return result_of(status);
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

// Waits until the log has grown past so many bytes.
static void wait_for_log(long bytes)
{
    struct stat info;
    time_t start = time(NULL);
    while (stat("p.safetensors.csv", &info) != 0 || info.st_size <= bytes) {
        if (time(NULL) - start > PATIENCE) fail_msg("the training does not get on");
        rest();
    }
}

// A child process of mpirun: one of the ranks.
static pid_t rank_of(pid_t mpirun)
{
    char path[64];
    int rank = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)mpirun, (int)mpirun);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &rank), 1);
    fclose(file);
    return rank;
}

// ---- Files --------------------------------------------------------------------------------------

static void assert_same_files(const char *one, const char *other)
{
    char *a, *b;
    size_t size, other_size;
    assert_ok(file_read(&a, &size, one));
    assert_ok(file_read(&b, &other_size, other));
    assert_int_equal(size, other_size);
    assert_memory_equal(a, b, size);
    free(a);
    free(b);
}

static void remove_policy(void)
{
    remove("p.safetensors");
    remove("p.safetensors.csv");
    remove("p.safetensors.ckpt");
}

static int begin(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    assert_int_equal(run("demos " COURSES " --rollouts 10 --out demos.h5 --quiet").code, 0);
    assert_int_equal(run(TRAIN).code, 0);
    assert_int_equal(rename("p.safetensors", "one.safetensors"), 0);
    assert_int_equal(rename("p.safetensors.csv", "one.csv"), 0);
    return 0;
}

// ---- Training -----------------------------------------------------------------------------------

static void a_policy_has_the_same_bytes_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= 4; ranks++) {
        remove_policy();
        Run trained = run_on(ranks, TRAIN);
        assert_int_equal(trained.code, 0);
        assert_same_files("p.safetensors", "one.safetensors");
        assert_same_files("p.safetensors.csv", "one.csv");
    }
}

// mpirun gives its ranks a second to stop, and does not always pass on what they say then, so only
// what they leave behind is looked at.
static void a_training_goes_on_on_other_ranks_after_a_stop_and_after_a_death(void **state)
{
    (void)state;
    remove_policy();
    pid_t job = start_on(2, TRAIN);
    wait_for_log(200);
    kill(job, SIGINT);
    wait_for(job);
    assert_int_equal(run_on(3, TRAIN).code, 0);
    assert_same_files("p.safetensors", "one.safetensors");
    assert_same_files("p.safetensors.csv", "one.csv");

    remove_policy();
    job = start_on(3, TRAIN);
    wait_for_log(200);
    kill(rank_of(job), SIGKILL);
    assert_int_not_equal(wait_for(job).code, 0);
    assert_false(file_exists("p.safetensors"));
    assert_int_equal(run(TRAIN).code, 0);
    assert_same_files("p.safetensors", "one.safetensors");
    assert_same_files("p.safetensors.csv", "one.csv");
}

static void ranks_without_rows_are_counted(void **state)
{
    (void)state;
    remove_policy();
    Run idle = run_on(3, "train --data demos.h5 --out p.safetensors --blocks 1 --channels 16 "
                         "--epochs 1 --batch 2 --threads 1 --quiet");
    assert_int_equal(idle.code, 0);
    assert_non_null(strstr(idle.out, "2 of 3 ranks were idle"));
}

// ---- Parts that are shared out ------------------------------------------------------------------

static void an_evaluation_is_the_same_on_ranks(void **state)
{
    (void)state;
    const char *eval = "eval one.safetensors " COURSES " --steps 2 --seeds 3 --threads 1 --json ";
    char arguments[400];
    snprintf(arguments, sizeof arguments, "%s one.json --quiet", eval);
    assert_int_equal(run(arguments).code, 0);
    snprintf(arguments, sizeof arguments, "%s shared.json", eval);
    Run shared = run_on(3, arguments);
    assert_int_equal(shared.code, 0);
    assert_same_files("one.json", "shared.json");
}

static void frames_are_the_same_on_ranks(void **state)
{
    (void)state;
    const char *demos = "gate demos --flights 3 --shrink 8 --threads 1 --quiet --out";
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s one.h5", demos);
    assert_int_equal(run(arguments).code, 0);
    snprintf(arguments, sizeof arguments, "%s shared.h5", demos);
    assert_int_equal(run_on(2, arguments).code, 0);
    assert_same_files("one.h5", "shared.h5");
}

// Runs a study that works in the folder r alone and on ranks, and compares these of its files.
static void compare_studies(const char *arguments, const char *const *files, int count, int ranks)
{
    Run alone = run(arguments);
    assert_string_equal(alone.err, "");
    assert_int_equal(alone.code, 0);
    assert_int_equal(rename("r", "alone"), 0);
    Run shared = run_on(ranks, arguments);
    assert_int_equal(shared.code, 0);
    for (int i = 0; i < count; i++) {
        char one[64], other[64];
        snprintf(one, sizeof one, "alone/%s", files[i]);
        snprintf(other, sizeof other, "r/%s", files[i]);
        assert_same_files(one, other);
    }
    scratch_empty("alone");
    scratch_empty("r");
    assert_int_equal(rmdir("alone"), 0);
    assert_int_equal(rmdir("r"), 0);
}

#define SMALL " --blocks 1 --channels 16 --plans 1 --threads 1 --quiet --out r "

static void a_reproduction_is_the_same_on_ranks(void **state)
{
    (void)state;
    static const char *const files[] = {"demos.h5", "paper-1.safetensors", "paper-1.json",
                                        "study.json"};
    compare_studies("reproduce --method paper --epochs 2" SMALL COURSES, files, 4, 2);
}

// Ranks deal out the trainings; of two, each has some of both losses.
static void a_study_of_pairs_is_the_same_on_ranks(void **state)
{
    (void)state;
    static const char *const files[] = {"demos.h5",      "ours-2-1.safetensors", "ours-2-1.json",
                                        "ours-3-1.json", "paper-2-1.json",       "paper-3-1.json",
                                        "pairs.json"};
    compare_studies("study pairs --pairs 2 --pairs 3 --updates 4" SMALL COURSES, files, 7, 2);
}

// The shipped venues with one gate of one colour, for few trials.
static void write_small_venues(void)
{
    static const char *const venues[] = {"Field", "industrial", "piazza", "pool"};
    static const char small[] =
        "{\"frame\": {\"half_width\": 0.762, \"bar\": 0.25, \"thickness\": 0.12},"
        "\"gates\": [{\"name\": \"1\", \"center\": [-7.0, -2.0, 1.6], \"normal\": [0.5, 0.87, "
        "0.0]}],"
        "\"colors\": {\"red\": [0.86, 0.07, 0.06]}}";
    assert_int_equal(mkdir("small", 0755), 0);
    assert_int_equal(mkdir("small/venues", 0755), 0);
    assert_ok(file_write("small/venues/venues.json", small, strlen(small)));
    for (int i = 0; i < 4; i++) {
        char from[512], to[64], *bytes;
        size_t size;
        snprintf(from, sizeof from, TEST_SOURCE "/courses/venues/%s.json", venues[i]);
        snprintf(to, sizeof to, "small/venues/%s.json", venues[i]);
        assert_ok(file_read(&bytes, &size, from));
        assert_ok(file_write(to, bytes, size));
        free(bytes);
    }
}

// Frames are shared; of two trainings and three rows of trials each rank has some.
static void a_gate_study_is_the_same_on_ranks(void **state)
{
    (void)state;
    static const char *const files[] = {"zero-shot.h5",
                                        "zero-shot-ours-1.safetensors",
                                        "zero-shot-told-1.safetensors",
                                        "zero-shot-joint-1.json",
                                        "zero-shot-ours-1.json",
                                        "zero-shot-told-1.json",
                                        "study.json"};
    write_small_venues();
    compare_studies("gate study --method zero-shot-joint --method zero-shot-ours --method "
                    "zero-shot-told --demos 2 --updates 1 --rounds 1 --flights 1 --train 1 "
                    "--held-out 1 --threads 1 --quiet --courses small --out r",
                    files, 7, 2);
}

// ---- What bad input gets ------------------------------------------------------------------------

// A program that does on rank 1 what the line says before it runs Facet.
static void write_wrapper(const char *line)
{
    FILE *file = fopen("wrapper", "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then %s; fi\nexec '%s' \"$@\"\n",
            line, FACET_PROGRAM);
    fclose(file);
    assert_int_equal(chmod("wrapper", 0755), 0);
}

static void ranks_that_differ_are_refused(void **state)
{
    (void)state;
    remove_policy();
    write_wrapper("set -- \"$@\" --seed 2");
    Run options = run_program_on(3, "./wrapper", TRAIN);
    assert_int_equal(options.code, 1);
    assert_non_null(strstr(options.err, "facet train: rank 1: command: expected"));
    assert_non_null(strstr(options.err, "found '--seed 2'"));

    write_wrapper("export FACET_ISA=sse2"); // other kernels would give other bits
    Run isa = run_program_on(2, "./wrapper", TRAIN);
    assert_int_equal(isa.code, 1);
    assert_true(strstr(isa.err, "facet train: rank 1: instructions: expected ") ||
                strstr(isa.err, "FACET_ISA: expected ")); // in a build of one level

    assert_int_equal(mkdir("other", 0755), 0);
    assert_int_equal(
        run("demos " COURSES " --rollouts 2 --seed 2 --out other/demos.h5 --quiet").code, 0);
    write_wrapper("cd other");
    Run data = run_program_on(2, "./wrapper", TRAIN);
    assert_int_equal(data.code, 1);
    assert_non_null(strstr(data.err, "facet train: rank 1: demos.h5: expected"));
    assert_false(file_exists("p.safetensors.ckpt"));
}

static void what_is_not_shared_is_refused(void **state)
{
    (void)state;
    Run race = run_on(2, "race");
    assert_int_equal(race.code, 1);
    assert_non_null(strstr(race.err, "facet race: expected one rank, found 2: start it without"));
    Run missing = run_on(2, "train --data nowhere.h5 --out p.safetensors");
    assert_int_equal(missing.code, 1);
    assert_non_null(strstr(missing.err, "facet train: nowhere.h5: cannot open"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_has_the_same_bytes_on_any_number_of_ranks),
        cmocka_unit_test(a_training_goes_on_on_other_ranks_after_a_stop_and_after_a_death),
        cmocka_unit_test(ranks_without_rows_are_counted),
        cmocka_unit_test(an_evaluation_is_the_same_on_ranks),
        cmocka_unit_test(frames_are_the_same_on_ranks),
        cmocka_unit_test(a_reproduction_is_the_same_on_ranks),
        cmocka_unit_test(a_study_of_pairs_is_the_same_on_ranks),
        cmocka_unit_test(a_gate_study_is_the_same_on_ranks),
        cmocka_unit_test(ranks_that_differ_are_refused),
        cmocka_unit_test(what_is_not_shared_is_refused),
    };
    if (system("mpirun --version >/dev/null 2>&1") != 0) {
        print_message("skipped: no mpirun, which openmpi-bin brings\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, begin, scratch_leave);
}

#endif
