// The page with its data in it. The page is web/page.html, which the assembler puts into the
// library.
#include "base/progress.h"
#include "base/text.h"
#include "picture/base64.h"
#include "picture/deflate.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

// clang-format off
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".hidden facet_page_begin\n"
        ".global facet_page_begin\n"
        "facet_page_begin:\n"
        ".incbin \"" FACET_PAGE "\"\n"
        ".byte 0\n"
        ".previous\n");
// clang-format on
extern const char facet_page_begin[]; // a text: it ends with a zero

static const char data_opens[] = "<script type=\"application/json\" id=\"facet-data\">";
static const char data_closes[] = "</script>";

enum { PIECE = 1 << 18 }; // bytes between two looks whether to go on

// Writes JSON so that nothing in it can end the script element that holds it or open a comment:
// <, > and & occur only inside strings, where \u003c means the same. Bytes that are no UTF-8 become
// question marks.
static FacetStatus write_escaped(FILE *out, const char *json, Progress *progress)
{
    for (const char *looked = json; *json;) {
        int length = text_character(json);
        if (length == 0)
            fputc('?', out), json++;
        else if (strchr("<>&", *json))
            fprintf(out, "\\u%04x", (unsigned)*json++);
        else
            fwrite(json, 1, (size_t)length, out), json += length;
        if (json - looked < PIECE) continue;
        looked = json;
        TRY(progress_add(progress, 0, NULL));
    }
    return status_ok();
}

// A stream into memory, and its contents once it is closed.
typedef struct Memory {
    FILE *stream;
    char *text;
    size_t size;
} Memory;

static FacetStatus out_of_memory(void)
{
    return status_fail(FACET_NO_MEMORY, "out of memory, not written");
}

// Closes the stream. The text is the caller's also when this fails.
static FacetStatus memory_close(Memory *memory)
{
    bool complete = memory->stream && fclose(memory->stream) == 0;
    return complete ? status_ok() : out_of_memory();
}

// The document as escaped JSON, which the caller frees.
static FacetStatus escape(Memory *plain, const Json *document, Progress *progress)
{
    *plain = (Memory){0};
    TRY(progress_add(progress, 0, NULL));
    char *json = json_line(document);
    if (json) plain->stream = open_memstream(&plain->text, &plain->size);
    FacetStatus status = plain->stream ? write_escaped(plain->stream, json, progress) : status_ok();
    free(json);
    FacetStatus closed = memory_close(plain);
    return status.ok ? closed : status;
}

static FacetStatus pack(size_t *size, uint8_t *packed, Deflater *deflater, const Memory *plain,
                        Progress *progress)
{
    const uint8_t *bytes = (const uint8_t *)plain->text;
    deflater_begin(packed, deflater, plain->size);
    size_t at = 0;
    for (; plain->size - at > PIECE; at += PIECE) {
        TRY(progress_add(progress, 0, NULL));
        deflater_add(deflater, bytes + at, PIECE, false);
    }
    *size = deflater_add(deflater, bytes + at, plain->size - at, true);
    return status_ok();
}

// The text packed, as the page takes it.
static FacetStatus page_packed(char **data, const Memory *plain, Progress *progress)
{
    static const char form[] = "{\"bytes\":%zu,\"deflated\":\"%s\"}";
    Deflater *deflater = deflater_create(DEFLATE_SMALL);
    uint8_t *packed = malloc(deflate_room(plain->size));
    char *base64 = NULL;
    size_t size = 0;
    FacetStatus status =
        deflater && packed ? pack(&size, packed, deflater, plain, progress) : out_of_memory();
    if (status.ok) base64 = base64_encode(packed, size);
    size_t room = base64 ? sizeof form + 20 + strlen(base64) : 0;
    if (base64) *data = malloc(room);
    if (*data) snprintf(*data, room, form, plain->size, base64);
    if (status.ok && !*data) status = out_of_memory();
    deflater_destroy(deflater);
    free(packed);
    free(base64);
    return status;
}

// The document as the page takes it: escaped JSON, packed where that is shorter.
static FacetStatus page_data(char **data, const Json *document, Progress *progress)
{
    Memory plain;
    *data = NULL;
    FacetStatus status = escape(&plain, document, progress);
    if (status.ok) status = page_packed(data, &plain, progress);
    if (!status.ok || strlen(*data) < plain.size) {
        free(plain.text);
        return status;
    }
    free(*data);
    *data = plain.text;
    return status;
}

static FacetStatus make_page(Memory *page, const Json *document, Progress *progress)
{
    char *data;
    const char *open = strstr(facet_page_begin, data_opens);
    const char *close = open ? strstr(open, data_closes) : NULL;
    *page = (Memory){0};
    if (!close) return status_fail(FACET_NOT_FOUND, "the page has no place for its data");
    open += strlen(data_opens);
    TRY(page_data(&data, document, progress));
    page->stream = open_memstream(&page->text, &page->size);
    if (page->stream) {
        fwrite(facet_page_begin, 1, (size_t)(open - facet_page_begin), page->stream);
        fputs(data, page->stream);
        fputs(close, page->stream);
    }
    free(data);
    return memory_close(page);
}

static FacetStatus make_data(Memory *data, const Json *document, Progress *progress)
{
    TRY(escape(data, document, progress));
    data->text[data->size++] = '\n'; // in place of the terminating zero
    return status_ok();
}

typedef FacetStatus Make(Memory *text, const Json *document, Progress *progress);

// Makes a text and gives it to a file, or says why there is none.
static FacetStatus write_made(const char *path, const Json *document, Make *make,
                              const FacetProgress *host)
{
    Memory text;
    Progress progress;
    progress_begin(&progress, host, "page", 1);
    FacetStatus status = make(&text, document, &progress);
    if (status.ok) status = progress_add(&progress, 1, NULL);
    progress_end(&progress);
    if (status.ok)
        status = file_write(path, text.text, text.size);
    else if (status.code != FACET_INTERRUPTED)
        status = status_fail(status.code, "%s: %s", path, status.text);
    free(text.text);
    return status;
}

FacetStatus report_write_page(const char *path, const Json *document, const FacetProgress *progress)
{
    return write_made(path, document, make_page, progress);
}

FacetStatus report_write_data(const char *path, const Json *document, const FacetProgress *progress)
{
    return write_made(path, document, make_data, progress);
}

static FacetStatus write_figure(const char *folder, const JsonRef *figure)
{
    char id[64], path[FILE_PATH_MAX];
    JsonRef member;
    if (!json_has(figure, "svg")) return status_ok();
    TRY(json_member_string(id, sizeof id, figure, "id"));
    TRY(json_member(&member, figure, "svg"));
    const char *svg = json_chars(&member);
    snprintf(path, sizeof path, "%.900s/%s.svg", folder, id);
    return file_write(path, svg, strlen(svg));
}

FacetStatus report_write_figures(const char *folder, const Json *document,
                                 const FacetProgress *progress)
{
    TRY(file_make_folder(folder));
    JsonRef root = json_root(document, "report"), figures, figure = {0};
    int count;
    TRY(json_member(&figures, &root, "figures"));
    TRY(json_length(&count, &figures));
    Progress written;
    FacetStatus status = status_ok();
    progress_begin(&written, progress, "figures", count);
    while (status.ok && json_next(&figure, &figures)) {
        status = write_figure(folder, &figure);
        if (status.ok) status = progress_add(&written, 1, NULL);
    }
    progress_end(&written);
    return status;
}
