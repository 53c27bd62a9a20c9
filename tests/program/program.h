// Runs the built program as a user would, and keeps its exit code and what it printed.
#ifndef FACET_TESTS_PROGRAM_H
#define FACET_TESTS_PROGRAM_H

#include "base/text.h"
#include "testing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Run {
    int code; // exit code, or -1 when a signal ended it
    char out[16384], err[4096];
} Run;

static inline void read_back(char *text, size_t size, FILE *stream)
{
    rewind(stream);
    text[fread(text, 1, size - 1, stream)] = '\0';
    fclose(stream);
}

// Runs `facet ARGUMENTS`, split at spaces. Its stdout goes to the file `sink` if that is given.
static inline Run run_into(const char *sink, const char *arguments)
{
    char words[512], *argv[32] = {(char[]){"facet"}};
    snprintf(words, sizeof words, "%s", arguments);
    int argc = 1;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    FILE *out = sink ? fopen(sink, "w+") : tmpfile(), *err = tmpfile();
    assert_true(out && err);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        execv(FACET_PROGRAM, argv);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    Run run = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    if (sink)
        fclose(out);
    else
        read_back(run.out, sizeof run.out, out);
    read_back(run.err, sizeof run.err, err);
    return run;
}

static inline Run run(const char *arguments) { return run_into(NULL, arguments); }

// No line is wider than a terminal.
static inline void assert_fits(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        char line[512];
        end = text + strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (text_width(line) > 80) print_error("%s\n", line);
        assert_true(text_width(line) <= 80);
    }
}

// Whether a line has these words and nothing else, whatever the spaces between them.
static inline bool has_line(const char *text, const char *words)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        char line[512] = "";
        size_t used = 0;
        end = text + strcspn(text, "\n");
        for (const char *at = text; at < end && used + 1 < sizeof line; at++)
            if (*at != ' ' || (used > 0 && line[used - 1] != ' ')) line[used++] = *at;
        while (used > 0 && line[used - 1] == ' ') used--;
        line[used] = '\0';
        if (strcmp(line, words) == 0) return true;
    }
    return false;
}

// Fails with this exit code, says exactly this on stderr, and nothing on stdout.
static inline void assert_fails(const char *arguments, int code, const char *message)
{
    Run result = run(arguments);
    assert_string_equal(result.err, message);
    assert_string_equal(result.out, "");
    assert_int_equal(result.code, code);
}

// How many commands a study says that it runs.
static inline int count_steps(const char *text)
{
    int steps = 0;
    for (; (text = strstr(text, "\n$ facet ")); text++) steps++;
    return steps;
}

#endif
