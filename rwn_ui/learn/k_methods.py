"""Notes on the papers: k-PRAM and k-noise, and the bound of one half."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart
from rwn_core.evaluation.lessons.k_methods import (
    TABLES,
    Change,
    KMethods,
    k_methods,
    near_released,
    table,
)
from rwn_ui.learn.lesson import Choice, Lesson, Shown, Slider, Values, tile
from rwn_ui.panel.parts import percent

_PUBLISHED = (
    ("k-noise, as published (δ = 2.5)", 0.034, 2.061, 1.436, 2.083),
    ("k-PRAM, as published (5-year groups)", 0.069, 4.399, 2.097, 4.0),
)
"""The table of the k-noise paper, with the mean square that theory expects of its design."""

_PICTURES = ("near a true age", "before and after", "near a released age")


def _picture(values: Values, lesson: KMethods) -> Chart:
    if values["picture"] == _PICTURES[0]:
        return CHARTS["lesson_k_methods"](lesson)
    if values["picture"] == _PICTURES[1]:
        return CHARTS["lesson_k_values"](lesson)
    counted = near_released(table(values["table"]), k=values["k"], shape=values["shape"])
    return CHARTS["lesson_k_near"](counted)


def _show(values: Values) -> Shown:
    data = table(values["table"])
    lesson = k_methods(data, k=values["k"], shape=values["shape"])
    return Shown(
        words=f"{values['table']} · k = {values['k']} · {values['shape']} noise",
        chart=_picture(values, lesson),
        tiles=[
            tile(
                "Least share still within 2δ",
                percent(lesson.smallest),
                "Expected records within 2δ after noise over records within 2δ before, at the "
                "age where this is smallest. With uniform noise it is never below one half.",
            ),
            tile(
                "Mean square error, k-noise",
                f"{lesson.noise.mse:.2f}",
                f"Of released less true age in this release; {lesson.noise.expected:.2f} is "
                "expected, which is δ² / 3.",
            ),
            tile(
                "Mean square error, k-PRAM",
                f"{lesson.pram.mse:.2f}",
                f"Of released less true age in this release; {lesson.pram.expected:.2f} is "
                "expected, which is twice the variance within the intervals.",
            ),
        ],
        numbers={"smallest": lesson.smallest, "noise": lesson.noise.mse, "pram": lesson.pram.mse},
        tables=(
            {
                "title": "Bias and mean squared error, with the error of one draw",
                "columns": ["method", "bias", "MSE", "RMSE", "MSE expected"],
                "rows": [
                    _row("k-noise, here", lesson.noise),
                    _row("k-PRAM, here", lesson.pram),
                    *([name, *(f"{x:.3f}" for x in numbers)] for name, *numbers in _PUBLISHED),
                ],
                "caption": "± is one standard error of a single release. The two published biases "
                "are within one such error of 0 (0.056 and 0.082 for 659 people): the "
                "published table is no evidence that k-noise has the smaller bias.",
            },
        ),
    )


def _row(name: str, change: Change) -> list[Any]:
    return [
        name,
        f"{change.bias:.3f} ± {change.bias_error:.3f}",
        f"{change.mse:.3f} ± {change.mse_error:.3f}",
        f"{change.mse**0.5:.3f}",
        f"{change.expected:.3f}",
    ]


def _code(values: Values) -> str:
    k, shape = values["k"], values["shape"]
    return f"""\
import numpy as np
import rwn_core as rwn
from rwn_core.evaluation.lessons.k_methods import k_methods, table

data = table("{values["table"]}")
methods = rwn.KNoise(k={k}, shape="{shape}"), rwn.KPRAM(k={k})
moved = [rwn.mask(data, m, seed=1).masked.values("age") - data.values("age") for m in methods]
noise, pram = (np.mean(each**2) for each in moved)
smallest = k_methods(data, k={k}, shape="{shape}").smallest"""


LESSON = Lesson(
    key="k_methods",
    title="Notes · k-PRAM and k-noise",
    sentences=(
        "Both take one variable at a time: k-PRAM cuts its range into intervals of equal length "
        "with at least k people in each and draws within them; k-noise adds noise so wide that k "
        "people lie within 2δ of everybody.",
        "The blue line counts the people within 2δ of each age, the dashed one those expected "
        "there after uniform noise; theorem 1 says that it stays above the dotted half.",
        "Choose the gap around one person: the share falls to 50.4 %, close to the bound of one "
        "half, because all others within 2δ of age 50 lie at the very edge of that range.",
    ),
    controls={
        Slider(
            "k", "People within reach k", (2, 60), start=10
        ): "In every interval of k-PRAM, and within 2δ of everybody for k-noise.",
        Choice(
            "table", "Ages", TABLES
        ): "The demo table bodyfat; or one person at 50, and 60 people each at 40 and 60.",
        Choice(
            "shape", "Shape of the noise", ("uniform", "laplace", "gaussian")
        ): "All have the same variance δ² / 3.",
        Choice(
            "picture", "Picture", _PICTURES
        ): "The count of theorem 1, within 2δ of a true age; the distribution of the ages, "
        "with the intervals of k-PRAM; or the paper’s Figure 5, the released ages within δ of "
        "a released one, which the theorem does not cover.",
    },
    show=_show,
    question="Is the risk at most 1/k, as with k-anonymity?",
    answer=(
        "For k-PRAM, if the interval is all that an intruder can learn: k people share it. For "
        "k-noise, no: uniform noise is bounded, so every record further away than δ is excluded, "
        "and of the k people within 2δ only some remain. The window of the theorem lies "
        "around the *true* value; around a released one, as in the paper’s Figure 5, it is not "
        "covered. And both look at one variable: several together may still single a person out."
    ),
    code=_code,
    on_tune=lambda values: rwn.Setting(params=rwn.KNoise(k=values["k"], shape=values["shape"])),
)
