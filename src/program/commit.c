// What the program was built from, in a word (see commit.h).
#include "commit.h"

#include <facet/api.h>

#include <stdio.h>
#include <string.h>

const char *program_version(void)
{
    static char text[32];
    const char *commit = program_commit();
    if (strcmp(commit, "unknown") == 0) return facet_version();
    snprintf(text, sizeof text, "%s+%.12s%s", facet_version(), commit,
             strstr(commit, "-dirty") ? ".dirty" : "");
    return text;
}
