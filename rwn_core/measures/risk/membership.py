"""Membership: unique values that disclose that a person is in the file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.laws.law import Law, MixtureComponent
from rwn_core.measures.attacks.value_survival import appearance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import people, percent


def fingerprints(law: Law) -> tuple[Floats, Integers]:
    """Return P(a value unique to the record is released), and the number of such values."""
    components = law.components()
    if len(components) == 1:
        return _of_columns(components[0].cells)
    units = law.units()
    alone = np.array([_alone(law.likelihood_columns(unit, *_all(law))[1]) for unit in units])
    missed = np.where(alone.any(axis=0), _missed(components, units, alone), 1.0)
    return np.clip(1.0 - missed, 0.0, 1.0), alone.sum(axis=0)


def _all(law: Law | Law) -> tuple[Microdata, Integers]:
    return law.original, np.arange(law.original.n)


def _alone(columns: Integers) -> Booleans:
    """Return True for records with a unique value."""
    return np.asarray(np.bincount(columns)[columns] == 1)


def _of_columns(cells: Law) -> tuple[Floats, Integers]:
    """Return the same for independent cells."""
    n = cells.original.n
    missed, own = np.ones(n), np.zeros(n, dtype=np.int64)
    for unit in cells.units():
        table, columns = cells.likelihood_columns(unit, *_all(cells))
        alone = _alone(columns)
        sure = cells.keeps_value_counts(unit[0])
        lost = 0.0 if sure else 1.0 - appearance(table)[columns]
        missed *= np.where(alone, lost, 1.0)
        own += alone
    return np.clip(1.0 - missed, 0.0, 1.0), own


def _missed(
    components: Sequence[MixtureComponent], units: list[tuple[str, ...]], alone: Booleans
) -> Floats:
    """Return P(no row shows a unique value of a record): columns dependent, rows independent."""
    # `alone` has shape (units, n): the record's value of the unit is unique.
    pairs = sparse.coo_array(components[0].cells.probabilities)
    donor, n = pairs.coords[1], alone.shape[1]
    shows, kept_from_own = np.zeros(len(donor)), np.zeros(n)
    for weight, cells in components:
        q = np.array([cells.modification(unit[0]) for unit in units])
        # a receiver takes none of the donor's values in any of the units where it is alone
        none = np.ones(len(donor))
        for share in np.unique(q[q > 0]):
            none *= (1.0 - share * pairs.data) ** alone[q == share].sum(axis=0)[donor]
        shows += weight * (1.0 - none)
        kept_from_own += weight * np.prod(np.where(alone, q[:, None], 1.0), axis=0)
    taken = np.log1p(-np.minimum(shows, 1 - 1e-16))
    return np.asarray(kept_from_own * np.exp(np.bincount(donor, taken, n)))


def compute(comparison: Comparison) -> Reading:
    """Return the mean chance, over records with unique values, that one of these appears."""
    appears, own = fingerprints(comparison.required_law("Membership"))
    named = own > 0  # a person without a unique value cannot be found by one
    detail = {
        "appears": appears,
        "own_values": own,
        "share_with_own_values": float(named.mean()),
        "above_nine_tenths": float((appears > 0.9).mean()),
    }
    value = float(appears[named].mean()) if named.any() else 0.0
    return Reading(value=value, baseline=0.0, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how likely unique values appear."""
    share = reading.detail["share_with_own_values"]
    if share == 0:
        return "Nobody has a value that no other person in the file has."
    return (
        f"{people(share, n).capitalize()} have a value that nobody else has: on average one of "
        f"these appears with probability {percent(reading.value)}; for "
        f"{percent(reading.detail['above_nine_tenths'])} of all people that is nearly certain."
    )


MEASURE = Measure(
    key="membership",
    title="Membership",
    side="risk",
    unit="mean probability",
    question="How likely is it, for those who have a value that only one person has, that the "
    "release shows it, and so tells that this person is in the file?",
    sentence=sentence,
    source="Cell law of Perry, Matloff, Tendick 2022, section 5; Matloff and Tendick 2015 on "
    "membership",
    compute=compute,
)
