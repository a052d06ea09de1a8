"""Association of mixed tables against hand computation and a slow reference."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.statistics import association
from rwn_core.measures.statistics.association import cramers_v


def slow_ratio(values: list[float], levels: list[object]) -> float:
    """Variation of the records around their level's mean, against that around the mean."""
    known = [(v, g) for v, g in zip(values, levels, strict=True) if v == v and g is not None]
    n, groups = len(known), {g for _, g in known}
    mean = sum(v for v, _ in known) / n
    inside = 0.0
    for group in groups:
        own = [v for v, g in known if g == group]
        inside += sum((v - sum(own) / len(own)) ** 2 for v in own)
    total = sum((v - mean) ** 2 for v, _ in known)
    return math.sqrt(max(0.0, 1 - (inside / (n - len(groups))) / (total / (n - 1))))


def slow_v(one: list[object], other: list[object]) -> float:
    """Pearson's chi square, cell by cell, then Bergsma's correction as he prints it."""
    known = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    n = len(known)
    rows, columns = sorted({a for a, _ in known}), sorted({b for _, b in known})
    chi = 0.0
    for a in rows:
        for b in columns:
            expected = sum(x == a for x, _ in known) * sum(y == b for _, y in known) / n
            chi += (sum(pair == (a, b) for pair in known) - expected) ** 2 / expected
    r, c = len(rows), len(columns)
    phi = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    corrected = (size - (size - 1) ** 2 / (n - 1) for size in (r, c))
    return math.sqrt(phi / (min(corrected) - 1))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Numbers and categories that depend on each other, with values missing in each."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    made = pd.DataFrame(
        {
            "x": x + 1e6,
            "size": np.where(x > 0.3, "large", np.where(x < -0.5, "small", "middle")),
            "y": x + rng.normal(size=60),
            "place": rng.choice(list("abcd"), size=60),
        }
    )
    made.loc[3, "y"] = np.nan
    made.loc[[5, 9], "place"] = None
    return made


def test_a_small_table_by_hand(compare) -> None:
    """Eta squared is 4/5, and 0.7 after the correction; one category is the other's name."""
    original = pd.DataFrame({"x": [1.0, 2, 3, 4], "g": list("aabb"), "h": list("uuvv")})
    masked = original.assign(g=list("abab"))
    reading = MEASURES["association"].compute(compare(original, masked))
    before, after = reading.detail.original, reading.detail.released
    assert before[0, 1] == pytest.approx(math.sqrt(0.7))
    assert before[1, 2] == pytest.approx(1.0)
    assert (after[0, 1], after[1, 2]) == (0.0, 0.0)
    assert after[0, 2] == before[0, 2] == pytest.approx(math.sqrt(0.7))
    assert reading.value == pytest.approx((math.sqrt(0.7) + 1) / 3)
    assert reading.detail.coefficient.tolist() == [[0, 1, 1], [1, 2, 2], [1, 2, 2]]


def test_agrees_with_a_slow_computation(compare, frame) -> None:
    found = MEASURES["association"].compute(compare(frame, frame)).detail.original
    columns = {name: [None if v != v else v for v in frame[name]] for name in ("size", "place")}
    numbers = {name: frame[name].tolist() for name in ("x", "y")}
    at = {name: place for place, name in enumerate(frame)}
    for name, values in numbers.items():
        for other, levels in columns.items():
            assert found[at[name], at[other]] == pytest.approx(slow_ratio(values, levels), abs=1e-9)
    assert found[at["size"], at["place"]] == pytest.approx(slow_v(*columns.values()), abs=1e-12)
    assert found[at["x"], at["y"]] == pytest.approx(frame["x"].corr(frame["y"]), abs=1e-9)
    assert found[at["x"], at["size"]] > 0.8


def test_a_long_table_of_counts_is_counted_without_its_empty_cells(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 40, 500), rng.integers(0, 30, 500)
    other[:250] = one[:250] % 30
    dense = cramers_v(one, other)
    monkeypatch.setattr(association, "DENSE", 0)
    assert cramers_v(one, other) == pytest.approx(dense, abs=1e-12)
    assert dense > 0.3


def test_what_does_not_vary_has_no_association(compare) -> None:
    same = pd.DataFrame({"x": [1.0, 2, 3], "g": list("abc")})  # one record a level
    with pytest.raises(NotApplicable, match="varies"):
        MEASURES["association"].compute(compare(same, same))
    with pytest.raises(NotApplicable, match="at least two"):
        MEASURES["association"].compute(compare(same[["x"]], same[["x"]]))
