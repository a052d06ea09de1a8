"""Tied slices the slow way: loops over classes, donors and rows, with an error function for Phi."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise, product
from statistics import NormalDist

PHI = NormalDist().cdf
INVERSE = NormalDist().inv_cdf

Matrix = Sequence[Sequence[float]]


def one_factor(classes: int) -> list[float]:
    """Return quantiles of a normal distribution, with variance 1."""
    points = [INVERSE((g + 0.5) / classes) for g in range(classes)]
    spread = math.sqrt(sum(each * each for each in points) / classes)
    return [each / spread for each in points]


def checkerboard(points: Sequence[float], loading: float, bins: int) -> list[list[float]]:
    """Return P(bin | class): rows sum to 1, columns to classes / bins."""
    edges = [-math.inf, *(INVERSE(b / bins) for b in range(1, bins)), math.inf]
    spread = math.sqrt(1 - loading * loading)
    table = []
    for point in points:
        below = [PHI((edge - loading * point) / spread) for edge in edges]
        table.append([max(b - a, 1e-12) for a, b in pairwise(below)])
    for _ in range(150):
        for b in range(bins):
            total = sum(row[b] for row in table) * bins / len(points)
            for row in table:
                row[b] /= total
        table = [[each / sum(row) for each in row] for row in table]
    return table


def below(row: Sequence[float], x: float) -> float:
    """Return P(position < x | class) by the bins of the class."""
    place = x * len(row)
    whole = min(int(place), len(row) - 1)
    return sum(row[:whole]) + row[whole] * (place - whole)


def class_chances(
    weights: Sequence[float], order: Sequence[int], table: Matrix
) -> list[list[float]]:
    """Return P(each record is the donor of one slice | class), by class."""
    chances = []
    for row in table:
        given = [0.0] * len(weights)
        before = 0.0
        for record in order:
            after = min(before + weights[record], 1.0)
            given[record] = below(row, after) - below(row, before)
            before = after
        chances.append(given)
    return chances


def row_law(
    weights: Sequence[float],
    orders: Sequence[Sequence[int]],
    tables: Sequence[Matrix],
    contents: Sequence[Sequence[Hashable]],
) -> Mapping[tuple[Hashable, ...], float]:
    """Return P(row | source) of all rows, for the weights of one source."""
    by_unit = [
        class_chances(weights, order, table) for order, table in zip(orders, tables, strict=True)
    ]
    classes = len(tables[0])
    law = dict[tuple[Hashable, ...], float]()
    for donors in product(range(len(weights)), repeat=len(tables)):
        chance = 0.0
        for g in range(classes):
            part = 1.0
            for unit, donor in enumerate(donors):
                part *= by_unit[unit][g][donor]
            chance += part / classes
        row = tuple(own[donor] for own, donor in zip(contents, donors, strict=True))
        law[row] = law.get(row, 0.0) + chance
    return law
