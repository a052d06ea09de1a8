"""What twelve tables of different kinds open with: ``python -m benchmarks start [TABLE ...]``.

For each table it finds the start that the Tune page takes over, draws the first confirmed
picture (all records, the page's first seed), and writes its headline. Beside it stands what `rwn
find` finds within ``--seconds``, in all its spaces of RWN. Exit 1 if a picture breaks the policy
where a setting keeps it, if a missing setting is not said, or if a
verdict hides that most relations are lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import say
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_ui.features.limit_queue import COSTLY, draw_verdict

SEED, SECONDS = 1, 120.0
SPACES = (None, rwn.Space(kernels=True), rwn.Space(slices=True))


def numbers(n: int, p: int, common: float, seed: int) -> pd.DataFrame:
    """Numbers that hang together by one factor."""
    draw = np.random.default_rng(seed)
    factor = draw.standard_normal(n)
    columns = {f"x{i}": common * factor + draw.standard_normal(n) for i in range(p)}
    return pd.DataFrame(columns).round(2)


def clinical() -> pd.DataFrame:
    """Patients with measurements, a diagnosis and a day."""
    frame = numbers(220, 5, 1.5, 1)
    draw = np.random.default_rng(2)
    frame["diagnosis"] = np.where(frame.x0 + draw.standard_normal(220) > 1, "yes", "no")
    frame["admission"] = pd.Timestamp("2021-01-01") + pd.to_timedelta(
        draw.integers(0, 700, 220), "D"
    )
    return frame


def weighted() -> pd.DataFrame:
    """A survey with a weight that nobody has declared."""
    draw = np.random.default_rng(3)
    frame = numbers(260, 4, 1.2, 3)
    frame["region"] = draw.choice(list("abcd"), 260)
    frame["dwgt"] = draw.uniform(200, 900, 260).round(3)
    return frame


def categories() -> pd.DataFrame:
    """Answers in words only, which hang together."""
    draw = np.random.default_rng(4)
    factor = draw.integers(0, 4, 300)
    return pd.DataFrame(
        {
            name: np.array(list("pqrs"))[
                np.where(draw.random(300) < 0.7, factor, draw.integers(0, 4, 300))
            ]
            for name in ("school", "work", "housing", "vote")
        }
    )


def incomes() -> pd.DataFrame:
    """Skewed amounts with a few far ones."""
    draw = np.random.default_rng(5)
    frame = numbers(300, 3, 1.0, 5)
    frame["income"] = np.exp(7 + 0.6 * frame.x0 + 0.5 * draw.standard_normal(300)).round()
    frame.loc[:2, "income"] *= 40
    return frame


def panel() -> pd.DataFrame:
    """Six rows of each person, with the person's number."""
    draw = np.random.default_rng(6)
    own = np.repeat(draw.standard_normal(45), 6)
    frame = pd.DataFrame(
        {"person": np.repeat(np.arange(45) + 1001, 6), "year": np.tile(np.arange(6) + 2015, 45)}
    )
    for name in ("wage", "hours", "health"):
        frame[name] = (10 * own + 4 * draw.standard_normal(270)).round(1)
    return frame


def flagged() -> pd.DataFrame:
    """A flag that few people have."""
    frame = numbers(240, 4, 1.4, 7)
    frame["hiv"] = (np.random.default_rng(7).random(240) < 0.04).astype(int)
    return frame


def gaps() -> pd.DataFrame:
    """Numbers of which a tenth is missing."""
    frame = numbers(240, 6, 1.3, 8)
    return frame.mask(np.random.default_rng(8).random(frame.shape) < 0.1)


def coarse() -> pd.DataFrame:
    """Counts with many ties."""
    return numbers(300, 5, 1.2, 9).round(0).astype(int).clip(-2, 3) + 2


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "clinical": clinical,
    "undeclared weight": weighted,
    "categories": categories,
    "one number": lambda: numbers(160, 1, 1.0, 10),
    "two numbers": lambda: numbers(200, 2, 3.0, 11),
    "incomes": incomes,
    "panel": panel,
    "rare flag": flagged,
    "gaps": gaps,
    "coarse counts": coarse,
    "wide": lambda: numbers(150, 22, 1.0, 12),
    "unrelated": lambda: numbers(200, 5, 0.0, 13),
}


def picture(data: rwn.Microdata, setting: rwn.Setting) -> tuple[str, float, str]:
    """State of the policy in the first picture, what it loses, and its headline."""
    setting = setting.resolved(data)
    policy = rwn.Policy()
    under = setting.applied_to(data)
    release = rwn.mask(under, setting.params, seed=SEED, precision=dict(setting.precision))
    readings = rwn.audit(under, release, measures=[*policy.measures, UTILITY]).readings
    verdict = policy.judge(readings)
    loss = readings[UTILITY]
    lost = loss.value if isinstance(loss, Reading) else float("nan")
    return verdict.state, lost, str(draw_verdict(policy, readings, verdict)["text"])


def found(data: rwn.Microdata, seconds: float) -> Iterator[rwn.SearchAnswer]:
    """What each search of RWN finds."""
    for space in SPACES:
        try:
            yield rwn.search(data, space=space, seconds=seconds)
        except rwn.ParameterError:  # no limit can be judged
            continue


def main() -> int:
    """Read the command line, look at each table, and write a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    faults = 0
    say("| table | seconds | start | first confirmed picture | lost | a setting keeps it | fault |")
    say("|---|---:|---|---|---:|---|---|")
    for name in given.tables:
        data = rwn.Microdata.from_frame(TABLES[name]())
        begin = time.monotonic()
        start = rwn.recommend(data)
        took = time.monotonic() - begin
        state, lost, headline = picture(data, start.setting)
        exists = start.reached or any(each.reached for each in found(data, given.seconds))
        fault = "broken" if exists and state == "broken" else ""
        fault = fault or (
            "hidden loss" if state == "kept" and lost > COSTLY and "%" not in headline else ""
        )
        fault = fault or ("not said" if not exists and not start.reason else "")
        faults += bool(fault)
        say(
            f"| {name} | {took:.0f} | {start.setting.words} | {headline} | {100 * lost:.0f} % | "
            f"{'yes' if exists else 'no'} | {fault} |"
        )
        if not exists:
            say(f"|  |  | {start.reason} |  |  |  |  |")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
