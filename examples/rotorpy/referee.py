"""Facet's rules of passage and crash (src/runtime/course/passage.c) for a path flown elsewhere."""
import math

CAPTURE_RADIUS = 2.5  # m: a crossing farther out is no attempt
TILT_MOST = -0.5      # the world's z along the body's: 120 degrees


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def crossing(gate, before, after):
    """Where a straight motion meets a gate's plane in its direction; None where it does not."""
    d0 = dot(gate["normal"], minus(before, gate["center"]))
    d1 = dot(gate["normal"], minus(after, gate["center"]))
    if not (d0 < 0.0 <= d1):
        return None
    share = d0 / (d0 - d1)
    return [b + share * (a - b) for b, a in zip(before, after)]


class Referee:
    """Follows one flight past the gates of a track, in their order."""

    def __init__(self, gates, half_width):
        self.gates, self.half_width, self.next = gates, half_width, 0
        self.results = [{"crossed": False, "passed": False, "miss": math.inf} for _ in gates]

    def settle(self, index, reach, before, after):
        gate = self.gates[index]
        place = crossing(gate, before, after)
        miss = math.dist(place, gate["center"]) if place else math.inf
        if miss > reach:
            return False
        self.results[index] = {"crossed": True, "passed": miss <= self.half_width, "miss": miss}
        self.next = index + 1
        return True

    def watch(self, before, after):
        if self.next == len(self.gates):
            return
        waiting = self.results[self.next]
        distance = math.dist(after, self.gates[self.next]["center"])
        waiting["miss"] = min(waiting["miss"], distance)
        if self.settle(self.next, max(CAPTURE_RADIUS, self.half_width), before, after):
            return
        if self.next + 1 < len(self.gates):
            self.settle(self.next + 1, self.half_width, before, after)

    def passed(self):
        return sum(result["passed"] for result in self.results)

    def report(self):
        """The results for JSON, which has no infinity: None is a gate that was never looked at."""
        return [{**result, "miss": result["miss"] if math.isfinite(result["miss"]) else None}
                for result in self.results]


def crash(arena, position, up):
    """What ended a flight here, or "none"; `up` is the world's z along the body's."""
    if not all(map(math.isfinite, [*position, up])):
        return "non-finite state"
    if position[2] < arena["min"][2]:
        return "ground"
    if any(not low <= x <= high for low, x, high in zip(arena["min"], position, arena["max"])):
        return "bounds"
    return "attitude" if up < TILT_MOST else "none"
