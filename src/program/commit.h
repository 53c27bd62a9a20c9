// The commit that the program was built from, for the record of its results.
#ifndef FACET_PROGRAM_COMMIT_H
#define FACET_PROGRAM_COMMIT_H

// "4125199…", with "-dirty" behind it when files of the repository were changed; "unknown" when it
// was not built from a clone. The build writes it into a file of its own (cmake/commit.cmake).
const char *program_commit(void);

// "0.1.0+41251992b3c4", with ".dirty" behind it for changed files, or "0.1.0" of an unknown commit:
// what a trained policy keeps. Not for two threads at once.
const char *program_version(void);

#endif
