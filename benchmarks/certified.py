"""The smallest width at which certified linkage is at most 5 %, and what it costs.

``python -m benchmarks certified [bodyfat randhie cps1988]`` searches it for each table in two
slices, masks all records once and prints the figures of docs/explanation/certified-linkage.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import rwn_core as rwn
from benchmarks.certified_forecast import forecast_certified
from benchmarks.pages import say
from rwn_core.data.schema import Slices
from rwn_core.data.variable import Role
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.tuning.strength import first_that

AT_MOST = 0.05
WIDTHS = (0.25, 8.0)
SEED = 3
STEP = 0.05
READ = ("certified_linkage", "bayes_linkage", "association_loss", "attribute_gain", "true_matches")
KERNEL = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True, cap=1.0)


def two_slices(data: rwn.Microdata) -> dict[str, Slices]:
    """Return the ways in which a table is cut: in the order of the file, and keys from others."""
    names = [variable.name for variable in data.schema.released]
    keys = [v.name for v in data.schema.released if v.role is Role.KEY]
    half = (len(names) + 1) // 2
    ways: dict[str, Slices] = {"order of the file": (tuple(names[:half]), tuple(names[half:]))}
    if keys:
        ways["keys from others"] = (tuple(keys), tuple(n for n in names if n not in keys))
    return ways


def smallest_width(data: rwn.Microdata, widths: Sequence[float]) -> float:
    """Return the smallest width that keeps the limit; the largest where none does."""
    tried = np.arange(widths[0], widths[1] + STEP / 2, STEP).round(6).tolist()

    def keeps(place: int) -> bool:
        law = replace(KERNEL, width=tried[place]).prepare(data).law
        return float(np.mean(forecast_certified(law, rows=data.n))) <= AT_MOST

    place = first_that(keeps, len(tried) - 1)
    return tried[-1 if place is None else place]


def report(demo: str, widths: Sequence[float]) -> None:
    """Print the answer for a demo table, for each way to cut it."""
    whole = rwn.load_demo(demo)
    for way, slices in two_slices(whole).items():
        data, start = whole.with_slices(slices), time.perf_counter()
        width = smallest_width(data, widths)
        say(f"{demo}, {way}: width {width:g}, found in {time.perf_counter() - start:.0f} s")
        release = rwn.mask(data, replace(KERNEL, width=width), seed=SEED)
        compared = Comparison(original=data, masked=release.masked, law=release.law)
        for key in READ:
            found = MEASURES[key].read(compared)
            value = f"{found.value:.4f}" if isinstance(found, Reading) else found.reason
            say(f"  {key}: {value}")
            if key == READ[0] and isinstance(found, Reading):
                parts = {
                    name: getattr(found.detail, name) for name in ("most", "worst_tenth", "left")
                }
                say("  " + ", ".join(f"{name} {part:.4f}" for name, part in parts.items()))
        say(f"  {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demos", nargs="*", default=["bodyfat", "randhie"])
    parser.add_argument("--widths", type=float, nargs=2, default=WIDTHS, help="where to search")
    given = parser.parse_args()
    for each in given.demos:
        report(each, given.widths)
