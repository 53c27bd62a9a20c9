// facet study mechanism: what in the network makes composition work.
#ifndef FACET_PROGRAM_STUDY_MECHANISM_H
#define FACET_PROGRAM_STUDY_MECHANISM_H

int study_mechanism(int argc, char **argv); // argv[0] is "study mechanism"

#endif
