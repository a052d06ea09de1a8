"""Facts of a dataset's release: sums over all records, and the linkage of a sample.

What fewer than ten records have is not named: neither their mean nor their level.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rwn_core.data.variable import Kind
from rwn_core.reporting.facts.fact import Audience, Content, Entry, Material, pairs, written_table
from rwn_core.reporting.facts.inside import INSIDE
from rwn_core.reporting.facts.outside import OUTSIDE

if TYPE_CHECKING:
    from rwn_core.datasets.audit_dataset import DatasetAudit

LEAST = 10  # records that must share what is named
_LEVELS, _PAIRS, _COMPONENTS = 20, 20, 5  # that are named, the most frequent or most changed
_SIDES = ("original", "released")


def _sides(material: Material) -> tuple[DatasetAudit, Any, Any]:
    audit = material.dataset
    assert audit is not None
    return audit, audit.original, audit.released


def _changed(material: Material) -> Content:
    audit, *sides = _sides(material)
    table = material.record["table"]
    kinds = dict(zip(table["variables"], table["kinds"], strict=True))
    rows, changed = [], material.reading("cells_changed")
    cells = dict(zip(changed["names"], changed["share"], strict=True))
    for name, moved in audit.distances.items():
        number = kinds[name] in (Kind.CONTINUOUS, Kind.COUNT)
        known = [side.columns[name] for side in sides if number and side.columns[name].count]
        shown = len(known) == 2 and min(each.count for each in known) >= LEAST
        means = [each.mean for each in known] if shown else [None, None]
        spreads = [each.sd for each in known] if shown else [None, None]
        shares = [f"{100 * share:.2f} %" for share in (cells[name], moved)]
        rows.append((name, *means, *spreads, *shares))
    columns = ("variable", "mean", "mean, released", "SD", "SD, released", "changed", "moved")
    line = (
        f"Of all records, added up batch by batch: {100 * changed['value']:.1f} % of the values "
        "changed. Moved is the share of records whose value would have to change to give one "
        "distribution the shape of the other (total variation)."
    )
    dates = [name for name, kind in kinds.items() if kind == Kind.DATE]
    lines = (line, f"Dates are not compared: {', '.join(dates)}.") if dates else (line,)
    return Content(lines=lines, table=written_table(columns, rows))


def _levels(material: Material) -> Content:
    _, before, after = _sides(material)
    rows: list[tuple[Any, ...]] = []
    for name, counts in before.levels.items():
        rows += _of_variable(name, counts, after.levels[name])
    line = (
        f"Records of each level. The {_LEVELS} most frequent are named, and none that fewer than "
        f"{LEAST} records have in the original or in the release."
    )
    columns = ("variable", "level", *_SIDES)
    return Content(lines=(line,), table=written_table(columns, rows) if rows else None)


def _of_variable(
    name: str, before: Mapping[Any, int], after: Mapping[Any, int]
) -> list[tuple[Any, ...]]:
    known = [k for k, count in before.items() if min(count, after.get(k, 0)) >= LEAST]
    named = sorted(known, key=lambda level: (-before[level], str(level)))[:_LEVELS]
    rows = [(name, level, f"{before[level]:,}", f"{after[level]:,}") for level in named]
    others = [sum(side.values()) - sum(side[k] for k in named) for side in (before, after)]
    if not any(others):
        return rows
    return [*rows, (name, "(all others)", *(f"{count:,}" for count in others))]


def _correlations(material: Material) -> Content:
    audit, before, after = _sides(material)
    if audit.correlation_change is None:
        return Content(lines=("Fewer than two variables are numbers.",))
    places = [
        pair
        for pair in combinations(range(len(before.numeric)), 2)
        if not np.isnan(after.correlation[pair] - before.correlation[pair])
    ]
    places.sort(key=lambda pair: -abs(after.correlation[pair] - before.correlation[pair]))
    rows = [
        (*(before.numeric[i] for i in pair), before.correlation[pair], after.correlation[pair])
        for pair in places[:_PAIRS]
    ]
    one, two = (
        ", ".join(f"{100 * share:.1f} %" for share in side.shares_of_components[:_COMPONENTS])
        for side in (before, after)
    )
    lines = (
        f"Principal components hold {one} of the variance; of the release {two}.",
        f"Correlations changed by {audit.correlation_change:.4f} on average. The most changed:",
    )
    return Content(lines=lines, table=written_table(("variable", "and", *_SIDES), rows))


def _regression(material: Material) -> Content:
    audit = _sides(material)[0]
    if audit.regression is None:
        return Content(lines=("No regression was asked for.",))
    before, after = audit.regression
    rows = [(name, value, after[name]) for name, value in before.items()]
    return Content(table=written_table(("least squares", *_SIDES), rows))


def _linkage(material: Material) -> Content:
    linkage = _sides(material)[0].linkage
    if linkage is None:
        return Content(lines=("No released row was linked.",))
    named = {
        "released rows in the sample": linkage.sampled,
        "of them equal to an original record": f"{100 * linkage.identical:.2f} %",
        "median distance to the nearest original record": linkage.nearest,
        "nearest original record is the true one": "not known without the key"
        if linkage.linked is None
        else f"{100 * linkage.linked:.2f} %",
        "a guess finds": f"{100 * linkage.baseline:.2g} %",
    }
    lines = (
        "A random sample of the released rows was linked to all original records by distance.",
        "An intruder who knows the method finds more. For the worst case mask a sample of the "
        "records with rwn mask and read its audit.",
    )
    return Content(lines=lines, table=pairs(named))


def _files(material: Material) -> Content:
    file = material.record["file"]
    named = {
        "files": f"{len(file['parts']):,}",
        "bytes": f"{file['size']:,}",
        "SHA-256 of what sha256sum says of the files": file["sha256"],
        "format and row order": f"{file['format']}, {file['order']}",
        "randomness": file["key"],
    }
    if {"k", "epsilon"} <= material.record["setting"]["parameters"].keys():
        named["records with fewer than k candidates within epsilon"] = f"{file['fell_back']:,}"
    return Content(table=pairs(named))


_OTHERS = {entry.key: entry for entry in (*OUTSIDE, *INSIDE)}
_FIRST = ("treated", "variables", "loss", "data", "context", "parameters")
_LAST = ("cautions", "errors", "totals", "use", "file", "review", "versions")
_INTERNAL = Audience.INTERNAL
DATASET = (
    *(_OTHERS[key] for key in _FIRST),
    Entry(key="changed", title="What changed", audience=_INTERNAL, make=_changed),
    Entry(key="levels", title="Levels", audience=_INTERNAL, make=_levels),
    Entry(key="correlations", title="Correlations", audience=_INTERNAL, make=_correlations),
    Entry(key="regression", title="Regression", audience=_INTERNAL, make=_regression),
    Entry(key="linkage", title="Risk, on a sample", audience=_INTERNAL, make=_linkage),
    *(_OTHERS[key] for key in _LAST),
    Entry(key="files", title="Files and hashes", audience=_INTERNAL, make=_files),
)
"""In the order of the reports of a dataset's release."""
