"""Lesson 1: values drawn independently near a record keep the joint distribution."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of
from rwn_core.evaluation.lessons.theorem import theorem
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import Choice, Kept, Lesson, Shown, Slider, Switch, Values, prepared, tile
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
    title="1 · The theorem",
    sentences=(
        "Draw a circle of radius ε around a record (X, Y). Take U from one random record inside "
        "and V from another: these are its donors, and the released row is (U, V).",
        "U and V are drawn independently, yet both stay within ε of the record; so as ε shrinks "
        "and n grows, their joint distribution comes near that of (X, Y), whatever its shape.",
        "Move ε up until the filled points no longer follow the hollow ones, and see what becomes "
        "of the correlation. Then move ε to its smallest value, and see how many rows are those "
        "of a real person.",
    ),
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
    question="At a large radius whole rows keep the correlation, and independent draws lose it. "
    "Why not copy whole rows?",
    answer=(
        "Switch it on: every released row then is a real person’s row, so an intruder who knows "
        "x of a "
        "person reads that person’s y next to it. And where x and y vary together inside the ball, "
        "the mean of x + y varies *more* from release to release than with independent draws "
        "(table under the picture).\n\n"
        "**What the theorem does not say.** It says nothing about a finite n, about the k nearest "
        "(there k/n must go to 0), about standard errors (lesson 4) or about privacy: as ε goes to "
        "0 the release becomes the original, and at ε = 0.05 about 95 % of the rows are those of a "
        "real person. Nor does the correlation only fall: at a small ε it can rise a little. "
        "Neighbors lie further inside on average, so both spreads shrink, while the covariance "
        "nearly stays. Without a density, as with “discrete”, distributions still come together, "
        "at the points where they do not jump."
    ),
    code=_code,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)
