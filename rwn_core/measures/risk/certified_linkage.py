"""Certified linkage: a proved upper bound of the rows that any attack links correctly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import codes_together
from rwn_core.data.units import Unit
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.certificate import (
    Bounds,
    Exchange,
    bounds_of_units,
    certified_share,
    linkage_bounds,
    ratios_of_release,
    unit_bounds,
)
from rwn_core.measures.comparison import Comparison, released_rows, require_same_records
from rwn_core.measures.measure import Detail, Reading, linkage_measure
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.association import (
    associations,
    original_chance,
    relation_loss,
)
from rwn_core.measures.statistics.key_variables import confidential_names, key_names
from rwn_core.neighbors import LARGEST_DENSE, Neighborhoods
from rwn_core.neighbors.all_donors import AllDonors

NEAREST = 1000  # records in a bound's sum; with m of them no bound is below 1 / (m + 1)
MOST = 0.95  # the detail gives the largest bound of this share of the rows
LITTLE = 0.1  # of the relations: independent slices would serve as well
IMPOSSIBLE = (
    "Some records cannot release some rows (own = false, or a weight too small for a "
    "number), so that nothing is certified; set own = true, or a larger width."
)


# Bounds of different rows, for records, points or units: shape (r, u); how many records each of the
# u has, shape (u,); and which of the r each released row is, shape (n,).


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CertifiedLinkage(Detail):
    """The details of the proved bound of linkage.

    Attributes
    ----------
    bounds : ndarray of float64, shape (n,)
        The largest bound of each released row.
    most, largest, worst_tenth : float
        The largest bound of 95 % of the rows; of all; and the share of the tenth of the rows with
        the largest bounds that can be linked.
    unit : str, optional
        The variable that numbers units.
    sampled : int, optional
        Random rows that the bound is estimated by.
    left : float, optional
        Share of the relations across slices that is left.
    slices, disclosing : list of list of str
        Variables that share a donor; and of these, those with keys and confidential ones.
    """

    bounds: Floats
    most: float
    largest: float
    worst_tenth: float
    unit: str | None
    sampled: int | None
    left: float | None
    slices: list[list[str]]
    disclosing: list[list[str]]


class _Bounds(NamedTuple):
    """The bounds of rows, how many records each is of, and which rows they are of."""

    bounds: NDArray[np.floating[Any]]
    records: NDArray[Any]
    rows: Integers


def _bounds_before_the_draw(comparison: Comparison, table: AllDonors) -> _Bounds:
    """Bound a large table by ratios that are known before it is drawn."""
    law = comparison.required_law().source
    varying = varying_slices(law)
    refuse_a_priori(law, varying)
    every = np.arange(comparison.masked.n)
    pairs = [codes_together(law.original, comparison.masked, each, every) for each in varying]
    if any((columns < 0).any() for _, columns in pairs):
        raise NotApplicable(IMPOSSIBLE)
    exchange = Exchange.from_table(table, [codes for codes, _ in pairs])
    found = exchange.bounds([columns for _, columns in pairs])
    bounds, records = unit_or_record_bounds(found, exchange, table, comparison.unit)
    return _Bounds(bounds, records, found.rows)


def _bounds_of_the_release(comparison: Comparison, neighborhoods: Neighborhoods) -> _Bounds:
    """Bound the rows of a release by their likelihoods."""
    n = comparison.original.n
    unit = comparison.unit
    logs = log_likelihood(comparison)
    if unit is None:
        near = nearest_records(neighborhoods, n)
        bounds = linkage_bounds(logs, ratios_of_release(logs, near), near)
        return _Bounds(bounds, np.ones(n), np.arange(n))
    everyone = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    bounds = unit_bounds(logs, ratios_of_release(logs, everyone), unit.numbers)
    return _Bounds(bounds, np.bincount(unit.numbers), np.arange(n))


def compute(comparison: Comparison) -> Reading[CertifiedLinkage]:
    """Return the bound of the mean over rows, by the likelihood of the released rows."""
    neighborhoods = require_certifiable(comparison.required_law("A certificate"))
    require_same_records(comparison.original, comparison.masked)
    if len(released_rows(comparison.original, comparison.masked)) < comparison.original.n:
        raise NotApplicable("Some rows are left out of the release; a certificate needs all.")
    slices = comparison.required_law().units()
    unit = comparison.unit
    if isinstance(neighborhoods.table, AllDonors):
        bounds, records, rows = _bounds_before_the_draw(comparison, neighborhoods.table)
    else:
        bounds, records, rows = _bounds_of_the_release(comparison, neighborhoods)
    largest = bounds.max(axis=1).astype(np.float64)[rows]
    # the tenth of the rows with the largest bounds
    tenth = np.argsort(-largest, kind="stable")[: math.ceil(len(largest) / 10)]
    some, times = np.unique(rows[tenth], return_counts=True)
    share = len(tenth) / len(largest)
    keys = set(key_names(comparison))
    secrets = set(confidential_names(comparison))
    detail = CertifiedLinkage(
        bounds=largest,
        most=float(np.quantile(largest, MOST, method="higher")),
        largest=float(largest.max()),
        worst_tenth=certified_share(bounds[some], records, times, share=share),
        unit=None if unit is None else unit.name,
        sampled=None if comparison.file is None else comparison.original.n,
        left=relations_left(comparison, slices),
        slices=[list(names) for names in slices],
        disclosing=[list(names) for names in slices if keys & {*names} and secrets & {*names}],
    )
    value = certified_share(bounds, records, np.bincount(rows))
    return Reading(value=value, baseline=comparison.random_share, detail=detail)


def unit_or_record_bounds(
    found: Bounds, exchange: Exchange, table: AllDonors, unit: Unit | None
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return the bounds of units or, without any, of points, and how many records each has."""
    # Shapes: the answers (r, u) and (u,), of u units or points.
    if unit is None:
        return found.bounds, exchange.counts
    bounds = bounds_of_units(found.bounds, table.places.number, unit.numbers)
    return bounds, np.bincount(unit.numbers)


