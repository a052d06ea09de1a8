"""Certified linkage of a setting before its release, by the law: a mean over a few draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import codes_together
from rwn_core.data.units import unit_of
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.chained_slices import ChainLaw
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.laws.law import Law
from rwn_core.masking.chain import chain_order, check_chain
from rwn_core.measures.attacks.certificate import (
    Exchange,
    certified_share,
    linkage_bounds,
    ratios_of_release,
    unit_bounds,
)
from rwn_core.measures.risk.certified_linkage import (
    nearest_records,
    refuse_a_priori,
    require_certifiable,
    unit_or_record_bounds,
    varying_slices,
)
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.randomness import SecretKey

DRAWS = 3
ROWS = 1000  # of a large table that each draw has
FIRST_SEED = 2_000_000_000  # apart from the seeds of releases

Columns = list[Integers]


def forecast_certified(law: Law, *, rows: int = ROWS) -> tuple[float, ...]:
    """Return the certified linkage of each of a few draws, by ratios that hold for every draw."""
    found = require_certifiable(law)
    cells = law.source
    units = varying_slices(cells)
    if cells.tied is not None or isinstance(found.table, AllDonors):
        refuse_a_priori(cells, units)
    nothing = np.empty(0, np.int64)
    codes = [codes_together(cells.original, cells.original, names, nothing)[0] for names in units]
    if isinstance(found.table, AllDonors):
        return _of_blocks(cells, found.table, units, codes, rows)
    n, unit = cells.original.n, unit_of(cells.original)
    tables = [
        cells.donors.table(own, cells.modification(names[0])).toarray()
        for own, names in zip(codes, units, strict=True)
    ]
    everyone = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    near = nearest_records(cells.neighborhoods, n) if unit is None else everyone
    if not all((table > 0).all() for table in tables):
        raise NotApplicable("Some records cannot release some values: nothing is certified.")
    # before anything is drawn: over all values that a slice may release
    ratios = sum(ratios_of_release(np.log(table).T, near) for table in tables)
    shares = []
    for draw in range(DRAWS):
        columns = _drawn(cells, units, codes, draw, np.arange(n))
        chances = zip(tables, columns, strict=True)
        logs = sum((np.log(table[:, shown]).T for table, shown in chances), np.zeros((n, n)))
        if unit is None:
            shares.append(certified_share(linkage_bounds(logs, ratios, near)))
        else:
            bounds = unit_bounds(logs, ratios, unit.numbers)
            shares.append(certified_share(bounds, np.bincount(unit.numbers)))
    return tuple(shares)


def _of_blocks(
    law: CellLaw, table: AllDonors, units: Sequence[tuple[str, ...]], codes: Columns, rows: int
) -> tuple[float, ...]:
    exchange, shares = Exchange.from_table(table, codes), []
    unit = unit_of(law.original)
    for draw in range(DRAWS):
        records = np.sort(np.random.default_rng(draw).permutation(law.original.n)[:rows])
        found = exchange.bounds(_drawn(law, units, codes, draw, records))
        bounds, sizes = unit_or_record_bounds(found, exchange, table, unit)
        shares.append(certified_share(bounds, sizes, np.bincount(found.rows)))
    return tuple(shares)


def _drawn(
    law: CellLaw, units: Sequence[tuple[str, ...]], codes: Columns, draw: int, records: Integers
) -> Columns:
    """Return the number of each slice's value in the rows of some records."""
    names = [variable.name for variable in law.original.schema.released]
    draws = Draws(SecretKey.from_seed(FIRST_SEED + draw), records, random_streams(law.original))
    donors = draw_donors(law.neighborhoods, draws, law.q)
    places = [names.index(unit[0]) for unit in units]
    return [own[donors[:, place]] for own, place in zip(codes, places, strict=True)]


def law_before_draw(prepared: Any, steps: Mapping[str, float]) -> ChainLaw:
    """Return the law of a row's source, known before a chain is drawn; later donors are not."""
    method, microdata = prepared.method, prepared.microdata
    first, *others = chain_order(microdata, method.metric(microdata), method.order)
    check_chain(microdata, [first, *others], mixed=method.mixed)
    found, _ = prepared.finder.find(prepared.ball)
    cells = method.law(microdata, found)
    later = dict.fromkeys((name for unit in others for name in unit), cells.donors)
    return ChainLaw(cells, later, steps, lambda _: later)
