"""Linkage by an intruder who holds the original file and knows the method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.sizes import LARGEST_ASSIGNMENT, LIVE_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.posterior import (
    SMALLEST_SAMPLE,
    Linkage,
    Sample,
    link,
    of_units,
    posteriors,
    weigh,
)
from rwn_core.measures.attacks.worst_case import (
    WorstLinkage,
    linked,
    links_row_by_row,
    worst_case,
)
from rwn_core.measures.comparison import Comparison, released_rows, require_same_records
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import Detail, Measure, Reading, linkage_measure, some_of
from rwn_core.measures.sentence import filled, people, percent, tenths
from rwn_core.measures.statistics.intervals import exact_interval, mean_interval, wilson_interval
from rwn_core.measures.statistics.key_variables import (
    cell_codes,
    class_sizes,
    key_names,
    once,
    only,
)
from rwn_core.measures.statistics.nearest_points import (
    distinct_points,
    nearest_links,
    original_points,
    spread_sample,
)
from rwn_core.measures.view import Linker, Tile
from rwn_core.neighbors.distance import point_values

# Worst-case linkage by an intruder with the original file and the method


def compute_bayes_linkage(
    comparison: Comparison, names: Sequence[str] | None = None, *, bounded: bool = True
) -> Reading[WorstLinkage]:
    """Return the share of correct links of the best attack, by all released variables or some."""
    comparison.required_law("The worst case")
    require_same_records(comparison.original, comparison.masked)
    found = worst_case(comparison, names, bounded=bounded)
    links = found.links
    interval = mean_interval(links.best, links.total_rows) if links.sampled else None
    detail = replace(
        found.detail,
        names=names or [variable.name for variable in comparison.original.schema.released],
        best=links.best,
        truth=links.truth,
        rows=len(links.rows),
        **some_of(links.rows, links.total_rows),
        top1=float(links.top1.mean()),
        top5=float(links.top5.mean()),
        candidates=links.candidates,
    )
    baseline = comparison.random_share
    return Reading(value=found.success, baseline=baseline, interval=interval, detail=detail)


def bayes_linkage_sentence(reading: Reading[WorstLinkage], n: int) -> str:
    """Say how many records are linked and by which attack."""
    who = "Somebody who holds the original file and knows the method"
    return (
        f"{linked(reading, n, who)}; for {percent(reading.detail.top5)} of all the right one is "
        "among five candidates."
    )


def warn_of_linkage(
    reading: Reading[WorstLinkage], *, drawn: bool, ordinary: float | None
) -> list[str]:
    """Say where linkage by distance misleads, why, and what helps with this method."""
    misleading = max(2 * (ordinary or 0.0), 0.2)
    if ordinary is None or reading.value <= misleading:
        return []
    alone = (
        "single rows are ambiguous, but each original is the source of only one row: "
        "matching all rows jointly removes most of the ambiguity"
    )
    if (reading.detail.row_by_row or 0.0) > misleading:
        alone = "the values of a row, exact or rounded, together leave few originals that can "
        alone += "have released it"
    least = "at least " if reading.detail.standing == "at least" else ""
    help = "Larger neighborhoods at q = 1" if drawn else "Stronger masking"
    return [
        f"Ordinary linkage finds {percent(ordinary)} of the records, a person who knows the "
        f"original data {least}{percent(reading.value)}: {alone}. {help} or fewer variables "
        "help. Rounding helps in addition, rarely by itself."
    ]


# Distribution of record-level risk

_BINS = 20
_RISK_MARKS = (0.5, 0.9)
_PLACE: dict[str, Any] = {"xanchor": "right", "yanchor": "top", "xshift": -2}


def draw_record_risk(reading: Reading[WorstLinkage]) -> style.Chart:
    """Draw the distribution of the probability that a record is linked to its own row."""
    detail = reading.detail
    # counts of records by their probability, in equal bins from 0 to 1
    truth = detail.truth
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    counts, _ = np.histogram(truth, edges)
    top = style.above(1.12 * style.largest(counts, [1]))
    # shares of records beyond the two marks; a sample is named as one
    above_half, above_most = (float((truth > mark).mean()) for mark in _RISK_MARKS)
    sample = f", of a sample of {len(truth):,} rows" if detail.sampled else ""
    # an outline in a solid line: there is no original to tell it from
    drawn = style.outline(edges, counts, released=True, fill=f"{style.RELEASED}33")
    drawn["line"] |= {"dash": "solid"}
    drawn["hovertemplate"] = "from %{x:.2f}: %{y} records<extra></extra>"
    return style.chart(
        "record_risk",
        "Risk of each record",
        f"{style.percent(above_half)} over 1/2 · {style.percent(above_most)} over 0.9"
        + (" · sample" if detail.sampled else ""),
        f"Distribution of the probability, one row at a time, that a record's row is known as its "
        f"own; {style.percent(above_half, 1)} of the records exceed one half{sample}",
        data=[drawn],
        layout=style.layout(
            style.axis("probability of the true source", -0.02, 1.04),
            style.axis("records", 0, top),
            shapes=[style.vertical(mark, style.NEUTRAL, "dot") for mark in _RISK_MARKS],
            annotations=[
                style.label(f"> {mark:g}", mark, top, style.NEUTRAL, **_PLACE)
                for mark in _RISK_MARKS
            ],
        ),
        table=table(
            ["from", "to", "records", "records in all"],
            [edges[:-1], edges[1:], counts, np.cumsum(counts)],
        ),
    )


BAYES_LINKAGE = linkage_measure(
    key="bayes_linkage",
    usual_limit=0.05,
    raised_by="identity",
    falls=True,
    effort=1,
    title="Worst-case linkage",
    question="How many released records would an intruder link correctly who holds the whole "
    "original file and knows the method and its parameters, but not the key?",
    sentence=bayes_linkage_sentence,
    at_least="Linkage, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; the most "
    "likely assignment of all rows (Burkard, Dell'Amico, Martello 2009); the most likely source "
    "of each row given all rows (Sinkhorn and Knopp 1967, Metropolis and others 1953): whichever "
    "links most",
    compute=compute_bayes_linkage,
    begin=partial(compute_bayes_linkage, bounded=False),
    is_slow=True,
    tile=Tile(places={"risk": 1}, label="Worst case, all", words=tenths),
    charts={"record_risk": draw_record_risk},
    linkers=(Linker(place=8, words="whole original file", worst=True, estimated=True),),
    warn=warn_of_linkage,
    places={
        "sweep": 1,
        "risk": 1,
        "report": 6,
        "worst cases": 1,
        "scenarios": 6,
        "warnings": 1,
    },
)


# Linked over one half: records linked with a probability above one half

HALF = 0.5 * (1 + 1e-9)  # of two equal candidates neither is above one half


def compute_linked_over_half(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the share of rows with a true original more likely than all others together."""
    # The larger share of row by row and given all rows. Random rows: the upper 97.5 % confidence
    # limit if a row is above one half, also one of the farthest people; else 0. Of units with
    # several rows: the share of units with a row above one half, if that is larger.
    found = worst_case(comparison, bounded=False)
    units = comparison.units
    links = found.links
    together = None
    interval = None
    above = None
    alone = float((links.truth > HALF).mean())
    truth = links.truth
    records = links.rows
    if found.together is not None and not links.sampled:
        given_all = found.together[1][links.rows]
        together = float((given_all > HALF).mean())
        truth = given_all if together > alone else truth
    value = share = max(alone, together or 0.0)
    if links.sampled:
        # the links of the records that are far from the others
        law = comparison.required_law()
        rows = released_rows(comparison.original, comparison.masked)
        try:
            points = point_values(original_points(comparison))[rows]
        except NotApplicable:  # no variable has a distance
            points = np.zeros((len(rows), 1))
        rows = np.sort(rows[np.argsort(-(points**2).sum(axis=1), kind="stable")[:SMALLEST_SAMPLE]])
        far = weigh(law, comparison.masked, None, Sample(rows, len(rows)), units=comparison.units)[
            0
        ]
        interval = exact_interval(round(share * len(truth)), len(truth))
        records, first = np.unique(np.concatenate((records, far.rows)), return_index=True)
        truth = np.concatenate((truth, far.truth))[first]
        value = interval[1] if (truth > HALF).any() else 0.0
    if units is not None:
        above = len(np.unique(units[records[truth > HALF]]))
        value = max(value, above / len(np.unique(units[records])))
    detail = WorstLinkage(
        share=share,
        units_above=above,
        row_by_row=alone,
        together=together,
        truth=truth,
        records=records,
        largest=float(truth.max()),
        over=int((truth > HALF).sum()),
        random=len(links.rows),
        rows=len(records),
        sampled=links.sampled,
        of=links.total_rows,
    )
    baseline = float(comparison.original.n == 1)
    return Reading(value=value, baseline=baseline, interval=interval, detail=detail)


