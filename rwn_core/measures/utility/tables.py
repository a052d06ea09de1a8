"""Counts: cross tables, small groups and records that break an edit rule."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable, SchemaError
from rwn_core.measures.comparison import RELEASED, Comparison, require_values
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, bars, columns
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import FROM_ZERO, BothFiles, Measure, Reading
from rwn_core.measures.statistics.cross_table import Grouping, counts, grouping
from rwn_core.measures.statistics.distributions import Distances, total_variation
from rwn_core.measures.view import Tile, View


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts(BothFiles):
    """Records of both files in g small groups, or that break g edit rules, shape (g,).

    Attributes
    ----------
    expected : ndarray of float64, shape (g,), optional
        Sizes of the groups that the law expects; `change` is relative.
    total_change : float
        Relative change of all groups together.
    vanished : int
        Groups without a released record.
    any_original, any_released : int
        Records that break at least one rule.
    """

    expected: Floats | None = None
    total_change: float = 0.0
    vanished: int = 0
    any_original: int = 0
    any_released: int = 0


# Contingency tables: change of cross tables of two and three variables

MOST_IN_THREES = 14  # variables; more would make too many three-way tables


def compute_contingency(comparison: Comparison) -> Reading[Distances]:
    """Return the mean total variation distance of all two-way tables."""
    original = comparison.original
    require_values(comparison.masked)
    released = original.schema.released
    if len(released) < 2:
        raise NotApplicable("A cross-tabulation needs at least two variables.")
    groups = comparison.cached_for_original(
        "groups", lambda: [grouping(original, variable) for variable in released]
    )
    before = comparison.cached_for_original(
        "grouped", lambda: [g.codes(original, original) for g in groups]
    )
    after = [g.codes(original, comparison.masked) for g in groups]
    two = _distances(groups, before, after, len(groups), 2)
    three = _distances(groups, before, after, min(len(groups), MOST_IN_THREES), 3)
    names = [g.name for g in groups]
    detail = Distances(
        names=names,
        pairs=[[names[i] for i in positions] for positions in two],
        distance=np.array(list(two.values())),
        triples=[[names[i] for i in positions] for positions in three],
        distance_three=np.array(list(three.values())),
        mean_three=float(np.mean(list(three.values()))) if three else None,
    )
    return Reading(value=float(detail.distance.mean()), baseline=0.0, detail=detail)


def _distances(
    groups: list[Grouping], before: list[Integers], after: list[Integers], variables: int, ways: int
) -> dict[tuple[int, ...], float]:
    result = {}
    for positions in combinations(range(variables), ways):
        sizes = [len(groups[i].labels) for i in positions]
        one, other = (counts([codes[i] for i in positions], sizes) for codes in (before, after))
        result[positions] = total_variation(one, other)
    return result


CONTINGENCY = Measure(
    key="contingency",
    title="Contingency tables",
    side="utility",
    unit="mean total variation of two-way tables",
    question="Do cross-tabulations of two and three variables keep their cells?",
    source="total variation distance; numbers in fifths of the original's records",
    compute=compute_contingency,
    view=View(places={"report": 99}),
)


# Small groups: change of their sizes

TAILS = (0.1, 0.9)  # of a number: its lowest and highest tenth
SMALL = 0.1  # a small group has at most this share of the records
LEAST = 5  # and at least so many: below, one record more is a large change
MOST = 400


def compute_subgroups(comparison: Comparison) -> Reading[Counts]:
    """Return the mean absolute relative change of the sizes of small groups."""
    original = comparison.original
    require_values(comparison.masked)
    # levels of categories, and both tails of numbers, by the original alone
    groups = comparison.cached_for_original(
        "tails", lambda: [grouping(original, v, TAILS) for v in original.schema.released]
    )
    before = comparison.cached_for_original(
        "tailed", lambda: [g.codes(original, original) for g in groups]
    )
    after = [g.codes(original, comparison.masked) for g in groups]
    # the groups are cells of one variable, and of pairs of categorical or ordered ones
    singles = [(position,) for position in range(len(groups))]
    categories = [
        position
        for position, variable in enumerate(original.schema.released)
        if variable.kind in (Kind.CATEGORICAL, Kind.ORDERED)
    ]
    tables = [*singles, *combinations(categories, 2)]
    rows = _small(groups, (before, after), tables, _shares(comparison, groups, before))
    if not rows:
        raise NotApplicable(
            f"No level, tail or pair of levels has from {LEAST} records to {SMALL:.0%} of the file."
        )
    # a row has its name, the original and the released size, and the expected one, or None
    sizes = np.array([[row[1], row[2]] for row in rows], dtype=np.float64)
    change = sizes[:, 1] / sizes[:, 0] - 1
    expected = [row[3] for row in rows]
    detail = Counts(
        names=[row[0] for row in rows],
        original=sizes[:, 0].astype(np.int64),
        released=sizes[:, 1].astype(np.int64),
        expected=None if None in expected else np.array(expected, dtype=np.float64),
        change=change,
        total_change=float(sizes[:, 1].sum() / sizes[:, 0].sum() - 1),
        vanished=int((sizes[:, 1] == 0).sum()),
    )
    return Reading(value=float(np.abs(change).mean()), baseline=0.0, detail=detail)


Codes = list[Integers]
Shares = list[Floats] | None
Row = tuple[str, int, int, float | None]


def _small(
    groups: list[Grouping], codes: tuple[Codes, Codes], tables: list[tuple[int, ...]], law: Shares
) -> list[Row]:
    """Return name, original, released and expected size of every small group, ascending."""
    most = SMALL * len(codes[0][0])
    result: list[Row] = []
    for positions in tables:
        sizes = [len(groups[i].labels) for i in positions]
        own, new = (counts([side[i] for i in positions], sizes) for side in codes)
        for cell in np.flatnonzero((own >= LEAST) & (own <= most)):
            labels = [int(at) for at in np.unravel_index(cell, sizes)]
            named = [(groups[i], at) for i, at in zip(positions, labels, strict=True)]
            parts = [f"{group.name} {group.labels[at]}" for group, at in named]
            share = None
            if law is not None:
                chosen = [law[i][:, at] for i, at in zip(positions, labels, strict=True)]
                share = float(np.prod(chosen, axis=0).sum())
            result.append((" & ".join(parts), int(own[cell]), int(new[cell]), share))
    return sorted(result, key=lambda row: (row[1], row[0]))[:MOST]


def _shares(comparison: Comparison, groups: list[Grouping], before: Codes) -> Shares:
    """Return each record's probability of each group; None unless donors are independent."""
    components = () if comparison.law is None else comparison.law.components()
    if len(components) != 1 or comparison.file is not None:
        return None
    cells = components[0].cells
    apart = not cells.later and cells.tied is None
    if cells.donors is None or not apart or any(len(unit) > 1 for unit in cells.units()):
        return None
    shares = []
    for group, codes in zip(groups, before, strict=True):
        own = (codes[:, None] == np.arange(len(group.labels))).astype(np.float64)
        q = cells.modification(group.name)
        shares.append((1 - q) * own + q * np.asarray(cells.probabilities @ own))
    return shares


