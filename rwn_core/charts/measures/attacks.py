"""Success of attacks that link records or guess about people, and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.paired_bars import Pair, bars, frame, short
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import known, table
from rwn_core.measures import MEASURES, measures_of
from rwn_core.measures.attacks.guessing import Guesses
from rwn_core.measures.attacks.worst_case import WorstLinkage
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.repeated_releases import RepeatedReleases
from rwn_core.measures.risk.true_matches import TrueMatches
from rwn_core.measures.risk.worst_linkage import PRECISIONS, SURE, Curve, SureLinks

# Success of ordinary and worst-case intruders at linking

Attack = Mapping[str, Any]
_SHARE_MARKS: dict[str, Any] = {
    "tickvals": [0, 0.25, 0.5, 0.75, 1.0],
    "ticktext": ["0%", "", "", "", "100%"],
}


def draw_linkage_attacks(attacks: Sequence[Attack]) -> style.Chart:
    """Draw a bar for each attack of `disclosure.attacks`: gray if ordinary, else filled."""
    # only attacks with a number have a bar; the table names the others with the reason
    shown = [attack for attack in attacks if attack["success"] is not None]
    # what the best intruder of either kind links
    ordinary = max((a["success"] for a in shown if not a["worst"]), default=0.0)
    worst = max((a["success"] for a in shown if a["worst"]), default=0.0)
    # if one of them is a lower bound, so is the largest
    bound = any(a.get("at_least") for a in shown)
    claim = "method known, at least" if bound else "worst case"

    names = [style.escape(a["words"]) for a in shown]
    return style.chart(
        "linkage_attacks",
        "Who links how many",
        f"{claim} {style.percent(worst)}",
        f"Share of records that intruders link correctly: an ordinary one at most "
        f"{style.percent(ordinary, 1)}, an intruder with the method "
        f"{'at least' if bound else 'up to'} "
        f"{style.percent(worst, 1)}",
        data=[_bars(shown, worst=False), _bars(shown, worst=True)],
        layout=style.layout(
            style.axis("records linked correctly", 0, 1.3, share=True, **_SHARE_MARKS),
            style.name_axis(names, rim=0.6) | {"showgrid": False},
            annotations=[
                style.label(
                    "≥ " * bool(a.get("at_least")) + short(a["success"]),
                    a["success"],
                    position,
                    style.RELEASED if a["worst"] else style.NEUTRAL,
                    bold=bool(a["worst"]),
                    xanchor="left",
                    yanchor="middle",
                    xshift=3,
                )
                for position, a in enumerate(shown)
            ],
        ),
        table=table(
            ["intruder", "kind", "records linked correctly", "why not"],
            [
                [a["words"] for a in attacks],
                [_kind(a) for a in attacks],
                known([a["success"] for a in attacks]),
                [a.get("reason") or "" for a in attacks],
            ],
        ),
    )


def _kind(attack: Attack) -> str:
    bound = ", at least" if attack.get("at_least") else ""
    return f"knows the method{bound}" if attack["worst"] else "ordinary"


def _bars(shown: Sequence[Attack], *, worst: bool) -> style.Trace:
    rows = [position for position, attack in enumerate(shown) if bool(attack["worst"]) == worst]
    color = style.RELEASED if worst else style.NEUTRAL
    return style.bar(
        [shown[row]["success"] for row in rows],
        rows,
        "knows the method" if worst else "ordinary",
        (0.62, -0.31),
        marker=style.filled(f"{color}CC" if worst else f"{color}66", color, 1),
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )


# Attacks that guess from the release, compared with people outside the file and with chance

*GUESSES, WORST = measures_of("guesses")


def draw_guessing_attacks(readings: Mapping[str, Reading | Exception]) -> Chart:
    """Draw the attack's rate over that of a control group, or of a guess without one."""
    # A reading may be the reason why there is none.
    pairs: list[Pair] = []
    rows: list[list[Any]] = []
    for key in GUESSES:
        reading, name = readings[key], MEASURES[key].view.label
        row: list[Any] = [name, *[math.nan] * 4, str(reading)]
        if isinstance(reading, Reading):
            detail: Guesses = reading.detail
            alone = detail.control is None
            pairs.append((name, detail.guess if alone else detail.control, detail.attack))
            control = math.nan if alone else detail.control
            row = [name, detail.attack, control, detail.guess, reading.value, ""]
        rows.append(row)
    worst = readings[WORST]
    if isinstance(worst, Reading):
        name = MEASURES[WORST].view.label
        pairs.append((name, worst.baseline, worst.value))
        guess = float(worst.detail.ignorant[worst.detail.worst])
        control = math.nan if worst.detail.control is None else worst.baseline
        rows.append([name, worst.value, control, guess, math.nan, ""])
    drawn = [readings[key] for key in (*GUESSES, WORST)]
    found = [each for each in drawn if isinstance(each, Reading)]
    controlled = any(each.detail.control is not None for each in found)
    outlined = "people outside" if controlled else "a guess"
    best = max((pair[2] or 0.0 for pair in pairs), default=0.0)
    return chart(
        "guessing_attacks",
        "Guessing about a person",
        f"at best {percent(best)}",
        "Success of singling out, linkability and inference attacks, compared with that on people "
        f"outside the file, or of a guess; the best is right for {percent(best, 1)}",
        data=bars(pairs, ("without the release's records", "attack"), before=NEUTRAL),
        layout=frame(pairs, f"attacks that are right; outlined: {outlined}"),
        large={"legend": True},
        table=table(
            ["attack", "right", "right about people outside", "guess", "risk beyond", "why not"],
            list(zip(*rows, strict=True)),
        ),
    )


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
    above_half, above_most = detail.above_half, detail.above_nine_tenths
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


