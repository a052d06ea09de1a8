"""Repeated releases: success of an intruder with several releases of one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import NO_DONOR, copy_from_donors, random_streams
from rwn_core.laws.law import Law, MixtureComponent
from rwn_core.measures.attacks.assignment import all_rows, blocks, canonical_order
from rwn_core.measures.attacks.posterior import (
    attacked_units,
    likelihoods,
    normed,
    of_units,
    touched,
)
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import Detail, Measure, Reading, some_of
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.intervals import mean_interval
from rwn_core.measures.statistics.key_variables import cell_codes, key_names

TIMES = (1, 2, 3, 5, 10)  # of a bound
DRAWN = 5  # releases that are drawn and linked, by the law alone
LEAST = 50  # records of a sample
_SEED = 20220615  # of draws and samples: fixed, so that a number changes only with the setting
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedReleases(Detail):
    """The details of linkage by the keys after several releases of one table.

    Attributes
    ----------
    names : sequence of str
        The keys.
    releases : sequence of int
        Numbers of releases.
    same_order : ndarray of float64, shape (releases,)
        Share of records that are linked if rows keep their places.
    shuffled : float
        At least so many are, in fresh secret order.
    """

    releases: list[int]
    same_order: Floats
    shuffled: float


def compute(comparison: Comparison) -> Reading[RepeatedReleases]:
    """Return the success by the keys after three releases with their rows in the same order."""
    law = comparison.required_law("A further release")
    keys = key_names(comparison)
    n = comparison.original.n
    if law.later:  # later slices of a chain say nothing more of a row's source
        keys = sum(law.telling(keys), ())
        law = law.source
    times: tuple[int, ...] = TIMES
    # lower bounds only, unless worst
    records = _records(n)
    worst = False
    sampled = len(records) < n
    # `rows` are chances of each record, or one of all together, shape (times, records)
    if law.neighborhoods is None:
        affinity = bhattacharyya(law, keys, records)
        rows = np.clip(bounds_of_records(affinity, times, records, comparison.units), 0.0, 1.0)
    else:
        times = tuple(range(1, DRAWN + 1))
        generator = np.random.default_rng(_SEED)
        released = [variable.name for variable in law.original.schema.released]
        itself = Comparison(original=law.original, masked=law.original)
        order = None if sampled else canonical_order(cell_codes(itself, released)[0])
        linking = law, [simulate(law, generator, order) for _ in times], keys
        together = [None] if sampled else joint_success_after(*linking, comparison.units)
        worst = None not in together
        rows = np.array(together, dtype=np.float64)[:, np.newaxis]
        if not worst:
            rows = success_of_rows(beliefs_after(*linking, records), comparison.units)
    # an intruder with more releases can ignore some
    linked = np.maximum.accumulate(rows.mean(axis=1))
    shown = times.index(_SHOWN)
    return Reading(
        value=float(linked[shown]),
        baseline=comparison.random_share,
        interval=mean_interval(rows[shown], n) if sampled else None,
        detail=RepeatedReleases(
            names=list(key_names(comparison)),
            releases=list(times),
            same_order=linked,
            shuffled=float(linked[0]),
            standing="worst" if worst else "at least",
            **some_of(records, n),
        ),
    )


def sentence(reading: Reading[RepeatedReleases], n: int) -> str:
    """Say how many records three releases link, in the same row order and in fresh ones."""
    detail = reading.detail
    least = "at least " if detail.standing == "at least" else ""
    return (
        f"Three releases of this table link {least}{people(reading.value, n)} by the keys if rows "
        f"keep their places; in fresh secret order at least {people(detail.shuffled, n)}."
    )


def _records(n: int) -> Integers:
    """Return all records, or a random sample that can be compared with all others."""
    most = ATTACKED_PAIRS // n
    if most >= n:
        return np.arange(n)
    if most < LEAST:
        raise NotApplicable(
            f"At least {LEAST} records are compared with all others, at most {ATTACKED_PAIRS:,} "
            f"pairs; the table has {n:,} records."
        )
    return np.sort(np.random.default_rng(_SEED).choice(n, most, replace=False)).astype(np.int64)


# Risk if the same table is released several times

_HIGH = 0.8  # from where the label has no room above the line


def draw_repeated_releases(reading: Reading[RepeatedReleases]) -> style.Chart:
    """Draw the success after several releases in the same row order, and in fresh ones."""
    detail = reading.detail
    # the number of releases is the axis, with a mark at each that was computed
    times = np.asarray(detail.releases, dtype=float)
    texts = [f"{t}" for t in detail.releases]
    # a lower bound is called one wherever its number stands
    same, shuffled = detail.same_order, detail.shuffled
    least = "at least " if detail.standing == "at least" else ""
    lowest = "fresh order, at least"
    marker = {"size": 6, "color": style.RELEASED, "symbol": "circle"}
    look: dict[str, Any] = {"name": f"{least}same order", "mode": "lines+markers", "marker": marker}
    look["hovertemplate"] = f"%{{x}} releases: {least}%{{y:.1%}}<extra>same order</extra>"
    same_order = style.line(style.floats(times), style.floats(same), released=True, **look)
    look = {"name": lowest, "line": {"color": style.NEUTRAL}}
    look["hovertemplate"] = "%{x} releases: at least %{y:.1%}<extra>fresh order</extra>"
    fresh = style.line(style.floats(times), [shuffled] * len(times), released=False, **look)
    place: dict[str, Any] = {"xanchor": "right", "yanchor": "top" if shuffled > _HIGH else "bottom"}
    one, three, last = (style.percent(float(x), 1) for x in (same[0], reading.value, same[-1]))
    return style.chart(
        "repeated_releases",
        "Repeated releases",
        f"{style.percent(float(same[0]))} → {least}{style.percent(reading.value)} after 3"
        + (" · sample" if detail.sampled else ""),
        f"Share of records linked by the keys if rows keep their places: {least}{one} after one "
        f"release, {least}{three} after three, {least}{last} after {texts[-1]}. In fresh secret "
        f"order at least {style.percent(shuffled, 1)}",
        data=[fresh, same_order],
        layout=style.layout(
            style.axis("releases", 0.6, times[-1] + 0.4, tickvals=times, ticktext=texts),
            style.axis("linked by the keys", 0, 1.04, share=True),
            annotations=[style.label(lowest, times[-1], shuffled, style.NEUTRAL, **place)],
        ),
        large={"legend": True},
        table=table(
            ["releases", "same order, at least" if least else "same order", lowest],
            [times.astype(int), style.floats(same), [shuffled] * len(times)],
        ),
    )


MEASURE = Measure(
    key="repeated_releases",
    title="Three releases",
    question="How many records would the worst-case intruder link by the key variables, if this "
    "table were released three times at this setting and its rows kept their places?",
    sentence=sentence,
    at_least="Three releases, at least",
    source="Bayes' rule on the product of the cell law over releases; where none can be drawn, "
    "the union bound with the Bhattacharyya coefficient",
    compute=compute,
    of_units=True,
    about="row",
    charts={"repeated_releases": draw_repeated_releases},
    recorded=("releases", "same_order", "shuffled", "standing"),
    places={"risk": 4, "report": 9, "scenarios": 7},
)


def simulate(law: Law, generator: np.random.Generator, order: Integers | None = None) -> Microdata:
    """Draw a release of the same setting, row-aligned; for study, never for publication."""
    # with an order of records the draw does not depend on the order of the file
    if order is None:
        return copy_from_donors(law.original, simulated_donors(law, generator))
    donors = np.empty((len(order), len(random_streams(law.original))), dtype=np.int64)
    donors[order] = _drawn_in_order(law, generator, order)
    return copy_from_donors(law.original, donors)


def simulated_donors(law: Law, generator: np.random.Generator) -> Integers:
    """Return the donor of each cell, shape (n, p): the own record if unmodified, -1 if lost."""
    neighborhoods = law.neighborhoods
    n = law.original.n
    if neighborhoods is None:
        raise NotApplicable("Releases are simulated for a method that draws from neighborhoods.")
    if not neighborhoods.equally_likely:
        return _drawn_in_order(law, generator, np.arange(n))
    sizes, table = neighborhoods.sizes, neighborhoods.table

    def draw() -> Integers:
        ranks = np.floor(generator.random(n) * sizes).astype(np.int64)  # 0 for the nearest
        drawn = np.full(n, NO_DONOR)
        able = np.flatnonzero(sizes)
        drawn[able] = table.records[(table.offsets[:-1] + ranks)[able]]
        return drawn

    return _cells(law, generator, draw, np.arange(n))


def _drawn_in_order(law: Law, generator: np.random.Generator, order: Integers) -> Integers:
    """Return donors drawn in a given order of records, from all donors' probabilities."""
    if law.tied is not None:
        numbers = generator.random((1 + len(law.tied.fitted.units), len(order)))
        return law.tied.drawn(order, numbers)  # type: ignore[no-any-return]
    chances = sparse.csr_array(law.probabilities[order][:, order])
    chances.sort_indices()
    ends = np.cumsum(chances.data)
    before = np.concatenate([[0.0], ends])[chances.indptr]
    able = np.diff(chances.indptr) > 0

    def draw() -> Integers:
        drawn = np.full(len(order), NO_DONOR)
        places = before[:-1] + generator.random(len(order)) * np.diff(before)
        found = np.searchsorted(ends, places, side="right")
        found = np.clip(found, chances.indptr[:-1], chances.indptr[1:] - 1)
        drawn[able] = order[chances.indices[found[able]]]
        return drawn

    return _cells(law, generator, draw, order)


