"""Who gave a row its values: every donor of every part of every row listed, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

LOST = -1  # the donor of a value that nobody gives

Row = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class SmallFile:
    """A file and a setting small enough to list all that may happen."""

    rows: list[Row]  # released values of the originals, None where missing
    units: list[list[int]]  # columns that share a donor
    masked: list[bool]  # whether the values of each unit may be modified
    shares: list[dict[int, Fraction]]  # of each record's donors; empty without neighbors
    q: Fraction
    whole: bool  # whether q chooses rows (the 2015 method), not single parts of them

    def _drawn(self, record: int) -> list[tuple[int, Fraction]]:
        drawn = list(self.shares[record].items())
        return drawn or [(LOST, Fraction(1))]

    def _donors(self, record: int, unit: int, q: Fraction) -> list[tuple[int, Fraction]]:
        if not self.masked[unit] or not q:
            return [(record, Fraction(1))]
        drawn = [(donor, q * share) for donor, share in self._drawn(record)]
        return drawn if q == 1 else [(record, 1 - q), *drawn]

    def outcomes(self, record: int) -> list[tuple[tuple[int, ...], Fraction]]:
        """The donor of each unit of a record's row, and how likely they are together."""
        one = Fraction(1)
        ways = [(self.q, one), (1 - self.q, Fraction(0))] if self.whole else [(one, self.q)]
        return [
            (tuple(donor for donor, _ in parts), weight * _product(chance for _, chance in parts))
            for weight, q in ways
            if weight
            for parts in product(*(self._donors(record, u, q) for u in range(len(self.units))))
        ]

    def released(self, donors: tuple[int, ...], columns: Sequence[int]) -> Row:
        """The values of some columns of a row with these donors."""
        giver = {c: donor for unit, donor in zip(self.units, donors, strict=True) for c in unit}
        return tuple(None if giver[c] == LOST else self.rows[giver[c]][c] for c in columns)

    def beliefs(self, keys: Sequence[int], secret: int) -> dict[Row, Beliefs]:
        """P(a row is from each record) and P(it shows each one's secret), by a row's keys."""
        place = next(place for place, unit in enumerate(self.units) if secret in unit)
        n = len(self.rows)
        found: dict[Row, Beliefs] = {}
        for record in range(n):
            for donors, chance in self.outcomes(record):
                known = self.released(donors, keys)
                own = found.setdefault(known, ([Fraction(0)] * n, [Fraction(0)] * n))
                own[0][record] += chance
                if donors[place] != LOST:
                    own[1][donors[place]] += chance
        return {known: _normalized(*own) for known, own in found.items()}


Beliefs = tuple[list[Fraction], list[Fraction]]


def _normalized(source: list[Fraction], donor: list[Fraction]) -> Beliefs:
    total = sum(source)
    return [each / total for each in source], [each / total for each in donor]


def _product(chances: Any) -> Fraction:
    result = Fraction(1)
    for chance in chances:
        result *= chance
    return result
