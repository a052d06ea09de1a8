"""What is learned of a confidential value, and who is singled out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from rwn_core import MEASURES, RWN, Microdata, NotApplicable, Reading, load_demo, mask
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk import guesses
from rwn_core.measures.risk.guesses import ENOUGH, NARROW, VARIABLES, Conditions, alone_among, edges
from rwn_core.measures.statistics.intervals import newcombe
from tests.core.measures.attacks.attribute_tables import released
from tests.tables import described


@pytest.fixture(scope="module")
def pima():
    return released(load_demo("pima"), RWN(epsilon=1.0, k=5, q=0.5), seed=2)


GAINS = [MEASURES[key] for key in ("attribute_inference", "attribute_gain")]


@pytest.mark.parametrize("held", [None, 90])
def test_the_gain_is_that_of_the_worst_variable_and_level(pima, held):
    outside = None if held is None else pima.original.take(np.arange(held))
    given = {"original": pima.original, "masked": pima.masked, "law": pima.law}
    worst, gain = (measure.read(Comparison(**given, holdout=outside)) for measure in GAINS)
    each = gain.detail.gains[gain.detail.worst]
    # the success for all people, or the score of naming a level, whichever is larger
    assert gain.value == max(each["overall"], each["naming"]["score"]) > 0
    assert gain.interval[0] <= gain.value <= gain.interval[1]
    assert gain.value >= max(g["overall"] for g in worst.detail.gains)
    assert held or each["overall"] == pytest.approx(worst.value - worst.baseline)
    # of a number the interval is Newcombe's
    data = load_demo("bodyfat")
    outside = None if held is None else data.take(np.arange(held))
    comparison = released(data, RWN(epsilon=2.0, k=5), holdout=outside)
    worst, gain = (measure.read(comparison) for measure in GAINS)
    assert gain.detail.gains[gain.detail.worst]["of_all"]
    assert gain.value == pytest.approx(worst.value - worst.baseline)
    expected = confint_proportions_2indep(
        worst.value * data.n, data.n, worst.baseline * (held or data.n), held or data.n,
        method="newcomb", compare="diff",
    )  # fmt: skip
    np.testing.assert_allclose(gain.interval, expected, atol=1e-9)


def test_why_there_is_no_gain(pima):
    keys = described(pima.original.frame, **dict.fromkeys(pima.original.names, "key"))
    reading = MEASURES["attribute_gain"].read(pima.with_original(keys))
    assert "No variable is confidential" in str(reading)
    alone = Comparison(original=related(40, 1), masked=related(40, 2), holdout=related(40, 3))
    assert isinstance(MEASURES["attribute_inference"].read(alone), NotApplicable)


def test_newcombe_is_that_of_statsmodels():
    for one, other in [((56, 70), (48, 80)), ((0, 10), (0, 20)), ((10, 10), (0, 20))]:
        expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")
        np.testing.assert_allclose(newcombe(one, other), expected, atol=1e-9)


def related(n: int, seed: int) -> Microdata:
    """Records of one population: five numbers, of which one is confidential."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 5)) + rng.normal(size=(n, 1))
    frame = pd.DataFrame(values, columns=["a", "b", "c", "d", "s"])
    frame["s"] += 20
    return described(frame, **dict.fromkeys("abcd", "key"), s="confidential")


REPETITIONS = {"singling_out": 40, "linkability": 40, "inference": 100}
LEAST = 0.93  # of the intervals of 95 % hold the truth
SIZES = {"as many outside": (80, 80, 80), "few outside": (120, 120, 40), "many": (60, 90, 150)}
CASES = [("singling_out", "as many outside"), ("singling_out", "many"),
         ("linkability", "few outside"), ("inference", "few outside")]  # fmt: skip


def readings(key: str, size: str, times: int, fault: float | None = None) -> list[Reading]:
    """One reading a repetition: of a fresh sample, or of the original with so much noise."""
    found = []
    n, m, h = SIZES[size]
    for seed in range(0, 3 * times, 3):
        original, masked = related(n, seed), related(m, seed + 1)
        if fault is not None:
            masked = noisy(original, fault, seed)
        beside = Comparison(original=original, masked=masked, holdout=related(h, seed + 2))
        found.append(MEASURES[key].read(beside, bare=True))
    return found


