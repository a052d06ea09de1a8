"""Chained slices the slow way: every row that a source may release, donor by donor."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

Row = tuple[tuple[float, ...], ...]  # the values of each slice


def row_law(
    values: Sequence[Sequence[float]],
    slices: Sequence[Sequence[int]],
    first: Sequence[float],
    nearest: int,
    written: Sequence[Sequence[float]] | None = None,
) -> Mapping[Row, float]:
    """Return P(each row) of a source with these chances of each donor of the first slice.

    A later donor is one of the `nearest` to what the row shows, ties at the edge included; never
    one with what the row shows of an earlier slice, where at most `nearest` records have it.
    `written` are the values as they are released, `values` their numbers without rounding.
    """
    shown = values if written is None else written
    columns = list(zip(*values, strict=True))
    spread = []
    for column in columns:
        mean = sum(column) / len(column)
        spread.append(math.sqrt(sum((x - mean) ** 2 for x in column) / (len(column) - 1)))

    def content(record: int, slice_: Sequence[int]) -> tuple[float, ...]:
        return tuple(shown[record][at] for at in slice_)

    def donors(row: Row) -> list[int]:
        """Return the donors of the next slice of a row."""
        admissible = []
        for record in range(len(shown)):
            squared = 0.0
            held = False
            for own, slice_ in zip(row, slices, strict=False):
                holders = [k for k in range(len(shown)) if content(k, slice_) == own]
                held = held or (record in holders and len(holders) <= nearest)
                squared += sum(
                    ((shown[record][at] - x) / spread[at]) ** 2
                    for at, x in zip(slice_, own, strict=True)
                )
            if not held:
                admissible.append((squared, record))
        edge = sorted(admissible)[nearest - 1][0]
        return [record for squared, record in admissible if squared <= edge * (1 + 1e-9)]

    law: dict[Row, float] = defaultdict(float)
    for record, chance in enumerate(first):
        law[(content(record, slices[0]),)] += chance
    for slice_ in slices[1:]:
        longer: dict[Row, float] = defaultdict(float)
        for row, chance in law.items():
            found = donors(row)
            for record in found:
                longer[(*row, content(record, slice_))] += chance * float(Fraction(1, len(found)))
        law = longer
    return law
