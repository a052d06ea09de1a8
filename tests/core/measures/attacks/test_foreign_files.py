"""Files of any program, whose law nobody knows: what was forgotten is found, and luck is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import RWN, AdditiveNoise, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.red_team import attack, merge, nearest, prediction
from rwn_core.measures.attacks.red_team.files import intruder_files
from rwn_core.measures.attacks.red_team.finding import count_names
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from tests.attacked_tables import described, released


def compared(original: pd.DataFrame, masked: pd.DataFrame) -> Comparison:
    data = Microdata.from_frame(original)
    return Comparison(original=data, masked=Microdata(masked, data.schema))


def linked(original: pd.DataFrame, masked: pd.DataFrame) -> float:
    found = attack(compared(original, masked))
    return max(each.score for each in found if each.kind == "identity")


def noisy(frame: pd.DataFrame, names: str, seed: int = 5, size: float = 1.5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = frame.copy()
    for name in names:
        made[name] = made[name] + rng.normal(0, size * float(made[name].std()), len(made))
    return made


def numbers(n: int = 300, seed: int = 0) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(n, 6)) * 10 + 50
    return pd.DataFrame(values, columns=list("abcdef"))


def test_one_forgotten_variable_links_every_row() -> None:
    frame = numbers()
    masked = noisy(frame, "bcdef")
    assert linked(frame, masked) > 0.99
    mahalanobis = MEASURES["mahalanobis_linkage"].read(compared(frame, masked), bare=True)
    assert isinstance(mahalanobis, Reading)
    assert mahalanobis.value > 0.99  # nor does the exact distance drop it as flat
    team = MEASURES["red_team"].read(compared(frame, masked), bare=True)
    assert "at least" in MEASURES["red_team"].sentence(team, 300)


def test_a_common_shift_of_an_unchanged_direction_is_learned() -> None:
    frame = numbers(seed=3)
    masked = noisy(frame, "bcdef").assign(a=frame["a"] + 7)
    mahalanobis = MEASURES["mahalanobis_linkage"].read(compared(frame, masked), bare=True)
    assert isinstance(mahalanobis, Reading)
    assert mahalanobis.value > 0.99


def test_rounding_and_a_change_of_units_hide_no_variable() -> None:
    frame = numbers(seed=1)
    rounded = noisy(frame, "bcdef").assign(a=frame["a"].round(1))
    assert linked(frame, rounded) > 0.6
    scaled = noisy(frame, "bcdef").assign(a=frame["a"] * 1.1 + 3)
    assert linked(frame, scaled) > 0.9


def test_coarse_forgotten_variables_are_put_together() -> None:
    rng = np.random.default_rng(2)
    frame = numbers().assign(
        a=rng.choice(list("uvwxyz"), 300), b=rng.choice(list("uvwxyz"), 300),
        c=rng.integers(0, 12, 300),
    )  # fmt: skip
    masked = noisy(frame, "def")
    assert linked(frame, masked) > 0.6
    found = list(merge.links(intruder_files(compared(frame, masked))))
    sets = {frozenset(each.words.removeprefix("a merge on ").split(" + ")) for each in found}
    assert {frozenset(name) for name in "abcdef"} <= sets  # begins with each alone
    assert frozenset("abc") in sets
    alone = max(each.score for each in found if " + " not in each.words)
    assert max(each.score for each in found) > 3 * alone


def test_dates_and_cells_that_stayed_are_used() -> None:
    rng = np.random.default_rng(4)
    frame = numbers(seed=4).drop(columns=["e", "f"])
    frame["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, 300), "D")
    masked = noisy(frame, "abcd")
    masked.loc[::2, "born"] = rng.permutation(masked.loc[::2, "born"].to_numpy())
    assert 0.4 < linked(frame, masked) < 0.7  # half of the dates stayed


def test_repeated_rows_of_a_panel_share_their_links() -> None:
    one = numbers(60, seed=6)
    frame = pd.concat([one] * 5, ignore_index=True)
    # five equal rows of a person: the row is found with one chance in five
    assert 0.15 < linked(frame, noisy(frame, "bcdef")) < 0.3


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_is_left_nothing_is_linked(seed: int) -> None:
    frame, rng = numbers(seed=seed), np.random.default_rng(seed)
    shuffled = frame.apply(lambda column: rng.permutation(column.to_numpy()))
    assert linked(frame, shuffled) < 0.05


def noise_of_100_deviations(seed: int, categories: bool, n: int = 300) -> Comparison:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 2))
    score = 2 * values[:, 0] + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame(values * 10 + 50, columns=["a", "b"])
    frame["s"] = np.where(score > 0, "yes", "no") if categories else score
    return released(described(frame, ["a", "b"], ["s"]), AdditiveNoise(size=100.0), seed=seed)


@pytest.mark.parametrize("categories", [True, False])
def test_luck_of_one_coefficient_vector_breaks_no_limit(categories: bool) -> None:
    """Of 40 releases without any relation at most 5 % read above the usual limit of .05."""
    beyond = 0
    for seed in range(40):
        found = attack(noise_of_100_deviations(seed, categories))
        beyond += any(each.score > 0.05 for each in found if each.kind == "attribute")
    assert beyond <= 2


def test_without_the_guard_luck_would_break_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the guard would hold for nothing."""
    monkeypatch.setattr(prediction, "_relates", lambda *_: True)
    monkeypatch.setattr(nearest, "count_names", lambda *a, weights, **how: count_names(*a, **how))
    beyond = 0
    for seed in range(12):
        found = attack(noise_of_100_deviations(seed, True, n=600))
        beyond += any(each.score > 0.05 for each in found if each.kind == "attribute")
    assert beyond > 2


def coin(weight: float, n: int = 500) -> Comparison:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) * 10 + 50, columns=list("abc"))
    frame["coin"] = rng.choice(["heads", "tails"], n)
    data = described(frame, list("abc"), ["coin"], fixed=[] if weight else ["coin"])
    release = mask(data, RWN(epsilon=0, k=20), seed=3)
    return Comparison(original=data, masked=release.masked, law=release.law)


def test_a_forest_reads_a_fair_coin_that_chose_the_neighborhoods() -> None:
    def best(comparison: Comparison, words: str) -> float:
        found = [each for each in attack(comparison) if words in each.words]
        return max((each.score for each in found if each.kind == "attribute"), default=0.0)

    assert best(coin(1.0), "forest") > 0.1
    assert best(coin(1.0), "regression") < 0.05  # which is why a forest is among the models
    assert best(coin(0.0), "forest") < 0.05


def test_a_role_is_all_that_makes_a_secret() -> None:
    comparison = coin(1.0)
    schema = comparison.original.schema.replace_variable("coin", role=Role.OTHER)
    found = attack(comparison.with_original(comparison.original.with_schema(schema)))
    assert {each.kind for each in found} == {"identity"}
