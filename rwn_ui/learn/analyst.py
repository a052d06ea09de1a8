"""Lesson 5: what an analyst may conclude from a masked file, and when not to use it."""

from __future__ import annotations

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.analyst import Analyst, analyst, table
from rwn_core.evaluation.lessons.standard_errors import sample
from rwn_core.tuning import Setting
from rwn_ui.learn.lesson import Lesson, Shown, Slider, Switch, Values, tile
from rwn_ui.state.results import memo


def _params(values: Values) -> rwn.RWN:
    return rwn.RWN(epsilon=0.0, k=values["k"], q=values["q"])


def _show(values: Values) -> Shown:
    tied = values["tied"]
    lesson: Analyst = memo("lesson analyst", 20).get_or_make(
        (values["k"], values["q"], tied),
        lambda: analyst(table(sample(0), tied=tied), _params(values)),
    )
    factor = lesson.factors[0]
    claims = lesson.claims.claims
    within = claims[0].within if claims else None
    return Shown(
        words=f"k = {values['k']} · q = {values['q']:g}" + " · two measurements of x1" * tied,
        chart=CHARTS["lesson_analyst"](lesson),
        tiles=[
            tile(
                "Factor for the SE of x1",
                "do not use" if factor is None else f"× {factor:g}",
                lesson.claims.refusal
                or "The standard error of the masked file times this covers sampling and masking "
                "in 95 % of intervals, judged over 100 releases.",
            ),
            tile(
                "Slope of x1",
                f"{lesson.released[0, 0]:.2f}",
                "Of the original file, then of the masked file; in the population it is 1.",
                f"{lesson.original[0, 0]:.2f}",
            ),
            tile(
                "Its change, at most",
                "not known" if within is None else f"{within:g} SE",
                "In standard errors of the original, in at least 9 of 10 releases.",
            ),
        ],
        numbers={
            "slope": float(lesson.released[0, 0]),
            "factor": factor or 0.0,
        },
    )


def _code(values: Values) -> str:
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.analyst import analyst, table
from rwn_core.evaluation.lessons.standard_errors import sample

setting = rwn.RWN(epsilon=0, k={values["k"]}, q={values["q"]:g})
lesson = analyst(table(sample(0), tied={values["tied"]}), setting)
claims = lesson.claims
slope, factor = lesson.released[0, 0], lesson.factors[0] or 0"""


LESSON = Lesson(
    key="analyst",
    title="5 · The analyst’s side",
    sentences=(
        "An analyst has the masked file only. Its slopes differ from those of the original, and "
        "its printed intervals hold the population’s slope (1, dotted) too rarely (lesson 4).",
        "The data steward can publish a claim table with the file. It is judged over many "
        "releases of the setting, and gives a factor for each standard error (green).",
        "Raise q and k and watch the factors grow. Then add a second measurement of x1: the model "
        "gets no factor, because its predictors are nearly equal in the original. "
        "The masked file does not show that.",
    ),
    controls={
        Slider(
            "q", "Modification probability q", (0.0, 1.0), start=0.5, step=0.1
        ): "The chance that a cell takes the value of a random neighbor.",
        Slider(
            "k", "Neighbors k", (1, 40), start=5
        ): "Each cell takes the value of one of the k nearest records.",
        Switch(
            "tied", "Two measurements of x1"
        ): "Adds x1_again to the model: x1 with a small error.",
    },
    show=_show,
    question="Why is there no formula that corrects every slope of a masked file?",
    answer=(
        "Because the change of a slope depends on the data and on the model. With two measurements "
        "of x1 the original cannot tell their slopes apart, and its intervals are very wide. "
        "Masking draws the two variables independently, so that the masked file prints short "
        "intervals for a model that has no answer. No factor repairs that: do not use this "
        "model.\n\n"
        "A factor is found only by comparing many releases with the original, which the steward "
        "can do and the analyst cannot. It holds for the analysis in the table and for no other. "
        "`rwn_claims.py` and `rwn_claims.R` read that table, multiply the standard "
        "errors and refuse the rest."
    ),
    code=_code,
    on_tune=lambda values: Setting(params=_params(values)),
)
