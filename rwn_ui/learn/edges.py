"""Lesson 7: a hard edge, a soft edge, balance, and what they cost."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.edges import NEAREST, RECORDS, Edges, edges, table
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import WORDS, Choice, Kept, Lesson, Shown, Slider, Switch, Values, tile

_KERNELS: dict[str, Any] = {"soft": "gaussian", "softer tails": "exponential", "hard": ""}
_LOADS = "how often each gives"


def _setting(kernel: str, reach: float, balance: float) -> Any:
    """The setting at a position of the controls."""
    if not _KERNELS[kernel]:
        return rwn.RWN(epsilon=reach, k=NEAREST)
    return rwn.SoftRWN(kernel=_KERNELS[kernel], width=reach, balance=balance)


def _chosen(values: Values) -> Any:
    return _setting(values["kernel"], values["reach"], values["balance"])


def _show(values: Values, kept: Kept) -> Shown:
    data = table(together=values["together"])
    lesson = edges(data, _chosen(values), record=RECORDS.get(values["shown"], 0))
    chart = "lesson_edges_loads" if values["shown"] == _LOADS else "lesson_edges"
    before, after = lesson.slope
    return Shown(
        words=_words(values),
        chart=CHARTS[chart](lesson),
        tiles=[
            tile(
                "Extremes that appear",
                tenths(lesson.extremes),
                "Expected share of the five largest and five smallest values of x and y that "
                "some released row shows.",
            ),
            tile(
                "y found next to x",
                tenths(lesson.paired),
                "Expected share of the records with a released row that shows their x and their y: "
                "a look-up of x reads y there.",
            ),
            tile(
                "Slope of y on x",
                f"{after:.2f}",
                "Of the original, then the expected covariance over the expected variance of all "
                "releases.",
                f"{before:.2f}",
            ),
        ],
        numbers={
            "extremes": lesson.extremes,
            "paired": lesson.paired,
            "slope": after,
            "least": float(lesson.loads.min()),
            "most": float(lesson.loads.max()),
        },
        tables=(_side_by_side(values, data),),
    )


def _words(values: Values) -> str:
    slices = " · x and y in one slice" if values["together"] else ""
    if not _KERNELS[values["kernel"]]:
        edge = f"hard edge · ε = {values['reach']:g} · k = {NEAREST}"
    else:
        edge = f"{_KERNELS[values['kernel']]} · h = {values['reach']:g}"
        edge += f" · balance {values['balance']:g}"
    return edge + slices


def _side_by_side(values: Values, data: rwn.Microdata) -> dict[str, Any]:
    """The three edges at the same reach, from their exact laws."""
    soft = "soft" if values["kernel"] == "hard" else values["kernel"]
    kinds = {"hard": ("hard", 0.0), "soft": (soft, 0.0), "balanced": (soft, 1.0)}
    found = {
        name: edges(data, _setting(kernel, values["reach"], balance))
        for name, (kernel, balance) in kinds.items()
    }
    return {
        "title": "The three edges at this reach",
        "columns": ["", "gives", "extremes", "y by x", "SD of x", "slope"],
        "rows": [_row(name, lesson) for name, lesson in found.items()],
        "caption": "Expected over all releases. Gives: how often, from the least record to the "
        "most. SD of x: relative to the original’s.",
    }


def _row(name: str, lesson: Edges) -> list[str]:
    return [
        name,
        f"{lesson.loads.min():.2f} to {lesson.loads.max():.2f}",
        tenths(lesson.extremes),
        tenths(lesson.paired),
        f"{lesson.spread:.2f}",
        f"{lesson.slope[1]:.2f}",
    ]


def _code(values: Values) -> str:
    setting = _chosen(values)
    given = {**rwn.Setting(params=setting).parameters}
    options = ", ".join(f"{name}={value!r}" for name, value in given.items())
    kind = type(setting).__name__
    return f"""\
from rwn_core import {kind}
from rwn_core.evaluation.lessons.edges import edges, table

lesson = edges(table(together={values["together"]}), {kind}({options.replace("'", '"')}))
extremes, paired, slope = lesson.extremes, lesson.paired, lesson.slope[1]
least, most = lesson.loads.min(), lesson.loads.max()"""


LESSON = Lesson(
    key="edges",
    **WORDS["edges"],
    controls={
        Choice(
            "kernel", "Edge", tuple(_KERNELS)
        ): "Soft: a gaussian kernel; softer tails: an exponential one; hard: RWN as published.",
        Slider(
            "reach", "Reach", (0.2, 3.0), start=1.0, step=0.1
        ): f"Width of a soft edge, in units of the distance to the {NEAREST}th nearest; of "
        f"the hard edge the radius in standard deviations, with at least {NEAREST} donors.",
        Slider(
            "balance", "Balance", (0.0, 1.0), start=0.0, step=0.1
        ): "0: weights by distance alone. 1: every record gives equally often. The hard edge "
        "has no balance.",
        Switch(
            "together", "x and y in one slice"
        ): "Both come from one donor; otherwise each has a donor of its own.",
        Choice(
            "shown", "Picture", (*RECORDS, _LOADS)
        ): "The donors of one record, the likelier the larger; or how often each record "
        "gives: hollow less than once, filled more often, gray once.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(params=_chosen(values)),
)
