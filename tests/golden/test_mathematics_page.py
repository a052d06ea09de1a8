"""The numbers of the page on the mathematics, found anew in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "mathematics.md"
W = [(0, 0), (1, 0), (2, 0), (0, 1), (10, 0), (11, 1)]
N = len(W)


def neighborhood(i: int) -> set[int]:
    """Records within radius 1, and the 2 nearest with all ties."""
    squares = {
        at: sum((a - b) ** 2 for a, b in zip(W[i], w, strict=True)) for at, w in enumerate(W)
    }
    del squares[i]
    second = sorted(squares.values())[1]
    return {at for at, square in squares.items() if square <= max(1, second)}


def cell(i: int, j: int, v: int, q: Fraction) -> Fraction:
    near = neighborhood(i)
    return (1 - q) * (W[i][j] == v) + q * Fraction(sum(W[at][j] == v for at in near), len(near))


def likelihood(i: int, row: tuple[int, ...], q: Fraction) -> Fraction:
    return prod((cell(i, j, v, q) for j, v in enumerate(row)), start=Fraction(1))


def linked(q: Fraction) -> Fraction:
    """Share of rows linked rightly, over every row that can be released."""
    rows = product(*({w[j] for w in W} for j in (0, 1)))
    return Fraction(1, N) * sum(max(likelihood(i, row, q) for i in range(N)) for row in rows)


def moments(q: Fraction) -> tuple[list[Fraction], Fraction]:
    """Expected means and covariance of a release."""
    mu = [[sum(v * cell(i, j, v, q) for v in {w[j] for w in W}) for j in (0, 1)] for i in range(N)]
    means = [sum(m[j] for m in mu) / N for j in (0, 1)]
    return means, sum((x - means[0]) * (y - means[1]) for x, y in mu) / (N - 1)


def integral(power_x: int, power_y: int) -> float:
    """A moment of the even distribution in a disc of radius 1, by polar coordinates."""
    angle = (np.arange(10_000) + 0.5) * 2 * np.pi / 10_000
    around = (np.cos(angle) ** power_x * np.sin(angle) ** power_y).mean()
    return float(around * 2 / (power_x + power_y + 2))


def test_the_neighborhoods_of_the_page_are_those_of_its_table():
    text = PAGE.read_text(encoding="utf-8")
    for i, near in enumerate([{2, 4}, {1, 3}, {1, 2}, {1, 2}, {3, 6}, {3, 5}], start=1):
        assert {at + 1 for at in neighborhood(i - 1)} == near
        assert f"$S_{i} = \\{{{min(near)},{max(near)}\\}}$" in text


def test_the_numbers_of_the_page_are_those_of_its_formulas():
    half = Fraction(1, 2)
    assert (cell(0, 0, 0, half), cell(0, 0, 1, half)) == (Fraction(3, 4), Fraction(1, 4))
    before, after = moments(Fraction(0)), moments(half)
    assert before == ([4, Fraction(1, 3)], Fraction(3, 5))
    assert after == ([Fraction(13, 4), Fraction(1, 4)], Fraction(325, 1000))
    row = [likelihood(i, (1, 0), half) for i in range(N)]
    assert [each / sum(row) for each in row] == [Fraction(a, 17) for a in (3, 8, 4, 2, 0, 0)]
    assert (linked(half), linked(Fraction(1))) == (Fraction(17, 32), Fraction(13, 24))


@pytest.mark.parametrize(
    "shown",
    [
        "(4, 1/3) to (3.25, 0.25)",
        "0.6 to 0.325",
        "17/32",
        "13/24",
        "3/17, 8/17, 4/17, 2/17, 0 and 0",
    ],
)
def test_the_page_shows_the_numbers_of_its_formulas(shown):
    assert shown in PAGE.read_text(encoding="utf-8")


def test_moments_of_a_disc_are_those_of_the_page():
    assert integral(2, 2) == pytest.approx(1 / 24)
    assert integral(2, 0) * integral(0, 2) == pytest.approx(1 / 16)
