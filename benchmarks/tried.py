"""How many settings a search tries: ``python -m benchmarks tried [--seconds S] [TABLE ...]``.

For each table it asks for the recommendation within epsilon and k, and prints the settings tried in
60 processor seconds, all of the search counted (so many tried, in so many seconds), what it says of
its answer, how much of a limit that uses and what it loses, and the setting. A search that comes
to its end sooner counts with the seconds that it took. What is compiled is compiled before.
"""

from __future__ import annotations

import argparse

import numpy as np

import rwn_core as rwn
from benchmarks.answers import verdict
from benchmarks.pages import say
from benchmarks.ways import DEMOS, survey
from rwn_core.parallel import clock

MINUTE = 60.0
LARGE = "survey"
WANTED = {"bodyfat": 100, "pima": 60, "cps1988": 40, "randhie": 15, LARGE: 20}
"""Settings wanted in a minute, by table; the survey has 4,000 records of 26 variables."""


def table(name: str) -> rwn.Microdata:
    """A whole demo table, or a large survey."""
    if name in DEMOS:
        return rwn.load_demo(name)
    return survey(np.random.default_rng(7), 4_000)


def line(name: str, seconds: float) -> str:
    """Say how many settings of a table are tried, and what comes of it."""
    data = table(name)
    begun = clock.processor_seconds()
    answer = rwn.recommend(data, within=seconds, levers=True)
    took = clock.processor_seconds() - begun
    best = answer.settings[0]
    rate = MINUTE * answer.tried / took
    lost = "-" if best.loss is None else f"{best.loss:.3f}"
    return (
        f"{name:8s} {rate:4.0f} of {WANTED[name]:3d} ({answer.tried} in {took:.0f} s); "
        f"{verdict(answer)}, {best.releases} releases, share {best.share:.2f}, lost {lost}; "
        f"{best.setting.words}"
    )


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=[*WANTED])
    parser.add_argument("--seconds", type=float, default=MINUTE)
    given = parser.parse_args()
    rwn.recommend(rwn.load_demo("bodyfat"), within=1.0, levers=True)
    say("table, settings in 60 CPU s of those wanted; verdict; setting")
    for name in given.tables:
        say(line(name, given.seconds))


if __name__ == "__main__":
    main()
