// facet study leave-one-out: each training pair left out in turn (race/leave_one_out.h).
#ifndef FACET_PROGRAM_STUDY_LEAVE_ONE_OUT_H
#define FACET_PROGRAM_STUDY_LEAVE_ONE_OUT_H

int study_leave_one_out(int argc, char **argv); // argv[0] is "study leave-one-out"

#endif
