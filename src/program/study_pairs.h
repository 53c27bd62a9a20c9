// facet study pairs: composition against the number of training pairs.
#ifndef FACET_PROGRAM_STUDY_PAIRS_H
#define FACET_PROGRAM_STUDY_PAIRS_H

int study_pairs(int argc, char **argv); // argv[0] is "study pairs"

#endif