def _cells(
    law: Law, generator: np.random.Generator, draw: Callable[[], Integers], own: Integers
) -> Integers:
    """Return the donor of each cell; variables of a slice share a draw."""
    streams = random_streams(law.original)
    # each cell's modification probability, given the drawn way of its row, shape (n, p)
    weights, cells = zip(*law.components(), strict=True)
    q = np.array([each.q for each in cells])
    if len(q) == 1:
        chances = np.broadcast_to(q, (law.original.n, q.shape[1]))
    else:
        ends = np.cumsum(weights[:-1])
        chances = q[np.searchsorted(ends, generator.random(law.original.n), side="right")]
    columns: dict[int, Integers] = {}
    for place, stream in enumerate(streams):
        if stream not in columns:
            drawn = draw()
            columns[stream] = np.where(generator.random(len(own)) < chances[:, place], drawn, own)
    return np.column_stack([columns[stream] for stream in streams])


def bhattacharyya(
    law: Law, names: Sequence[str] | None = None, records: Integers | None = None
) -> Floats:
    """Return BC_il = product of sum over v of sqrt(P_ij(v) P_lj(v)), shape (m, n), from 0 to 1."""
    # for a law of several components an upper bound, by sqrt(a + b) <= sqrt(a) + sqrt(b), so that
    # `bounds_of_records` stays a lower bound
    records = np.arange(law.original.n) if records is None else records
    components: Sequence[MixtureComponent[Law]] = law.components()
    affinity = np.zeros((len(records), law.original.n))
    for one, other in product(components, components):
        # of records under one law of cells and all records under another
        cells = one.cells
        others = other.cells
        common = np.ones_like(affinity)
        for unit in attacked_units(cells, names):
            roots = _roots(cells, unit)
            its = roots if others is cells else _roots(others, unit)
            of_unit = np.clip((roots[records] @ its.T).toarray(), 0.0, 1.0 + 1e-12)
            # rows of tied units have at most what one of them has
            common = np.minimum(common, of_unit) if cells.tied is not None else common * of_unit
        lost, others_lost = (_lost(each, names) for each in (cells, others))
        common[np.ix_(lost[records], others_lost)] = 1.0  # like each other at most
        # a row with nothing lost may look like one that lost all it can lose
        drawn = [*{*touched(cells, names)}.union(touched(others, names))]
        missing = bool(cells.original.frame[drawn].isna().any().all())
        if (lost.any() or others_lost.any()) and missing:
            common[lost[records]], common[:, others_lost] = 1.0, 1.0
        affinity += np.sqrt(one.weight * other.weight) * np.minimum(common, 1.0)
    affinity[np.arange(len(records)), records] = 1.0
    return np.asarray(np.minimum(affinity, 1.0))


