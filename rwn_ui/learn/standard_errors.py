"""Lesson 4: a release's own standard errors are too small."""

from __future__ import annotations

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.standard_errors import (
    Slopes,
    StandardErrors,
    release,
    sample,
    slopes,
)
from rwn_core.masking import Prepared
from rwn_core.tuning import Setting
from rwn_ui.learn.lesson import Lesson, OnTune, Shown, Slider, Values, tile
from rwn_ui.panel.tile import percent
from rwn_ui.state.results import memo


def _params(values: Values) -> rwn.RWN:
    return rwn.RWN(epsilon=0.0, k=values["k"], q=values["q"])


def _sample(number: int, values: Values) -> Prepared:
    kept: Prepared = memo("lesson samples", 100).get_or_make(
        number, lambda: _params(values).preview(sample(number))
    )
    return kept


def _show(values: Values) -> Shown:
    count = values["samples"]
    ready = [_sample(number, values) for number in range(count)]
    before: Slopes = memo("lesson slopes", 9).get_or_make(
        count, lambda: slopes([one.microdata for one in ready])
    )
    moved = [one.with_levers(k=values["k"], q=values["q"]) for one in ready]
    after = slopes([release(one, number) for number, one in enumerate(moved)])
    lesson = StandardErrors(original=before, released=after)
    return Shown(
        words=f"{count} samples · k = {values['k']} · q = {values['q']:g}",
        chart=CHARTS["lesson_standard_errors"](lesson),
        tiles=[
            tile(
                "Intervals with the truth",
                percent(after.coverage),
                "Share of the nominal 95 % intervals that hold the true slope, 1. Of so few "
                "samples it is uncertain itself: raise their number.",
                percent(before.coverage),
            ),
            tile(
                "Reported / real error",
                f"{after.ratio:.2f}",
                "Mean reported standard error, divided by the real spread of the slopes over "
                "samples.",
                f"{before.ratio:.2f}",
            ),
            tile(
                "Mean slope",
                f"{after.slope.mean():.3f}",
                "The truth is 1; large neighborhoods move the slope as well.",
                f"{before.slope.mean():.3f}",
            ),
        ],
        numbers={
            "coverage": after.coverage,
            "ratio": after.ratio,
            "mean": float(after.slope.mean()),
        },
    )


def _code(values: Values) -> str:
    setting = f"epsilon=0, k={values['k']}, q={values['q']:g}"
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.standard_errors import sample, slopes

tables = [sample(i) for i in range({values["samples"]})]
masked = [rwn.mask(t, rwn.RWN({setting}), seed=i).masked for i, t in enumerate(tables)]
fits = slopes(masked)
coverage = (abs(fits.slope - 1) <= 1.96 * fits.error).mean()
ratio, mean = fits.error.mean() / fits.slope.std(ddof=1), fits.slope.mean()"""


def _on_tune(values: Values) -> OnTune:
    return OnTune(demo="bodyfat", setting=Setting(params=_params(values)))


LESSON = Lesson(
    key="standard_errors",
    title="4 · Standard errors",
    sentences=(
        "Here the truth is known: y = x1 + x2 + x3 and noise, so the slope of x1 is 1; each line "
        "is another sample of 150 people, masked, with the 95 % interval that its user computes.",
        "The formula knows of the sampling and not of the masking: it counts every copied value "
        "as a new observation, so the reported standard error is smaller than the real one.",
        "Raise q from 0 to 1 and watch more than 5 of 100 intervals turn red and miss the truth.",
    ),
    controls=(
        Slider(
            name="q",
            label="Modification probability q",
            low=0.0,
            high=1.0,
            step=0.05,
            start=1.0,
            help="The chance that a cell takes the value of a random neighbor.",
        ),
        Slider(
            name="k",
            label="Neighbors k",
            low=1,
            high=40,
            step=1,
            start=5,
            help="Each cell takes the value of one of the k nearest records.",
        ),
        Slider(
            name="samples",
            label="Samples",
            low=20,
            high=100,
            step=10,
            start=50,
            help="More samples count the coverage better.",
        ),
    ),
    show=_show,
    question="Does a smaller k repair the standard errors?",
    answer=(
        "No. Even with k = 1 reported errors are about a quarter too small: what makes the "
        "interval too short is that *independent* neighbors fill the cells of one row, and one "
        "person’s value may stand in several rows. Only a smaller q helps, "
        "and the paper claims validity for q → 0 only. A "
        "large k adds something else, it moves the slope itself. So users of a file at q = 1 "
        "must multiply standard errors: the Utility page computes the factor for "
        "your own analysis, and writes the notice."
    ),
    code=_code,
    on_tune=_on_tune,
)
