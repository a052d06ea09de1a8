"""Lesson 3: the k nearest or all within epsilon, whichever are more."""

from __future__ import annotations

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.neighborhood import RECORDS, neighborhood, table
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import WORDS, Choice, Kept, Lesson, Shown, Slider, Values, prepared, tile
from rwn_ui.panel.parts import RADIUS


def _params(values: Values) -> rwn.RWN:
    return rwn.RWN(epsilon=values["epsilon"], k=values["k"])


def _show(values: Values, kept: Kept) -> Shown:
    weight = values["weight"]
    ready = prepared(kept, ("neighborhood", weight), lambda: _params(values).preview(table(weight)))
    moved = ready.with_levers(epsilon=values["epsilon"], k=values["k"])
    lesson = neighborhood(moved, record=RECORDS[values["record"]])
    return Shown(
        words=f"ε = {values['epsilon']:g} · k = {values['k']} · weight of group = {weight:g}",
        chart=CHARTS["lesson_neighborhood"](lesson),
        tiles=[
            tile(
                "Donors of this record",
                f"{len(lesson.members)}",
                "Records that may give this one a value; itself is never among them.",
            ),
            tile(
                "k decides for",
                tenths(lesson.by_k),
                "Share of all records for which the k nearest reach further than ε.",
            ),
            tile(
                "Groups changed",
                tenths(lesson.changed),
                "Expected share of records whose released group is the other one, when every cell "
                f"is drawn (q = 1). {tenths(lesson.mixed)} of the neighborhoods hold a record of "
                "the other group.",
            ),
        ],
        numbers={
            "donors": float(len(lesson.members)),
            "by_k": lesson.by_k,
            "changed": lesson.changed,
        },
    )


def _code(values: Values) -> str:
    setting = f"epsilon={values['epsilon']:g}, k={values['k']}"
    record = RECORDS[values["record"]]
    return f"""\
import numpy as np
from rwn_core import RWN
from rwn_core.evaluation.lessons.neighborhood import table

data = table({values["weight"]:g})
law = RWN({setting}).prepare(data).law
share, second = law.probabilities.toarray(), data.array("group") == "B"
donors, by_k = (share[{record}] > 0).sum(), (law.neighborhoods.within < {values["k"]}).mean()
changed = (share * (second[:, None] != second)).sum(axis=1).mean()"""


LESSON = Lesson(
    key="neighborhood",
    **WORDS["neighborhood"],
    controls={
        Slider(
            "epsilon", "Radius ε (standard deviations)", (0.0, 3.0), start=0.6, step=0.05
        ): RADIUS,
        Slider(
            "k", "Minimum neighbors k", (1, 60), start=5
        ): "At least the k nearest records give values.",
        Slider(
            "weight", "Weight of the group", (0.0, 1.0), start=0.1, step=0.05
        ): "What a different group adds to the distance; 1 is the usual weight, 0 ignores "
        "the group.",
        Choice("record", "Record", tuple(RECORDS)): "Whose neighborhood the picture shows.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(
        params=_params(values), weights=(("test", values["weight"]),)
    ),
    demo="pima",
)
