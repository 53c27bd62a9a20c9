// The page with its data in it. The page is web/page.html, which the assembler puts into the
// library.
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

// Writes JSON so that nothing in it can end the script element that holds it or open a comment:
// <, > and & occur only inside strings, where \u003c means the same. Bytes that are no UTF-8 become
// question marks.
static void write_escaped(FILE *out, const char *json)
{
    while (*json) {
        int length = text_character(json);
        if (length == 0)
            fputc('?', out), json++;
        else if (strchr("<>&", *json))
            fprintf(out, "\\u%04x", (unsigned)*json++);
        else
            fwrite(json, 1, (size_t)length, out), json += length;
    }
}

// A stream into memory, and its contents once it is closed.
typedef struct Memory {
    FILE *stream;
    char *text;
    size_t size;
} Memory;

static FacetStatus memory_write(Memory *memory, const char *path)
{
    bool complete = fclose(memory->stream) == 0;
    FacetStatus status = complete ? file_write(path, memory->text, memory->size)
                                  : status_fail(FACET_NO_MEMORY, "out of memory");
    free(memory->text);
    return status;
}

static FacetStatus out_of_memory(const char *path, char *json)
{
    free(json);
    return status_fail(FACET_NO_MEMORY, "%s: out of memory, not written", path);
}

// The document as the page takes it: escaped JSON, packed where that is shorter.
static char *page_data(const Json *document)
{
    Memory plain = {0};
    char *json = json_line(document);
    if (json) plain.stream = open_memstream(&plain.text, &plain.size);
    if (plain.stream) write_escaped(plain.stream, json);
    free(json);
    if (!plain.stream || fclose(plain.stream) != 0) {
        free(plain.text);
        return NULL;
    }
    static const char form[] = "{\"bytes\":%zu,\"deflated\":\"%s\"}";
    Deflater *deflater = deflater_create(DEFLATE_SMALL);
    uint8_t *packed = malloc(deflate_room(plain.size));
    char *base64 = NULL, *data = NULL;
    if (deflater && packed)
        base64 = base64_encode(
            packed, deflater_pack(packed, deflater, (const uint8_t *)plain.text, plain.size));
    size_t room = base64 ? sizeof form + 20 + strlen(base64) : 0;
    if (base64) data = malloc(room);
    if (data) snprintf(data, room, form, plain.size, base64);
    deflater_destroy(deflater);
    free(packed);
    free(base64);
    bool shorter = !data || strlen(data) < plain.size;
    free(shorter ? plain.text : data);
    return shorter ? data : plain.text; // NULL when memory ran out for the packing
}

FacetStatus report_write_page(const char *path, const Json *document)
{
    const char *open = strstr(facet_page_begin, data_opens);
    const char *close = open ? strstr(open, data_closes) : NULL;
    if (!close) return status_fail(FACET_NOT_FOUND, "%s: the page has no place for its data", path);
    open += strlen(data_opens);
    Memory memory = {0};
    char *data = page_data(document);
    if (data) memory.stream = open_memstream(&memory.text, &memory.size);
    if (!memory.stream) return out_of_memory(path, data);
    fwrite(facet_page_begin, 1, (size_t)(open - facet_page_begin), memory.stream);
    fputs(data, memory.stream);
    free(data);
    fputs(close, memory.stream);
    return memory_write(&memory, path);
}

FacetStatus report_write_data(const char *path, const Json *document)
{
    Memory memory = {0};
    char *json = json_line(document);
    if (json) memory.stream = open_memstream(&memory.text, &memory.size);
    if (!memory.stream) return out_of_memory(path, json);
    write_escaped(memory.stream, json);
    free(json);
    fputc('\n', memory.stream);
    return memory_write(&memory, path);
}

FacetStatus report_write_figures(const char *folder, const Json *document)
{
    TRY(file_make_folder(folder));
    JsonRef root = json_root(document, "report"), figures, figure, member;
    int count;
    TRY(json_member(&figures, &root, "figures"));
    TRY(json_length(&count, &figures));
    for (int i = 0; i < count; i++) {
        char id[64], path[FILE_PATH_MAX];
        TRY(json_element(&figure, &figures, i));
        if (!json_has(&figure, "svg")) continue;
        TRY(json_member_string(id, sizeof id, &figure, "id"));
        TRY(json_member(&member, &figure, "svg"));
        const char *svg = json_chars(&member);
        snprintf(path, sizeof path, "%.900s/%s.svg", folder, id);
        TRY(file_write(path, svg, strlen(svg)));
    }
    return status_ok();
}