def _roots(cells: Law, unit: tuple[str, ...]) -> sparse.csr_array:
    table, _ = cells.likelihood_columns(unit, cells.original, np.arange(cells.original.n))
    return sparse.csr_array(table).sqrt()


def _lost(cells: Law, names: Sequence[str] | None) -> Booleans:
    """The marks of records that lose attacked values for lack of neighbors, shape (n,)."""
    lost = np.zeros(cells.original.n, dtype=bool)
    lost[cells.empty] = bool(touched(cells, names))
    return lost


def bounds_of_records(
    affinity: Floats,
    releases: Sequence[int],
    records: Integers | None = None,
    units: Integers | None = None,
) -> Floats:
    """Return lower bounds 1 - sum of BC^M of linking each record, shape (len(releases), m)."""
    # union bound over the pairwise errors of the likelihood ratio; ties count as failures, and
    # records of the own unit do not
    numbers = np.arange(affinity.shape[1]) if units is None else units
    own = numbers[: len(affinity)] if records is None else numbers[records]
    others = np.where(own[:, np.newaxis] == numbers, 0.0, affinity)
    return np.array([np.maximum(0.0, 1.0 - (others**times).sum(axis=1)) for times in releases])


def success_of_rows(beliefs: Iterable[sparse.csc_array], units: Integers | None) -> Floats:
    """Return the expected success for each row after 1, 2, ... releases, (len(beliefs), m)."""
    return np.stack([_largest(belief, units) for belief in beliefs])


