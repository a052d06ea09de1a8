"""Chained slices and people outside the file: beliefs against an enumeration with each added."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.control_group import control_group
from rwn_core.measures.attacks.non_members import NonMembersOneByOne, non_members
from rwn_core.measures.comparison import Comparison
from tests.attacked_tables import released
from tests.oracles.chained_rows import row_law
from tests.tables import described

N, LATER = 14, 5
SETTING = rwn.SoftRWN(chain=True, own=True, later=LATER, later_balance=False)
KEYS = ["age", "sex"]


def tables(count, seed=2):
    """Yield a table of 14 with ties in the first slice, and one person more."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        age = draw.permutation(np.repeat(np.arange(8), 2)[: N + 1])
        frame = pd.DataFrame({"age": age, "sex": draw.integers(0, 2, N + 1)})
        frame["income"] = draw.permutation(N + 1) * 1.7 + age
        assert frame["income"].is_unique
        everyone = described(frame, [KEYS], age="key", sex="key", income="confidential")
        yield everyone.take(np.arange(N)), everyone.take(np.array([N]))


def believed(inside, person, setting):
    """Return the release, the law with the person, and beliefs of all rows in source and value."""
    release = rwn.mask(inside, setting, seed=1)
    compared = Comparison(original=inside, masked=release.masked, law=release.law)
    attacked = non_members(compared, release.law, person, KEYS)
    assert isinstance(attacked, NonMembersOneByOne)
    found = attacked.beliefs(np.arange(N), ["income"])
    law = release.law.with_people(person)
    return release, law, found.source.toarray()[0], found.donor[0].toarray()[0]


def rows_of(*parts):
    return pd.concat([each.frame[[*KEYS, "income"]] for each in parts]).to_numpy(np.float64)


def test_beliefs_in_a_person_outside_are_those_of_the_file_with_the_person():
    faulty = 0.0
    for inside, person in tables(12):
        release, law, source, shown = believed(inside, person, SETTING)
        both, slices = rows_of(inside, person), [[0, 1], [2]]
        # chances of the first slice's donors, with the person: by the law of a plain first slice
        chances = law.source.probabilities.toarray()
        sources = [row_law(rows_of(inside), slices, each, LATER, both) for each in chances]
        for row, values in enumerate(rows_of(release.masked)):
            first = np.array([
                sum(chance for (own, _), chance in each.items() if own == tuple(values[:2]))
                for each in sources
            ])  # fmt: skip
            assert source[row] == pytest.approx(first[-1] / first.sum(), abs=1e-12)
            after = [
                each.get((tuple(values[:2]), (both[-1, 2],)), 0.0) / own
                for each, own in zip(sources, first, strict=True)
                if own > 0
            ]
            # whatever the source; and so it is what an intruder believes of the person's value
            np.testing.assert_allclose(after, shown[row], atol=1e-12)
            # planted fault: a person that is nobody's donor
            faulty = max(faulty, abs(shown[row]))
    assert faulty > 0.1


def balanced(inside, person, donors):
    """Return weights of rows and all records in balance, by turns, from the text of the method."""
    both = rows_of(inside, person)
    points = both[:, :2] / rows_of(inside)[:, :2].std(axis=0, ddof=1)
    shown, m = both[donors], len(both)
    squared = ((points[donors][:, None] - points[None]) ** 2).sum(axis=2)
    same = (shown[:, None, :2] == both[None, :, :2]).all(axis=2)
    squared[same & (same.sum(axis=1, keepdims=True) <= LATER)] = np.inf
    of_row, of_record = (np.sqrt(np.sort(squared, axis=axis).take(LATER - 1, axis=axis))
                         for axis in (1, 0))  # fmt: skip
    floor = 0.05 * np.median(of_row[of_row > 0])
    scales = np.outer(np.maximum(of_row, floor), np.maximum(of_record, floor))
    kernel = np.exp(-2 * squared / scales) + LATER / (100_000 * N)
    kernel[np.isinf(squared)] = 0.0
    cap = 1 / LATER

    def factors(weights, target):
        """Return each row's factor, with sums of min(cap, factor times weight) at the target."""
        low, high = np.zeros(len(weights)), np.full(len(weights), 1e12)
        for _ in range(90):
            middle = np.sqrt(np.maximum(low, 1e-12) * high)
            enough = np.minimum(cap, middle[:, None] * weights).sum(axis=1) > target
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    columns = np.ones(m)
    for _ in range(200):
        rows = factors(kernel * columns, 1.0)
        columns = factors((kernel * rows[:, None]).T, N / m)
    rows = factors(kernel * columns, 1.0)
    return np.minimum(cap, rows[:, None] * kernel * columns)


@pytest.mark.parametrize("seed", [2, 9])
def test_a_balance_with_a_person_added_gives_each_record_equally(seed):
    ((inside, person),) = tables(1, seed)
    release, law, _, shown = believed(inside, person, replace(SETTING, later_balance=True))
    weights = law.later["income"].matrix.toarray()
    assert weights.shape == (N, N + 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=0), N / (N + 1), atol=1e-6)
    np.testing.assert_allclose(weights, balanced(inside, person, release.donors[:, 0]), atol=1e-4)
    np.testing.assert_allclose(shown, weights[:, -1], atol=1e-12)


def test_rounding_comes_before_the_slices_of_a_file_with_a_person():
    ((inside, person),) = tables(1, 5)
    release = rwn.mask(inside, SETTING, precision={"age": 2.0}, seed=1)
    law = release.law.with_people(person)
    assert law.original.array("age").max() % 2 == 0
    weights = law.later["income"].matrix.toarray()
    own = np.flatnonzero(
        (law.original.frame[KEYS] == law.original.frame[KEYS].iloc[-1]).all(axis=1)
    )
    rows = np.isin(release.donors[:, 0], own)
    assert not weights[rows][:, -1].any()  # holders of what a rounded row shows are left out


def survey(n=200, seed=0):
    """A table whose confidential number follows from its keys, up to noise."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 70, n)
    height = (150 + 0.4 * age + draw.normal(0, 6, n)).round(1)
    rich = (age * 2 + height + draw.normal(0, 12, n) > 265).astype(int)
    frame = pd.DataFrame({"age": age, "height": height, "rich": np.where(rich == 1, "y", "n")})
    return described(frame, [["age", "height"]], age="key", height="key", rich="confidential")


def test_what_holds_for_everybody_is_no_gain_of_a_chain():
    # a relation that strangers follow, too: large against the most frequent value, and small
    # beyond people outside
    data = survey()
    setting = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
    base = released(data, setting)
    gain = rwn.MEASURES["attribute_gain"]
    against_majority = gain.read(base).value
    beyond = gain.read(control_group(base, setting, 1))
    assert beyond.detail.control is not None
    assert against_majority > 0.1
    assert beyond.value < against_majority - 0.05
