"""What the slice search saves against the best setting in which each variable stands alone.

Both searches move the weights of the distance, too; beside them stands each variable alone under
the weights as they are.

``python -m benchmarks.slices [bodyfat pima cps1988] [--round 0.25]`` prints for each table how long
the search took, both settings, and the policy's measures and those of utility of both over 50 fresh
releases; it writes them into docs/explanation/slices-measured.md as soon as a table is done.
"""

from __future__ import annotations

import argparse
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import rwn_core as rwn
from benchmarks.pages import HERE, say
from rwn_core.data.rounding import given_steps
from rwn_core.tuning import Plan, Policy, SearchAnswer, Setting, SliceRanges, evaluate, seek_slices

PAGE = HERE / "slices-measured.md"
SECONDS = {"bodyfat": 120.0, "cps1988": 600.0}
FARTHEST = {"bodyfat": 12.0, "pima": 10.0, "cps1988": 12.0}  # beyond the slider: for lone variables
STEPS = 40
FRESH, SEED = 50, 50_000_000
HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """An answer, what it took, and its readings over fresh releases."""

    answer: SearchAnswer
    seconds: float
    processor: float
    read: dict[str, float]


def processor_seconds() -> float:
    """What this process and those that it has ended have used."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def fresh(table: rwn.Microdata, setting: Setting, policy: Policy) -> dict[str, float]:
    """The medians of the policy's measures and of those of utility, over fresh releases."""
    utility = [
        key for key, m in rwn.MEASURES.items() if m.side == "utility" and key != "prediction"
    ]
    keys = (*policy.measures, *utility)
    few = evaluate(table, setting, (SEED,), keys)
    known = tuple(key for key in keys if few.median(key) is not None)
    plan = Plan(measures=known, releases=FRESH, seed=SEED)
    point = evaluate(table, setting, plan.keys, plan.measures)
    return {key: value for key in known if (value := point.median(key)) is not None}


def searched(data: rwn.Microdata, setting: Setting, ranges: SliceRanges) -> Searched:
    """Search and read the answer anew on the records that it was searched on."""
    start, used = time.perf_counter(), processor_seconds()
    answer = seek_slices(data, Policy(), setting=setting, ranges=ranges)
    seconds, processor = time.perf_counter() - start, processor_seconds() - used
    table = data
    if answer.records < data.n:
        chosen = np.random.default_rng(0).permutation(data.n)[: answer.records]
        table = data.take(np.sort(chosen))
    read = fresh(table, answer.point.setting, Policy())
    return Searched(answer=answer, seconds=seconds, processor=processor, read=read)


def lines(
    demo: str, step: float, found: Searched, alone: Searched, even: Searched
) -> Iterator[str]:
    """The comparison of one table as Markdown."""
    rounded = f", rounded to about {step:g} standard deviations" if step else ""
    yield f"## {demo}{rounded}"
    allowed = SECONDS.get(demo)
    wanted = f" (at most {allowed:.0f} s on two idle processors)" if allowed else ""
    yield (
        f"The search took {found.processor:.0f} processor seconds, {found.seconds:.0f} s in all"
        f"{wanted}; {found.answer.tried:,} slices and radii were tried."
    )
    for name, each in (
        ("Slices and weights", found),
        ("Each variable alone, with weights", alone),
        ("Each variable alone, with weights as they are", even),
    ):
        kept = "all limits kept" if each.answer.reached else "**not all limits kept**"
        yield f"- {name}, {kept}: {each.answer.sentence}"
    yield (
        f"The loss of correlations is {_against(found, even)} of that of each variable alone with "
        f"weights as they are, and {_against(found, alone)} of that with weights."
    )
    yield "\n".join(table_of(found.read, alone.read))


def _against(found: Searched, other: Searched) -> str:
    """The ratio of two losses of correlations, and whether it is at most half."""
    ratio = found.read["correlation"] / other.read["correlation"]
    if not (found.answer.reached and other.answer.reached):
        return f"{ratio:.2f} (not all limits kept)"
    return f"{ratio:.2f} ({'half or less' if ratio <= HALF else 'more than half'})"


def table_of(found: dict[str, float], alone: dict[str, float]) -> Iterator[str]:
    """Each measure of both, with those that lose by the slices."""
    yield f"| measure, median of {FRESH} fresh releases | slices | alone | |"
    yield "|---|---|---|---|"
    for key in (key for key in found if key in alone):
        better, one, other = rwn.MEASURES[key].better, found[key], alone[key]
        loses = better != "neutral" and one != other and (one > other) == (better == "lower")
        title = rwn.MEASURES[key].title
        yield f"| {title} | {one:.3g} | {other:.3g} | {'loses' if loses else ''} |"


def keep(heading: str, text: str) -> None:
    """Put a section into the page in place of its earlier one, tables in their usual order."""
    beginning, *sections = re.split(r"(?m)^(?=## )", PAGE.read_text(encoding="utf-8"))
    others = [each for each in sections if not each.startswith(f"{heading}\n")]
    ordered = sorted([*others, text], key=lambda each: [*map(each[3:].startswith, FARTHEST)][::-1])
    PAGE.write_text(
        "\n\n".join(each.strip() for each in (beginning, *ordered)) + "\n", encoding="utf-8"
    )


def report(demo: str, step: float) -> None:
    """Search one table with and without slices, and say what comes out."""
    data = rwn.load_demo(demo)
    strengths = np.round(np.linspace(FARTHEST[demo] / STEPS, FARTHEST[demo], STEPS), 3)
    ranges = SliceRanges(strengths=tuple(strengths.tolist()))
    precision = given_steps(data, step) if step else {}
    setting = Setting(params=rwn.RWN(epsilon=1.0, k=5), precision=tuple(precision.items()))
    found = searched(data, setting, ranges)
    say(f"{demo}: {found.seconds:.0f} s; {found.answer.sentence}")
    ungrouped = replace(ranges, starts=[()], only_starts=True)
    alone = searched(data, setting, ungrouped)
    even = searched(data, setting, replace(ungrouped, weights=False))
    text = list(lines(demo, step, found, alone, even))
    keep(text[0], "\n\n".join(text))
    say("\n\n".join(text))


def main() -> None:
    """Read the command line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demos", nargs="*", default=list(FARTHEST))
    parser.add_argument("--round", type=float, default=0.0, help="share of a standard deviation")
    chosen = parser.parse_args()
    for demo in chosen.demos:
        report(demo, chosen.round)


if __name__ == "__main__":
    main()
