// Commands that work in a scratch folder, and what they say.
#ifndef FACET_TESTS_PROGRAM_IN_SCRATCH_H
#define FACET_TESTS_PROGRAM_IN_SCRATCH_H

#include "base/json.h"
#include "program/program.h"
#include "scratch.h"

static Scratch scratch; // of the test that runs

static inline int begin(void **state)
{
    (void)state;
    scratch = scratch_begin();
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    scratch_end(&scratch);
    return 0;
}

// A command line in which every @ is the scratch folder.
static inline void in_scratch(char *line, size_t size, const char *arguments)
{
    size_t used = 0;
    for (const char *c = arguments; *c && used + sizeof scratch.folder < size; c++) {
        const char letter[] = {*c, '\0'};
        used +=
            (size_t)snprintf(line + used, size - used, "%s", *c == '@' ? scratch.folder : letter);
    }
}

static inline Run facet(const char *arguments)
{
    char line[512];
    in_scratch(line, sizeof line, arguments);
    return run(line);
}

static inline Run done(const char *arguments)
{
    Run result = facet(arguments);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    return result;
}

// Ends with this code and one line on stderr with these words.
static inline void refused(const char *arguments, int code, const char *words)
{
    Run result = facet(arguments);
    const char *line = strchr(result.err, '\n');
    if (result.code != code || !strstr(result.err, words) || !line || line[1]) {
        print_error("facet %s ended with %d and said \"%s\", expected %d and a line with \"%s\"\n",
                    arguments, result.code, result.err, code, words);
        fail();
    }
}

static inline Json *read_json(JsonRef *root, const char *name)
{
    Json *document;
    const char *path = scratch_path(&scratch, name);
    assert_ok(json_read(&document, path));
    *root = json_root(document, scratch.path);
    return document;
}

static inline int count_of(const JsonRef *object, const char *key)
{
    double value = -1.0;
    assert_ok(json_member_number(&value, object, key, 0.0, 1e9));
    return (int)value;
}

static inline void assert_text(const JsonRef *object, const char *key, const char *expected)
{
    JsonRef at;
    assert_ok(json_member(&at, object, key));
    assert_string_equal(json_chars(&at), expected);
}

#endif
