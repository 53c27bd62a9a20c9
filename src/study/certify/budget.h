// The budget of Theorem 2 (paper, Section 3.3): what the composed learned score can differ from the
// exact joint score by,
//
//   eps_s <= 2 sqrt(G M) + (2 K - 1) eta + sum_i L_i delta_i,
//
// term by term and by noise level, beside the difference measured. The exact scores are those of
// the training tasks' mixture (certify/mixture.h); eta is the largest error of the network over the
// conditions that composing uses: none, each factor alone, and all. Everything is in terms of the
// noise eps = -sigma s, as the paper measures eps_s.
//
// delta_i is 1 where factor i is shown as another value than the task's, and 0 where it is not: the
// unit of the paper's L_i (Appendix D). An embedding is a vector of the network's own, whose length
// means nothing outside it, while a wrong track or size is what can happen. L_i is then the most
// that the score of factor i alone changes with its value, over all values that the policy knows.
// `total` is of a task shown as it is, `changed` of one with every factor wrong.
//
// G, M and eta are maxima over states, and the states matter: the set along the network's own
// composed paths and the set along the exact joint score's paths are kept apart.
#ifndef FACET_CERTIFY_BUDGET_H
#define FACET_CERTIFY_BUDGET_H

#include <facet_study/race.h>

enum { BUDGET_FACTORS = 2 }; // track and size

typedef struct BudgetLevel {
    double sigma;
    double g, m;        // G and M of the exact scores: maxima over the states
    double interaction; // 2 sqrt(G M) sigma
    double gap;         // the largest |eps_comp - eps| of the exact scores, which that bounds
    double eta;         // of the network
    double total;       // interaction + (2 K - 1) eta
    double measured;    // the largest |eps_comp of the network - exact eps|
    double lipschitz[BUDGET_FACTORS]; // L_i
    double changed;                   // total + sum_i L_i
} BudgetLevel;

typedef enum BudgetStates { BUDGET_NETWORK, BUDGET_EXACT, BUDGET_SETS } BudgetStates;

typedef struct Budget {
    int tasks, count;                 // noise levels
    BudgetLevel *levels[BUDGET_SETS]; // [count] each, from noise to plan
} Budget;

// Measures the budget on the tasks that the policy was trained on, at the noise levels of sampling
// in `steps` steps. The stage is "budget".
FacetStatus budget_measure(Budget *budget, const FacetRace *race, const FacetPolicy *policy,
                           int steps, uint64_t seed, const FacetProgress *progress);
void budget_free(Budget *budget);

#endif