# Sizes of small groups before, after and as expected

_GROUPS = 12


def draw_subgroups(reading: Reading[Counts], drawn: Drawn | None = None) -> style.Chart:
    """Draw the small groups that changed most, at most 12."""
    detail = reading.detail
    names = detail.names
    change = detail.change
    # the groups with the largest relative change, the largest first
    rows = np.argsort(-np.abs(change), kind="stable")[:_GROUPS]
    band = None if drawn is None else drawn["released"]
    before, after = detail.original[rows], detail.released[rows]
    expected = detail.expected
    law = None if expected is None else expected[rows]
    total, vanished = detail.total_change, detail.vanished
    sign = "+" if total > 0 else "−" if total < 0 else "±"
    tops = [] if band is None else [band.high[rows]]
    # a few far groups would press the others together: they are cut, and counted in the title
    bulk = style.clipped(np.fmax(before, after))
    top = style.above(1.05 * (style.largest(before, after, *tops) if bulk is None else bulk))
    beyond = style.beyond_words(np.fmax(before, after), top, "group")
    note = f"together {sign}{abs(total):.0%}" + (f" · {vanished} vanished" if vanished else "")
    note += f" · {beyond} ▶" if beyond else ""
    short, long = ([style.escape(style.shorten(names[i], n)) for i in rows] for n in (20, 60))
    # the table has all groups, with the expected size and the band where there are any
    cells = {"group": names, "original": detail.original, "released": detail.released}
    cells |= {} if expected is None else {"expected": expected}
    cells |= {"relative change": change}
    if band is not None:
        cells |= zip(*columns(band), strict=True)
    return style.chart(
        "subgroups",
        "Small groups",
        note,
        f"Sizes of the {len(rows)} small groups that changed most, of {len(names)}; all small "
        f"groups together changed by {total:+.0%} and {vanished} vanished"
        + ("" if band is None else f"; pale bars: {NAME}"),
        data=[
            *([] if band is None else [bars(band.low[rows], band.high[rows], range(len(rows)))]),
            *_traces(before, after, law, top),
        ],
        layout=style.layout(
            style.axis("records", 0, top),
            style.name_axis(short, showgrid=False, tickfont={"size": 9}),
        ),
        large={"legend": True, "yaxis": {"ticktext": long}},
        table=table(list(cells), list(cells.values()), by=("size of change", np.abs(change))),
    )


