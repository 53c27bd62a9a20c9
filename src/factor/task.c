// Tasks of a factor space: their texts and their numbers (see facet/factor.h).
#include <facet/factor.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

// Room for a word of a task's text. A longer word is cut, and is still longer than any name.
enum { WORD_SIZE = 2 * FACTOR_NAME_SIZE };

FactorTask factor_task_null(void)
{
    FactorTask task;
    for (int i = 0; i < FACTOR_MAX; i++) task.value[i] = FACTOR_NULL;
    return task;
}

bool factor_task_equal(FactorTask a, FactorTask b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool values_within(const FactorSpace *space, FactorTask task, int lowest)
{
    int factors = factor_count(space);
    for (int i = 0; i < FACTOR_MAX; i++) {
        if (i >= factors && task.value[i] != FACTOR_NULL) return false;
        if (i < factors &&
            (task.value[i] < lowest || task.value[i] >= factor_value_count(space, i)))
            return false;
    }
    return true;
}

bool factor_task_complete(const FactorSpace *space, FactorTask task)
{
    return values_within(space, task, 0);
}

bool factor_task_valid(const FactorSpace *space, FactorTask task)
{
    return values_within(space, task, FACTOR_NULL);
}

// ---- Text -----------------------------------------------------------------------------------

static void copy_word(char out[WORD_SIZE], const char *begin, const char *end)
{
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    snprintf(out, WORD_SIZE, "%.*s", (int)(end - begin < WORD_SIZE ? end - begin : WORD_SIZE),
             begin);
}

static Status parse_value(FactorTask *task, const FactorSpace *space, int factor, const char *word,
                          FactorMissing missing)
{
    if (missing == FACTOR_MISSING_NULL && strcmp(word, "*") == 0) return status_ok();
    return factor_find_value(&task->value[factor], space, factor, word);
}

// "size=wide,track=race1"
static Status parse_pairs(FactorTask *task, const FactorSpace *space, const char *text,
                          FactorMissing missing)
{
    bool given[FACTOR_MAX] = {false};
    for (const char *begin = text; begin;) {
        const char *comma = strchr(begin, ',');
        const char *end = comma ? comma : begin + strlen(begin);
        const char *sign = memchr(begin, '=', (size_t)(end - begin));
        char name[WORD_SIZE], value[WORD_SIZE];
        copy_word(name, begin, sign ? sign : end);
        if (!sign) return status_fail("expected NAME=VALUE, found '%.60s'", name);
        copy_word(value, sign + 1, end);
        int factor;
        TRY(factor_find(&factor, space, name));
        if (given[factor]) return status_fail("expected %s once, found it twice", name);
        given[factor] = true;
        TRY(parse_value(task, space, factor, value, missing));
        begin = comma ? comma + 1 : NULL;
    }
    for (int i = 0; i < factor_count(space) && missing == FACTOR_MISSING_REFUSED; i++)
        if (!given[i])
            return status_fail("expected a value of every factor, found none of %s",
                               factor_name(space, i));
    return status_ok();
}

// "race1/wide"
static Status parse_values(FactorTask *task, const FactorSpace *space, const char *text,
                           FactorMissing missing)
{
    int found = 1, expected = factor_count(space);
    for (const char *c = text; *c; c++) found += *c == '/';
    if (found != expected) {
        char names[FACTOR_TASK_TEXT] = "";
        for (int i = 0; i < expected; i++) {
            if (i > 0) strcat(names, "/");
            strcat(names, factor_name(space, i));
        }
        return status_fail("expected %s, found %d value%s", names, found, found == 1 ? "" : "s");
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

Status factor_task_parse(FactorTask *task, const FactorSpace *space, const char *text,
                         FactorMissing missing)
{
    *task = factor_task_null();
    if (text[strspn(text, " ")] == '\0')
        return status_fail("expected a task such as VALUE/VALUE or NAME=VALUE, found nothing");
    bool pairs = strchr(text, '=') != NULL;
    Status status =
        pairs ? parse_pairs(task, space, text, missing) : parse_values(task, space, text, missing);
    if (status.ok) return status;
    *task = factor_task_null();
    return status_fail("task '%.80s': %s", text, status.text);
}

void factor_task_format(char out[FACTOR_TASK_TEXT], const FactorSpace *space, FactorTask task,
                        FactorStyle style)
{
    assert(factor_task_valid(space, task) && "the task is of this space");
    static_assert(FACTOR_MAX * 2 * FACTOR_NAME_SIZE <= FACTOR_TASK_TEXT, "every task fits");
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < factor_count(space); i++) {
        const char *value = factor_value_name(space, i, task.value[i]);
        char *end = out + used;
        size_t room = FACTOR_TASK_TEXT - used;
        used += (size_t)(style == FACTOR_STYLE_PAIRS
                             ? snprintf(end, room, "%s%s=%s", i ? "," : "", factor_name(space, i),
                                        value)
                             : snprintf(end, room, "%s%s", i ? "/" : "", value));
    }
}

// ---- Numbers --------------------------------------------------------------------------------

int64_t factor_task_count(const FactorSpace *space)
{
    int64_t count = 1;
    for (int i = 0; i < factor_count(space); i++) count *= factor_value_count(space, i);
    return count;
}

int64_t factor_task_index(const FactorSpace *space, FactorTask task)
{
    assert(factor_task_complete(space, task) && "the task has a value of every factor");
    int64_t index = 0;
    for (int i = 0; i < factor_count(space); i++)
        index = index * factor_value_count(space, i) + task.value[i];
    return index;
}

FactorTask factor_task_at(const FactorSpace *space, int64_t index)
{
    assert(index >= 0 && index < factor_task_count(space) && "the space has this task");
    FactorTask task = factor_task_null();
    for (int i = factor_count(space) - 1; i >= 0; i--) {
        task.value[i] = (int)(index % factor_value_count(space, i));
        index /= factor_value_count(space, i);
    }
    return task;
}
