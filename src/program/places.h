// The files that a command reads and writes, compared before any work begins.
//
// An output that is an input, under whatever name, would destroy it; two outputs that are one file
// would leave one of them; so would an output among the files of a folder that the command fills.
// Files are told apart by device and inode, so links do not hide them.
#ifndef FACET_PROGRAM_PLACES_H
#define FACET_PROGRAM_PLACES_H

#include "args.h"

// Refuses an output that is an input or another output, or in a folder of the command's. Devices
// and pipes are neither.
FacetStatus places_compare(const OptionTable *table, const Usage *usage);

// Refuses an output of the command that is this file too, or is in this folder: what the command
// reads though nobody named it, such as the policy that ships with Facet.
FacetStatus places_apart(const Usage *usage, const char *input);

// Makes the folders that outputs are to stand in, and refuses an output that cannot be written.
FacetStatus places_try(const OptionTable *table);

#endif
