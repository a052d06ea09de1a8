"""Single values: survival of extremes, and questions that one person answers."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import known, table
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.values import Extremes, Queries

# Survival of the largest and smallest values

_VARIABLES = 16
_SIDES = ("largest", "smallest")
_EXTREMES = {
    "variable": attrgetter("name"),
    "extreme": attrgetter("side"),
    "probability": attrgetter("survival"),
    "expected copies": attrgetter("copies"),
    "in its own row": attrgetter("own_row"),
    "copies now": attrgetter("released"),
}


def draw_extreme_values(reading: Reading[Extremes]) -> style.Chart:
    """Draw the probability that each variable's largest and smallest value is released."""
    detail = reading.detail
    # a row for each variable: its largest and its smallest value are entries of their own
    names = list(dict.fromkeys(detail.name))
    shown = names[:_VARIABLES]
    texts = [style.escape(style.shorten(name, 12)) for name in shown]
    small: dict[str, Any] = {"tickfont": {"size": 10}} if len(shown) > 9 else {}

    marks: dict[str, Any] = {
        "tickvals": [0, 0.25, 0.5, 0.75, 1.0],
        "ticktext": ["0%", "25%", "50%", "75%", "100%"],
    }
    # the title has the expected share; the description counts those in this release
    released = int(np.count_nonzero(detail.released))
    return style.chart(
        "extreme_values",
        "Extremes that survive",
        f"{style.percent(reading.value)} expected",
        f"Probability that each numeric variable's largest and smallest value is released; "
        f"{style.percent(reading.value, 1)} are expected and {released} of "
        f"{len(detail.name)} are in this release",
        data=[_points(detail, shown, side) for side in _SIDES],
        layout=style.layout(
            style.axis("probability to appear: ● largest, ○ smallest", -0.03, 1.05, **marks),
            style.name_axis(texts, rim=0.6) | small,
        ),
        large={"legend": True},
        table=table(
            list(_EXTREMES),
            [known(column(detail)) for column in _EXTREMES.values()],
            rank=2,
        ),
    )


def _points(detail: Extremes, shown: list[str], side: str) -> style.Trace:
    chosen = [
        row
        for row, (name, which) in enumerate(zip(detail.name, detail.side, strict=True))
        if which == side and name in shown
    ]
    marker = (
        {"size": 8, "color": style.RELEASED, "symbol": "circle"}
        if side == "largest"
        else {"size": 8, "color": style.NEUTRAL, "symbol": "circle-open", "line": {"width": 2}}
    )
    return style.scatter(
        [float(detail.survival[row]) for row in chosen],
        [shown.index(detail.name[row]) for row in chosen],
        side,
        marker=marker,
        cliponaxis=False,
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )


# Questions with one true answer: probability that the release returns that person's row

_SHOWN = 9
_ASKED = {
    "question": attrgetter("words"),
    "no match": attrgetter("none"),
    "exactly one": attrgetter("one"),
    "and that person": attrgetter("one_and_target"),
    "confidential value learned": attrgetter("disclosed"),
    "matches now": attrgetter("matches"),
    "that person now": attrgetter("same_person"),
}


def draw_queries(reading: Reading[Queries]) -> Chart:
    """Draw the predicates that are answered most often; internal, since they hold values."""
    detail = reading.detail
    target = np.asarray(detail.one_and_target)
    order = np.argsort(-target, kind="stable")
    pairs: list[Pair] = [
        (detail.words[index], detail.one[index], float(target[index]))
        for index in order[:_SHOWN].tolist()
    ]
    count = len(target)
    columns = [known([column(detail)[index] for index in order]) for column in _ASKED.values()]
    columns[-1] = ["yes" if same else "no" for same in columns[-1]]
    return chart(
        "queries",
        "Query attack (internal)",
        f"{count} questions · mean {percent(reading.value, 1)}",
        f"For {count} questions with one person as the original answer, the chance that the "
        f"release answers with exactly that person's row; the mean is {percent(reading.value, 1)}",
        data=bars(pairs, ("exactly one match", "and it is that person"), before=NEUTRAL),
        layout=frame(pairs, "probability", length=30),
        large={"legend": True},
        table=table(list(_ASKED), columns, rank=3),
    )
