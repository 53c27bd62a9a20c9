// facet version: what this program is and what it was built with, for a report of a problem.
#include "args.h"
#include "base/isa.h"
#include "base/json.h"
#include "base/pool.h"
#include "commands.h"
#include "commit.h"
#include "report/table.h"

#include <stdio.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

int cmd_version(int argc, char **argv)
{
    const char *json = NULL;
    const Option options[] = {
        option_text("json", &json, "FILE", "also write the results to FILE as JSON"),
    };
    const Usage usage = {
        .command = "version",
        .description = "Shows the version of Facet and its commit, the compiler it was built with, "
                       "the instructions "
                       "its kernels use (FACET_ISA forces others) and the number of threads it "
                       "uses unless told otherwise.",
        .example = "facet version",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;

    FacetPool *pool;
    FacetStatus status = facet_pool_create(&pool, 0);
    if (!status.ok) return command_failed(usage.command, status);
    int threads = facet_pool_threads(pool);
    facet_pool_destroy(pool);

    Table *table =
        table_create((TableColumn[]){{"facet", TABLE_LEFT}, {facet_version(), TABLE_LEFT}}, 2);
    table_cell(table, "commit");
    table_cell(table, "%s", program_commit());
    table_cell(table, "compiler");
    table_cell(table, "%s", COMPILER);
    table_cell(table, "instructions");
    table_cell(table, "%s", isa_name());
    table_cell(table, "threads");
    table_cell(table, "%d", threads);
    table_print(table, stdout);
    table_destroy(table);

    if (json) {
        Json *document = json_object();
        json_set_string(document, "version", facet_version());
        json_set_string(document, "commit", program_commit());
        json_set_string(document, "compiler", COMPILER);
        json_set_string(document, "instructions", isa_name());
        json_set_number(document, "threads", threads);
        status = json_write(document, json);
    }
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
