// Factor spaces from JSON, and the tasks of a second line in them.
#include "factor/factor.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size), *line = strchr(text, '\n');
    FacetFactorSpace *space;
    if (line) *line++ = '\0';
    if (factor_space_from_json(&space, text, "text").ok) {
        FacetFactorTask task;
        if (line) (void)facet_factor_task_parse(&task, space, line, FACET_FACTOR_MISSING_NULL);
        free(factor_space_to_json(space));
        facet_factor_space_destroy(space);
    }
    free(text);
    return 0;
}
