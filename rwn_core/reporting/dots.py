"""A picture of a share for lay readers: a hundred dots, of which some are filled.

Shares are rounded up to a few steps, so that no reading of a release can be read off. A picture has
no text and no script, and there is one for each step: the leak check knows them as a whole.
"""

from __future__ import annotations

from functools import cache

STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
"""The numbers of dots that may be filled."""
NAMED_BY = "in-a-hundred"
"""The id of the sentence that says what a picture shows."""
_SIDE = 10  # dots in a row, and rows
_APART = 12  # pixels from one dot to the next


def step_of(share: float) -> int:
    """Return the place in `STEPS` of a share, rounded up; a share below one dot has the first.

    >>> [STEPS[step_of(share)] for share in (0.0, 0.009, 0.01, 0.021, 0.3)]
    [0, 0, 1, 5, 50]
    """
    dots = round(100 * share, 6)
    if dots < 1:
        return 0
    return next((at for at, step in enumerate(STEPS) if step >= dots), len(STEPS) - 1)


@cache
def picture(filled: int) -> str:
    """Return a hundred dots as SVG, of which so many are filled: larger, and in another color."""
    size = _SIDE * _APART
    lines = ((_SIDE * _SIDE, "#8a8a8a", 5), (filled, "#b3430b", 9))
    # a dash of no length with a round end is a dot
    paths = [
        f'<path d="{_rows(dots)}" stroke="{color}" stroke-width="{wide}"/>'
        for dots, color, wide in lines
        if dots
    ]
    return (
        f'<svg role="img" aria-labelledby="{NAMED_BY}" width="{size}" height="{size}" '
        f'stroke-linecap="round" stroke-dasharray="0 {_APART}">{"".join(paths)}</svg>'
    )


def _rows(dots: int) -> str:
    """Return a line for each row, on which the dots lie."""
    rows = []
    for row in range(-(-dots // _SIDE)):
        # a little longer, or the last dot is not drawn
        along = _APART * (min(_SIDE, dots - _SIDE * row) - 1) + 1
        rows.append(f"M{_APART // 2} {_APART * row + _APART // 2}h{along}")
    return "".join(rows)