def _traces(
    before: NDArray[Any], after: NDArray[Any], expected: NDArray[Any] | None, top: float
) -> list[style.Trace]:
    height = np.arange(len(before))
    bars = style.line(*style.segments(before, after, height), released=False)
    bars["line"] |= {"color": style.NEUTRAL, "width": 1.4}
    bars |= {"hoverinfo": "skip", "showlegend": False}
    traces = [bars]
    if expected is not None:
        marks = style.points(style.floats(expected), height, released=False, name="expected")
        look = {"symbol": "diamond-open", "size": 8}
        marks["marker"] = look | {"color": style.NEUTRAL, "opacity": 1}
        marks["hovertemplate"] = "%{x:.1f} records<extra>expected</extra>"
        traces.append(marks)
    for values, released in ((before, False), (after, True)):
        marks = style.points(values, height, released=released)
        marks["marker"] |= {"size": 7, "opacity": 1}
        marks["hovertemplate"] = "%{x} records<extra>%{fullData.name}</extra>"
        traces += style.at_the_edge(marks, "x", top)
    return traces


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{100 * abs(value):.1f} %"


SUBGROUPS = Measure(
    key="subgroups",
    title="Small groups",
    side="utility",
    bounds=FROM_ZERO,
    unit="mean relative change of size",
    question="Do small groups and tails keep their size?",
    source="Perry, Matloff, Tendick 2022, section 5: rare values shrink",
    compute=compute_subgroups,
    view=View(
        tiles=(
            Tile(
                places={"utility": 4},
                label="Small groups",
                words=_signed,
                help="Change of the size of all levels, pairs of levels and tails that hold at "
                "most a tenth of the records. Rare values shrink where those that replace them are "
                "mostly of the majority.",
                value=lambda reading: float(reading.detail.total_change),
                part="total_change",
                context=lambda reading: f"{reading.detail.vanished} vanished",
            ),
        ),
        charts={"subgroups": draw_subgroups},
        bands={"released": FROM_ZERO, "total_change": (-1.0, float("inf"))},
        steps=(0.02, 0.1, 0.25, 0.5, 0.8),
        places={"record of a dataset": 3, "utility": 4, "report": 4},
    ),
)


# Edit rules: released records that break one, compared with the original


def compute_edit_rules_broken(comparison: Comparison) -> Reading[Counts]:
    """Return the share of the released records that break an edit rule."""
    original, masked = comparison.original, comparison.masked
    rules = original.schema.edit_rules
    if not rules:
        raise NotApplicable("The schema has no edit rules; write them on the Data page.")
    require_values(masked)
    before = comparison.cached_for_original(
        ("edit rules", rules), lambda: [rule.broken(original.frame) for rule in rules]
    )
    try:
        after = [rule.broken(masked.frame) for rule in rules]
    except SchemaError as refusal:
        raise NotApplicable(f"{str(refusal).rstrip('.')}{RELEASED}.") from None
    some = [int(np.any(broken, axis=0).sum()) for broken in (before, after)]
    detail = Counts(
        names=[rule.text for rule in rules],
        original=np.array([broken.sum() for broken in before], dtype=np.int64),
        released=np.array([broken.sum() for broken in after], dtype=np.int64),
        any_original=some[0],
        any_released=some[1],
    )
    return Reading(value=some[1] / masked.n, baseline=some[0] / original.n, detail=detail)


def rules_table(reading: Reading[Counts], _: int) -> dict[str, Any]:
    """Records that break each edit rule, before and after."""
    detail = reading.detail
    columns = (detail.names, detail.original, detail.released)
    return {
        "title": "Edit rules: records that break them",
        "columns": ["rule", "original", "released"],
        "rows": [[str(rule), int(old), int(new)] for rule, old, new in zip(*columns, strict=True)],
        "caption": f"At least one rule is broken by {detail.any_original:,} original and "
        f"{detail.any_released:,} released records. Variables of a rule that travel together "
        "keep it: choose such slices on Tune.",
    }


EDIT_RULES_BROKEN = Measure(
    key="edit_rules_broken",
    title="Edit rules broken",
    side="utility",
    question="How many released records contradict themselves by the rules of the schema?",
    source="edit rules of the schema, each record counted once; Fellegi and Holt 1976",
    compute=compute_edit_rules_broken,
    must_hold=True,
    view=View(places={"tables of utility": 4}, tables=(rules_table,)),
)
