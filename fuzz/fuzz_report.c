// Results of other runs, or the log of a training, as a report reads them: the first byte chooses
// which.
#include "fuzz.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FacetRace *race;
    const FacetRaceOptions options = {.courses = FUZZ_SOURCE "/tests/race/sample"};
    if (!race && !facet_race_open(&race, &options, NULL, NULL).ok) abort();
    if (size == 0) return 0;
    ReportSetup setup = {.no_defaults = true, .version = "0", .command = "fuzz"};
    const char *file = fuzz_file(bytes + 1, size - 1);
    int kind = bytes[0] % (INPUT_KINDS + 1);
    if (kind < INPUT_KINDS)
        setup.files[kind] = file;
    else
        setup.training = &file, setup.training_count = 1;
    Report *report;
    if (!report_open(&report, race, &setup).ok) return 0;
    json_free(report_document(report));
    report_close(report);
    return 0;
}
