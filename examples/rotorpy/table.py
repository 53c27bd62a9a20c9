"""The results of compare.py as a table of at most 80 columns. Needs nothing but Python."""
TITLES = {"policy": "The policy's plans", "expert": "The expert's plans"}


def line(label, cells):
    """A label and pairs of cells."""
    return f"{label:16}" + "".join(f"{first:>7}{second:>5} " for first, second in cells).rstrip()


def plans_lines(title, plans):
    rows, sums = plans["tasks"], plans["totals"]
    sides = list(sums)
    rule = "─" * len(line("", [("", "x")] * len(sides)))
    yield title
    yield line("", [(side.replace("facet", "Facet"), "") for side in sides])
    yield line("task", [("gates", "m/s" if side == "facet" else "off") for side in sides])
    yield rule
    for row in rows:
        cells = [(f"{row[side]['passed']}/{row['gates']}"
                  + ("!" if row[side]["end"] == "crashed" else " "),
                  f"{row[side]['speed' if side == 'facet' else 'off_m']:.2f}") for side in sides]
        yield line(row["task"] + "*" * row["held_out"], cells)
    yield rule
    for label, part in (("all", "all"), ("in training", "training"), ("held out", "held_out")):
        yield line(label, [(f"{sums[side][part]['passed']}/{sums[side][part]['gates']}", "")
                           for side in sides])
    yield line("crashes", [(sums[side]["crashes"], "") for side in sides])
    yield line("mean m/s", [("", f"{sums[side]['speed']:.2f}") for side in sides])


def lines(results):
    """The lines of a document of results: a table a kind of plan, with an empty line between."""
    for i, (kind, plans) in enumerate(results["plans"].items()):
        if i:
            yield ""
        yield from plans_lines(TITLES[kind], plans)
