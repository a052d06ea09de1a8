"""Slices by prediction: later ones of a row come from records that are predicted as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.regression import Term, product_terms
from rwn_core.data.rounding import rounded
from rwn_core.data.use import Use
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import Predicted
from rwn_core.laws.chained_slices import ChainLaw, draw_later
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.donors import Draws, copy_from_donors, draw_donors, random_streams
from rwn_core.laws.predicted_slices import Lots, PredictedChain, keyed_lots
from rwn_core.laws.unit_law import Unit
from rwn_core.masking.method import Masked
from rwn_core.neighbors import Neighborhoods
from rwn_core.randomness import SecretKey

if TYPE_CHECKING:
    from rwn_core.neighbors.metric import Metric

MOST_BALANCED = 100_000  # records: a balance looks at all of them at once
DIGITS = 6  # of the correlations that order slices
NEGLIGIBLE = 1e-9  # of a slice's largest spread, in a direction that has none


def chain_order(microdata: Microdata, metric: Metric, first: Sequence[str]) -> list[Unit]:
    """Return the slices of a table in the order of their draw.

    Those of the variables in `first` come first, in that order. Then come slices with keys,
    others, and those with confidential variables; among these each time the one that is most
    correlated, in its best direction, with what is before. The very first has the most keys, or
    without any the most variables.
    """
    roles = {each.name: each.role for each in microdata.schema.released}
    units: dict[int, Unit] = {}
    for stream, name in zip(random_streams(microdata), roles, strict=True):
        units[stream] = (*units.get(stream, ()), name)
    slices = tuple(units.values())
    slice_of: dict[str, Unit] = {}
    for each in slices:
        slice_of |= dict.fromkeys(each, each)
    for name in first:
        if name not in slice_of:
            raise ParameterError(f"order names {name}, which is no variable of the release.")
    given = tuple(dict.fromkeys(slice_of[name] for name in first))
    about = metric.axes, slices, given, tuple(roles.values())
    return microdata.cached(
        ("order of a chain", *about), lambda: _ordered(microdata, metric, slices, given)
    )


def _axes_of(names: Unit, metric: Metric) -> list[int]:
    """Return the positions of a slice's axes in a metric."""
    return [at for at, axis in enumerate(metric.axes) if axis.variable.name in names]


def _keys_in(names: Unit, roles: Mapping[str, Role]) -> int:
    """Return how many variables of a slice are keys."""
    return [roles[name] for name in names].count(Role.KEY)


def _ordered(
    microdata: Microdata, metric: Metric, slices: Sequence[Unit], given: Sequence[Unit]
) -> list[Unit]:
    """Return the given slices and then the remaining ones, the most correlated first."""
    roles = {each.name: each.role for each in microdata.schema.released}
    places = {each: _place(set(map(roles.__getitem__, each))) for each in slices}
    points = metric.points(microdata)
    columns = {each: _axes_of(each, metric) for each in slices}
    chosen = list(given)
    left = [each for each in slices if each not in given]
    if not chosen:
        chosen = [max(left, key=lambda each: (-places[each], _keys_in(each, roles), len(each)))]
        left.remove(chosen[0])
    while left:
        before = _basis(points[:, list(chain.from_iterable(columns[each] for each in chosen))])
        lowest = min(places[each] for each in left)
        candidates = [each for each in left if places[each] == lowest]
        correlations = [_correlation(before, points[:, columns[each]]) for each in candidates]
        # the first of equals
        chosen.append(candidates[correlations.index(max(correlations))])
        left.remove(chosen[-1])
    return chosen


def _place(roles: set[Role]) -> int:
    """Return when a slice of these roles is drawn: 0 with a key, 2 with a secret, 1 otherwise."""
    if Role.KEY in roles:
        return 0
    return 2 if Role.CONFIDENTIAL in roles else 1


def _correlation(before: Floats, points: Floats) -> float:
    """Return the largest canonical correlation of a slice with what is before."""
    shared = before.T @ _basis(points)
    return round(float(np.linalg.norm(shared, 2)), DIGITS) if shared.size else 0.0


def _basis(points: Floats) -> Floats:
    """Return orthonormal directions of the columns of points, shape (n, rank)."""
    directions, spread, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.asarray(directions[:, spread > NEGLIGIBLE * max(spread.max(initial=0.0), 1e-300)])


def check_slices(microdata: Microdata, order: Sequence[Unit]) -> None:
    """Refuse a table with one slice, or with values that stay."""
    kept = [each.name for each in microdata.schema.released if not each.masked]
    if kept:
        raise ParameterError(
            "Slices by prediction mask every variable, because a value that stays shows from which "
            f"record it comes; {kept[0]} is released unmasked."
        )
    if len(order) < 2:
        raise ParameterError(
            "A prediction needs two slices or more, and all variables are in one; let some travel "
            "apart."
        )