# Precision and recall of an intruder who links sure rows only


def draw_precision_recall(reading: Reading[SureLinks]) -> style.Chart:
    """Draw expected precision over recall, with all variables and by the keys."""
    detail = reading.detail
    # the title compares all variables with the keys alone, at the precision SURE
    sure, keys = style.percent(SURE), detail.keys_at[PRECISIONS.index(SURE)]
    sample = " · sample" if detail.sampled else ""
    return style.chart(
        "precision_recall",
        "Linked with certainty",
        f"{style.percent(reading.value, 1)} at {sure} · keys {style.percent(keys, 1)}{sample}",
        f"Expected share of right links over the share of rows that are linked, the surest first: "
        f"{style.percent(reading.value, 1)} of the rows are linked with {sure} right, by the keys "
        "alone "
        f"{style.percent(keys, 1)}",
        data=[
            _trace(detail.keys, "by the keys", style.NEUTRAL, "dot"),
            _trace(detail.all, "all variables", style.RELEASED, "solid"),
        ],
        layout=style.layout(
            style.axis("rows that are linked, the surest first", 0, 1.04, share=True),
            style.axis("links that are right", 0, 1.06, share=True),
            shapes=[style.horizontal(SURE, style.NEUTRAL, "dot")],
            annotations=_labels(detail.keys),
        ),
        large={"legend": True},
        table=table(
            # the table lists both curves, one below the other
            ["known", "linked from probability", "share linked", "right"],
            [
                ["all variables"] * len(detail.all.tau) + ["by the keys"] * len(detail.keys.tau),
                *map(
                    np.concatenate,
                    zip(
                        *(
                            (each.tau, each.recall, each.precision)
                            for each in (detail.all, detail.keys)
                        ),
                        strict=True,
                    ),
                ),
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


def _labels(curve: Curve) -> list[style.Label]:
    """Name the lower curve, below its end."""
    if not len(curve.recall):
        return []
    place = (float(curve.recall[-1]), float(curve.precision[-1]))
    side = "left" if place[0] < 0.5 else "right"  # within the picture
    return [style.label("by the keys", *place, style.NEUTRAL, xanchor=side, yanchor="top")]


# Sample uniques on known values that a row of the release shows

_BARS = 7


def draw_true_matches(reading: Reading[TrueMatches]) -> Chart:
    """Draw the stated and the worst sets of variables: shares found and read."""
    detail, stated = reading.detail, reading.detail.known.stated
    secret = detail.secret[detail.worst]
    names = [", ".join(each) for each in detail.known.sets]
    shares = detail.found if secret is None else detail.read
    others = stated + np.argsort(-shares[stated:], kind="stable")
    shown = [*range(min(stated, _BARS)), *others.tolist()][:_BARS]
    read = [None if detail.secret[at] is None else float(detail.read[at]) for at in shown]
    pairs: list[Pair] = [
        (names[at], detail.found[at], each) for at, each in zip(shown, read, strict=True)
    ]
    worst = percent(reading.value, 1)
    what = "read truly" if secret else "found"
    if detail.level is not None:
        what = f"of {detail.level['secret']} = {detail.level['level']}"
    expected = [math.nan if each is None else each for each in detail.expected]
    return chart(
        "true_matches",
        "True matches",
        f"outlined: found · {what} {worst}",
        f"Of the people who are alone with some values, the share who are found in the release by "
        f"exactly these, and whose own confidential value the row shows; at worst {worst} {what}",
        data=bars(pairs, ("found", "read truly"), before=NEUTRAL),
        layout=frame(pairs, "people who are alone with them"),
        large={"legend": True},
        table=table(
            ["known", "people alone", "found", "found, expected", "read truly", "by chance"],
            [names, detail.people, detail.found, expected, detail.read, detail.chance],
            by=("largest", shares),
        ),
    )


# Risk if the same table is released several times

_HIGH = 0.8  # from where the label has no room above the line


def draw_repeated_releases(reading: Reading[RepeatedReleases]) -> style.Chart:
    """Draw the success after several releases in the same row order, and in fresh ones."""
    detail = reading.detail
    # the number of releases is the axis, with a mark at each that was computed
    times = np.asarray(detail.releases, dtype=float)
    # a lower bound is called one wherever its number stands
    same, shuffled = detail.same_order, detail.shuffled
    least = "at least " if detail.standing == "at least" else ""
    texts = [f"{int(t)}" for t in times]
    return style.chart(
        "repeated_releases",
        "Repeated releases",
        f"{style.percent(float(same[0]))} → {least}{style.percent(reading.value)} after 3"
        + (" · sample" if detail.sampled else ""),
        f"Share of records linked by the keys if rows keep their places: {least}"
        f"{style.percent(float(same[0]), 1)} after one release, "
        f"{least}{style.percent(reading.value, 1)} after three, "
        f"{least}{style.percent(float(same[-1]), 1)} after {texts[-1]}. In fresh secret order "
        f"at least {style.percent(shuffled, 1)}",
        data=_traces(times, same, shuffled, least),
        layout=style.layout(
            style.axis("releases", 0.6, times[-1] + 0.4, tickvals=times, ticktext=texts),
            style.axis("linked by the keys", 0, 1.04, share=True),
            annotations=[
                style.label(
                    "fresh order, at least",
                    times[-1],
                    shuffled,
                    style.NEUTRAL,
                    xanchor="right",
                    yanchor="top" if shuffled > _HIGH else "bottom",
                )
            ],
        ),
        large={"legend": True},
        table=table(
            ["releases", f"same order{', at least' * bool(least)}", "fresh order, at least"],
            [times.astype(int), style.floats(same), [shuffled] * len(times)],
        ),
    )


def _traces(times: Any, same: Any, shuffled: float, least: str) -> list[style.Trace]:
    same_order = style.line(
        style.floats(times), style.floats(same), released=True, name=f"{least}same order".strip()
    )
    same_order["mode"] = "lines+markers"
    same_order["marker"] = {"size": 6, "color": style.RELEASED, "symbol": "circle"}
    same_order["hovertemplate"] = f"%{{x}} releases: {least}%{{y:.1%}}<extra>same order</extra>"
    fresh = style.line(
        style.floats(times), [shuffled] * len(times), released=False, name="fresh order, at least"
    )
    fresh["line"] |= {"color": style.NEUTRAL}
    fresh["hovertemplate"] = "%{x} releases: at least %{y:.1%}<extra>fresh order</extra>"
    return [fresh, same_order]
