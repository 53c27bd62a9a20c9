// The random streams of one trial, numbered so that no two trials share one.
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
    GATE_STREAM_FRAMES = 16, // frame k has this one plus k
    GATE_STREAMS = 8192,     // a trial
};

static inline uint64_t gate_stream(uint64_t number, int which)
{
    return number * GATE_STREAMS + (uint64_t)which;
}

#endif