def check_prediction(
    microdata: Microdata, order: Sequence[Unit], terms: Sequence[Term], *, mixed: bool
) -> None:
    """Refuse later slices and terms that are not to be predicted, and terms that predict none."""
    for unit in order[1:]:
        keys = [name for name in unit if microdata.schema.variable(name).role is Role.KEY]
        if keys and not mixed:
            raise ParameterError(
                f"A later slice, {', '.join(unit)}, has an identifying variable, {keys[0]}, which "
                "by_prediction draws no slice for; let it travel in the first slice, or set "
                "mixed = true."
            )
    earlier = set(chain.from_iterable(order[:-1]))
    kinds = {each.name: each.kind for each in microdata.schema.released}
    for term in terms:
        for factor in term:
            if factor.name not in earlier:
                raise ParameterError(
                    f"terms names {factor.name}, which is no variable of an earlier slice."
                )
            if factor.transform == "square" and kinds[factor.name] is Kind.CATEGORICAL:
                raise ParameterError(f"terms has {factor}, but {factor.name} is categorical.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawing:
    """All that the later slices of a release depend on, besides what its rows show."""

    order: Sequence[Unit]
    steps: Mapping[str, float]
    later: int
    balanced: bool
    groups: Integers | None
    lots: Lots
    terms: tuple[Term, ...]
    use: Use | None  # as the table's schema states it


def draw_chain(prepared: Any, key: SecretKey, precision: Mapping[str, float]) -> Masked:
    """Draw the slices one after the other, predicted from values in the release's precision."""
    # `prepared`, of `neighborhood_method`, keeps the neighborhoods of first slices.
    method = prepared.method
    microdata = prepared.microdata
    steps = dict(precision)
    names = [each.name for each in microdata.schema.released]
    order = chain_order(microdata, method.metric(microdata), method.order)
    check_slices(microdata, order)
    if method.later_balance and microdata.n > MOST_BALANCED:
        raise ParameterError(
            f"Later slices are balanced for up to {MOST_BALANCED:,} records; set "
            "later_balance = false, so that intervals hold for the first slice only."
        )
    # the first slice, from the record's own neighborhood
    if prepared.found is None:
        prepared.found, _ = prepared.finder.find(prepared.ball)
    source = method.law(microdata, prepared.found)  # it refuses records without donors
    streams = random_streams(microdata)
    in_first = np.array([name in order[0] for name in names], dtype=np.float64)
    donors = draw_donors(prepared.found, Draws(key, np.arange(microdata.n), streams), in_first)
    # later ones, from records that what a row shows, as it will be released, predicts alike
    about = _Drawing(
        order=order,
        steps=steps,
        later=method.later,
        balanced=method.later_balance,
        groups=prepared.finder.groups,
        lots=keyed_lots(key, dict(zip(names, streams, strict=True))),
        terms=product_terms(method.terms),
        use=microdata.schema.use,
    )
    later: dict[str, DonorTables] = {}
    said: list[Predicted] = []
    for following, found in _later_slices(about, donors, microdata, said):
        given = draw_later(found, key, streams[names.index(following[0])])
        donors[:, [names.index(name) for name in following]] = given[:, np.newaxis]
        later |= dict.fromkeys(following, DonorTables(found))
    again = partial(_with_others, about, donors)
    law = ChainLaw(source, later, steps, again, said)

    def redraw(other: Mapping[str, float]) -> Masked:
        """Draw the same key in another precision."""
        return made if dict(other) == steps else draw_chain(prepared, key, other)

    made = Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law, redraw=redraw)
    return made


def _later_slices(
    about: _Drawing, donors: Integers, table: Microdata, said: list[Predicted] | None = None
) -> Iterator[tuple[Unit, Neighborhoods]]:
    """Yield each later slice with its possible donors, given what `donors` hold before it.

    What is said of a slice drawn by prediction is added to `said`.
    """
    # Shape: donors (n, p), of rows; `table` may have more records.
    written = rounded(table, about.steps)
    names = [each.name for each in table.schema.released]
    chain = PredictedChain(
        later=about.later,
        balanced=about.balanced,
        groups=about.groups,
        table=written,
        lots=about.lots,
        terms=about.terms,
        use=about.use,
    )
    for unit, following in pairwise(about.order):
        own = donors[:, names.index(unit[0])]
        chain.show(unit, joint_codes(written, unit), own)
        yield following, chain.next_slice(following)
    if said is not None:
        said.extend(chain.said)


def _with_others(about: _Drawing, donors: Integers, table: Microdata) -> dict[str, DonorTables]:
    """Find the later donors of these rows in a table with records added."""
    later: dict[str, DonorTables] = {}
    for following, found in _later_slices(about, donors, table):
        pairs = found.shares, found.table.records, found.table.offsets
        shares = sparse.csr_array(pairs, shape=(len(donors), table.n))
        later |= dict.fromkeys(following, DonorTables(found, shares))
    return later