def linked_over_half_sentence(reading: Reading[WorstLinkage], n: int) -> str:
    """Say how many records are linked above one half, and the largest probability."""
    # of people with several rows the share of the rows
    detail = reading.detail
    way = ""
    whose = people(detail.share if detail.units_above else reading.value, n)
    if detail.sampled:
        high = reading.value or (reading.interval or (0.0, 1.0))[1]
        whose = f"{percent(detail.share)} of {detail.random:,} random rows"
        way = (
            f" ({detail.over:,} people, with the {detail.rows - detail.random:,} farthest "
            f"ones looked at): of all {detail.of:,} rows at most {percent(high)}"
        )
    elif detail.together is None:
        way = ", one row at a time"
    if detail.units_above:
        whose += f", of {detail.units_above:,} different ones,"
    return (
        f"An intruder who holds the original file and knows the method links {whose} with a "
        f"probability above one half{way}; the largest probability of one record is "
        f"{percent(detail.largest)}."
    )


LINKED_OVER_HALF = linkage_measure(
    key="linked_over_half",
    usual_limit=0.0,  # a share of n would give some people away
    falls=True,
    effort=1,
    title="Linked over one half",
    question="For how many released records is the true original more likely than all others "
    "together, to an intruder who holds the whole original file and knows the method and its "
    "parameters, but not the key?",
    sentence=linked_over_half_sentence,
    source="Bayes' rule on the method's law, as for worst-case linkage: the larger share of a row "
    "at a time and of all rows together; of random rows "
    "the upper end of the 95 % interval (Clopper and Pearson 1934), or 0 where none of them and of "
    "the farthest people's rows is above one half",
    compute=compute_linked_over_half,
    counts=True,
    tile=Tile(places={"risk": 3}, label="Linked over one half", words=tenths),
    places={"report": 99, "worst cases": 2},
)


