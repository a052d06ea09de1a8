"""Lesson 4: standard errors that are too small."""

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
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import WORDS, Kept, Lesson, Shown, Slider, Switch, Values, tile


def _params(values: Values) -> Any:
    kind = RowCopy if values.get("rows") else rwn.RWN
    return kind(epsilon=0.0, k=values["k"], q=values["q"])


def _sample(number: int, values: Values, kept: Kept) -> Prepared:
    prepared: Prepared = kept("lesson samples", 200).get_or_make(
        (number, values["rows"]), lambda: _params(values).preview(sample(number))
    )
    return prepared


def _show(values: Values, kept: Kept) -> Shown:
    count = values["samples"]
    ready = [_sample(number, values, kept) for number in range(count)]
    before: Slopes = kept("lesson slopes", 9).get_or_make(
        count, lambda: slopes([one.microdata for one in ready])
    )
    moved = [one.with_levers(k=values["k"], q=values["q"]) for one in ready]
    after = slopes([release(one, number) for number, one in enumerate(moved)])
    lesson = StandardErrors(original=before, released=after)
    mean = float(after.slope.mean())
    third = tile(
        "Mean slope, truth 1",
        f"{mean:.3f}",
        "Of x1, over the samples. The truth is 1; a large k moves the slope as well.",
        f"{before.slope.mean():.3f}",
    )
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
            third,
        ],
        numbers={"coverage": after.coverage, "ratio": after.ratio, "mean": mean},
    )


def _code(values: Values) -> str:
    setting = f"epsilon=0, k={values['k']}, q={values['q']:g}"
    method = "RowCopy" if values["rows"] else "RWN"
    last = "ratio, mean = fits.error.mean() / fits.slope.std(ddof=1), fits.slope.mean()"
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.standard_errors import sample, slopes

setting = rwn.{method}({setting})
masked = [rwn.mask(sample(i), setting, seed=i).masked for i in range({values["samples"]})]
fits = slopes(masked)
coverage = fits.coverage
{last}"""


LESSON = Lesson(
    key="standard_errors",
    **WORDS["standard_errors"],
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
    code=_code,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)
