"""Lesson 4: a release's own standard errors are too small."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.standard_errors import (
    Slopes,
    StandardErrors,
    release,
    sample,
    slopes,
)
from rwn_core.masking import Prepared, RowCopy
from rwn_core.tuning import Setting
from rwn_ui.learn.lesson import Lesson, Shown, Slider, Switch, Values, tile
from rwn_ui.panel.parts import percent
from rwn_ui.state.results import memo


def _params(values: Values) -> Any:
    kind = RowCopy if values["rows"] else rwn.RWN
    return kind(epsilon=0.0, k=values["k"], q=values["q"])


def _sample(number: int, values: Values) -> Prepared:
    kept: Prepared = memo("lesson samples", 200).get_or_make(
        (number, values["rows"]), lambda: _params(values).preview(sample(number))
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
        words=f"{count} samples · k = {values['k']} · q = {values['q']:g}"
        + (" · whole rows" * values["rows"]),
        chart=CHARTS["lesson_standard_errors"](lesson),
        tiles=[
            tile(
                "Intervals that hold 1",
                percent(after.coverage),
                "Share of the nominal 95 % intervals that hold the true slope, 1. Of so few "
                "samples it is uncertain itself: raise their number.",
                percent(before.coverage),
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


def _code(values: Values) -> str:
    setting = f"epsilon=0, k={values['k']}, q={values['q']:g}"
    method = "RowCopy" if values["rows"] else "RWN"
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.standard_errors import sample, slopes

setting = rwn.{method}({setting})
masked = [rwn.mask(sample(i), setting, seed=i).masked for i in range({values["samples"]})]
fits = slopes(masked)
coverage = (abs(fits.slope - 1) <= 1.96 * fits.error).mean()
ratio, mean = fits.error.mean() / fits.slope.std(ddof=1), fits.slope.mean()"""


LESSON = Lesson(
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
    show=_show,
    question="Does a smaller k repair the standard errors?",
    answer=(
        "No. At q = 1 and k = 1 the reported error is still about a quarter too small. Nor do "
        "whole rows repair it: switch them on, and the ratio is about 0.7 at k = 5, although every "
        "row then has one donor. Copying alone is enough.\n\n"
        "A large k brings the ratio nearer to 1, but it moves the slope: to about 0.84 at k = 40. "
        "A smaller q helps both: at q = 0.1 nearly 95 of 100 intervals hold the truth. "
        "At a larger q standard errors need a factor (lesson 5). The Utility page computes it for "
        "your own analysis and writes the notice."
    ),
    code=_code,
    on_tune=lambda values: Setting(params=_params(values)),
)
