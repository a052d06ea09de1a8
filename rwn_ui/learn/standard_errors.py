"""Lessons 4 and 5: standard errors that are too small, and what an analyst may conclude."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.analyst import Analyst, analyst, table
from rwn_core.evaluation.lessons.standard_errors import (
    Slopes,
    StandardErrors,
    release,
    sample,
    slopes,
)
from rwn_core.masking import Prepared, RowCopy
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import Kept, Lesson, Shown, Slider, Switch, Values, tile


def _params(values: Values) -> Any:
    kind = RowCopy if values.get("rows") else rwn.RWN
    return kind(epsilon=0.0, k=values["k"], q=values["q"])


def _sample(number: int, values: Values, kept: Kept) -> Prepared:
    prepared: Prepared = kept("lesson samples", 200).get_or_make(
        (number, values["rows"]), lambda: _params(values).preview(sample(number))
    )
    return prepared


def _show_errors(values: Values, kept: Kept) -> Shown:
    count = values["samples"]
    ready = [_sample(number, values, kept) for number in range(count)]
    before: Slopes = kept("lesson slopes", 9).get_or_make(
        count, lambda: slopes([one.microdata for one in ready])
    )
    moved = [one.with_levers(k=values["k"], q=values["q"]) for one in ready]
    after = slopes([release(one, number) for number, one in enumerate(moved)])
    lesson = StandardErrors(original=before, released=after)
    return Shown(
        words=f"{count} samples · k = {values['k']} · q = {values['q']:g}"
        + (" · whole rows" * values["rows"]),
        chart=CHARTS["lesson_standard_errors"](lesson),
        tiles=[
            tile(
                "Intervals that hold 1",
                tenths(after.coverage),
                "Share of the nominal 95 % intervals that hold the true slope, 1. Of so few "
                "samples it is uncertain itself: raise their number.",
                tenths(before.coverage),
            ),
            tile(
                "Reported error over real",
                f"{after.ratio:.2f}",
                "Mean reported standard error, divided by the real spread of the slopes over "
                "samples.",
                f"{before.ratio:.2f}",
            ),
            tile(
                "Mean slope, truth 1",
                f"{after.slope.mean():.3f}",
                "Of x1, over the samples. The truth is 1; a large k moves the slope as well.",
                f"{before.slope.mean():.3f}",
            ),
        ],
        numbers={
            "coverage": after.coverage,
            "ratio": after.ratio,
            "mean": float(after.slope.mean()),
        },
    )


def _code_errors(values: Values) -> str:
    setting = f"epsilon=0, k={values['k']}, q={values['q']:g}"
    method = "RowCopy" if values["rows"] else "RWN"
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.standard_errors import sample, slopes

setting = rwn.{method}({setting})
masked = [rwn.mask(sample(i), setting, seed=i).masked for i in range({values["samples"]})]
fits = slopes(masked)
coverage = fits.coverage
ratio, mean = fits.error.mean() / fits.slope.std(ddof=1), fits.slope.mean()"""


STANDARD_ERRORS = Lesson(
    key="standard_errors",
    title="4 · Standard errors",
    sentences=(
        "Here the truth is known: y = x1 + x2 + x3 and noise, so the slope of x1 is 1. Each line "
        "is another sample of 150 people, masked, with the 95 % interval that its user computes.",
        "A copied value is a second random draw, from the sample: some people’s values appear "
        "several times, and others’ not at all. The formula counts each of them as a new "
        "observation, so the reported standard error is smaller than the real one.",
        "The file is unmasked at q = 0. Raise q to 1 and count the intervals that miss the truth: "
        "they turn red, and they are more than 5 of 100.",
    ),
    controls={
        Slider(
            "q", "Modification probability q", (0.0, 1.0), start=0.0, step=0.05
        ): "The chance that a cell takes the value of a random neighbor.",
        Slider(
            "k", "Neighbors k", (1, 40), start=5
        ): "Each cell takes the value of one of the k nearest records.",
        Slider(
            "samples", "Samples", (20, 100), start=50, step=10
        ): "More samples count the coverage better.",
        Switch("rows", "Copy whole rows"): "All cells of a row come from one donor.",
    },
    show=_show_errors,
    question="Does a smaller k repair the standard errors?",
    answer=(
        "No. Over many samples the reported error at q = 1 and k = 1 is still about a quarter too "
        "small. Nor do whole rows repair it: the ratio is about 0.7 at k = 5, although every row "
        "then has one donor. Copying alone is enough. The tiles count the samples on screen only, "
        "and their ratio lies up to 0.15 from that of many.\n\n"
        "A large k brings the ratio nearer to 1, but it moves the slope: to 0.80 to 0.86 at k = "
        "40. A smaller q helps both: at q = 0.1 nearly 95 of 100 intervals hold the truth. "
        "At a larger q standard errors need a factor: with balance 1.42 is enough for every model "
        "inside one slice, as if the file had half as many records, if people were sampled "
        "independently. For other models see lesson 5."
    ),
    code=_code_errors,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)


def _show_analyst(values: Values, kept: Kept) -> Shown:
    tied = values["tied"]
    lesson: Analyst = kept("lesson analyst", 20).get_or_make(
        (values["k"], values["q"], tied),
        lambda: analyst(table(sample(0), tied=tied), _params(values)),
    )
    factor = lesson.factors[0]
    claims = lesson.claims.claims
    within = claims[0].within_standard_errors if claims else None
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
        numbers={"slope": float(lesson.released[0, 0]), "factor": factor or 0.0},
    )


def _code_analyst(values: Values) -> str:
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.analyst import analyst, table
from rwn_core.evaluation.lessons.standard_errors import sample

setting = rwn.RWN(epsilon=0, k={values["k"]}, q={values["q"]:g})
lesson = analyst(table(sample(0), tied={values["tied"]}), setting)
claims = lesson.claims
slope, factor = lesson.released[0, 0], lesson.factors[0] or 0"""


ANALYST = Lesson(
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
    show=_show_analyst,
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
    code=_code_analyst,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)
