"""True matches: by values alone, of any masked table, for every set that somebody may know."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.data.schema import Question
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES, read
from rwn_core.measures.attacks import true_match as known_sets_file
from rwn_core.measures.attacks.true_match import known_sets
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

KEYS = ("age", "weight", "height")


def grouped(table: Microdata, units: tuple[tuple[str, ...], ...]) -> Microdata:
    schema = table.schema
    for number, unit in enumerate(units):
        for name in unit:
            schema = schema.replace_variable(name, group=f"unit {number}")
    return table.with_schema(schema)


def small(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 8, n),
            "b": rng.integers(0, 6, n).astype(float),
            "c": rng.choice(["x", "y", "z"], n),
            "d": rng.integers(0, 9, n).astype(float),
            "s": rng.normal(size=n).round(1),
            "t": rng.choice(["yes", "no"], n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.04)


def confidential(frame: pd.DataFrame, names: tuple[str, ...]) -> Microdata:
    table = Microdata.from_frame(frame)
    schema = table.schema
    for name in names:
        schema = schema.replace_variable(name, role=Role.CONFIDENTIAL)
    return table.with_schema(schema)


def counted_by_hand(
    original: pd.DataFrame, masked: pd.DataFrame, known: tuple[str, ...], secret: str
) -> tuple[int, float, float]:
    """People who are alone, share found, share read truly: by looking at every pair of records."""
    spread = 0.1 * original[secret].std() if original[secret].dtype.kind == "f" else None
    people, found, read_truly = 0, 0.0, 0.0
    for person in range(len(original)):
        own = original.loc[person, list(known)]
        if own.isna().any() or (original[list(known)] == own).all(axis=1).sum() != 1:
            continue
        people += 1
        rows = masked[(masked[list(known)] == own).all(axis=1)]
        found += len(rows) > 0
        shown, truth = rows[secret].dropna(), original.loc[person, secret]
        if len(shown) and not pd.isna(truth):
            near = shown == truth if spread is None else (shown - truth).abs() <= spread + 1e-12
            read_truly += near.mean()
    return people, found / max(people, 1), read_truly / max(people, 1)


@pytest.mark.parametrize("seed", range(2))
def test_every_set_is_counted_as_by_hand(seed):
    frame = small(seed)
    original = confidential(frame, ("s", "t"))
    mixed = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    masked = frame.where(np.random.default_rng(seed).random(frame.shape) < 0.7, mixed)
    comparison = Comparison(original=original, masked=Microdata(masked, original.schema))
    stated = (("a",), ("a", "b", "c", "d"), ("a", "s"))
    sets = read("true_matches", comparison.with_key_sets(stated)).detail
    assert {frozenset(names) for names in sets.known.sets} == {
        *map(frozenset, combinations("abcd", 3)),
        *map(frozenset, stated),
    }
    for place, names in enumerate(sets.known.sets):
        others = [secret for secret in ("s", "t") if secret not in names]
        by_hand = [counted_by_hand(frame, masked, tuple(names), secret) for secret in others]
        assert sets.people[place] == by_hand[0][0]
        assert sets.found[place] == pytest.approx(by_hand[0][1])
        assert sets.read[place] == pytest.approx(max(each[2] for each in by_hand))
        assert sets.secret[place] in others


TABLE_OF_4_9 = {
    # units, epsilon, share found, share read truly
    "none": ((), 4.0, 0.0, 0.0),
    "all": (("*",), 6.0, 0.643, 0.643),
    "keys and siri": (((*KEYS, "siri"),), 4.0, 0.635, 0.635),
    "keys | all others": ((KEYS, "*"), 6.0, 0.622, 0.026),
}


def units_of(table: Microdata, units: tuple[Any, ...]) -> tuple[tuple[str, ...], ...]:
    named = {name for unit in units if unit != "*" for name in unit}
    rest = tuple(v.name for v in table.schema.released if v.name not in named)
    return tuple(rest if unit == "*" else unit for unit in units)


def deviations(shares: np.ndarray, expected: tuple[float, float], n: int) -> np.ndarray:
    """How far the means over seeds are from those of one seed, in its binomial errors."""
    p = np.array(expected)
    return np.abs(shares.mean(axis=0) - p) / np.sqrt(np.maximum(p * (1 - p), 0.01) / n)


@pytest.fixture(scope="module")
def shares(bodyfat: Microdata) -> dict[str, np.ndarray]:
    """Found and read truly by the keys over 8 seeds."""
    result = {}
    for name, (units, epsilon, *_) in TABLE_OF_4_9.items():
        table = grouped(bodyfat, units_of(bodyfat, units))
        start, rows = Comparison(original=table, masked=table), []
        for seed in range(8):
            release = mask(table, RWN(epsilon=epsilon, k=5, q=1.0), seed=seed)
            sets = read("true_matches", start.with_masked(release.masked, release.law)).detail
            assert sets.known.sets[0] == KEYS
            rows.append((sets.found[0], sets.read[0]))
        result[name] = np.array(rows)
    return result


def test_whole_rows_give_two_thirds_of_the_people_away(shares, bodyfat):
    for name, (_, _, *expected) in TABLE_OF_4_9.items():
        assert (deviations(shares[name], expected, bodyfat.n) < 3).all(), name
    expected = TABLE_OF_4_9["keys and siri"][2:]  # and another setting is not taken for it
    assert deviations(shares["none"], expected, bodyfat.n).min() > 3
    assert deviations(shares["keys | all others"], expected, bodyfat.n).max() > 3


def test_no_law_and_no_order_of_the_rows_is_needed(bodyfat):
    release = mask(grouped(bodyfat, units_of(bodyfat, ("*",))), RWN(epsilon=6.0, k=5), seed=3)
    order = np.random.default_rng(1).permutation(bodyfat.n)
    tables = (release.masked, release.masked.take(order), release.masked.take(order[:100]))
    whole, moved, part = (
        read("true_matches", Comparison(original=bodyfat, masked=each)) for each in tables
    )
    assert (whole.value, whole.baseline) == (moved.value, moved.baseline)
    assert 0 < part.value < whole.value


def test_the_keys_are_rounded_as_the_release_is(bodyfat):
    table, steps = grouped(bodyfat, units_of(bodyfat, ("*",))), given_steps(bodyfat, 0.25)
    release = mask(table, RWN(epsilon=6.0, k=5), seed=3)
    masked, law = rounded(release.masked, steps), release.law.rounded(steps)
    start = Comparison(original=table, masked=table)
    blind = read("true_matches", start.with_masked(masked))
    knowing = read("true_matches", start.with_masked(masked, law))
    assert blind.value < 0.1
    assert knowing.detail.read[knowing.detail.worst] > 0.5


def test_without_a_confidential_variable_being_found_counts():
    frame = pd.DataFrame({"a": np.arange(50.0), "b": np.arange(50.0)[::-1]})
    table = Microdata.from_frame(frame)
    half = table.take(np.arange(25))
    found = read("true_matches", Comparison(original=table, masked=half))
    assert (found.value, found.detail.secret[found.detail.worst]) == (0.5, None)
    assert 0 < found.baseline < 0.02


def test_a_few_people_decide_only_where_no_set_has_more():
    n = 60
    frame = pd.DataFrame(
        {"a": np.arange(n) % 30 * 1.0, "b": [0.0, 1.0] * 30, "s": np.arange(n) * 1.0}
    )
    frame.loc[0, "b"] = 7.0  # the only person who is alone with b
    masked = frame.assign(a=-1.0)
    question = Question(response="s", predictors=("a",))
    tables = {"original": Microdata.from_frame(frame), "masked": Microdata.from_frame(masked)}
    comparison = Comparison(**tables, question=question).with_key_sets([("b",), ("a", "b")])
    sets = read("true_matches", comparison).detail
    assert dict(zip(sets.known.sets, sets.read.tolist(), strict=True))[("b",)] == 1.0
    # two people are too few, too; of 60 rows one is right by chance: nothing else is within 5 %
    assert read("true_matches", comparison).value == pytest.approx(1 - 1 / 60)
    frame["c"] = np.arange(n) * 2.0
    more = Comparison(
        original=Microdata.from_frame(frame),
        masked=Microdata.from_frame(frame.assign(a=-1.0, c=-1.0)),
        question=question,
    ).with_key_sets([("b",)])
    found = read("true_matches", more)
    assert found.value == 0.0
    few = found.detail.few
    assert found.detail.known.sets[few] == ("b",)
    assert found.detail.people[few] == 1
    assert found.detail.shares[few] == pytest.approx(59 / 60)
    said = MEASURES["true_matches"].sentence(found, n)
    assert said.endswith("It is 98 % of the one person who is alone with certain b.")


def test_the_search_says_what_it_leaves_out(monkeypatch):
    names = tuple("abcdefgh")
    monkeypatch.setattr(known_sets_file, "WORK", 100)
    found = known_sets([("h", "a")], names, [("f", "g", "h"), ("b", "c", "d", "s")], ("s",), 10)
    assert (len(found.sets), found.stated, found.searched, found.possible) == (11, 1, 10, 56)
    # what shares its donor with the secret, then what shares a donor, then the rest
    assert found.sets[:4] == (("h", "a"), ("b", "c", "d"), ("f", "g", "h"), ("a", "b", "c"))
    assert found == known_sets(
        [("h", "a")], names, [("f", "g", "h"), ("b", "c", "d", "s")], ("s",), 10
    )


def test_a_set_of_unknown_variables_is_refused(bodyfat):
    comparison = Comparison(original=bodyfat, masked=bodyfat)
    for wrong in ([("age", "nothing")], [()]):
        with pytest.raises(ParameterError, match="must name released variables"):
            comparison.with_key_sets(wrong)


def _of_a_small_group(people: int, shown: int) -> Reading:
    """Of 300 who are alone with c some are with b; the release shows s of a few of those."""
    n = 300
    frame = pd.DataFrame(
        {"b": np.maximum(np.arange(n) - n + people, -1.0), "c": np.arange(n) * 1.0}
    )
    frame["s"] = np.arange(n) * 1.0
    masked = frame.assign(b=-2.0, c=-2.0)
    masked.loc[n - shown :, "b"] = frame["b"]
    question = Question(response="s", predictors=("b",))
    tables = {"original": Microdata.from_frame(frame), "masked": Microdata.from_frame(masked)}
    comparison = Comparison(**tables, question=question).with_key_sets([("b",), ("c",)])
    found = read("true_matches", comparison)
    assert isinstance(found, Reading)
    return found


def test_of_a_small_group_counts_what_luck_hardly_explains():
    found = _of_a_small_group(people=40, shown=10)
    detail, worst = found.detail, found.detail.worst
    assert binom.sf(9, 40, found.value + detail.chance[worst]) == pytest.approx(0.025)
    assert detail.shares[worst] == pytest.approx(10 / 40 - detail.chance[worst])
    enough = _of_a_small_group(people=100, shown=10)
    assert enough.value == enough.detail.shares[enough.detail.worst]
    assert enough.detail.few is None
    fewest = _of_a_small_group(people=19, shown=19)
    assert (fewest.value, fewest.detail.people[fewest.detail.few]) == (0.0, 19)
