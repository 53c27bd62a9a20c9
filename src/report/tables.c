#include "report/document.h"
Json *document_tables(Report *report)
{
    (void)report;
    return json_array();
}
