// What every public header begins with: the export macro, and the version.
#ifndef FACET_API_H
#define FACET_API_H

#define FACET_VERSION_MAJOR 0
#define FACET_VERSION_MINOR 1
#define FACET_VERSION_PATCH 0

// Marks what the shared libraries export. Everything else in them is hidden.
#if defined(__GNUC__)
#define FACET_API __attribute__((visibility("default")))
#else
#define FACET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library that is linked, "0.1.0", which may differ from the headers' own. A
// constant text.
FACET_API const char *facet_version(void);

#ifdef __cplusplus
}
#endif

#endif
