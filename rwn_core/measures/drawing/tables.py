"""Tables of the numbers behind a picture, a row per record or variable."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.measures.drawing.style import extremes

TABLE_ROWS = 400
SINGLE = {"record", "question"}  # columns that name single people
_DIGITS = 7


def table(
    columns: Sequence[str],
    cells: Sequence[ArrayLike],
    *,
    rank: int | None = None,
    by: tuple[str, ArrayLike] | None = None,
) -> dict[str, Any]:
    """Return the table behind a picture; beyond 400 rows the largest by column `rank` or `by`."""
    # A table with single records is internal; its views and files say so.
    total = len(np.asarray(cells[0]))
    picked: NDArray[np.intp] | slice = slice(None)
    result: dict[str, Any] = {"columns": list(columns)}
    if total > TABLE_ROWS:
        if rank is not None:
            by = columns[rank], cells[rank]
        picked = slice(TABLE_ROWS) if by is None else extremes(by[1], TABLE_ROWS)
        chosen = "first" if by is None else f"largest by {by[0]}"
        result["caption"] = f"{TABLE_ROWS} of {total:,} rows: the {chosen}."
    if not SINGLE.isdisjoint(columns):
        result["internal"] = True
    shown = [_plain(np.asarray(cell)[picked], rounded=True) for cell in cells]
    result["rows"] = list(map(list, zip(*shown, strict=True)))
    return result


def known(values: Sequence[Any]) -> list[Any]:
    """Return the cells of a column; a missing number is NaN."""
    return [math.nan if value is None else value for value in values]


class Rows:
    """The rows of a table, kept as columns, which are written fast: most are never opened.

    A missing number is NaN in a column, shape (n,), and None in a row.
    """

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        # Shapes: each of columns (n,).
        self.columns = columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns[0])

    def __iter__(self) -> Iterator[list[Any]]:
        """Return the rows as lists."""
        return map(list, zip(*map(_plain, self.columns), strict=True))

    def __eq__(self, other: object) -> bool:
        """True if the rows are the same."""
        return isinstance(other, Rows | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of every list

    def matrix(self) -> NDArray[np.float64]:
        """Return all numbers, shape (n, number of columns)."""
        return np.column_stack(self.columns).astype(np.float64, copy=False)


def seven_digits(array: NDArray[Any]) -> NDArray[Any]:
    """Round the numbers of a column, shape (n,), to seven digits of the largest."""
    top = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    return np.round(array, _DIGITS - 1 - (math.floor(math.log10(top)) if top else 0))


def _plain(array: NDArray[Any], *, rounded: bool = False) -> list[Any]:
    """Return a column of a table, missing as None; `rounded`: to seven digits of the largest."""
    # Shapes: array (n,).
    if array.dtype.kind != "f":
        return list(array.tolist())
    array = seven_digits(array) if rounded else array
    if np.isfinite(array).all():
        return list(array.tolist())
    return [v if math.isfinite(v) else None for v in array.tolist()]
