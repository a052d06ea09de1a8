"""What the strongest intruder learns of one response, by the way in which slices are drawn.

``python -m benchmarks strongest [--tables N] [--targets T]`` draws tables of 70 records, four
numbers and a response of 8 levels, and masks each of them by slices apart, tied, and by
prediction. The intruder knows all records but one response, the law, the first slice of
each row, and the population's law of that response given the record's numbers. For each level that
the response may have there is a table, its law, and the likelihood of the released responses given
the first slices: so the posterior is exact, with secret lots averaged over.

The gain is the mean log posterior less the mean log prior of the true level, in nats. An exact
posterior gains what it expects to gain, which is checked, and is the same figure with less chance
in it. The planted fault reads a prediction as if its later slices were not balanced. Of slices
apart and tied the intruder also knows from which record each row comes; "rows alone" is one who
does not, and who reads each row as if it were the only one. By prediction sources do not matter.
"first slice" is what is told already by whose numbers each row shows, to one who knows all sources:
distances of the first slice are in all variables, the response among them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp, ndtr

import rwn_core as rwn
from benchmarks.pages import say

N, COLUMNS, LEVELS, WIDTH = 70, 4, 8, 0.48  # of a level: log scores of the prior are about -1.8
SPREAD = math.sqrt(0.5)  # of the response about what the numbers say, of standard deviation 1
NAMES = tuple(f"x{number}" for number in range(COLUMNS))
BASE = rwn.SoftRWN(balance=1.0, own=True, width=2.0, later=10)
PREDICTED = replace(BASE, by_prediction=True)
FAULT = "by prediction, read without balance"
WAYS = {
    "slices apart": BASE,
    "tied": replace(BASE, tie=True),
    "by prediction": PREDICTED,
    FAULT: PREDICTED,
}
MOST_ERRORS = 3.5  # standard errors between what an exact posterior gains and what it expects


def table_of(numbers: np.ndarray, responses: np.ndarray) -> rwn.Microdata:
    """The table of some numbers and responses, in two slices."""
    frame = pd.DataFrame(dict(zip(NAMES, numbers.T, strict=True)) | {"y": responses})
    return rwn.Microdata.from_frame(frame).with_slices((NAMES,))


def log_prior(numbers: np.ndarray) -> np.ndarray:
    """The population's log probability of each level, given a record's numbers."""
    edges = (np.arange(1, LEVELS) - LEVELS / 2) * WIDTH
    below = ndtr((edges - SPREAD * numbers.sum() / math.sqrt(COLUMNS)) / SPREAD)
    return np.log(np.maximum(np.diff(below, prepend=0.0, append=1.0), 1e-300))


def permanent(chances: np.ndarray) -> float:
    """The sum of products over all ways to give each row a column of its own."""
    ways = {0: 1.0}
    for row in chances:
        longer: dict[int, float] = {}
        for taken, total in ways.items():
            for column, chance in enumerate(row):
                if not (taken >> column) & 1:
                    new = taken | 1 << column
                    longer[new] = longer.get(new, 0.0) + total * chance
        ways = longer
    return ways[(1 << len(chances)) - 1]


def wrong_law(release: rwn.Release) -> Callable[[rwn.Microdata], Any]:
    """Return what finds the later donors of rows as if they were not balanced."""
    about, donors = release.law._again.args
    return partial(release.law._again.func, replace(about, balanced=False), donors)


def predicted_fit(
    release: rwn.Release, later: Callable[[rwn.Microdata], Any]
) -> Callable[[rwn.Microdata], dict[str, float]]:
    """Return what finds the log likelihood of the responses by prediction under a table."""
    shown = release.masked.frame["y"].to_numpy()
    # lots order rows of one first slice, and are secret: the mean over their orders
    alike = [np.flatnonzero(release.donors[:, 0] == donor) for donor in set(release.donors[:, 0])]

    def fit(table: rwn.Microdata) -> dict[str, float]:
        donors = later(table)["y"].matrix.toarray()
        values = table.frame["y"].to_numpy()
        chances = donors @ (values[:, np.newaxis] == shown)  # of row r to show what each row does
        logs = [math.log(max(permanent(chances[np.ix_(rows, rows)]), 1e-300)) for rows in alike]
        return {"": sum(logs) - sum(math.lgamma(len(rows) + 1) for rows in alike)}

    return fit


def other_fit(release: rwn.Release) -> Callable[[rwn.Microdata], dict[str, float]]:
    """Return what finds log likelihoods of responses, of slices apart or tied, under a table."""
    method, masked, rows = release.params, release.masked, np.arange(N)
    shown = masked.frame["y"].to_numpy()

    def fit(table: rwn.Microdata) -> dict[str, float]:
        law = method.prepare(table).law
        weights = law.donors.matrix.toarray()
        first = np.log(np.maximum(weights[:, release.donors[:, 0]], 1e-300)).T  # (row, source)
        if law.tied is not None:
            both = law.tied.logs([NAMES, ("y",)], masked, rows)
        else:
            levels = table.frame["y"].to_numpy()[:, np.newaxis] == shown
            both = first + np.log(np.maximum(weights @ levels, 1e-300)).T
        return {
            "": float((np.diag(both) - np.diag(first)).sum()),
            "rows alone": float((logsumexp(both, axis=1) - logsumexp(first, axis=1)).sum()),
            "first slice": float(np.diag(first).sum()),
        }

    return fit


def gains(number: int, targets: int) -> dict[tuple[str, str], np.ndarray]:
    """Mean gains of one table's targets, real and expected, and of the prior its log scores."""
    rng = np.random.default_rng((77, number))
    numbers = rng.standard_normal((N, COLUMNS))
    plain = SPREAD * (numbers.sum(axis=1) / math.sqrt(COLUMNS) + rng.standard_normal(N))
    responses = np.clip(np.floor(plain / WIDTH) + LEVELS / 2, 0, LEVELS - 1)
    # records are alike, so that the first ones are as good as any
    logs = [log_prior(numbers[target]) for target in range(targets)]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {
        ("prior", ""): [
            (float(log[int(level)]), float(np.exp(log) @ log))
            for log, level in zip(logs, responses, strict=False)
        ]
    }
    for way, setting in WAYS.items():
        release = rwn.mask(table_of(numbers, responses), setting, seed=number)
        fit = other_fit(release)
        if setting.by_prediction:
            later = wrong_law(release) if way == FAULT else release.law._again
            fit = predicted_fit(release, later)
        for target in range(targets):
            prior = log_prior(numbers[target])
            truth = int(responses[target])
            fits: list[dict[str, float]] = []
            for level in range(LEVELS):
                others = responses.copy()
                others[target] = level
                fits.append(fit(table_of(numbers, others)))
            for kind in fits[0]:
                posterior = prior + np.array([each[kind] for each in fits])
                gain = posterior - logsumexp(posterior) - prior
                expected = float(np.exp(prior + gain) @ gain)
                found.setdefault((way, kind), []).append((float(gain[truth]), expected))
    return {key: np.mean(each, axis=0) for key, each in found.items()}


def main() -> int:
    """Print the figures with their standard errors over tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--targets", type=int, default=4)
    given = parser.parse_args()
    began = time.process_time()
    each = [gains(number, given.targets) for number in range(given.tables)]
    right = True
    for way, kind in each[0]:
        figures = np.array([one[way, kind] for one in each])
        gain, expected = figures.mean(axis=0)
        errors = figures.std(axis=0, ddof=1) / math.sqrt(len(figures))
        chance = np.diff(figures)[:, 0].std(ddof=1) / math.sqrt(len(figures))
        exact = abs(gain - expected) <= MOST_ERRORS * chance
        # one who does not know sources reads rows alone, which is not exact
        if kind != "rows alone":
            right &= exact != (way == FAULT)
        told = "" if exact else ", NOT what it expects"
        say(
            f"{way:28} {kind:12} {gain:+.3f} (se {errors[0]:.3f}) "
            f"expected {expected:+.3f} (se {errors[1]:.3f}){told}"
        )
    say(f"{given.tables} tables, {given.targets} targets each; {time.process_time() - began:.0f} s")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
