"""One measure over two parameters: a heat map of settings, darker for higher values."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.charts.parts import style
from rwn_core.charts.parts.signed_heatmap import colorbar
from rwn_core.charts.parts.tables import table

# Written as rgb() so that the exchange of line colors for a dark page leaves the scale alone.
_SCALE = [
    [0.0, "rgb(253,231,200)"],
    [0.35, "rgb(244,165,110)"],
    [0.7, "rgb(213,94,0)"],
    [1.0, "rgb(110,40,0)"],
]
_LABELED = 120
"""Up to this many cells show their number."""


def draw(
    values: ArrayLike,
    across: Mapping[str, Any],
    down: Mapping[str, Any],
    measure: Mapping[str, Any],
    *,
    limit: float | None = None,
    forecast: ArrayLike | None = None,
) -> style.Chart:
    """Draw the surface of `values`, shape (rows, columns); NaN without an answer."""
    # A parameter has "title" and "values"; the measure "title", "unit", "share", "better" and
    # "where" (the fixed parameters). Cells over the limit are in parentheses; forecast ones begin
    # with "~".
    square = np.asarray(values, dtype=float)
    guessed = np.zeros(square.shape, bool) if forecast is None else np.asarray(forecast, dtype=bool)
    known = square[np.isfinite(square)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    met = _keeps(square, limit, measure["better"])
    columns, rows = [[style.escape(_word(v)) for v in scale["values"]] for scale in (across, down)]
    x, y = (
        style.name_axis(names, style.escape(scale["title"]), down=False, showgrid=False)
        for names, scale in ((columns, across), (rows, down))
    )
    top = high if high > low else low + 1.0
    texts = [_text(v, measure["share"]) for v in (low, high)]
    held = f" at {measure['where']}" if measure.get("where") else ""
    return style.chart(
        "parameter_surface",
        f"{measure['title']} over {across['title']} and {down['title']}",
        f"{_counted(int(guessed.sum()), known.size)}{texts[0]} to {texts[1]}",
        f"Heat map of {measure['title']} over {len(columns)} values of {across['title']} and "
        f"{len(rows)} of {down['title']}{held}, from {texts[0]} to {texts[1]}; "
        f"forecasts among them: {int(guessed.sum())}",
        data=[
            style.heatmap(
                square,
                (low, top),
                _SCALE,
                colorbar=colorbar([low, top], texts, style.FONT),
                xgap=1,
                ygap=1,
            )
            | {"hovertemplate": _hover(across, down, measure)}
            | _numbers(square, met, guessed, measure)
        ],
        layout=style.layout(x, y, right=round(30 + style.widest(texts))),
        table=_table(square, guessed, (across, down), measure),
    )


def _hover(across: Mapping[str, Any], down: Mapping[str, Any], measure: Mapping[str, Any]) -> str:
    """Return the hover text of a cell: two parameters and the number, by name."""
    names = [style.escape(str(scale["title"])) for scale in (across, down, measure)]
    form = ".1%" if measure["share"] else ".3~g"
    return f"{names[0]} = %{{x}}<br>{names[1]} = %{{y}}<br>{names[2]}: %{{z:{form}}}<extra></extra>"


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _text(value: float, share: bool) -> str:
    return style.percent(value, 1 if abs(value) < 0.1 else 0) if share else style.number(value, 2)


def _counted(guesses: int, known: int) -> str:
    if not guesses:
        return ""
    return "~ forecast · " if guesses == known else f"{guesses} of {known} forecast (~) · "


def _keeps(square: NDArray[Any], limit: float | None, better: str) -> NDArray[np.bool_]:
    # Shapes: square, the answer (rows, columns).
    if limit is None or better == "neutral":
        return np.ones(square.shape, dtype=bool)
    return np.asarray(square >= limit if better == "higher" else square <= limit)


def _numbers(
    square: NDArray[Any],
    met: NDArray[np.bool_],
    guessed: NDArray[np.bool_],
    measure: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the value of each cell as a text; in parentheses if over the limit."""
    # Shapes: square, met, guessed (rows, columns).
    if square.size > _LABELED:
        return {}
    texts = [
        [_cell(*each, measure) for each in zip(*row, strict=True)]
        for row in zip(square, met, guessed, strict=True)
    ]
    return {"text": texts, "texttemplate": "%{text}", "textfont": {"size": style.FONT}}


def _cell(value: float, fine: bool, guess: bool, measure: Mapping[str, Any]) -> str:
    if not math.isfinite(value):
        return ""
    text = f"{'~' if guess else ''}{_text(value, measure['share'])}"
    return text if fine else f"({text})"


def _table(
    square: NDArray[Any],
    guessed: NDArray[np.bool_],
    sides: tuple[Mapping[str, Any], Mapping[str, Any]],
    measure: Mapping[str, Any],
) -> dict[str, Any]:
    across, down = sides
    names: Sequence[Any] = [_word(v) for v in across["values"]]
    columns = [f"{down['title']} \\ {across['title']}", *names]
    cells: list[Any] = [[_word(v) for v in down["values"]], *square.T]
    caption = f"{measure['title']}: {measure['unit']}."
    if guessed.any():
        caption += f" {int(guessed.sum())} of the values are forecasts, before any release."
    return {**table(columns, cells), "caption": caption}
