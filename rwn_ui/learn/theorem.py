"""Lesson 1: values drawn independently near a record keep the joint distribution."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of
from rwn_core.evaluation.lessons.theorem import theorem
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
from rwn_ui.panel.parts import RADIUS

RECORD = 6  # one with donors far apart, so that the picture can be read


def _params(values: Values) -> Any:
    kind = rwn.RowCopy if values["rows"] else rwn.RWN
    return kind(epsilon=values["epsilon"], k=1)


def _show(values: Values, kept: Kept) -> Shown:
    density, n, rows = values["density"], values["n"], values["rows"]
    table = prepared(
        kept, ("theorem", density, n, rows), lambda: _params(values).preview(points_of(density, n))
    )
    lesson = theorem(table.with_levers(epsilon=values["epsilon"]), record=RECORD)
    before, after = lesson.correlation
    return Shown(
        words=f"{density} · n = {n} · ε = {values['epsilon']:g}" + (" · whole rows" * rows),
        chart=CHARTS["lesson_theorem"](lesson),
        tiles=[
            tile(
                "Correlation",
                f"{after:.3f}",
                "Of x and y: corr(X, Y) of the original, then corr(U, V) of the release.",
                f"{before:.3f}",
            ),
            tile(
                "Largest difference of distributions",
                f"{lesson.distance:.3f}",
                "The largest difference of the two joint distribution functions, at 25 × 25 "
                f"points. For the expectation over all releases it is "
                f"{lesson.expected_distance:.3f}: the rest is the luck of one draw.",
            ),
            tile(
                "Rows of a real person",
                tenths(lesson.whole_rows),
                "Share of released rows that are one original record as a whole. Masking adds "
                f"{lesson.added_error:.4f} to the standard deviation of the mean of x + y.",
            ),
        ],
        numbers={"before": before, "after": after},
        tables=(
            {
                "title": "What the masking adds, and how the theorem says it",
                "columns": ["", "this release", "expected of all releases"],
                "rows": [
                    [
                        "largest difference of joint distributions",
                        f"{lesson.distance:.4f}",
                        f"{lesson.expected_distance:.4f}",
                    ],
                    [
                        "added standard deviation of the mean of x + y",
                        "",
                        f"{lesson.added_error:.4f}",
                    ],
                ],
            },
        ),
    )


def _code(values: Values) -> str:
    method = "RowCopy" if values["rows"] else "RWN"
    return f"""\
import numpy as np
import rwn_core as rwn
from rwn_core.evaluation.lessons.densities import points_of

data = points_of("{values["density"]}", {values["n"]})
masked = rwn.mask(data, rwn.{method}(epsilon={values["epsilon"]:g}, k=1), seed=1).masked
before, after = (np.corrcoef(t.values("x"), t.values("y"))[0, 1] for t in (data, masked))"""


LESSON = Lesson(
    key="theorem",
    **WORDS["theorem"],
    controls={
        Slider(
            "epsilon", "Radius ε (standard deviations)", (0.05, 3.0), start=0.8, step=0.05
        ): f"{RADIUS} A record that is alone in its ball takes its nearest neighbor.",
        Slider(
            "n", "Records n", (50, 1000), start=300, step=50
        ): "More records fill the same ball; the theorem lets n grow and ε shrink.",
        Choice(
            "density", "Where the points lie", tuple(DENSITIES)
        ): "The theorem asks for a density; “discrete” has none, and works as well.",
        Switch("rows", "Copy a whole neighboring row"): "U and V come from the same donor.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)
