// facet study operators: composition operators over the same networks, side by side.
#ifndef FACET_PROGRAM_STUDY_OPERATORS_H
#define FACET_PROGRAM_STUDY_OPERATORS_H

int study_operators(int argc, char **argv); // argv[0] is "study operators"

#endif
