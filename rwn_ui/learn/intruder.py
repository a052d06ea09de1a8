"""Lesson 2: what an intruder who knows the original data believes of one released row."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.data.rounding import given_steps
from rwn_core.evaluation.lessons import intruder as numbers
from rwn_core.masking import Masked
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import (
    WORDS,
    Choice,
    Kept,
    Lesson,
    Shown,
    Slider,
    Switch,
    Values,
    prepared,
    tile,
)

DEMO = "bodyfat"
_ROUNDING = {"not rounded": 0.0, "to about 0.5 SD": 0.5, "to about 1 SD": 1.0}
_NAMED = 3  # originals next to the released row


def _data(values: Values, kept: Kept) -> rwn.Microdata:
    data: rwn.Microdata = kept("lesson demos", 2).get_or_make(DEMO, lambda: rwn.load_demo(DEMO))
    names = [variable.name for variable in data.schema.released]
    return data.with_slices([names]) if values["together"] else data


def _params(values: Values) -> rwn.RWN:
    return rwn.RWN(epsilon=0.0, k=values["k"])


def _show(values: Values, kept: Kept) -> Shown:
    data = _data(values, kept)
    table = prepared(kept, ("intruder", values["together"]), lambda: _params(values).preview(data))
    drawn = table.with_levers(k=values["k"]).release(rwn.SecretKey.from_seed(numbers.SEED))
    made = drawn.rounded(given_steps(data, _ROUNDING[values["round"]]))
    lesson = numbers.intruder(made, row=values["row"] - 1, known=values["known"])
    answered = values["answer"]
    likeliest = float(lesson.belief[0])
    return Shown(
        words=f"released row {values['row']} · {values['known']} known · k = {values['k']}"
        + (" · whole rows" if values["together"] else "")
        + (f" · {values['round']}" if _ROUNDING[values["round"]] else ""),
        chart=CHARTS["lesson_intruder"](lesson, answered),
        tiles=[
            tile(
                "Originals possible",
                f"{lesson.candidates}",
                "Originals that could have made this row; every other one is excluded.",
                f"{made.masked.n}",
            ),
            tile(
                "First original is the true one",
                tenths(likeliest),
                "Probability that the original of highest posterior is the true one. "
                + (f"The true one has {tenths(lesson.of_source)}." if answered else ""),
            ),
            tile(
                "Right over all rows",
                tenths(lesson.success),
                "Expected share of rows that this intruder links correctly; guessing has "
                f"{tenths(lesson.baseline)}.",
            ),
        ],
        numbers={
            "best": likeliest,
            "candidates": float(lesson.candidates),
            "success": lesson.success,
        },
        tables=(_rows(made, data, lesson),),
    )


def _rows(made: Masked, data: rwn.Microdata, lesson: numbers.Intruder) -> dict[str, Any]:
    """The released row and the originals of highest posterior, in the known variables."""
    shown = lesson.records[:_NAMED]
    return {
        "title": "The released row and the originals of highest posterior",
        "columns": ["known variable", "released", *(f"record {i + 1}" for i in shown.tolist())],
        "rows": [
            [
                name,
                *(
                    f"{value:g}"
                    for value in (
                        made.masked.values(name)[lesson.source],
                        *data.values(name)[shown],
                    )
                ),
            ]
            for name in lesson.known
        ],
        "caption": "A demo table that everybody may see; of your own data only you may.",
    }


def _code(values: Values) -> str:
    steps = _ROUNDING[values["round"]]
    known = values["known"]
    row = values["row"] - 1
    sliced = "\ndata = data.with_slices([known_order(data)])" if values["together"] else ""
    rounding = f".rounded(given_steps(data, {steps}))" if steps else ""
    return f"""\
import rwn_core as rwn
from rwn_core.data.rounding import given_steps
from rwn_core.evaluation.lessons.intruder import known_order, source_of
from rwn_core.measures.attacks.posterior import link

data = rwn.load_demo("{DEMO}"){sliced}
table = rwn.RWN(epsilon=0.0, k={values["k"]}).prepare(data)
made = table.release(rwn.SecretKey.from_seed(1)){rounding}
links, row = link(made.law, made.masked, known_order(data)[:{known}]), source_of({row}, data.n)
best, candidates, success = links.best[row], links.candidates[row], links.success"""


def _on_tune(values: Values) -> rwn.Setting:
    names = tuple(variable.name for variable in rwn.load_demo(DEMO).schema.released)
    return rwn.Setting(params=_params(values), slices=(names,) if values["together"] else ())


LESSON = Lesson(
    key="intruder",
    **WORDS["intruder"],
    controls={
        Slider(
            "known", "Variables that the intruder knows", (1, 15), start=3
        ): "Age, weight and height first, then the other measurements, body fat last.",
        Slider(
            "k", "Neighbors k", (1, 60), start=5
        ): "Each cell takes the value of one of the k nearest records.",
        Slider(
            "row", "Released row", (1, 40), start=5
        ): "In the release’s own random order, which says nothing of who is who.",
        Choice(
            "round", "Released numbers", tuple(_ROUNDING)
        ): "Rounding makes values of many people equal.",
        Switch(
            "together", "Whole rows travel together"
        ): "One slice of all variables: a row comes from one donor.",
        Switch("answer", "Show the answer"): "Marks the true source.",
    },
    show=_show,
    code=_code,
    on_tune=_on_tune,
)