def joint_success_after(
    law: Law, releases: Sequence[Microdata], names: Sequence[str], units: Integers | None = None
) -> list[float | None]:
    """Return the success of the joint posterior after 1, 2, ... releases; None above the limit."""
    success: list[float | None] = []
    cells: list[Integers] = []
    for masked, belief in zip(releases, beliefs_after(law, releases, names), strict=True):
        cells += cell_codes(Comparison(original=law.original, masked=masked), names)
        together = None
        if belief.nnz <= ATTACKED_PAIRS:
            found = all_rows(belief, blocks(belief), canonical_order(np.hstack(cells)), units=units)
            together = None if found is None else found[0]
        rows = float(_largest(belief, units).mean())
        success.append(None if together is None else max(together, rows))
    return success


def beliefs_after(
    law: Law, releases: Sequence[Microdata], names: Sequence[str], rows: Integers | None = None
) -> Iterator[sparse.csc_array]:
    """Yield the posterior of each row after 1, 2, ... releases; columns sum to 1."""
    # the product of likelihoods over the independent, aligned releases
    rows = np.arange(releases[0].n) if rows is None else rows
    evidence: sparse.csc_array | None = None
    for masked in releases:
        belief = normed(likelihoods(law, masked, rows, names)[0])
        if evidence is not None:
            both = sparse.csc_array(evidence.multiply(belief))
            largest = both.max(axis=0).toarray().ravel()
            scale = np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
            belief = normed(sparse.csc_array(both @ sparse.diags_array(scale)))
        evidence = belief
        yield evidence


def _largest(belief: sparse.csc_array, units: Integers | None) -> Floats:
    belief = belief if units is None else of_units(belief, units)
    return np.asarray(belief.max(axis=0).toarray(), dtype=np.float64).ravel()