def noisy(table: Microdata, spread: float, seed: int) -> Microdata:
    frame, rng = table.frame.copy(), np.random.default_rng(seed)
    for name in table.numeric_names:
        frame[name] += spread * rng.normal(size=table.n)
    return Microdata(frame, table.schema)


def holding_nothing(found: list[Reading]) -> int:
    """How many intervals say that there may be no risk."""
    return sum(reading.interval is not None and reading.interval[0] == 0.0 for reading in found)


@pytest.mark.parametrize(("key", "size"), CASES)
def test_a_fresh_sample_gives_nobody_away(key, size):
    times = REPETITIONS[key]
    found = readings(key, size, times)
    assert holding_nothing(found) >= LEAST * times
    attack, control = (
        np.array([getattr(reading.detail, part) for reading in found])
        for part in ("attack", "control")
    )
    apart = attack - control
    assert abs(apart.mean()) <= 3.5 * apart.std(ddof=1) / np.sqrt(times)


@pytest.mark.parametrize(("key", "size"), CASES)
def test_the_original_with_noise_is_discovered(key, size):
    assert holding_nothing(readings(key, size, 12, fault=0.01)) <= 1


def test_people_replaced_by_others_are_counted_by_enumeration():
    inside, outside = np.array([1, 1, 0, 0, 1]), np.array([0, 1, 1])
    for replaced in (1, 2, 3):
        tried = [
            inside[list(stay)].sum() + outside[list(come)].sum() == 1
            for stay in combinations(range(5), 5 - replaced)
            for come in combinations(range(3), replaced)
        ]
        counted = (np.array([inside.sum()]), 5), (np.array([outside.sum()]), 3)
        assert alone_among(*counted, replaced)[0] == pytest.approx(np.mean(tried))


def test_a_condition_survives_a_tiny_change():
    """Half way to the next value: the same released rows, and the person behind them."""
    original, held = related(100, 1), related(100, 2)
    read = MEASURES["singling_out"].compute
    exact = read(Comparison(original=original, masked=original, holdout=held))
    changed = noisy(original, 1e-9, 3)
    moved = read(Comparison(original=original, masked=changed, holdout=held))
    assert exact.detail.attack == moved.detail.attack == 1.0


MEASURE = MEASURES["singling_out"]


def read(table: Microdata, k: int, holdout: Microdata | None = None) -> Reading:
    masked = mask(table, RWN(k=k), seed=1).masked
    return MEASURE.compute(Comparison(original=table, masked=masked, holdout=holdout))


def test_the_attacks_go_on_until_the_interval_is_narrow():
    """With one set of variables a row there were 48 attacks, of 768 rows of pima."""
    reading = read(load_demo("pima"), 5)
    low, high = reading.interval
    assert (high - low) / 2 <= NARROW
    detail = reading.detail
    assert detail.ended == "narrow"
    assert ENOUGH <= detail.attacks <= detail.rows < 768


def test_the_work_is_bounded(monkeypatch):
    monkeypatch.setattr(guesses, "_WORK", 1)
    reading = read(load_demo("pima"), 5)
    assert reading.detail.rows == 50
    assert reading.detail.ended == "work"


def test_rows_that_are_not_alone_are_singled_out_by_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0] * 30, "b": [5.0, 6.0] * 30, "c": [1.5, 2.5] * 30})
    table = Microdata.from_frame(frame)
    with pytest.raises(NotApplicable, match="None of 60 sets of conditions that were tried"):
        MEASURE.compute(Comparison(original=table, masked=table))


def test_the_first_unique_conditions_are_those_of_a_slow_search():
    rng = np.random.default_rng(4)
    table = rng.integers(0, 9, size=(130, 5)).astype(float)
    table[rng.random(table.shape) < 0.05] = np.nan
    ordered, rows = [True, True, False, True, True], np.arange(40)
    asked, above = edges(table, rows, ordered)
    tried = np.array(list(combinations(range(5), VARIABLES)))
    columns, firsts = list(table.T), []
    for row in rows:
        again = np.repeat(rows[row : row + 1], len(tried))
        slow = Conditions(asked[again], above[again], tried, ordered).counts(table)
        expected = int(np.argmax(slow == 1)) if (slow == 1).any() else None
        firsts.append(expected)
        assert Conditions(asked, above, tried, ordered).first_unique(columns, row) == expected
    assert None in firsts
    assert len(set(firsts)) > 3
