"""What the recommendations of twelve tables keep and leave, on releases that chose nothing.

``python -m benchmarks answers [--seconds S] [--tables NAME ...] [--releases N]`` asks for the
recommendation within epsilon and k, draws so many fresh releases of it, and prints the verdict
of the search, how many of the fresh releases keep all limits, the largest share of a limit over
them and of which limit it is, the means of what is left of the use, of the worst slope in standard
errors and of R squared (of the original in brackets), seconds, and the setting.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np

import rwn_core as rwn
from benchmarks.pages import say
from benchmarks.ways import DEMOS, MADE, table
from rwn_core.measures import MEASURES, USE
from rwn_core.measures.utility.use_left import RegressionLeft, UseLeft
from rwn_core.parallel import clock
from rwn_core.tuning.answer import SearchAnswer
from rwn_core.tuning.strength import TableSearch

FIRST = 7_000
"""The seed of the first fresh release: no search draws it."""
HEAD = (
    "table; verdict; fresh releases that keep all limits, largest share of which; left of secrets' "
    "relations, regression, others; slope in SE; R squared (original); CPU s, tried; setting"
)


def line(name: str, seconds: float, releases: int) -> str:
    """Say what the recommendation of a table keeps and leaves."""
    data = table(name)
    begun = clock.processor_seconds()
    answer = rwn.recommend(data, within=seconds, levers=True)
    took = clock.processor_seconds() - begun
    if not answer.settings:
        return f"{name:10s} no setting: {answer.sentence}"
    words = answer.settings[0].setting.words
    fresh = on_fresh_releases(data, answer, releases)
    return f"{name:10s} {verdict(answer):14s} {fresh} {took:5.0f} {answer.tried:3d}  {words}"


def verdict(answer: SearchAnswer) -> str:
    """Say in a word or two what the search says of its answer."""
    if answer.reached and answer.confirmed:
        return "kept"
    if answer.reached:
        return "kept so far"
    return "none" if answer.refused else "not finished"


def on_fresh_releases(data: rwn.Microdata, answer: SearchAnswer, releases: int) -> str:
    """Say what fresh releases of an answer keep and leave."""
    setting = answer.settings[0].setting
    search = TableSearch(microdata=data, policy=answer.goal)
    shares = list[tuple[float, str]]()
    uses: list[UseLeft] = []
    for number in range(releases):
        comparison = search.tables.compared(setting, FIRST + number)
        keys = answer.goal.measures
        readings = {key: MEASURES[key].read(comparison, bare=True) for key in keys}
        judged = answer.goal.judge(readings, params=setting.params)
        used = [(share, key) for key, share in judged.shares.items()]
        shares.append(max(used, default=(math.nan, "none")))
        left = MEASURES[USE].read(comparison, bare=True)
        if isinstance(left, rwn.Reading):
            uses.append(left.detail)
    kept = sum(share <= 1 for share, _ in shares)
    most, limit = max(shares)
    fits = [fit for use in uses for fit in use.regressions]
    left_of = [mean(uses, lambda use: use.relations), mean(uses, lambda use: use.regression)]
    left_of.append(mean(uses, lambda use: use.others))
    parts = " ".join(f"{each:5.2f}" for each in left_of)
    slope = mean(uses, lambda use: use.worst_slope)
    return (
        f"{kept:2d} of {releases:2d} {most:5.2f} {limit:16s} {parts} {slope:6.1f}  "
        f"{mean(fits, lambda fit: fit.r2_released):.2f} ({mean(fits, original_r2):.2f})"
    )


def original_r2(fit: RegressionLeft) -> float | None:
    """Return R squared of the original."""
    return fit.r2_original


def mean(items: Sequence, value: Callable[..., float | None]) -> float:
    """Return the mean of what is known of some items; NaN where nothing is."""
    known = [number for number in map(value, items) if number is not None]
    return float(np.mean(known)) if known else math.nan


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--tables", nargs="*", default=[*DEMOS, *MADE])
    given = parser.parse_args()
    say(HEAD)
    for name in given.tables:
        say(line(name, given.seconds, given.releases))


if __name__ == "__main__":
    main()
