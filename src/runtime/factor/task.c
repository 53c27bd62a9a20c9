// Tasks of a factor space: their texts and their numbers (see facet/factor.h).
#include "base/status.h"
#include "factor/factor.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// Room for a word of a task's text. A longer word is cut, and is still longer than any name.
enum { WORD_SIZE = 2 * FACET_FACTOR_NAME_SIZE };

FacetFactorTask facet_factor_task_null(void)
{
    FacetFactorTask task;
    for (int i = 0; i < FACET_FACTOR_MAX; i++) task.value[i] = FACET_FACTOR_NULL;
    return task;
}

bool factor_task_equal(FacetFactorTask a, FacetFactorTask b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool values_within(const FacetFactorSpace *space, FacetFactorTask task, int lowest)
{
    int factors = facet_factor_count(space);
    for (int i = 0; i < FACET_FACTOR_MAX; i++) {
        if (i >= factors && task.value[i] != FACET_FACTOR_NULL) return false;
        if (i < factors &&
            (task.value[i] < lowest || task.value[i] >= facet_factor_value_count(space, i)))
            return false;
    }
    return true;
}

bool factor_task_complete(const FacetFactorSpace *space, FacetFactorTask task)
{
    return values_within(space, task, 0);
}

bool factor_task_valid(const FacetFactorSpace *space, FacetFactorTask task)
{
    return values_within(space, task, FACET_FACTOR_NULL);
}

// ---- Text -----------------------------------------------------------------------------------

static void copy_word(char out[WORD_SIZE], const char *begin, const char *end)
{
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    snprintf(out, WORD_SIZE, "%.*s", (int)(end - begin < WORD_SIZE ? end - begin : WORD_SIZE),
             begin);
}

static FacetStatus parse_value(FacetFactorTask *task, const FacetFactorSpace *space, int factor,
                               const char *word, FacetFactorMissing missing)
{
    if (missing == FACET_FACTOR_MISSING_NULL && strcmp(word, "*") == 0) return status_ok();
    return facet_factor_find_value(&task->value[factor], space, factor, word);
}

// "size=wide,track=race1"
static FacetStatus parse_pairs(FacetFactorTask *task, const FacetFactorSpace *space,
                               const char *text, FacetFactorMissing missing)
{
    bool given[FACET_FACTOR_MAX] = {false};
    for (const char *begin = text; begin;) {
        const char *comma = strchr(begin, ',');
        const char *end = comma ? comma : begin + strlen(begin);
        const char *sign = memchr(begin, '=', (size_t)(end - begin));
        char name[WORD_SIZE], value[WORD_SIZE];
        copy_word(name, begin, sign ? sign : end);
        if (!sign)
            return status_fail(FACET_BAD_ARGUMENT, "expected NAME=VALUE, found '%.60s'", name);
        copy_word(value, sign + 1, end);
        int factor;
        TRY(facet_factor_find(&factor, space, name));
        if (given[factor])
            return status_fail(FACET_BAD_ARGUMENT, "expected %s once, found it twice", name);
        given[factor] = true;
        TRY(parse_value(task, space, factor, value, missing));
        begin = comma ? comma + 1 : NULL;
    }
    for (int i = 0; i < facet_factor_count(space) && missing == FACET_FACTOR_MISSING_REFUSED; i++)
        if (!given[i])
            return status_fail(FACET_BAD_ARGUMENT,
                               "expected a value of every factor, found none of %s",
                               facet_factor_name(space, i));
    return status_ok();
}

// "race1/wide"
static FacetStatus parse_values(FacetFactorTask *task, const FacetFactorSpace *space,
                                const char *text, FacetFactorMissing missing)
{
    int found = 1, expected = facet_factor_count(space);
    for (const char *c = text; *c; c++) found += *c == '/';
    if (found != expected) {
        char names[FACET_FACTOR_TASK_TEXT] = "";
        for (int i = 0; i < expected; i++) {
            if (i > 0) strcat(names, "/");
            strcat(names, facet_factor_name(space, i));
        }
        return status_fail(FACET_BAD_ARGUMENT, "expected %s, found %d value%s", names, found,
                           found == 1 ? "" : "s");
    }
    const char *begin = text;
    for (int i = 0; i < expected; i++) {
        const char *slash = strchr(begin, '/');
        const char *end = slash ? slash : begin + strlen(begin);
        char word[WORD_SIZE];
        copy_word(word, begin, end);
        TRY(parse_value(task, space, i, word, missing));
        begin = end + 1;
    }
    return status_ok();
}

FacetStatus facet_factor_task_parse(FacetFactorTask *task, const FacetFactorSpace *space,
                                    const char *text, FacetFactorMissing missing)
{
    *task = facet_factor_task_null();
    if (text[strspn(text, " ")] == '\0')
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a task such as VALUE/VALUE or NAME=VALUE, found nothing");
    bool pairs = strchr(text, '=') != NULL;
    FacetStatus status =
        pairs ? parse_pairs(task, space, text, missing) : parse_values(task, space, text, missing);
    if (status.ok) return status;
    *task = facet_factor_task_null();
    return status_fail(FACET_BAD_ARGUMENT, "task '%.80s': %s", text, status.text);
}

void facet_factor_task_format(char out[FACET_FACTOR_TASK_TEXT], const FacetFactorSpace *space,
                              FacetFactorTask task, FacetFactorStyle style)
{
    assert(factor_task_valid(space, task) && "the task is of this space");
    static_assert(FACET_FACTOR_MAX * 2 * FACET_FACTOR_NAME_SIZE <= FACET_FACTOR_TASK_TEXT,
                  "every task fits");
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < facet_factor_count(space); i++) {
        const char *value = facet_factor_value_name(space, i, task.value[i]);
        char *end = out + used;
        size_t room = FACET_FACTOR_TASK_TEXT - used;
        used += (size_t)(style == FACET_FACTOR_STYLE_PAIRS
                             ? snprintf(end, room, "%s%s=%s", i ? "," : "",
                                        facet_factor_name(space, i), value)
                             : snprintf(end, room, "%s%s", i ? "/" : "", value));
    }
}

// ---- Numbers --------------------------------------------------------------------------------

int64_t factor_task_count(const FacetFactorSpace *space)
{
    int64_t count = 1;
    for (int i = 0; i < facet_factor_count(space); i++) count *= facet_factor_value_count(space, i);
    return count;
}

int64_t factor_task_index(const FacetFactorSpace *space, FacetFactorTask task)
{
    assert(factor_task_complete(space, task) && "the task has a value of every factor");
    int64_t index = 0;
    for (int i = 0; i < facet_factor_count(space); i++)
        index = index * facet_factor_value_count(space, i) + task.value[i];
    return index;
}

FacetFactorTask factor_task_at(const FacetFactorSpace *space, int64_t index)
{
    assert(index >= 0 && index < factor_task_count(space) && "the space has this task");
    FacetFactorTask task = facet_factor_task_null();
    for (int i = facet_factor_count(space) - 1; i >= 0; i--) {
        task.value[i] = (int)(index % facet_factor_value_count(space, i));
        index /= facet_factor_value_count(space, i);
    }
    return task;
}
