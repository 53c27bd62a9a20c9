// One process at a time: a lock beside a file or a folder that is written over time.
//
// The system gives a lock up with its process, however that ends, so a file that was left behind
// locks nobody out. Where the filesystem knows no locks there are none.
#ifndef FACET_BASE_LOCK_H
#define FACET_BASE_LOCK_H

#include "base/file.h"

typedef struct FileLock {
    char path[FILE_PATH_MAX]; // PLACE.lock; empty when it is not held
    int descriptor;
} FileLock;

// Takes the lock of a place, which is named as it is written: "policy.safetensors". The refusal
// names the process that has it. A link and what it leads to are one place.
FacetStatus lock_take(FileLock *lock, const char *place);

// Gives it up and removes its file. Accepts one that is not held.
void lock_drop(FileLock *lock);

#endif
