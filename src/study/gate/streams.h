// The random streams of one trial, numbered so that no two trials share one. A trial's number has
// its purpose above bit 40 (facet_gate_number); training has the purpose 0.
#ifndef FACET_GATE_STREAMS_H
#define FACET_GATE_STREAMS_H

#include <stdint.h>

enum {
    GATE_STREAM_SPAWN,
    GATE_STREAM_GYRO,
    GATE_STREAM_GUSTS,
    GATE_STREAM_FIX,
    GATE_STREAM_COLLECT,
    GATE_STREAM_COLORS,
    GATE_STREAM_NEAR,
    GATE_STREAM_BEACON,
    GATE_STREAM_FRAMES = 16, // frame k has this one plus k
    GATE_STREAMS = 8192,     // a trial
    GATE_INDEX_BITS = 40,    // of a trial's number, below its purpose
};

static inline uint64_t gate_stream(uint64_t number, int which)
{
    return number * GATE_STREAMS + (uint64_t)which;
}

// Round r = 1, 2, ... of DAgger flies with a seed of its own: apart from the expert's flights and
// from other rounds, of any training with a seed below a million.
static inline uint64_t gate_round_seed(uint64_t seed, int round)
{
    return seed + (uint64_t)round * 1000003u;
}

#endif
