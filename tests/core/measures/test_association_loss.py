"""The loss of relations: 0 for the original, 1 without any relation, in any table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.association import association_matrix, faded, relation_loss
from rwn_core.measures.statistics.independence import (
    CHANCE,
    _margins,
    chance_levels,
    permutation_moments,
)

LOSS = MEASURES[UTILITY]


def permuted(frame: pd.DataFrame, seed: int, names: list[str] | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = frame.copy()
    for name in frame if names is None else names:
        made[name] = frame[name].to_numpy()[rng.permutation(len(frame))]
    return made


def lost(original: pd.DataFrame, masked: pd.DataFrame) -> Reading:
    reading = LOSS.read(
        Comparison(original=Microdata.from_frame(original), masked=Microdata.from_frame(masked))
    )
    assert isinstance(reading, Reading), reading
    return reading


def survey(n: int, seed: int = 0, unrelated: int = 10) -> pd.DataFrame:
    """Twelve numbers and some categories, of which only a few pairs are related."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 12))
    numbers[:, 1] = 0.9 * numbers[:, 0] + 0.5 * numbers[:, 1]
    numbers[:, 3] = -0.8 * numbers[:, 2] + 0.6 * numbers[:, 3]
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(12)])
    frame["group"] = np.where(frame["x5"] + rng.normal(size=n) > 0, "high", "low")
    frame["kind"] = np.where(rng.random(n) < 0.8, frame["group"] + "!", "other")
    for i in range(unrelated):
        frame[f"c{i}"] = rng.choice(list("abcd"), n)
    return frame


@pytest.mark.parametrize("n", [80, 8400])
def test_a_survey_of_mostly_unrelated_pairs_reads_0_and_1_at_its_ends(n: int) -> None:
    """Finding N1: a mean over pairs that are mostly 0 called it little when all was gone."""
    frame = survey(n)
    assert lost(frame, frame).value == 0.0
    ends = [lost(frame, permuted(frame, seed)).value for seed in range(3)]
    assert np.mean(ends) > 0.93
    mean_change = MEASURES["correlation"].read(
        Comparison(
            original=Microdata.from_frame(frame),
            masked=Microdata.from_frame(permuted(frame, 0)),
        )
    )
    assert isinstance(mean_change, Reading)
    if n == 8400:
        assert mean_change.value < 0.05  # which was said to be little


def test_one_relation_that_is_gone_is_named_among_many_that_stay() -> None:
    """Finding N1: of all relations 4 percent are lost, of this one everything."""
    rng = np.random.default_rng(8)
    common = rng.normal(size=2000)
    frame = pd.DataFrame({f"f{i}": common + 0.3 * rng.normal(size=2000) for i in range(8)})
    frame["p"] = rng.normal(size=2000)
    frame["q"] = frame["p"] + 0.1 * rng.normal(size=2000)
    reading = lost(frame, permuted(frame, 2, ["q"]))
    assert reading.value < 0.1
    assert reading.detail.gone == reading.detail.faded == [["p", "q"]]
    noisy = lost(frame, frame.assign(q=frame["q"] + 0.8 * rng.normal(size=2000)))
    assert (noisy.detail.faded, noisy.detail.gone) == ([["p", "q"]], [])


def test_one_record_that_makes_a_correlation_is_no_relation() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    frame["b"] = 0.7 * frame["a"] + 0.7 * frame["b"]
    plain = lost(frame, permuted(frame, 5, ["b"]))
    rich = frame.copy()
    rich.loc[0, ["c", "d"]] = 1e4
    assert rich["c"].corr(rich["d"]) > 0.99
    reading = lost(rich, permuted(rich, 5, ["b"]))
    assert reading.value == pytest.approx(plain.value, abs=0.02)
    assert reading.detail.faded == plain.detail.faded == [["a", "b"]]


