"""Shuffled numbers keep their values, and what the other variables say of them, and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import DataShuffling
from rwn_core.randomness import SecretKey, uniforms


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Two incomes that depend on age and sex, and on each other beyond these."""
    rng = np.random.default_rng(8)
    n = 800
    age, sex, shared = rng.normal(size=n), rng.integers(0, 2, n), rng.normal(size=n)
    one = 0.6 * age + 0.8 * sex + 0.6 * shared + 0.4 * rng.normal(size=n)
    two = -0.5 * age + 0.6 * shared + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame({"age": age, "sex": np.where(sex, "m", "f")})
    made = Microdata.from_frame(frame.assign(wage=np.exp(one), rent=np.exp(two)))
    schema = made.schema.replace_variable("wage", role=Role.CONFIDENTIAL)
    return made.with_schema(schema.replace_variable("rent", role=Role.CONFIDENTIAL))


def releases(data: Microdata, drawn: float, many: int = 60) -> list[pd.DataFrame]:
    made = DataShuffling(anew=drawn).prepare(data)
    return [made.release(SecretKey.from_seed(i)).masked.frame for i in range(many)]


def scores(frame: pd.DataFrame) -> np.ndarray:
    """Normal scores of wage, rent and age, with sex as a number."""
    ranks = [stats.rankdata(frame[name]) for name in ("wage", "rent", "age")]
    normal = [stats.norm.ppf((each - 0.5) / len(frame)) for each in ranks]
    return np.column_stack([*normal, frame["sex"] == "m"])


def test_values_by_hand():
    """Without other variables the values stand in the order of the random numbers."""
    data = Microdata.from_frame(pd.DataFrame({"x": [5.0, 1.0, 3.0, 2.0, 4.0]}))
    key = SecretKey.from_seed(4)
    shown = DataShuffling().prepare(data).release(key).masked.frame["x"]
    order = np.argsort(uniforms(key, np.arange(5), 0)[0])
    assert shown.to_numpy()[order].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_every_variable_keeps_its_values_and_the_others_their_rows(data):
    shown = releases(data, 1.0, 1)[0]
    for name in ("wage", "rent"):
        assert sorted(shown[name]) == sorted(data.frame[name])
        assert (shown[name] != data.frame[name]).mean() > 0.95
    assert shown[["age", "sex"]].equals(data.frame[["age", "sex"]])


@pytest.mark.parametrize("drawn", [1.0, 0.5])
def test_relations_of_scores_are_kept(data, drawn):
    own = np.corrcoef(scores(data.frame).T)
    found = np.array([np.corrcoef(scores(each).T) for each in releases(data, drawn)])
    assert np.abs(found.mean(axis=0) - own).max() < 0.02


def partial(data: Microdata, frame: pd.DataFrame) -> float:
    """The correlation of shown and own wage beyond what age and sex say of it."""
    own, shown = scores(data.frame), scores(frame)
    design = np.column_stack([np.ones(len(own)), own[:, 2:]])
    rest = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0]
            for each in (own[:, 0], shown[:, 0])]  # fmt: skip
    return float(np.corrcoef(rest)[0, 1])


def test_the_shown_value_says_of_the_own_one_what_the_others_say(data):
    """At anew = 1 nothing is left beyond them; a half that is kept is found."""
    beyond = [partial(data, each) for each in releases(data, 1.0)]
    assert abs(np.mean(beyond)) < 4 / np.sqrt(60 * data.n)
    planted = [partial(data, each) for each in releases(data, 0.95, 20)]
    assert np.mean(planted) > 4 / np.sqrt(20 * data.n)
    half = [partial(data, each) for each in releases(data, 0.5, 20)]
    assert np.mean(half) == pytest.approx(np.sqrt(0.5), abs=0.03)


def test_missing_values_stay_and_rare_levels_have_no_term():
    rng = np.random.default_rng(9)
    x = rng.normal(size=100)
    x[:30] = np.nan
    frame = pd.DataFrame({"x": x, "g": [f"level {i // 3}" for i in range(100)]})
    shown = DataShuffling().prepare(Microdata.from_frame(frame)).release(SecretKey.from_seed(1))
    assert shown.masked.frame["x"].isna().equals(frame["x"].isna())
    assert sorted(shown.masked.frame["x"].dropna()) == sorted(x[30:])