def refuse_a_priori(law: CellLaw, varying: list[tuple[str, ...]]) -> None:
    """Refuse ratios that hold before a release is drawn where they say little or are not known."""
    if law.tied is not None:
        raise NotApplicable(
            f"Tied slices of at most {LARGEST_DENSE:,} records are certified, drawn."
        )
    if any(law.modification(names[0]) < 1 for names in varying):
        raise NotApplicable(
            f"Above {LARGEST_DENSE:,} records a certificate needs q = 1 and all variables masked."
        )


def require_certifiable(law: Law) -> Neighborhoods:
    """Return the neighborhoods of a law without zeros and with two slices; refuse others."""
    cells = law.source
    found: Neighborhoods | None = cells.neighborhoods
    if found is None:
        raise NotApplicable("Donors of some records are forbidden, so that nothing is certified.")
    if found.kernel.has_edge:
        raise NotApplicable(
            "An even kernel gives most records no chance to be a donor, so that nothing is "
            "certified; choose an exponential or gaussian kernel with own = true."
        )
    n = cells.original.n
    if int(np.diff(found.table.offsets).min()) < n - (not found.kernel.own):
        reason = "Members of a household give each other no values"
        if n > LARGEST_DENSE:
            reason = f"Above {LARGEST_DENSE:,} records only the nearest are donors"
        raise NotApplicable(
            f"{reason}, so that nothing is certified; all records are with kernel = exponential, "
            "bandwidth = absolute, own = true, no balance and no outside_household."
        )
    if len(varying_slices(law)) < 2:
        raise NotApplicable(
            "All variables are in one slice, so that each row is a true record and a bound of "
            "its source says nothing; make two slices or more."
        )
    return found


def varying_slices(law: Law) -> list[tuple[str, ...]]:
    """Return the slices with more than one value."""
    frame = law.original.frame
    return [names for names in law.units() if (frame[list(names)].nunique(dropna=False) > 1).any()]


def log_likelihood(comparison: Comparison) -> Floats:
    """Return each released row's log-likelihood for each record, shape (n, n)."""
    law = comparison.required_law()
    logs = law.logs(law.telling(), comparison.masked, np.arange(comparison.masked.n))
    if not np.isfinite(logs).all():
        raise NotApplicable(IMPOSSIBLE)
    return logs


def nearest_records(found: Neighborhoods, n: int) -> NDArray[np.int32]:
    """Return each record and its nearest, shape (n, min(n, NEAREST + 1)); all are listed."""
    own = np.arange(n, dtype=np.int32)[:, np.newaxis]
    listed = found.table.records.reshape(n, -1)[:, int(found.kernel.own) :][:, :NEAREST]
    return np.concatenate((own, listed), axis=1).astype(np.int32)


def relations_left(comparison: Comparison, slices: list[tuple[str, ...]]) -> float | None:
    """Return the share left of the relations across slices; None where there were none."""
    names = [variable.name for variable in comparison.original.schema.released]
    number: dict[str, int] = {}
    for place, unit in enumerate(slices):
        number |= dict.fromkeys(unit, place)
    slice_of = np.array([number[name] for name in names])
    chance = np.asarray(original_chance(comparison), dtype=np.float64)
    across = slice_of[:, np.newaxis] != slice_of
    before, after = (
        np.where(across, associations(comparison, table), 0.0) for table in comparison.tables
    )
    lost = relation_loss(before, after, chance).value
    return None if np.isnan(lost) else 1.0 - lost


def sentence(reading: Reading[CertifiedLinkage], n: int) -> str:
    """Say the bound, the rows it does not hold for, and what it does not bound."""
    detail = reading.detail
    left = reading.detail.left
    unit = "" if detail.unit is None else f" to their unit ({detail.unit})"
    proved = f"estimated by {detail.sampled:,} random rows" if detail.sampled else "proved"
    parts = [
        f"At most {percent(reading.value)} of the rows can be linked correctly{unit}, by any "
        f"attack that knows nothing but this file, the method and the original ({proved}).",
        f"For 95 % of the rows the bound is at most {percent(detail.most)}; the largest of a "
        f"row is {percent(detail.largest)}. Of the tenth of the rows with the largest bounds at "
        f"most {percent(detail.worst_tenth)} can be linked correctly.",
        "It bounds from which record a row comes, not which record's values it shows (see "
        "attribute gain and true matches).",
    ]
    if left is not None:
        parts.append(
            f"Of the relations across slices {percent(left)} are left (1 minus the share lost)."
            + (
                " So little that slices drawn independently would serve as well."
                if left < LITTLE
                else ""
            )
        )
    for names in detail.disclosing[:1]:
        parts.append(f"A slice has key and confidential variables together ({', '.join(names)}).")
    return " ".join(parts)


MEASURE = linkage_measure(
    key="certified_linkage",
    title="Certified linkage",
    unit="share of records, at most",
    question="What share of the released rows can any attack link correctly at most, with the "
    "whole original file, the method and its parameters, but without the key?",
    sentence=sentence,
    source="Upper bound of the posterior given all rows, by exchanging the rows of two records: "
    "docs/explanation/certified-linkage.md",
    compute=compute,
    reads_some=True,
    needs_own=True,
    about="",
)
