// A reader of JSON (RFC 8259) for builds without libcjson (see cJSON.h).
#include "cjson/cJSON.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

// Where the reader stands, and how deep.
typedef struct Reader {
    const char *at;
    int depth;
} Reader;

static cJSON *read_value(Reader *r);

static void skip_space(Reader *r) { r->at += strspn(r->at, " \t\r\n"); }

// Steps over a character, with the space around it, if it is there.
static bool take(Reader *r, char c)
{
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    skip_space(r);
    return true;
}

// ---- Texts --------------------------------------------------------------------------------------

static bool read_hex(unsigned *out, const char *digits)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const char *all = "0123456789abcdef", *digit;
        int lower = digits[i] >= 'A' && digits[i] <= 'F' ? digits[i] + 32 : digits[i];
        if (!lower || !(digit = strchr(all, lower))) return false;
        *out = *out * 16 + (unsigned)(digit - all);
    }
    return true;
}

// A code point behind \u, of two halves if it is beyond the first 65,536; none of them is zero.
static bool read_code(unsigned *code, Reader *r)
{
    unsigned low;
    if (!read_hex(code, r->at) || *code == 0 || (*code >= 0xdc00 && *code < 0xe000)) return false;
    r->at += 4;
    if (*code < 0xd800 || *code >= 0xe000) return true;
    if (r->at[0] != '\\' || r->at[1] != 'u' || !read_hex(&low, r->at + 2)) return false;
    if (low < 0xdc00 || low >= 0xe000) return false;
    r->at += 6;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

// In UTF-8; the number of bytes.
static int put_code(char *out, unsigned code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | code >> (6 * more));
    for (int i = 1; i <= more; i++) out[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

static int read_escape(char *out, Reader *r)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    unsigned code;
    char letter = *r->at;
    if (letter == 'u') {
        r->at++;
        return read_code(&code, r) ? put_code(out, code) : 0;
    }
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found) return 0;
    r->at++;
    *out = meant[found - letters];
    return 1;
}

// The text of a string; the caller frees it. NULL when it is none. No escape is shorter than what
// it means.
static char *read_string(Reader *r)
{
    if (*r->at != '"') return NULL;
    r->at++;
    size_t room = 1;
    for (const char *c = r->at; *c && *c != '"'; c++, room++) c += *c == '\\' && c[1];
    char *text = malloc(2 * room), *out = text;
    while (text && *r->at != '"') {
        int length = 1;
        if ((unsigned char)*r->at < ' ')
            length = 0;
        else if (*r->at == '\\')
            r->at++, length = read_escape(out, r);
        else
            *out = *r->at++;
        out += length;
        if (length > 0) continue;
        free(text);
        text = NULL;
    }
    if (!text) return NULL;
    r->at++;
    *out = '\0';
    return text;
}

// ---- Values -------------------------------------------------------------------------------------

static bool read_members(cJSON *node, Reader *r, char close)
{
    cJSON **next = &node->child;
    if (take(r, close)) return true;
    do {
        char *key = close == '}' ? read_string(r) : NULL;
        if (close == '}' && (!key || !take(r, ':'))) {
            free(key);
            return false;
        }
        *next = read_value(r);
        if (!*next) {
            free(key);
            return false;
        }
        (*next)->string = key;
        next = &(*next)->next;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_word(cJSON *node, Reader *r)
{
    static const struct {
        const char *word;
        int type;
    } words[] = {{"true", cJSON_True}, {"false", cJSON_False}, {"null", cJSON_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(r->at, words[i].word, length) != 0) continue;
        r->at += length;
        node->type = words[i].type;
        return true;
    }
    return false;
}

// Digits as JSON spells them; strtod would take more.
static bool read_number(cJSON *node, Reader *r)
{
    const char *at = r->at + (*r->at == '-');
    size_t whole = strspn(at, "0123456789");
    if (whole == 0 || (whole > 1 && at[0] == '0')) return false;
    at += whole;
    if (*at == '.') {
        size_t digits = strspn(++at, "0123456789");
        if (digits == 0) return false;
        at += digits;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        size_t digits = strspn(at, "0123456789");
        if (digits == 0) return false;
        at += digits;
    }
    node->type = cJSON_Number;
    node->valuedouble = strtod(r->at, NULL);
    r->at = at;
    return true;
}

static bool read_into(cJSON *node, Reader *r)
{
    switch (*r->at) {
    case '{':
    case '[':
        node->type = *r->at == '{' ? cJSON_Object : cJSON_Array;
        return take(r, *r->at) && read_members(node, r, node->type == cJSON_Object ? '}' : ']');
    case '"':
        node->type = cJSON_String;
        return (node->valuestring = read_string(r));
    default:
        return read_word(node, r) || read_number(node, r);
    }
}

static cJSON *read_value(Reader *r)
{
    cJSON *node = r->depth < DEPTH_MAX ? calloc(1, sizeof *node) : NULL;
    if (!node) return NULL;
    r->depth++;
    bool whole = read_into(node, r);
    r->depth--;
    if (whole) return node;
    cJSON_Delete(node);
    return NULL;
}

cJSON *cJSON_ParseWithOpts(const char *text, const char **end, int whole)
{
    Reader r = {.at = text};
    skip_space(&r);
    cJSON *node = read_value(&r);
    skip_space(&r);
    *end = r.at;
    if (!whole || !*r.at) return node;
    cJSON_Delete(node);
    return NULL;
}

void cJSON_Delete(cJSON *node)
{
    while (node) {
        cJSON *next = node->next;
        cJSON_Delete(node->child);
        free(node->valuestring);
        free(node->string);
        free(node);
        node = next;
    }
}

// ---- Looking into them --------------------------------------------------------------------------

int cJSON_GetArraySize(const cJSON *node)
{
    int count = 0;
    for (const cJSON *child = node ? node->child : NULL; child; child = child->next) count++;
    return count;
}

cJSON *cJSON_GetArrayItem(const cJSON *node, int index)
{
    cJSON *child = node && index >= 0 ? node->child : NULL;
    while (child && index-- > 0) child = child->next;
    return child;
}

cJSON *cJSON_GetObjectItemCaseSensitive(const cJSON *node, const char *key)
{
    cJSON *child = node ? node->child : NULL;
    while (child && (!child->string || strcmp(child->string, key) != 0)) child = child->next;
    return child;
}