# Largest linkage: the highest probability with which an intruder names one record's original

TITLE = "Largest linkage"


def compute_largest_linkage(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the largest posterior of a row: of its most likely original, or of the true one."""
    # For random rows it is a lower bound, which can break a limit and never keep one.
    comparison.required_law("The largest linkage")
    require_same_records(comparison.original, comparison.masked)
    found = worst_case(comparison, bounded=False)
    links = found.links
    alone = float(links.best.max())
    together = None if found.together is None else float(found.together[1].max())
    detail = WorstLinkage(
        row_by_row=alone,
        together=together,
        standing="at least" if links.sampled or not found.earned else "worst",
        rows=len(links.rows),
        of=links.total_rows,
    )
    value = max(alone, together or 0.0)
    return Reading(value=value, baseline=comparison.random_share, detail=detail)


def largest_linkage_sentence(reading: Reading[WorstLinkage], n: int) -> str:
    """Say the largest probability, and of how many rows."""
    known = reading.detail.standing == "worst"
    rows = "over every row" if known else "over the rows that were attacked; it may be larger"
    return (
        "The largest probability that an intruder who holds the original file and knows the method "
        f"can give to one original of a row is {percent(reading.value)}, {rows}."
    )


LARGEST_LINKAGE = linkage_measure(
    key="largest_linkage",
    title=TITLE,
    unit="probability",
    question="How sure can an intruder be of the original of the most exposed released record, who "
    "holds the whole original file and knows the method and its parameters, but not the key?",
    sentence=largest_linkage_sentence,
    at_least=f"{TITLE}, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the method's law, as for worst-case linkage: the maximum over rows "
    "where worst-case linkage is the mean",
    compute=compute_largest_linkage,
)


# Whole-file linkage: the most likely assignment of all rows to all originals


def compute_whole_file_linkage(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the share of records that the most likely assignment on the keys links correctly."""
    keys = key_names(comparison)
    n = comparison.original.n
    if comparison.law is not None:
        why = "not every original has a row of its own"
        require_same_records(comparison.original, comparison.masked, why)
    found = worst_case(comparison, keys)
    if found.matched is None or found.linked is None:
        raise NotApplicable(
            f"All records are assigned at once where at most {LARGEST_ASSIGNMENT:,} of them could "
            f"change places, and the table has {n:,}; look at linkage by the keys, which is a "
            "lower bound."
        )
    units = np.arange(n) if comparison.units is None else comparison.units
    detail = WorstLinkage(names=list(keys), linked=found.linked, right=units[found.linked] == units)
    return Reading(value=found.matched, baseline=comparison.random_share, detail=detail)


WHOLE_FILE_LINKAGE = linkage_measure(
    key="whole_file_linkage",
    title="Whole-file linkage",
    question="How many records does the worst-case intruder link correctly by the key variables "
    "when all released rows are linked at once, each original to one row?",
    sentence=filled("Linking all rows at once by {keys}, each person once, finds {people}."),
    source="Maximum-weight assignment of the likelihoods; Burkard, Dell'Amico, Martello 2009",
    compute=compute_whole_file_linkage,
    linkers=(Linker(place=7, words="… of the whole file at once", worst=True),),
    places={"report": 99, "worst cases": 3},
)


# Abstaining linkage: links of an intruder that are correct with high precision

SURE = 0.95  # the precision at which the share of linked people is read
POINTS = 200  # of a curve
_DIGITS = 9  # to which two beliefs are the same


class Curve(NamedTuple):
    """The expected precision and recall at each threshold, shape (t,) each."""

    tau: Floats  # least posterior of a row's most likely original at which it is linked, descending
    recall: Floats  # share of the rows that are linked
    precision: Floats  # expected share of correct links

    def recall_at(self, precision: float) -> float:
        """Return the largest recall with at least this precision; 0 if none."""
        return float(self.recall[self.precision >= precision - 10.0**-_DIGITS].max(initial=0.0))

    def thinned(self) -> Curve:
        """Return about `POINTS` of the points, with the first and the last."""
        if len(self.tau) <= POINTS:
            return self
        chosen = np.unique(np.linspace(0, len(self.tau) - 1, POINTS).astype(np.int64))
        return Curve(*(each[chosen] for each in self))


def curve(best: Floats) -> Curve:
    """Return precision and recall over all thresholds of the posteriors `best`, shape (m,).

    >>> one = curve(np.array([0.5, 1.0, 0.5, 0.0]))
    >>> one.tau.tolist(), one.recall.tolist(), one.precision.round(3).tolist()
    ([1.0, 0.5], [0.25, 0.75], [1.0, 0.667])
    """
    # a link of row r is right with probability best[r]: the mean over linked rows is their
    # expected precision, without simulation (Rao-Blackwell)
    surest = np.sort(np.round(best[best > 0], _DIGITS))[::-1]
    if not surest.size:
        return Curve(*np.empty((3, 0)))
    count = np.arange(1, len(surest) + 1)
    last = np.append(surest[1:] < surest[:-1], True)  # rows of equal belief are linked together
    precision = np.minimum(np.cumsum(surest) / count, 1.0)
    return Curve(surest[last], count[last] / len(best), precision[last])


def _curve(comparison: Comparison, law: Law, names: Sequence[str] | None) -> tuple[Curve, Linkage]:
    """Return the curve that reaches farthest, by records or by the units they belong to."""
    # rows of equal belief are linked together, so that naming units may reach less far
    links = [links_row_by_row(comparison, names)]
    if comparison.units is not None:
        links.append(link(law, comparison.masked, names))
    return max(
        ((curve(each.best), each) for each in links), key=lambda each: each[0].recall_at(SURE)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SureLinks(Detail):
    """The details of linking the surest rows only.

    Attributes
    ----------
    names : sequence of str
        The keys.
    all, keys : Curve
        By all variables, and by the keys; thinned.
    by_keys : float
        Share of the rows that can be linked by the keys with 95 % of the links right.
    success : float
        Share of right links if every row is linked.
    """

    all: Curve
    keys: Curve
    by_keys: float
    success: float


def compute_abstaining_linkage(comparison: Comparison) -> Reading[SureLinks]:
    """Return the share of the rows linked with 95 % precision, on all variables and by the keys."""
    law = comparison.required_law("Linking with certainty")
    keys = key_names(comparison)
    (found, links), (by_keys, _) = _curve(comparison, law, None), _curve(comparison, law, keys)
    value = found.recall_at(SURE)
    detail = SureLinks(
        names=list(keys),
        all=found.thinned(),
        keys=by_keys.thinned(),
        by_keys=by_keys.recall_at(SURE),
        success=links.success,
        **some_of(links.rows, links.total_rows),
    )
    interval = wilson_interval(value * len(links.rows), len(links.rows)) if links.sampled else None
    return Reading(value=value, baseline=0.0, interval=interval, detail=detail)


def abstaining_linkage_sentence(reading: Reading[SureLinks], n: int) -> str:
    """Say how many rows are linked with certainty, and the average success."""
    keys = reading.detail.by_keys
    sure = percent(SURE)
    links = f"nobody if {sure} must be right"
    links += f", by the keys alone {percent(keys)} of them" if keys else ""
    if reading.value:
        links = f"{percent(reading.value)} of the people, and {sure} of these links are right "
        links += f"(by the keys alone: {percent(keys)} of the people)"
    return (
        "Who holds the original file, knows the method and links only rows that he is sure of "
        f"links {links}; who links everybody is right for {percent(reading.detail.success)}."
    )


# Precision and recall of an intruder who links sure rows only


def draw_precision_recall(reading: Reading[SureLinks]) -> style.Chart:
    """Draw expected precision over recall, with all variables and by the keys."""
    detail = reading.detail
    # the title compares all variables with the keys alone, at the precision SURE
    sure, reached = style.percent(SURE), style.percent(reading.value, 1)
    keys = style.percent(detail.by_keys, 1)
    # the lower curve has its name below its end, or above one that is near the axis
    labels = []
    if len(detail.keys.recall):
        place = (float(detail.keys.recall[-1]), float(detail.keys.precision[-1]))
        side = "left" if place[0] < 0.5 else "right"  # within the picture
        up = "bottom" if place[1] < 0.2 else "top"
        labels.append(style.label("by the keys", *place, style.NEUTRAL, xanchor=side, yanchor=up))
    return style.chart(
        "precision_recall",
        "Linked with certainty",
        f"{reached} at {sure} · keys {keys}" + (" · sample" if detail.sampled else ""),
        f"Expected share of right links over the share of rows that are linked, the surest first: "
        f"{reached} of the rows are linked with {sure} right, by the keys alone {keys}",
        data=[
            _trace(detail.keys, "by the keys", style.NEUTRAL, "dot"),
            _trace(detail.all, "all variables", style.RELEASED, "solid"),
        ],
        layout=style.layout(
            style.axis("rows that are linked, the surest first", 0, 1.04, share=True),
            style.axis("links that are right", 0, 1.06, share=True),
            shapes=[style.horizontal(SURE, style.NEUTRAL, "dot")],
            annotations=labels,
        ),
        large={"legend": True},
        # the table lists both curves, one below the other
        table=table(
            ["known", "linked from probability", "share linked", "right"],
            [
                ["all variables"] * len(detail.all.tau) + ["by the keys"] * len(detail.keys.tau),
                *map(np.concatenate, zip(detail.all, detail.keys, strict=True)),
            ],
        ),
    )


def _trace(curve: Curve, name: str, color: str, dash: str) -> style.Trace:
    recall = np.concatenate((np.zeros(min(1, len(curve.recall))), curve.recall))
    precision = np.concatenate((curve.precision[:1], curve.precision))
    drawn = style.line(style.floats(recall), style.floats(precision), released=True, name=name)
    drawn["line"] |= {"color": color, "dash": dash}
    drawn["hovertemplate"] = "%{x:.1%} linked, %{y:.1%} right<extra>%{fullData.name}</extra>"
    return drawn


ABSTAINING_LINKAGE = linkage_measure(
    key="abstaining_linkage",
    title="Linked with certainty",
    question="How many records can an intruder link who knows the whole original file and the "
    "method, and keeps silent unless 95 % of his links are right?",
    sentence=abstaining_linkage_sentence,
    source="Bayes' rule on the method's law: expected precision and recall over the least "
    "probability at which a row is linked",
    compute=compute_abstaining_linkage,
    charts={"precision_recall": draw_precision_recall},
    places={"risk": 2, "report": 7, "worst cases": 5},
)


# Linkage by an intruder with the key variables and the method

# Intruder levels: ordinary and worst-case intruders on the key variables


def distance_success(comparison: Comparison, keys: Sequence[str]) -> float:
    """Return the share of released records nearest to their own source."""
    known = keys if comparison.unit is None else [*keys, comparison.unit.name]
    small = Comparison(
        original=only(comparison.original, known), masked=only(comparison.masked, keys)
    )
    points = original_points(small)
    if comparison.masked.n != len(points):
        raise NotApplicable("The released table has another number of records than the original.")
    rows = released_rows(comparison.original, comparison.masked)
    return float(nearest_links(small, distinct_points(points), rows)[1].mean())


def keys_only_links(comparison: Comparison, keys: Sequence[str]) -> Linkage:
    """Return the links of an intruder with the keys only; NotApplicable for large tables."""
    law = comparison.required_law()
    n = law.original.n
    if n > LIVE_RECORDS:
        raise NotApplicable(
            f"Neighborhoods on the keys alone are found for at most {LIVE_RECORDS:,} "
            f"records, and the table has {n:,}."
        )
    try:
        guess = law.restricted_to(only(law.original, keys))
    except ParameterError:
        raise NotApplicable(
            "No key variable varies with a weight above 0, so the keys make no neighborhoods."
        ) from None
    return link(guess, comparison.masked, keys, units=comparison.units)


def compute_intruder_levels(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the success of an intruder with the keys and all neighborhoods, and of four others."""
    keys = key_names(comparison)
    steps: dict[str, Callable[[], float]] = {
        # guesses
        "L0": lambda: comparison.random_share,
        # compares distances on the keys
        "L1": lambda: distance_success(comparison, keys),
        # knows the method and the keys; the model is not the true one, so the posterior is no
        # measure of success: the share of rows with the first choice right is
        "L2": lambda: float(keys_only_links(comparison, keys).top1.mean()),
        # knows the keys and all neighborhoods
        "L3": lambda: known.success,
        # holds the whole original file
        "L4": lambda: worst_case(comparison).success,
    }
    known = worst_case(comparison, keys)  # refused without L3
    success = dict[str, float | None]()
    reasons = dict[str, str]()
    for key, make in steps.items():
        try:
            success[key] = make()
            reasons[key] = ""
        except NotApplicable as refusal:
            success[key] = None
            reasons[key] = refusal.reason
    detail = replace(
        known.detail,
        names=list(keys),
        neighborhoods=comparison.required_law().neighborhoods is not None,
        levels=list(steps),
        success=list(success.values()),
        reasons=list(reasons.values()),
    )
    return Reading(value=known.success, baseline=success["L0"], detail=detail)


def intruder_levels_sentence(reading: Reading[WorstLinkage], n: int) -> str:
    """Say how many records are linked by the keys and by which attack."""
    keys = ", ".join(reading.detail.names)
    drawn = reading.detail.neighborhoods
    known = ", the method and the neighborhoods" if drawn else " and the method"
    who = f"Somebody who knows only {keys} of everybody{known}"
    return f"{linked(reading, n, who)}."


def strongest(reading: Reading[WorstLinkage] | NotApplicable) -> str:
    """Say what the strongest intruder on the keys knows."""
    drawn = not isinstance(reading, Reading) or reading.detail.neighborhoods
    return "… and neighborhoods" if drawn else METHOD


METHOD = "method, keys"
INTRUDER_LEVELS = linkage_measure(
    key="intruder_levels",
    title="Linkage by the keys, worst case",
    question="How many released records would an intruder link correctly who knows the key "
    "variables of everybody, the method and all neighborhoods?",
    sentence=intruder_levels_sentence,
    at_least="Linkage by the keys, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; distance "
    "linkage after Domingo-Ferrer and Torra 2001",
    compute=compute_intruder_levels,
    tile=Tile(places={"risk": 2}, label="Worst case, by keys", words=tenths),
    linkers=(
        Linker(
            place=0,
            words=lambda reading: "guessing" if isinstance(reading, Reading) else "",
            success=attrgetter("baseline"),
        ),
        Linker(place=1, words="distance, keys", success=lambda reading: reading.detail.success[1]),
        Linker(
            place=5,
            # else it is the same intruder as the next
            words=lambda reading: "" if strongest(reading) == METHOD else METHOD,
            success=lambda reading: reading.detail.success[2],
            worst=True,
        ),
        Linker(place=6, words=strongest, worst=True, estimated=True),
    ),
    places={"report": 99, "worst cases": 4, "scenarios": 5},
)


# Misclassified keys: released rows that still carry a person's own key values


def compute_misclassification(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the mean of M_jj / F~_j: P(a row with a person's key is that person's)."""
    law = comparison.required_law()
    keys = key_names(comparison)
    rows = spread_sample(np.arange(law.original.n))
    belief = posteriors(law, law.original, rows, keys)
    source = rows
    if comparison.units is not None:  # of all records of the person
        belief = of_units(belief, comparison.units)
        source = comparison.units[rows]
    risk = np.asarray(belief[source, np.arange(len(rows))]).ravel()
    cells, _ = cell_codes(comparison, keys)
    own = 1.0 / once(cells, comparison.units)
    detail = WorstLinkage(names=list(keys), truth=risk, **some_of(rows, law.original.n))
    baseline = float((own / class_sizes(cells)).mean())
    return Reading(value=float(np.clip(risk, 0, 1).mean()), baseline=baseline, detail=detail)


MISCLASSIFICATION = Measure(
    key="misclassification",
    title="Rows with a person's own key",
    unit="mean probability",
    question="If a released row has exactly a person's key values, how likely is it that person's "
    "row?",
    sentence=filled(
        "A row that has exactly a person's key values is that person's with probability {share} "
        "on average, against {base} unmasked."
    ),
    of_units=True,
    source="Shlomo and Skinner 2010: M_jj / F~_j with each record's own law in place of M",
    compute=compute_misclassification,
    about="row",
)
