"""What CART synthesis draws, from which records, and which rows equal a real person's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.masking import CARTSynthesis
from rwn_core.randomness import SELECTION_STREAM, SecretKey, uniforms


def key(number: int) -> SecretKey:
    return SecretKey.from_seed(number)


@pytest.fixture(scope="module")
def grouped() -> Microdata:
    """In 120 records g decides the range of y, and x decides nothing."""
    rng = np.random.default_rng(2)
    g = np.repeat(["a", "b", "c"], 40)
    y = np.repeat([0.0, 100.0, 50.0], 40) + rng.choice([1.0, 2.0, 3.0], 120, p=[0.5, 0.3, 0.2])
    return Microdata.from_frame(pd.DataFrame({"g": g, "x": rng.normal(size=120), "y": y}))


def test_a_leaf_of_all_records_gives_values_by_hand(grouped):
    masked = CARTSynthesis(leaf=120).prepare(grouped).release(key(3)).masked
    for place, name in enumerate(grouped.names):
        donors = (uniforms(key(3), np.arange(120), place)[0] * 120).astype(int)
        assert masked.frame[name].tolist() == grouped.frame[name].iloc[donors].tolist()


def within_groups(releases: list[Microdata], original: Microdata) -> float:
    """The p-value of each group's shares of y against the original's, pooled."""
    frame = pd.concat([each.frame for each in releases])
    seen = pd.crosstab(frame["g"], frame["y"])
    shares = pd.crosstab(original.frame["g"], original.frame["y"], normalize="index")
    expected = shares.mul(seen.sum(axis=1), axis=0).to_numpy()
    counts = seen.reindex(columns=shares.columns, fill_value=0).to_numpy()
    if counts[expected == 0].any():
        return 0.0
    held = expected > 0
    statistic = ((counts - expected)[held] ** 2 / expected[held]).sum()
    return float(stats.chi2.sf(statistic, held.sum() - len(shares)))


def test_a_value_is_drawn_from_its_leaf_with_equal_chances(grouped):
    """The groups are the leaves of y; a tree that sees no group is rejected."""
    made = CARTSynthesis(leaf=40).prepare(grouped)
    assert within_groups([made.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    blind = CARTSynthesis(leaf=40, visit="y").prepare(grouped)  # g is then drawn from y's leaf
    assert within_groups([blind.release(key(i)).masked for i in range(60)], grouped) > 1e-4
    planted = made.with_levers(leaf=120)
    assert within_groups([planted.release(key(i)).masked for i in range(60)], grouped) < 1e-12


def test_smoothing_keeps_mean_and_variance_of_a_leaf(grouped):
    made = CARTSynthesis(leaf=120, smoothing=1.0).prepare(grouped)
    own = grouped.values("x")
    drawn = np.concatenate([made.release(key(i)).masked.values("x") for i in range(100)])
    assert not np.isin(drawn, own).any()
    error = own.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - own.mean()) < 4 * error
    assert drawn.var() == pytest.approx(own.var(), rel=0.06)  # unshrunk, it would be twice as much


def test_what_is_not_masked_stays_and_what_travels_together_has_one_donor(grouped):
    schema = grouped.schema.replace_variable("g", masked=False)
    for name in ("x", "y"):
        schema = schema.replace_variable(name, group="pair")
    masked = CARTSynthesis(leaf=5).prepare(grouped.with_schema(schema)).release(key(1)).masked
    assert masked.frame["g"].tolist() == grouped.frame["g"].tolist()
    pairs = set(zip(grouped.frame["x"], grouped.frame["y"], strict=True))
    assert set(zip(masked.frame["x"], masked.frame["y"], strict=True)) <= pairs
    assert (np.sign(masked.values("y") - 25) == np.where(grouped.frame["g"] == "a", -1, 1)).all()


def test_missing_values_are_drawn_like_values():
    frame = pd.DataFrame(
        {"g": np.repeat(["a", "b"], 50), "y": np.r_[np.arange(50.0), [np.nan] * 50]}
    )
    masked = CARTSynthesis(leaf=20).prepare(Microdata.from_frame(frame)).release(key(5)).masked
    assert (masked.frame["y"].isna() == (masked.frame["g"] == "b")).all()


def nearest_is_own(original: Microdata, masked: Microdata) -> np.ndarray:
    """Whether the nearest original of each row is the one of the same number."""
    own, shown = (table.matrix(original.numeric_names) for table in (original, masked))
    spread = own.std(axis=0)
    squared = (((shown / spread)[:, np.newaxis] - (own / spread)[np.newaxis]) ** 2).sum(axis=2)
    return squared.argmin(axis=1) == np.arange(original.n)


def test_no_row_can_be_linked_but_those_that_are_kept():
    data = rwn.load_demo("bodyfat")
    made = CARTSynthesis().prepare(data)
    linked = [nearest_is_own(data, made.release(key(i)).masked).mean() for i in range(10)]
    assert abs(np.mean(linked) - 1 / data.n) < 4 * np.sqrt(1 / data.n / (10 * data.n))
    half = made.with_levers(q=0.5).release(key(1)).masked
    kept = uniforms(key(1), np.arange(data.n), SELECTION_STREAM)[0] >= 0.5
    assert nearest_is_own(data, half)[kept].all()


@pytest.mark.parametrize(
    ("demo", "leaf", "least", "most"),
    [("pima", 5, 0.0, 0.01), ("pima", 1, 0.9, 1.0), ("cps1988", 5, 0.03, 0.2)],
)
def test_a_row_may_equal_that_of_a_real_person(demo, leaf, least, most):
    """The caution's claim: few values or a leaf of one give rows of one person back."""
    data = rwn.load_demo(demo)
    data = data.take(np.arange(min(data.n, 1_000)))
    frame = data.frame.astype(str)
    unique = set(map(tuple, frame[~frame.duplicated(keep=False)].to_numpy()))
    made = rwn.mask(data, CARTSynthesis(leaf=leaf), seed=1).masked.frame.astype(str)
    equal = np.mean([row in unique for row in map(tuple, made.to_numpy())])
    assert least <= equal <= most
    assert "may equal a real person's" in " ".join(CARTSynthesis(leaf=leaf).cautions())
