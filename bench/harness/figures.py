# SPDX-License-Identifier: BSD-3-Clause
"""Values out of repeated runs, and the tables made of them."""
import csv
import math
import statistics

HIGHER_IS_BETTER = {"bandwidth", "bibandwidth", "rate", "hidden-isend", "hidden-irecv", "hidden-iallreduce",
                    "efficiency", "overlap", *(f"{what}-{how}" for what in ("rate", "bandwidth")
                                               for how in ("own", "shared", "single", "multiple"))}


class Figures:
    """values[(figure, size)][who] = list of one value per run that counts."""

    def __init__(self):
        self.values = {}
        self.units = {}
        self.missing = {}  # missing[(figure, size), who] = what the cell says where there is no value
        self.notes = []

    def add(self, who, figure, size, value, unit):
        self.values.setdefault((figure, size), {}).setdefault(who, []).append(value)
        self.units[figure] = unit

    def median(self, figure, size, who):
        values = self.values.get((figure, size), {}).get(who)
        return statistics.median(values) if values else None

    def best_peer(self, figure, size, ours, floor):
        """(name, value) of the best of the others, or None; what is ours in another mode is no peer."""
        row = self.values.get((figure, size), {})
        peers = [(statistics.median(v), name) for name, v in row.items() if v and name != floor and not name.startswith(ours)]
        if not peers:
            return None
        value, name = max(peers) if figure in HIGHER_IS_BETTER else min(peers)
        return name, value


def interval(values):
    """(low, median, high): the interval has the median with 95 %. By places in the sorted values, so nothing is
    assumed of how they are distributed."""
    values = sorted(values)
    half = 1.96 * math.sqrt(len(values)) / 2
    low = max(0, math.floor(len(values) / 2 - half))
    return values[low], statistics.median(values), values[len(values) - 1 - low]


def short(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def size_name(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return str(size)


def table(figures, columns, ours="starling", floor="floor", rows=None):
    """Lines of a Markdown table: median (min..max) per column, ratios to the best peer and to the floor."""
    lines = []
    named = {who for row in figures.values.values() for who in row}.union(who for _, who in figures.missing)
    names = [c for c in columns if c in named]
    head = ["", *names, f"{ours} / best peer", f"{ours} / floor"]
    lines.append("| " + " | ".join(head) + " |")
    lines.append("|" + "---|" * len(head))
    for (figure, size), row in figures.values.items():
        if rows and figure not in rows:
            continue
        amount = size if figure.endswith(" np") else size_name(size)
        cells = [f"{figure} {amount} [{figures.units[figure]}]"]
        for name in names:
            values = row.get(name)
            cells.append(f"{short(statistics.median(values))} ({short(min(values))}..{short(max(values))})"
                         if values else figures.missing.get(((figure, size), name), "-"))
        mine, peer = figures.median(figure, size, ours), figures.best_peer(figure, size, ours, floor)
        cells.append(f"{mine / peer[1]:.2f} ({peer[0]})" if mine is not None and peer and peer[1] else "-")
        base = figures.median(figure, size, floor)
        cells.append(f"{mine / base:.2f}" if mine is not None and base else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def write_csv(path, figures):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["figure", "size", "who", "unit", "runs", "median", "min", "max"])
        for (figure, size), row in figures.values.items():
            for who, values in row.items():
                writer.writerow([figure, size, who, figures.units[figure], len(values),
                                 statistics.median(values), min(values), max(values)])
