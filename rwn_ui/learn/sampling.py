"""Lesson 6: sampling, misclassification and differential privacy."""

from __future__ import annotations

import math

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.sampling import POPULATION, SHARE, sampling
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import WORDS, Kept, Lesson, Shown, Slider, Values, tile


def _show(values: Values, kept: Kept) -> Shown:
    fraction, keys, change = values["fraction"], values["keys"], values["change"]
    lesson = sampling(fraction=fraction, keys=keys, change=change)
    promise = f"{lesson.epsilon:.2f}" if math.isfinite(lesson.epsilon) else "none"
    return Shown(
        words=f"π = {100 * fraction:g} % · {keys} keys · key drawn anew with {change:g}",
        chart=CHARTS["lesson_sampling"](lesson),
        tiles=[
            tile(
                "Sample uniques alone in population",
                f"{lesson.leakage:.4f}",
                f"Share of sample uniques that are unique in a population of {POPULATION:,} with "
                f"{keys} independent yes-no keys, each answered yes by {tenths(SHARE)}.",
            ),
            tile(
                "Key still right",
                tenths(lesson.right),
                "Chance that the released category is the true one of three, when it is drawn "
                f"anew with probability {change:g}.",
            ),
            tile(
                "Privacy ε of the matrix",
                promise,
                "Differential privacy: the largest log ratio of two rows of the matrix. Here, and "
                "only here, ε is that of differential privacy and no radius. None where an entry "
                "is 0.",
            ),
        ],
        numbers={"leaking": lesson.leakage, "epsilon": lesson.epsilon, "right": lesson.right},
        tables=(
            {
                "title": "P(released category | true category)",
                "columns": ["true", "a", "b", "c"],
                "rows": [
                    [name, *(f"{x:.3f}" for x in row)]
                    for name, row in zip("abc", lesson.matrix.tolist(), strict=True)
                ],
            },
        ),
    )


def _code(values: Values) -> str:
    sample = round(values["fraction"] * POPULATION)
    return f"""\
import numpy as np
from math import comb

yes = np.arange({values["keys"]} + 1)
p, cells = 0.2**yes * 0.8 ** ({values["keys"]} - yes), [comb({values["keys"]}, y) for y in yes]
leaking = cells @ (p * (1 - p) ** {POPULATION - 1}) / (cells @ (p * (1 - p) ** {sample - 1}))
T = (1 - {values["change"]:g}) * np.eye(3) + {values["change"]:g} / 3
right, epsilon = T[0, 0], np.log(T.max() / T.min()) if T.min() > 0 else np.inf"""


LESSON = Lesson(
    key="sampling",
    **WORDS["sampling"],
    controls={
        Slider(
            "fraction", "Sampling fraction π", (0.005, 0.5), start=0.02, step=0.005
        ): "The share of the population that is in the sample.",
        Slider(
            "keys", "Yes-no keys of the population", (1, 20), start=11
        ): "More keys make more people unique.",
        Slider(
            "change", "Key drawn anew with probability", (0.0, 1.0), start=0.2, step=0.05
        ): "Post-randomization: the category is drawn anew from all three with equal probability.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(params=rwn.PRAM(change=values["change"], invariant=False)),
    demo="pima",
)
