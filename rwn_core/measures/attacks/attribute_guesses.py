"""Attribute attack on a release: people of the file, and people outside as the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.sizes import ATTACKED_PAIRS, QUICK_RECORDS, STORED_NUMBERS
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.aligned import released_rows
from rwn_core.measures.attacks.attribute_attack import (
    STRATEGIES,
    Beliefs,
    Gain,
    Success,
    attack,
    beliefs,
    gain,
    outside_rate,
)
from rwn_core.measures.attacks.confidential_value import level_names, named_values, tolerance
from rwn_core.measures.attacks.guessing import (
    Closest,
    attacked_people,
    canonical_sample,
    control_sample,
)
from rwn_core.measures.attacks.likeliest_value import Names, ReleasedValues
from rwn_core.measures.attacks.non_members import NonMembersOneByOne, non_members
from rwn_core.measures.attacks.predicted_value import KeyColumns, Predictor
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import wilson_interval
from rwn_core.measures.statistics.key_variables import (
    cell_codes,
    classes,
    key_names,
    required_confidential,
)
from rwn_core.neighbors import LARGEST_DENSE

FEWEST = 20  # people outside; the success of fewer says nothing
CHUNK = 500  # classes of rows looked at together
AT_ONCE = 8_000_000  # pairs of a class and a possible original that more classes may make


class _Attack:
    """Attribute attack on one release, given its keys and confidential variables."""

    def __init__(self, comparison: Comparison, law: Law) -> None:
        secrets = required_confidential(comparison)
        keys = tuple(name for name in key_names(comparison) if name not in secrets)
        if not keys:
            raise NotApplicable("No key variable other than the confidential ones is left.")
        original, masked = comparison.original, comparison.masked
        group = classes(cell_codes(comparison, keys)[1])
        self.comparison, self.law, self.keys, self.secrets = comparison, law, keys, secrets
        self.group, self.first = group, np.unique(group, return_index=True)[1]
        self.levels = [level_names(original, masked, name) for name in secrets]
        self.released = [
            ReleasedValues(
                group,
                named_values(original, masked, name),
                tolerance(original, name),
                None if levels is None else len(levels),
            )
            for name, levels in zip(secrets, self.levels, strict=True)
        ]
        for each in self.released:
            each.copied = any(way.cells.donors is not None for way in law.components())
        self.predictors = self._predictors()
        # rows of a class are equally near to each person
        self.closest = Closest(comparison, keys, self.first)

    def _predictors(self) -> list[Predictor]:
        """Return the release's predictor of each confidential variable."""
        comparison, law = self.comparison, self.law
        original, masked, about = comparison.original, comparison.masked, ("key columns", self.keys)
        steps = tuple(sorted(law.precision.items()))
        known = comparison.cached_for_original(
            (*about, steps),
            lambda: KeyColumns(original, rounded(original, law.precision), self.keys),
        )
        released = KeyColumns(original, masked, self.keys)
        try:
            moments = law.moments()
        except NotApplicable:
            moments = None
        return [
            Predictor(original, masked, name, released, known, moments) for name in self.secrets
        ]

    def _predicted(self, people: Microdata) -> list[dict[str, Names]]:
        """Predict each confidential variable of people from their keys."""
        told: list[dict[str, Names]] = []
        for each, values in zip(self.predictors, self.released, strict=True):
            found: dict[str, Names | None] = {}
            if each.usable:
                found = {
                    "line": each.line(people),
                    "corrected": each.corrected(people),
                    "less_noise": each.less_noise(people),
                    "tree": each.tree(people, values, self.group),
                }
            told.append({key: names for key, names in found.items() if names is not None})
        return told

    def _parts(self) -> list[Integers]:
        """Classes a few at a time."""
        count = len(self.first)
        return [np.arange(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]

    def _nearest(self, people: Microdata) -> sparse.csr_array:
        """Return the classes with a person's keys, or the nearest, shape (people, classes)."""
        points, shape = self.closest.people(people), (people.n, len(self.first))
        found = []
        for start in range(0, people.n, CHUNK):
            person, place = np.nonzero(self.closest.ties(points[start : start + CHUNK]))
            found.append((person + start, self.group[self.closest.rows[place]]))
        person, near = map(np.concatenate, zip(*found, strict=True))
        return sparse.csr_array((np.ones(len(person)), (person, near)), shape=shape)

    def _successes(
        self,
        people: Microdata,
        parts: Iterator[tuple[Beliefs, Integers]],
        rows: Integers | None = None,
    ) -> list[Success]:
        original = self.comparison.original
        truths = [named_values(original, people, name) for name in self.secrets]
        # the intruder rounds known keys as the release does
        as_released = rounded(people, self.law.precision)
        near, told = self._nearest(as_released), self._predicted(as_released)
        return attack(parts, near, truths, self.released, told, rows)

    def on_people(self, people: Integers) -> list[Success]:
        """Attack people of the file; NotApplicable if rows have too many candidates."""
        original = self.comparison.original
        if len(people) < original.n:
            return self._successes(original.take(people), self._beliefs(people))
        aligned = self.comparison.masked.n == original.n
        return self._successes(
            original, self._beliefs(people), np.bincount(self.group) if aligned else None
        )

    def _beliefs(self, people: Integers) -> Iterator[tuple[Beliefs, Integers]]:
        masked, n, count = self.comparison.masked, self.law.original.n, len(self.first)
        work, start, size = 0, 0, CHUNK
        while start < count:
            part = np.arange(start, min(start + size, count))
            found = beliefs(self.law, masked, self.first[part], self.keys, self.secrets, people)
            pairs = found.source.nnz * max(1, n // len(people))
            start, work = start + len(part), work + pairs
            if n > LARGEST_DENSE:  # each look counts all neighborhoods of such a table
                size = max(CHUNK, AT_ONCE * len(part) // (pairs + 1))
            if work > STORED_NUMBERS:
                raise NotApplicable(
                    "Too many originals may have released each row; choose fewer key variables, or "
                    "look at a smaller table."
                )
            yield found, part

    def on_outsiders(self, outsiders: Microdata) -> list[Success]:
        """Attack people outside the file, or a sample of them if the file is large."""
        attacked = non_members(self.comparison, self.law, outsiders, self.keys)
        work = attacked.joined * len(self.first)
        if work > ATTACKED_PAIRS:
            fewer = outsiders.n * ATTACKED_PAIRS // work
            if fewer < FEWEST:
                raise NotApplicable("Too many neighborhoods have room for people outside.")
            return self.on_outsiders(outsiders.take(canonical_sample(outsiders, fewer)))
        # few people one by one: the law of each is found once, for all rows
        one_by_one = isinstance(attacked, NonMembersOneByOne)
        parts = [np.arange(len(self.first))] if one_by_one else self._parts()
        found = ((attacked.beliefs(self.first[part], self.secrets), part) for part in parts)
        return self._successes(outsiders, found)


def best_guesses(comparison: Comparison) -> Reading:
    """Return the mean success of the best strategy, cached for all measures that read it."""
    # its baseline is the same strategies' success on people outside, or naming the majority
    return comparison.cached_for_release("attribute guesses", lambda: _best_guesses(comparison))


def _best_guesses(comparison: Comparison) -> Reading:
    required_confidential(comparison)
    tried = _Attack(comparison, comparison.required_law("The worst case"))
    original = comparison.original
    people = released_rows(original, comparison.masked)
    of = len(people)
    if of > QUICK_RECORDS:
        people = np.sort(attacked_people(comparison, QUICK_RECORDS))
    found = tried.on_people(people)
    outsiders = control_sample(comparison)
    outside = None if outsiders is None else _control(outsiders, tried)
    gains = [gain(each, None if outside is None else outside[at]) for at, each in enumerate(found)]
    worst = max(range(len(gains)), key=lambda at: gains[at].value)
    best = [each.best for each in found]
    control = None if outside is None else _beyond(outside, best)
    detail: dict[str, Any] = {
        "names": list(tried.keys),
        "secrets": list(tried.secrets),
        "worst": worst,
        "strategies": best,
        "strategy_words": [STRATEGIES[key] for key in best],
        "rates": [each.rates for each in found],
        "exact": np.array([max(each.exact.values()) for each in found]),
        "informed": np.array([each.rates[key] for each, key in zip(found, best, strict=True)]),
        "ignorant": np.array([each.rates["majority"] for each in found]),
        "control": control,
        "gains": [
            _gain_record(each, levels) for each, levels in zip(gains, tried.levels, strict=True)
        ],
        "people": max(1, found[worst].people),
        "control_people": None if outside is None else outside[worst].people,
        "sampled": len(people) < of,
        "records": people,
        "of": of,
    }
    reference = detail["ignorant"] if control is None else control
    value = float(detail["informed"][worst])
    attacked = detail["people"]
    interval = wilson_interval(value * attacked, attacked) if detail["sampled"] else None
    return Reading(value=value, baseline=float(reference[worst]), interval=interval, detail=detail)


def _gain_record(found: Gain, levels: list[str] | None) -> dict[str, Any]:
    """Return a gain as plain data, with its level by name."""
    naming = dict(found.naming)
    if levels is not None and naming["level"] is not None:
        naming["level"] = levels[naming["level"]]
    return {**asdict(found), "of_all": found.of_all, "naming": naming}


def _beyond(outside: list[Success], strategies: list[str]) -> Floats:
    """Return the success of the same strategies, or the majority, on people outside."""
    return np.array(
        [outside_rate(each, key) for each, key in zip(outside, strategies, strict=True)]
    )


def _control(outsiders: Microdata, tried: _Attack) -> list[Success] | None:
    """Return the success on people outside the file; None if it cannot be computed."""
    try:
        return tried.on_outsiders(outsiders)
    except NotApplicable:  # the people in the file are judged all the same
        return None
