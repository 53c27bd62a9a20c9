// The methods of the comparison and how they are drawn. Colours are apart for the common kinds of
// colour blindness, and dashes tell joint from composed inference without them.
#include "report/report.h"

#include <string.h>

const ReportMethod report_methods[REPORT_METHODS] = {
    {"expert", "Expert", "Expert",
     "The path that every policy is to learn, flown at the highest speed that clears every gate.",
     NULL, "#3d444d", "#d1d7e0", "6 4", 2.0, true},
    {"baseline", "Baseline, no factors", "Baseline",
     "The same network without being told track or size: it cannot know which task it flies.",
     "baseline", "#c44601", "#ff8f57", "", 1.6, true},
    {"knet", "K networks, composed", "K-network",
     "Twelve separate networks, one a track, one a size and one for all, added up in the same way.",
     "knet", "#9a6700", "#f0b429", "", 1.6, true},
    {"factored_composed", "Factored, the paper's loss, composed", "Factored, composed",
     "One network with the paper's training; each factor's effect is added up at inference.",
     "factored", "#1588a8", "#63d2ec", "", 2.0, true},
    {"factored_joint", "Factored, the paper's loss, joint", "Factored, joint",
     "The same network, shown track and size at once instead of added up.", "factored_joint",
     "#6a51b8", "#b6a3f5", "2 3", 1.6, false},
    {"ours_composed", "Factored, composed loss, composed", "Ours, composed",
     "One network trained on the sum that inference uses; each factor's effect is added up.",
     "factored", "#0550ae", "#6cb0ff", "", 2.8, true},
    {"ours_joint", "Factored, composed loss, joint", "Ours, joint",
     "The same network, shown track and size at once instead of added up.", "factored_joint",
     "#a2337e", "#f08cc8", "2 3", 1.6, false},
    {"ours_track", "Factored, composed loss, track alone", "Ours, track alone",
     "A control: the same network, told the track and not the size.", NULL, "#57606a", "#9aa4af",
     "1 3", 1.6, false},
    {"verified", "Factored, composed loss, repaired before flight", "Ours, verified",
     "The composed plan, simulated before it is flown and repaired where it would miss. The repair "
     "knows the course and the simulator, which the policy is not told.",
     NULL, "#b3261e", "#ff8a80", "8 3", 2.2, true},
    {"oracle", "Oracle, saw every task", "Oracle",
     "The factored network trained on the held-out tasks too: what more data would give.", "oracle",
     "#11734b", "#45d39a", "", 1.6, true},
};

int report_method(const char *id)
{
    for (int i = 0; i < REPORT_METHODS; i++)
        if (strcmp(report_methods[i].id, id) == 0) return i;
    return -1;
}
