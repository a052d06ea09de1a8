"""Membership: what a release shows of the presence of one record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.laws.unit_law import Privacy, Unit
from rwn_core.measures.attacks.value_survival import appearance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Detail, Measure, Reading
from rwn_core.measures.sentence import people, percent, tenths
from rwn_core.measures.view import Tile

# Membership: unique values that disclose that a person is in the file


class OwnValues(NamedTuple):
    """The values of each record, or its unit, that nobody else has, in one unit of variables."""

    many: Integers  # shape (n,): how many there are
    alone: Booleans  # shape (n,): whether only the record, or its unit, has the record's value
    appears: Floats  # shape (n,): P(some row shows one of them), if there is one


Find = Callable[[Unit], OwnValues]
"""Returns the own values of the records of a law in one unit of its variables."""


def own_values(law: Law, units: Integers | None, unit: Unit) -> OwnValues:
    """Return the values that only one record, or one of the `units` of records (n,), has."""
    table, columns = law.likelihood_columns(unit, law.original, np.arange(law.original.n))
    alone = _alone(columns, units)
    if units is None:
        return OwnValues(alone.astype(np.int64), alone, appearance(table)[columns])
    # rows are independent, and each shows one value: the values of a unit count as one
    held = _of_unit(columns, units, table.shape[1])
    return OwnValues(held.sum(axis=0)[units], alone, appearance(table @ held)[units])


def _once(comparison: Comparison, law: Law, units: Integers | None) -> Find:
    """Return what finds the own values of each unit once for all measures of a release."""

    def find(unit: Unit) -> OwnValues:
        key: Hashable = ("own values", unit, units is None)
        drawn = law.drawn_by(unit)
        if units is None and drawn is not None:
            # each value stands for its record, whatever it is
            key = ("own values that all differ", drawn)
        return comparison.cached_for_release(key, partial(own_values, law, units, unit))

    return find


def fingerprints(
    law: Law, units: Integers | None = None, find: Find | None = None
) -> tuple[Floats, Integers]:
    """Return P(a value unique to the record is released), and the number of such values.

    With the number of each record's `units`: the same of values that only records of its unit
    have, which the file without the whole unit would lack. `find` tells the own values by the law
    itself, where some of them may be known already.
    """
    components = law.components()
    if len(components) == 1:
        return _of_cells(law, units, find)
    slices = law.units()
    every = np.arange(law.original.n)
    whose = every if units is None else units
    columns = [law.likelihood_columns(each, law.original, every)[1] for each in slices]
    alone = np.array([_alone(each, whose) for each in columns])
    # P(no row shows a value that only the record's unit has), rows independent
    n = len(whose)
    count = int(whose.max()) + 1
    member = sparse.csr_array((np.ones(n), (every, whose)), shape=(n, count))
    donors = sparse.csr_array(components[0].cells.probabilities)
    # P(a donor of a row is of a unit and has a value of its own), of each slice
    retained = [member * each[:, np.newaxis] for each in alone]
    given = [sparse.csr_array(donors @ each) for each in retained]
    seen = sparse.csr_array((n, count))
    for weight, cells in components:
        # log P(a row shows no such value of a unit)
        logs = sparse.csr_array((n, count))
        for names, kept, taken in zip(slices, retained, given, strict=True):
            q = cells.modification(names[0])
            shows = sparse.csr_array((1 - q) * kept + q * taken)
            shows.data = np.log1p(-np.minimum(shows.data, 1 - 1e-16))
            logs = sparse.csr_array(logs + shows)
        logs.data = -weight * np.expm1(logs.data)
        seen = sparse.csr_array(seen + logs)
    missed = 1.0 - appearance(seen)[whose]
    own = np.sum([_of_unit(each, whose).sum(axis=0) for each in columns], axis=0)[whose]
    return np.clip(1.0 - np.where(own > 0, missed, 1.0), 0.0, 1.0), own


def _of_cells(law: Law, units: Integers | None, find: Find | None) -> tuple[Floats, Integers]:
    """Return the fingerprints of a law of independent cells, or of tied ones."""
    cells = law.components()[0].cells
    n = cells.original.n
    missed = np.ones(n)
    own = np.zeros(n, dtype=np.int64)
    whose = np.arange(n) if units is None else units
    holders = []
    if find is None or cells is not law:
        find = partial(own_values, cells, units)
    for unit in cells.units():
        many, alone, appears = find(unit)
        holders.append(np.where(alone, whose, -1))
        lost = 0.0 if cells.keeps_value_counts(unit[0]) else 1.0 - appears
        missed *= np.where(many > 0, lost, 1.0)
        own += many
    if cells.tied is not None:
        missed = 1.0 - cells.tied.showing(holders, int(whose.max()) + 1)[whose]
    return np.clip(1.0 - missed, 0.0, 1.0), own


def _alone(columns: Integers, units: Integers | None) -> Booleans:
    """Return True for records with a value that no other record, or no other unit, has."""
    held = np.bincount(columns) if units is None else _of_unit(columns, units).sum(axis=1)
    return np.asarray(held[columns] == 1)


def _of_unit(columns: Integers, units: Integers, width: int | None = None) -> sparse.csr_array:
    """Return 1 for each value that only one unit has, shape (V, units)."""
    value, unit = np.unique(np.stack((columns, units)), axis=1)
    one = np.bincount(value)[value] == 1
    shape = (int(columns.max()) + 1 if width is None else width, int(units.max()) + 1)
    return sparse.csr_array((np.ones(one.sum(), int), (value[one], unit[one])), shape=shape)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Membership(Detail):
    """The details of unique values that disclose that a person is in the file.

    Attributes
    ----------
    appears : ndarray of float64, shape (n,)
        P(a value unique to the record, or its unit, is released).
    share_with_own_values, above_nine_tenths : float
        Share of the records that have one, and of those that are nearly certain to appear.
    unit_words : str
        What people with several rows are; empty where each row is one.
    """

    appears: Floats
    share_with_own_values: float
    above_nine_tenths: float
    unit_words: str


def compute_membership(comparison: Comparison) -> Reading[Membership]:
    """Return the mean chance, over records with unique values, that one of these appears."""
    law = comparison.required_law("Membership")
    units = comparison.units
    appears, own = fingerprints(law, units, _once(comparison, law, units))
    named = own > 0  # a person without a unique value cannot be found by one
    detail = Membership(
        appears=appears,
        share_with_own_values=float(named.mean()),
        above_nine_tenths=float((appears > 0.9).mean()),
        unit_words="" if comparison.unit is None else comparison.unit.words,
    )
    value = float(appears[named].mean()) if named.any() else 0.0
    # of people with several rows, those with a value of a single row may be found more easily
    single = named
    if units is not None:
        single = fingerprints(law, find=_once(comparison, law, None))[1] > 0
    value = max(value, float(appears[single].mean()) if single.any() else 0.0)
    return Reading(value=value, baseline=0.0, detail=detail)


def membership_sentence(reading: Reading[Membership], n: int) -> str:
    """Say how likely unique values appear."""
    detail = reading.detail
    share = reading.detail.share_with_own_values
    if share == 0:
        return "Nobody has a value that no other person in the file has."
    have = f"belong to {detail.unit_words} with" if detail.unit_words else "have"
    return (
        f"{people(share, n).capitalize()} {have} a value that nobody else has: on average one of "
        f"these appears with probability {percent(reading.value)}; for "
        f"{percent(detail.above_nine_tenths)} of all people that is nearly certain."
    )


MEMBERSHIP = Measure(
    key="membership",
    title="Membership",
    unit="mean probability",
    question="How likely is it, for those who have a value that only one person has, that the "
    "release shows it, and so tells that this person is in the file?",
    sentence=membership_sentence,
    source="Cell law of Perry, Matloff, Tendick 2022, section 5; Matloff and Tendick 2015 on "
    "membership",
    compute=compute_membership,
    tile=Tile(places={"risk": 6}, label="Own values appear", words=tenths),
    about="value",
    places={"report": 99, "worst cases": 7},
)


# Differential privacy: epsilon of a method, or the delta that no epsilon covers

_NAMED = 4  # variables named in a sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DifferentialPrivacy(Detail):
    """The details of the differential privacy of u units of variables that are drawn together.

    Attributes
    ----------
    names : sequence of str
        The variables of each unit.
    delta, epsilon : sequence of float or None
        Of each unit; None where there is none.
    total_epsilon : float, optional
        The sum over the units.
    statement : str
        What holds, in words.
    """

    delta: Sequence[float | None]
    epsilon: Sequence[float | None]
    total_epsilon: float | None
    statement: str


def statement(promises: Mapping[tuple[str, ...], Privacy]) -> str:
    """Say which epsilon each unit of variables has, or why it has none."""
    without = {unit: each for unit, each in promises.items() if np.isinf(each.epsilon)}
    parts = [
        f"{_and(unit)} {each.epsilon:.3g}" for unit, each in promises.items() if unit not in without
    ]
    if not without:
        total = sum(each.epsilon for each in promises.values())
        return (
            f"The release is differentially private, record by record, with epsilon = {total:.3g}, "
            f"the sum over the variables: {_some(parts)}. Levels and matrices are declared; it "
            "holds among tables in which each declared level has two records or more."
        )
    reasons: dict[str, list[str]] = {}
    for unit, each in without.items():
        reasons.setdefault(each.because, []).append(_and(unit))
    because = "; ".join(
        f"each of {_some(names)} {reason}" if len(names) > 1 else f"{_some(names)} {reason}"
        for reason, names in reasons.items()
    )
    alone = f" By itself each other variable has an epsilon: {_some(parts)}." if parts else ""
    return f"The release is not differentially private for any epsilon: {because}.{alone}"


def _and(unit: tuple[str, ...]) -> str:
    return " with ".join(unit) if len(unit) < 3 else f"the group of {_some(unit)}"


def _some(parts: Sequence[str]) -> str:
    shown = list(parts[:-1])
    last = parts[-1]
    if len(parts) > _NAMED:
        shown = list(parts[:_NAMED])
        last = f"{len(parts) - _NAMED} more"
    return f"{', '.join(shown)} and {last}" if shown else last


def compute_differential_privacy(comparison: Comparison) -> Reading[DifferentialPrivacy]:
    """Return the smallest delta that (epsilon, delta)-differential privacy would need."""
    law = comparison.required_law()
    promises = law.privacy()
    find = _once(comparison, law, comparison.units)
    deltas = [
        _delta(law, unit, find) if np.isinf(each.epsilon) else 0.0
        for unit, each in promises.items()
    ]
    epsilons = [float(each.epsilon) for each in promises.values()]
    *finite, total = (None if np.isinf(each) else each for each in (*epsilons, sum(epsilons)))
    detail = DifferentialPrivacy(
        names=[", ".join(unit) for unit in promises],
        delta=deltas,
        epsilon=finite,
        total_epsilon=total,
        statement=statement(promises),
    )
    return Reading(value=max([0.0, *(d or 0.0 for d in deltas)]), baseline=0.0, detail=detail)


def _delta(law: Law, unit: Unit, find: Find) -> float | None:
    """Return P(values appear that are impossible without one record, or one unit's records)."""
    try:
        many, _, appears = find(unit)
    except NotApplicable:
        return None  # there is no table
    some = many > 0
    if law.keeps_value_counts(unit[0]):
        return float(some.any())
    return float(np.clip(appears[some].max(initial=0.0), 0.0, 1.0))


def differential_privacy_sentence(reading: Reading[DifferentialPrivacy], n: int) -> str:
    """Say which epsilon covers the release, or how likely none does."""
    total = reading.detail.total_epsilon
    if total is not None:
        return (
            f"It is differentially private with epsilon = {total:.3g}: each record's released "
            f"values are at most e^{total:.3g} times as likely as if it were anybody else's, among "
            "tables in which each declared level has two records or more."
        )
    if reading.value <= 0:
        return "No epsilon covers it: some released values exclude some people, or nearly so."
    return (
        f"No epsilon covers it: with probability {percent(reading.value)} the release shows a "
        "value that would be impossible without one person."
    )


DIFFERENTIAL_PRIVACY = Measure(
    key="differential_privacy",
    title="Distance from differential privacy",
    unit="delta, at least",
    question="How likely is the release to show a value that would be impossible without one "
    "person, so that no epsilon covers it?",
    sentence=differential_privacy_sentence,
    source="Dwork et al. 2006 (epsilon, delta); Shlomo and Skinner 2012 for transition matrices; "
    "survival of a value that one record alone has",
    compute=compute_differential_privacy,
    of_units="An epsilon is that of one row, and a value counts if one {} alone has it",
    about="value",
    warn=lambda reading, **_: [
        reading.detail.statement
        + (" There is no membership protection either." if not reading.detail.total_epsilon else "")
    ],
    places={"warnings": 5},
)
