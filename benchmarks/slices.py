"""What the slice search saves against the best setting in which each variable stands alone.

``python benchmarks/slices.py [bodyfat pima cps1988] [--true-matches 0.05]`` prints for each table
how long the search took, both settings, and every utility measure of both over 50 fresh releases.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

import rwn_core as rwn
from rwn_core.tuning import Limit, Plan, Policy, SliceAnswer, SliceRanges, Trials, seek_slices

SECONDS = {"bodyfat": 120.0, "cps1988": 600.0}
FARTHEST = {"bodyfat": 12.0, "pima": 10.0, "cps1988": 12.0}  # beyond the slider: for lone variables
STEPS = 40
FRESH, SEED = 50, 50_000_000
HALF = 0.5


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def limits(true_matches: float) -> Policy:
    """The usual policy, with another limit on true matches if it is asked for."""
    usual = (limit for limit in Policy().limits)
    return Policy(
        limits=tuple(
            Limit(measure=each.measure, at_most=true_matches)
            if each.measure == "true_matches"
            else each
            for each in usual
        )
    )


def searched(
    table: rwn.Microdata, policy: Policy, ranges: SliceRanges
) -> tuple[SliceAnswer, float]:
    """An answer and its seconds."""
    start = time.perf_counter()
    found = seek_slices(table, policy, ranges=ranges)
    return found, time.perf_counter() - start


def utility(table: rwn.Microdata, answer: SliceAnswer) -> dict[str, float]:
    """The median of every utility measure that is read quickly, over fresh releases."""
    keys = tuple(
        key for key, m in rwn.MEASURES.items() if m.side == "utility" and key != "prediction"
    )
    setting = answer.point.setting
    few = Trials(table, [setting], Plan(measures=keys, releases=1, seed=SEED)).run(setting)
    known = tuple(key for key in keys if few.median(key) is not None)
    plan = Plan(measures=known, releases=FRESH, seed=SEED)
    point = Trials(table, [setting], plan).run(setting)
    return {key: value for key in known if (value := point.median(key)) is not None}


def best_alone(table: rwn.Microdata, policy: Policy, ranges: SliceRanges) -> SliceAnswer:
    """The best ungrouped setting under the same rule."""
    return seek_slices(table, policy, ranges=replace(ranges, starts=[()], only_starts=True))


def report(demo: str, policy: Policy) -> None:
    """Print one table's comparison."""
    data = rwn.load_demo(demo)
    strengths = np.round(np.linspace(FARTHEST[demo] / STEPS, FARTHEST[demo], STEPS), 3)
    ranges = SliceRanges(strengths=tuple(strengths.tolist()))
    found, seconds = searched(data, policy, ranges)
    alone = best_alone(data, policy, ranges)
    allowed = SECONDS.get(demo)
    say(f"{demo}: {seconds:.0f} s" + (f" (at most {allowed:.0f})" if allowed else ""))
    for name, answer in (("slices", found), ("alone", alone)):
        say(f"  {name}: {'kept' if answer.reached else 'NOT KEPT'}; {answer.sentence}")
    table = data
    if found.records < data.n:
        chosen = np.random.default_rng(0).permutation(data.n)[: found.records]
        table = data.take(np.sort(chosen))
    ours, theirs = utility(table, found), utility(table, alone)
    ratio = ours["correlation"] / theirs["correlation"]
    met = "met" if ratio <= HALF and found.reached and alone.reached else "NOT MET"
    say(f"  loss of correlations {ours['correlation']:.3f} against {theirs['correlation']:.3f}:")
    say(f"  {ratio:.2f} of it, at most {HALF} wanted: {met}")
    for key in sorted(ours.keys() & theirs.keys()):
        better = rwn.MEASURES[key].better
        lost = (ours[key] > theirs[key]) == (better == "lower") and ours[key] != theirs[key]
        say(f"    {key}: {ours[key]:.4g} against {theirs[key]:.4g}{'  worse' * lost}")


def main() -> None:
    """Read the command line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demos", nargs="*", default=list(FARTHEST))
    parser.add_argument("--true-matches", type=float, default=0.05)
    chosen = parser.parse_args()
    for demo in chosen.demos:
        report(demo, limits(chosen.true_matches))


if __name__ == "__main__":
    main()
