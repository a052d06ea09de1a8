"""Attribute inference: what the worst-case intruder learns of a person's confidential value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import codes, numbers
from rwn_core.measures.attacks.guessing import control_sample
from rwn_core.measures.attacks.non_members import NonMembers
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.key_variables import (
    cell_codes,
    classes,
    key_names,
    required_confidential,
)
from rwn_core.mechanism.law import Law

LARGEST_WORK = 50_000_000  # pairs of a class of rows and a possible original
CHUNK = 500  # classes of rows looked at together
NEAR = 0.1  # standard deviations within which a number counts as learned


Belief = tuple[sparse.csc_array, NDArray[np.int64]]
Side = Literal["left", "right"]


class ReleasedValues:
    """What rows with equal keys tell of one confidential variable.

    Parameters
    ----------
    group : ndarray of int64, shape (m,)
        The number of each released row's class of equal keys.
    released : ndarray of float64, shape (m,)
        Released values or level numbers, NaN where missing.
    tolerance : float
        How near a value must be, in its own unit.
    """

    def __init__(
        self, group: NDArray[np.int64], released: NDArray[np.float64], tolerance: float
    ) -> None:
        known = ~np.isnan(released)
        self.values, ranks = np.unique(released[known], return_inverse=True)
        self.width = len(self.values) + 1
        self.ranked = np.sort(group[known] * self.width + ranks)
        self.sizes = np.bincount(group)
        self.all = np.sort(released[known])
        self.rows, self.tolerance = len(released), tolerance

    def everybody(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of all rows that tell a true value, shape like truth."""
        low, high = (np.searchsorted(self.all, end, side) for end, side in self._ends(truth))
        share = (high - low) / max(self.rows, 1)
        return np.where(np.isnan(truth), 0.0, np.clip(share, 0.0, 1.0))

    def rightly(self, truth: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the rows of a class that tell a true value; element by element."""
        low, high = (
            np.searchsorted(
                self.ranked, group * self.width + np.searchsorted(self.values, end, side)
            )
            for end, side in self._ends(truth)
        )
        return np.where(np.isnan(truth), 0.0, (high - low) / self.sizes[group])

    def _ends(self, truth: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], Side]]:
        more = self.tolerance * (1 + 1e-12)
        yield truth - more, "left"
        yield truth + more, "right"


def learned(
    beliefs: Iterable[Belief],
    truths: Sequence[NDArray[np.float64]],
    released: Sequence[ReleasedValues],
) -> list[NDArray[np.float64]]:
    """P(the intruder names each person's true value), for each confidential variable.

    Parameters
    ----------
    beliefs : iterable of (sparse array of shape (n, c), ndarray of int64 of shape (c,))
        How much one row of each class is believed to be each person's, and the classes.
    truths : sequence of ndarray of float64, shape (n,)
        True values or level numbers, NaN where missing.
    released : sequence of ReleasedValues

    Returns
    -------
    list of ndarray of float64, shape (n,)
        Of a person whom no row can be, what everybody knows.

    Notes
    -----
    He weighs the rows in proportion to what he believes of them. Rows with equal keys weigh the
    same, so that only classes are looked at, and sums are all that is kept of them.
    """
    n = len(truths[0])
    right, whole = np.zeros((len(released), n)), np.zeros(n)
    for belief, numbers_ in beliefs:
        entries = sparse.coo_array(belief)
        person, group = entries.coords[0], numbers_[entries.coords[1]]
        weight = entries.data * released[0].sizes[group]
        whole += np.bincount(person, weight, n)
        for number, (truth, one) in enumerate(zip(truths, released, strict=True)):
            named = one.rightly(truth[person], group)
            right[number] += np.bincount(person, weight * named, n)
    return [
        np.clip(np.divide(r, whole, out=one.everybody(truth), where=whole > 0), 0.0, 1.0)
        for r, truth, one in zip(right, truths, released, strict=True)
    ]


def _values(original: Microdata, people: Microdata, name: str) -> NDArray[np.float64]:
    """A confidential variable of either table as numbers, NaN where missing."""
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        code = codes(original, people, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64))
    return numbers(original, people, name)


def _tolerance(original: Microdata, name: str) -> float:
    """How near a number must be to count as learned; a category must be the same."""
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        return 0.0
    values = original.values(name)
    known = values[~np.isnan(values)]
    return NEAR * float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _parts(count: int) -> list[NDArray[np.int64]]:
    """Classes a few at a time."""
    return [np.arange(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]


def _beliefs(
    law: Law, masked: Microdata, keys: tuple[str, ...], first: NDArray[np.int64]
) -> Iterator[Belief]:
    """What the intruder believes of one row of each class of equal keys.

    Raises
    ------
    NotApplicable
        Too many originals may have released the rows.
    """
    work = 0
    for part in _parts(len(first)):
        belief = posteriors(law, masked, first[part], keys)
        work += belief.nnz
        if work > LARGEST_WORK:
            raise NotApplicable(
                "Too many originals may have released each row; choose fewer key variables, or "
                "look at a smaller table."
            )
        yield belief, part


def _control(
    comparison: Comparison,
    law: Law,
    keys: tuple[str, ...],
    secrets: Mapping[str, ReleasedValues],
    first: NDArray[np.int64],
) -> NDArray[np.float64] | None:
    """The same attack's mean success against people who are not in the file."""
    outsiders = control_sample(comparison)
    if outsiders is None:
        return None
    parts = _parts(len(first))
    try:
        attacked = NonMembers(comparison, law, outsiders, keys)
    except NotApplicable:  # the people in the file are judged all the same
        return None
    beliefs = ((attacked.beliefs(first[part]), part) for part in parts)
    truths = [_values(comparison.original, outsiders, name) for name in secrets]
    return np.array([one.mean() for one in learned(beliefs, truths, list(secrets.values()))])


def compute(comparison: Comparison) -> Reading:
    """Mean chance that the intruder who knows the keys names a confidential value rightly."""
    secrets = required_confidential(comparison)
    law = comparison.law
    if law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    keys = tuple(name for name in key_names(comparison) if name not in secrets)
    if not keys:
        raise NotApplicable("No key variable is left beside the confidential ones.")
    original, masked = comparison.original, comparison.masked
    group = classes(cell_codes(comparison, keys)[1])
    first = np.unique(group, return_index=True)[1]
    released = {
        name: ReleasedValues(group, _values(original, masked, name), _tolerance(original, name))
        for name in secrets
    }
    truths = [_values(original, original, name) for name in secrets]
    beliefs = _beliefs(law, masked, keys, first)
    informed = np.array([one.mean() for one in learned(beliefs, truths, list(released.values()))])
    ignorant = np.array(
        [one.everybody(truth).mean() for one, truth in zip(released.values(), truths, strict=True)]
    )
    control = _control(comparison, law, keys, released, first)
    detail: dict[str, Any] = {
        "names": list(keys),
        "secrets": list(secrets),
        "informed": informed,
        "ignorant": ignorant,
        "control": control,
    }
    reference = ignorant if control is None else control
    return Reading(value=float(informed.mean()), baseline=float(reference.mean()), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say what an informed intruder learns, beside one who knows less."""
    outside = ""
    if reading.detail["control"] is not None:
        outside = f"for people who are not in the file it is {percent(reading.baseline or 0)}, "
    return (
        f"An informed intruder names a confidential value rightly with probability "
        f"{percent(reading.value)}; {outside}from the release's distribution alone it is "
        f"{percent(float(reading.detail['ignorant'].mean()))}."
    )


MEASURE = Measure(
    key="attribute_inference",
    title="Attribute inference, worst case",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="mean probability",
    question="How likely does an intruder who knows everybody's key variables and the method name "
    "a confidential value rightly (a number within 0.1 standard deviations)?",
    sentence=sentence,
    source="Posterior of Bayes' rule on the cell law; beside people who are not in the file, or "
    "without a control group beside the marginal distribution",
    compute=compute,
)
