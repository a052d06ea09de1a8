"""What an intruder reads off releases of bodyfat and pima, before and now, by strategy.

``python benchmarks/attribute_attack.py`` repeats the table of four groupings of bodyfat over 20
seeds (q = 1, k = 5; known are age, weight and height, confidential is siri), then the cases in
which a random guess by one's belief was taken for the worst. "Before" is that guess: the mean
belief in the true value of rows weighed by their source alone. "Found" and "read" look for values
only: of the people who are alone with their keys, how many are in the release with exactly these,
and for how many such a row shows their own siri, within the same reach. After each mean comes the
binomial standard error of one release; a number that was published for one seed lies within three
of them, or the run ends with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import rwn_core as rwn
from rwn_core.data.schema import Schema
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.attribute_attack import STRATEGIES
from rwn_core.measures.attacks.confidential_value import secret_values, tolerance
from rwn_core.measures.attacks.posterior import link, posteriors
from rwn_core.measures.comparison import Comparison

KEYS = ("age", "weight", "height")
SECRET = "siri"
SEEDS = range(20)
ERRORS = 3.0

Numbers = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """Which variables of bodyfat share their donor, how far, and what was published."""

    title: str
    epsilon: float
    slices: tuple[tuple[str, ...], ...]
    published: Mapping[str, float]


def groupings(names: Sequence[str]) -> list[Grouping]:
    """The four rows of the table."""
    rest = tuple(name for name in names if name not in KEYS)
    return [
        Grouping(title="none", epsilon=4, slices=(),
                 published={"linkage": 0.457, "before": 0.065, "found": 0.0, "read": 0.0}),
        Grouping(title="whole rows", epsilon=6, slices=(tuple(names),),
                 published={"linkage": 0.028, "before": 0.056, "found": 0.643, "read": 0.643}),
        Grouping(title="keys and siri", epsilon=4, slices=((*KEYS, SECRET),),
                 published={"linkage": 0.412, "before": 0.067, "found": 0.635, "read": 0.635}),
        Grouping(title="keys | all others", epsilon=6, slices=(KEYS, rest),
                 published={"linkage": 0.041, "before": 0.056, "found": 0.622, "read": 0.026}),
    ]  # fmt: skip


def sliced(data: rwn.Microdata, slices: Sequence[Sequence[str]]) -> rwn.Microdata:
    """The table whose slices each travel together."""
    group = {name: str(number) for number, names in enumerate(slices) for name in names}
    variables = (replace(each, group=group.get(each.name)) for each in data.schema.variables)
    return rwn.Microdata(data.frame, Schema(variables=tuple(variables)))


def before(comparison: Comparison, keys: Sequence[str], secret: str) -> tuple[float, float]:
    """The mean belief in the true value when rows count by their source, and of any row."""
    original = comparison.original
    truth = secret_values(original, original, secret)
    released = secret_values(original, comparison.masked, secret)
    right = tolerance(original, secret).right(released[None], truth[:, None])
    rows = np.arange(comparison.masked.n)
    belief = posteriors(comparison.law, comparison.masked, rows, keys).toarray()
    whole = belief.sum(axis=1)
    guess = right.mean(axis=1)
    mean = np.divide((belief * right).sum(axis=1), whole, out=guess.copy(), where=whole > 0)
    return float(mean.mean()), float(guess.mean())


def true_matches(comparison: Comparison) -> tuple[float, float]:
    """Found and read truly, of the people who are alone with their keys."""
    original, masked = (table.frame[[*KEYS, SECRET]] for table in
                        (comparison.original, comparison.masked))  # fmt: skip
    alone = original[~original.duplicated(list(KEYS), keep=False)]
    pairs = alone.reset_index().merge(masked, on=list(KEYS), suffixes=("", "_shown"))
    near = tolerance(comparison.original, SECRET)
    hit = near.right(pairs[f"{SECRET}_shown"].to_numpy(), pairs[SECRET].to_numpy())
    true = pairs.assign(hit=hit).groupby("index")["hit"].mean()
    return len(true) / len(alone), float(true.sum()) / len(alone)


def one_release(data: rwn.Microdata, params: rwn.RWN, seed: int) -> Numbers:
    """Every number of one release of bodyfat."""
    release = rwn.mask(data, params, seed=seed)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    reading = MEASURES["attribute_inference"].compute(comparison)
    was, baseline = before(comparison, KEYS, SECRET)
    found, read = true_matches(comparison)
    numbers = {
        "linkage": link(release.law, release.masked).success,
        "before": was,
        "random row": baseline,
        "now": reading.value,
        "found": found,
        "read": read,
    }
    return numbers | dict(reading.detail["rates"][0])


def means(data: rwn.Microdata, params: rwn.RWN, seeds: Sequence[int]) -> Numbers:
    """Means over some seeds."""
    releases = [one_release(data, params, seed) for seed in seeds]
    return {key: float(np.mean([each[key] for each in releases])) for key in releases[0]}


def far(mean: float, published: float, n: int, seeds: int) -> bool:
    """Whether a number published for one seed is too far from a mean over some."""
    error = np.sqrt(max(mean * (1 - mean), 1 / n) / n * (1 + 1 / seeds))
    return bool(abs(mean - published) > ERRORS * error)


GUESSES = (("pima", 25, "test", 0.832, 0.992), ("pima", 5, "test", 0.941, 0.984))
"""Table, k, confidential variable, published before and after."""


def guess(case: tuple[str, int, str, float, float]) -> tuple[str, bool]:
    """A case in which a random guess was taken for the worst."""
    table, k, secret, *published = case
    data = rwn.load_demo(table)
    variables = (
        replace(each, role="other" if each.role == "confidential" and each.name != secret
                else each.role) for each in data.schema.variables
    )  # fmt: skip
    data = rwn.Microdata(data.frame, Schema(variables=tuple(variables)))
    lines = []
    for seed in SEEDS:
        release = rwn.mask(data, rwn.RWN(k=k), seed=seed)
        comparison = Comparison(original=data, masked=release.masked, law=release.law)
        reading = MEASURES["attribute_inference"].compute(comparison)
        was = before(comparison, reading.detail["names"], secret)
        lines.append((was[0], reading.value, was[1], reading.baseline))
    numbers = np.mean(lines, axis=0)
    bad = any(far(mean, one, data.n, len(lines)) for mean, one in zip(numbers, published,
                                                                      strict=False))  # fmt: skip
    return (f"{table} {secret}, k = {k}: {numbers[0]:.3f} before, {numbers[1]:.3f} now (published "
            f"{published[0]:.3f}, {published[1]:.3f}); baseline {numbers[2]:.3f} before, "
            f"{numbers[3]:.3f} now"), bad  # fmt: skip


def main() -> None:
    """Print the table and the cases; fail where a published number is not met."""
    data = rwn.load_demo("bodyfat")
    names = [variable.name for variable in data.schema.released]
    failed = False
    for grouping in groupings(names):
        params = rwn.RWN(epsilon=grouping.epsilon, k=5)
        found = means(sliced(data, grouping.slices), params, SEEDS)
        sys.stdout.write(f"{grouping.title}, epsilon {grouping.epsilon:g}\n")
        for key, mean in found.items():
            error = np.sqrt(mean * (1 - mean) / data.n)
            said = grouping.published.get(key)
            bad = said is not None and far(mean, said, data.n, len(SEEDS))
            failed |= bad
            note = "" if said is None else f"  published {said:.3f}{' MISSED' if bad else ''}"
            words = STRATEGIES.get(key, "")
            sys.stdout.write(f"  {key:10} {mean:.3f} ({error:.3f}){note}  {words}\n")
    for case in GUESSES:
        line, bad = guess(case)
        failed |= bad
        sys.stdout.write(line + (" MISSED\n" if bad else "\n"))
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
