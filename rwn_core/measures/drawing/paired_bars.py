"""Shares before and after as pairs of bars."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from rwn_core.measures.drawing import style

Pair = tuple[str, float | None, float | None]
"""Name, share before and share after, each in [0, 1] or unknown."""


def bars(
    pairs: Sequence[Pair], names: tuple[str, str], *, before: str = style.ORIGINAL
) -> list[style.Trace]:
    """Return two bars for each pair: hollow before, filled after."""
    traces = []
    for side in (0, 1):
        rows = [row for row, pair in enumerate(pairs) if pair[1 + side] is not None]
        shares = [float(pairs[row][1 + side] or 0.0) for row in rows]
        color = style.RELEASED if side else before
        traces.append(paired_bar(shares, rows, names[side], color, filled=bool(side)))
    return traces


def paired_bar(
    lengths: ArrayLike,
    rows: Sequence[int],
    name: str,
    color: str,
    *,
    filled: bool,
    hover: str = "%{x:.1%}",
) -> style.Trace:
    """Return one side of paired bars: hollow above, or filled below."""
    return style.bar(
        lengths,
        rows,
        name,
        (0.36, 0.02 if filled else -0.38),
        marker=style.filled(f"{color}CC" if filled else style.INVISIBLE, color),
        hovertemplate=f"{hover}<extra>%{{fullData.name}}</extra>",
    )


def short(share: float) -> str:
    """Return a share in few characters; a tiny one is not rounded to 0."""
    if 0 < share < 0.0005:
        return style.escape("< 0.1 %")
    return style.percent(share, 0 if share in (0, 1) or share >= 0.1 else 1)


def frame(pairs: Sequence[Pair], title: str, *, length: int = 24) -> dict[str, Any]:
    """Return the layout: names at the left, shares along, the later number behind its bar."""
    small: dict[str, Any] = {"tickfont": {"size": 10}} if len(pairs) > 9 else {}
    behind: Any = {"xanchor": "left", "yanchor": "middle", "xshift": 3}
    marks: Any = {"tickvals": [0, 0.25, 0.5, 0.75, 1.0], "ticktext": ["0%", "", "50%", "", "100%"]}
    return style.layout(
        style.axis(title, 0, 1.26, **marks),
        style.name_axis([name for name, _, _ in pairs], length=length, rim=0.6, showgrid=False)
        | small,
        barmode="overlay",
        annotations=[
            style.label(short(after), max(one or 0.0, after), row + 0.2, style.NEUTRAL, **behind)
            for row, (_, one, after) in enumerate(pairs)
            if after is not None
        ],
    )
