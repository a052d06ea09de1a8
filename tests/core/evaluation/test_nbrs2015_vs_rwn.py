"""The laws of 2015 and 2022 side by side, by hand and against everything that can happen."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.evaluation.nbrs2015_vs_rwn import CELL, COUNT, RECORD, nbrs2015_vs_rwn


def test_values_by_hand_at_one_half(e1):
    cell, alone, count = nbrs2015_vs_rwn(e1, 0, epsilon=0.3, q=0.5, k=2)
    # NBRS-1: of the strict neighborhoods at 0.3 the last three are empty
    assert alone.missing.mean == 3  # three records of two cells, each lost with probability 1/2
    assert alone.missing.variance == pytest.approx(3)  # 3 x 4 x 1/4: both cells go together
    assert count.missing.variance == pytest.approx(1.8)  # 4 x 9/30 x (3 - 9/6), 3 of 6 drawn
    assert alone.records.mean == pytest.approx(count.records.mean)
    assert cell.missing.mean == 0
    # RWN-5: the row is intact with the product of its cells' chances to stay
    assert cell.changed[0] == pytest.approx(cell.stays["x"] * cell.stays["y"])
    assert alone.changed[0] >= cell.changed[0]
    holes = rwn.Microdata.from_frame(e1.frame.assign(y=[*e1.frame["y"][:5], np.nan]))
    alone = nbrs2015_vs_rwn(holes, 0, epsilon=0.3, q=0.5, k=2)[1]
    assert alone.missing.mean == 2.5  # what is missing cannot be lost


def test_a_fixed_count_that_is_no_whole_number_is_rounded_down(e1):
    count = nbrs2015_vs_rwn(e1, 3, epsilon=0.3, q=0.4, k=2)[2]
    assert count.lost == pytest.approx(2 / 6)  # floor(6 x 0.4) of 6
    assert (
        count.records.variance
        <= nbrs2015_vs_rwn(e1, 3, epsilon=0.3, q=0.4, k=2)[1].records.variance
    )


def test_variables_that_travel_together_change_together():
    rows = {"x": [0.0, 1, 2, 3], "y": [0.0, 1, 2, 3], "z": [0.0, 0, 0, 1]}
    data = rwn.Microdata.from_frame(pd.DataFrame(rows)).with_slices([("x", "y")])
    found = nbrs2015_vs_rwn(data, 0, epsilon=10.0, q=0.5, k=1)[0]
    # x and y change both or not at all; of three donors one has another z
    assert found.changed == pytest.approx([0.5 * 5 / 6, 0.5 / 6, 0.5 * 5 / 6, 0.5 / 6])
    p, r = 0.5, np.array([1, 1, 1, 3]) / 6
    assert found.cells.mean == pytest.approx(4 * 2 * p + r.sum())
    assert found.cells.variance == pytest.approx(4 * 4 * p * (1 - p) + (r * (1 - r)).sum())


def test_a_record_that_is_not_there_is_refused(e1):
    with pytest.raises(ParameterError, match="whole number from 0 to 5"):
        nbrs2015_vs_rwn(e1, 6, epsilon=1.0, q=1.0, k=2)


HALF = Fraction(1, 2)
Counts = dict[tuple[int, int], Fraction]  # of (changed, lost) cells: a probability


def neighbors(frame: pd.DataFrame, epsilon: float, k: int | None) -> list[list[int]]:
    """Whose values each record may take, found the slow way."""
    points = ((frame - frame.mean()) / frame.std()).fillna(0).to_numpy()
    found = []
    for i, own in enumerate(points):
        apart = np.sqrt(((points - own) ** 2).sum(axis=1))
        others = [j for j in range(len(points)) if j != i]
        if k is None:
            found.append([j for j in others if apart[j] < epsilon])
        else:
            reach = max(epsilon, sorted(apart[others])[k - 1]) * (1 + 1e-9)
            found.append([j for j in others if apart[j] <= reach])
    return found


def members(data: rwn.Microdata, params) -> list[list[int]]:
    found = params.neighborhoods(data)
    return [sorted(found.members(i).tolist()) for i in range(data.n)]


def same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def of_cell(column: list[float], i: int, donors: list[int], q: Fraction) -> Counts:
    """What happens to one cell that is modified with probability q."""
    counts: Counts = {(0, 0): 1 - q}
    for j in donors:
        outcome = (0 if same(column[j], column[i]) else 1, 0)
        counts[outcome] = counts.get(outcome, Fraction(0)) + q / len(donors)
    if not donors:
        outcome = (0, 0) if column[i] != column[i] else (1, 1)
        counts[outcome] = counts.get(outcome, Fraction(0)) + q
    return counts


def of_row(frame: pd.DataFrame, i: int, donors: list[int], q: Fraction) -> Counts:
    """What happens to the independent cells of a record."""
    total: Counts = {}
    cells = [of_cell(frame[name].tolist(), i, donors, q) for name in frame]
    for outcomes in product(*(cell.items() for cell in cells)):
        key = tuple(np.sum([what for what, _ in outcomes], axis=0).tolist())
        chance = Fraction(1)
        for _, each in outcomes:
            chance *= each
        total[key] = total.get(key, Fraction(0)) + chance
    return total


def mixed(q: Fraction, drawn: Counts) -> Counts:
    kept: Counts = {(0, 0): Fraction(1)}
    keys = {*drawn, *kept}
    none = Fraction(0)
    return {key: q * drawn.get(key, none) + (1 - q) * kept.get(key, none) for key in keys}


def moments(rows: list[Counts], what) -> tuple[Fraction, Fraction]:
    """Mean and variance of a sum over independent records."""
    mean = variance = Fraction(0)
    for row in rows:
        one = sum(what(key) * chance for key, chance in row.items())
        two = sum(what(key) ** 2 * chance for key, chance in row.items())
        mean, variance = mean + one, variance + two - one**2
    return mean, variance


def every_selection(drawn: list[Counts], many: int) -> Iterator[list[Counts]]:
    kept: Counts = {(0, 0): Fraction(1)}
    for chosen in combinations(range(len(drawn)), many):
        yield [drawn[i] if i in chosen else kept for i in range(len(drawn))]


def fixed_moments(drawn: list[Counts], many: int, what) -> tuple[Fraction, Fraction]:
    """The same over all sets of so many records, each as likely."""
    each = [moments(rows, what) for rows in every_selection(drawn, many)]
    mean = sum(one for one, _ in each) / len(each)
    return mean, sum(v + (one - mean) ** 2 for one, v in each) / len(each)


PARTS = {
    "records": lambda key: int(key[0] > 0),
    "cells": lambda key: key[0],
    "missing": lambda key: key[1],
}


def check(found, rows: list[Counts], record: int, many: int | None, q: Fraction) -> None:
    mixture = rows if many is None else [mixed(q, row) for row in rows]
    for count, chance in enumerate(found.changed):
        exact = sum(p for key, p in mixture[record].items() if key[0] == count)
        assert chance == pytest.approx(float(exact), abs=1e-14)
    for part, what in PARTS.items():
        mean, variance = moments(rows, what) if many is None else fixed_moments(rows, many, what)
        shown = getattr(found, part)
        assert shown.mean == pytest.approx(float(mean), abs=1e-12), part
        assert shown.variance == pytest.approx(float(variance), abs=1e-12), part


@pytest.fixture(params=["E1", "with a missing value"])
def frame(request, e1) -> pd.DataFrame:
    table = e1.frame.copy()
    if request.param != "E1":
        table.loc[5, "y"] = np.nan  # a record without neighbors, which has nothing to lose there
    return table


@pytest.mark.parametrize("q", [HALF, Fraction(1)])
def test_the_three_laws_of_the_worked_example(frame, q):
    data, record = rwn.Microdata.from_frame(frame), 0
    cell, alone, count = nbrs2015_vs_rwn(data, record, epsilon=0.3, q=float(q), k=2)
    assert [cell.name, alone.name, count.name] == [CELL, RECORD, COUNT]
    near = members(data, rwn.RWN(epsilon=0.3, k=2))
    check(cell, [of_row(frame, i, near[i], q) for i in range(6)], record, None, q)
    strict = members(data, rwn.NBRS2015(epsilon=0.3))
    drawn = [of_row(frame, i, strict[i], Fraction(1)) for i in range(6)]
    check(alone, [mixed(q, row) for row in drawn], record, None, q)
    check(count, drawn, record, int(6 * q), q)
    if not frame.isna().any(axis=None):
        assert (near, strict) == (neighbors(frame, 0.3, 2), neighbors(frame, 0.3, None))