def test_a_relation_turned_round_or_invented_counts() -> None:
    rng = np.random.default_rng(4)
    a = rng.normal(size=1000)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=1000), "c": rng.normal(size=1000)})
    assert lost(frame, frame.assign(b=-frame["b"])).value == 1.0
    assert lost(frame, frame.assign(b=0.5 * frame["b"])).value == 0.0
    invented = lost(frame, frame.assign(c=a))
    assert invented.value == 1.0
    assert invented.detail.faded == invented.detail.gone == []
    assert invented.detail.invented > 0.5
    gone = lost(frame, frame.assign(b=1.0))
    assert gone.value == 1.0


def test_without_any_relation_there_is_nothing_to_lose() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    table = Microdata.from_frame(frame)
    answer = LOSS.read(Comparison(original=table, masked=table))
    assert isinstance(answer, NotApplicable)
    assert answer.reason.startswith("No two variables of the original are related beyond chance")
    one = Microdata.from_frame(frame[["a"]])
    assert isinstance(LOSS.read(Comparison(original=one, masked=one)), NotApplicable)


def projection(values: np.ndarray) -> np.ndarray:
    """The centred projection of a number or of a category, made without any formula of theirs."""
    if values.dtype.kind == "f":
        columns = values[:, None]
    else:
        columns = (values[:, None] == np.unique(values)).astype(float)
    centred = columns - columns.mean(axis=0)
    return centred @ np.linalg.pinv(centred)


def test_moments_over_permutations_are_those_of_all_permutations() -> None:
    """An independent slow reference: every one of the 720 permutations of six records."""
    skewed = np.array([0.0, 1.0, 3.0, 4.0, 7.0, 50.0])
    even, group = np.array([1.0, 2.0, 4.0, 5.0, 8.0, 9.0]), np.array([0, 0, 1, 1, 1, 2])
    pair = np.array([0, 1, 1, 1, 1, 1])
    margins = _margins(np.column_stack([skewed, even]), [group, pair])
    mean, variance, ceiling = permutation_moments(*margins)
    parts = [projection(each) for each in (skewed, even, group, pair)]
    for one, other in itertools.combinations(range(4), 2):
        shared = [
            float((parts[one] * parts[other][np.ix_(order, order)]).sum())
            for order in map(list, itertools.permutations(range(6)))
        ]
        assert mean[one, other] == pytest.approx(np.mean(shared), abs=1e-12)
        assert variance[one, other] == pytest.approx(np.var(shared), abs=1e-12)
        assert ceiling[one, other] >= max(shared) - 1e-12


def test_few_tables_of_unrelated_variables_exceed_their_levels() -> None:
    rng = np.random.default_rng(6)
    n, tries = 120, 300
    numbers = np.column_stack([rng.normal(size=n), np.exp(1.5 * rng.normal(size=n))])
    categories = [rng.integers(0, 3, n), (rng.random(n) < 0.1).astype(int), rng.integers(0, 9, n)]
    levels = chance_levels(numbers, categories)
    pairs = np.triu_indices(5, 1)
    over, planted = 0, 0
    for _ in range(tries):
        shuffled = np.column_stack([rng.permutation(column) for column in numbers.T])
        codes = [rng.permutation(each) for each in categories]
        found = np.abs(association_matrix(shuffled, codes))[pairs]
        over += bool((found > levels[pairs]).any())
        planted += bool((found > 0.6 * levels[pairs]).any())  # a level that is too low
    most = CHANCE + 3 * math.sqrt(CHANCE / tries) + 0.02
    assert over / tries < most < planted / tries


def test_by_hand() -> None:
    before = np.array([[1.0, 0.8, 0.05], [0.8, 1.0, -0.5], [0.05, -0.5, 1.0]])
    after = np.array([[1.0, 0.4, 0.3], [0.4, 1.0, -0.5], [0.3, -0.5, 1.0]])
    loss = relation_loss(before, after, np.full((3, 3), 0.1))
    # weights .7 and .4; half of the first is lost; .2 beyond chance is invented
    assert loss.value == pytest.approx((0.7 * 0.5 + 0.2) / 1.1)
    assert loss.invented == pytest.approx(0.2 / 1.1)
    assert faded(["a", "b", "c"], before, after, loss) == [["a", "b"]]
