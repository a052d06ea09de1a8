"""What every masking method keeps, whatever it does: a later one in METHODS is held to it, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.io.demo import load_demo
from rwn_core.masking import METHODS, mask
from rwn_core.masking.table_method import TableMethod
from rwn_core.measures.attacks.posterior import link
from rwn_core.randomness import SecretKey
from tests.holding import hold

NOTHING: Mapping[str, Mapping[str, float]] = {"rwn": {"q": 0.0}, "nbrs2015": {"q": 0.0},
                                              "k_noise": {"k": 1}}  # fmt: skip
"""Where a method masks nothing, if not at strength 0."""
LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)


def described(frame: pd.DataFrame, **roles: Role) -> Microdata:
    """A table of which some variables have roles."""
    guessed = Microdata.from_frame(frame).schema
    variables = [
        Variable(name=v.name, kind=v.kind, role=roles.get(v.name, v.role), levels=v.levels)
        for v in guessed.variables
    ]
    return Microdata.from_frame(frame, Schema(variables=tuple(variables)))


def mixed(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(3),
            "age": rng.integers(18, 90, n),
            "g": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "s": rng.choice(["yes", "no"], n),
            "y": rng.exponential(size=n).round(2),
        }
    )


def holes() -> pd.DataFrame:
    frame = mixed().astype({"age": "Int64"})
    return frame.mask(np.random.default_rng(6).random(frame.shape) < 0.1)


def many_levels() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    names = [f"level {i}" for i in range(5000)]
    return pd.DataFrame({"g": names, "x": rng.normal(size=5000), "s": rng.choice(["a", "b"], 5000)})


TABLES: Mapping[str, Any] = {
    "mixed": mixed,
    "holes": holes,
    "two records": lambda: mixed(2),
    "a constant column": lambda: mixed().assign(x=1.5, y=2),
    "one level": lambda: mixed().assign(g="here", s="yes"),
    "identical records": lambda: mixed(1).loc[[0] * 9].reset_index(drop=True),
}


ROLES = {"g": Role.KEY, "age": Role.KEY, "y": Role.CONFIDENTIAL}
WITHOUT = "a column without values"  # the gate refuses it, but a bootstrap sample may have one


@cache
def table(name: str) -> Microdata:
    if name != WITHOUT:
        return described(TABLES[name](), **ROLES)
    frame = mixed()
    frame.loc[2:, "x"] = np.nan
    return described(frame, **ROLES).take(np.arange(2, 80))


@cache
def demo(name: str) -> Microdata:
    data = load_demo(name)
    if data.n <= 1000:
        return data
    rows = np.random.default_rng(1).choice(data.n, 600, replace=False)
    return data.take(np.sort(rows))


def defaults(method: str, **levers: float) -> Any:
    """A method as its defaults have it, with what any table takes where it has none."""
    return METHODS[method](**{**METHODS[method].start, **levers})


def prepared(method: str, data: Microdata) -> Any:
    """A table made ready for a method, at the standard preset."""
    try:
        made = defaults(method).prepare(data)
    except ParameterError:  # a count that a tiny table does not have
        made = defaults(method, **{METHODS[method].strength: 1}).prepare(data)
    return made.at(**made.presets["Standard"])


def alike(method: str, name: str) -> bool:
    """Whether a table has no distances, so that a method of neighborhoods refuses it."""
    return name == "identical records" and not issubclass(METHODS[method], TableMethod)


def key(number: int) -> SecretKey:
    return SecretKey.from_seed(number)


def same(one: Microdata, other: Microdata) -> None:
    pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)


def test_a_key_gives_the_same_bytes_however_it_is_drawn():
    def rule(method: str, name: str) -> None:
        data = table(name)
        other = prepared(method, data)
        first = mask(data, other.params, seed=3)
        same(mask(data, other.params, seed=3, threads=1).masked, first.masked)
        for lever in other.params.levers:  # what was asked for before changes nothing
            end = other.ranges[lever.name].high
            other.at(**{lever.name: end}).release(key(9))
        same(other.release(key(3), threads=2).masked, first.masked)

    hold(rule, METHODS, ["mixed", "holes", WITHOUT])


def test_two_keys_differ():
    def rule(method: str) -> None:
        one, other = (prepared(method, table("mixed")).release(key(i)).masked for i in (1, 2))
        assert not one.frame.equals(other.frame)

    hold(rule, METHODS)


def test_at_its_weakest_a_method_returns_the_table():
    def rule(method: str, name: str) -> None:
        if alike(method, name):
            return
        made = prepared(method, table(name))
        levers = NOTHING.get(method, {made.params.strength: 0.0})
        released = made.at(**levers).release(key(4)).masked
        same(released, table(name))

    hold(rule, METHODS, [*TABLES, WITHOUT])


def change(original: Microdata, masked: Microdata) -> float:
    """How far the values of a table moved: in standard deviations, or 1 for another category."""
    moved = []
    for variable in original.schema.released:
        if variable.kind in LEVELS:
            one, other = (table.frame[variable.name] for table in (original, masked))
            moved.append(float((one != other).mean()))
        else:
            own = original.values(variable.name)
            apart = np.abs(masked.values(variable.name) - own).mean()
            moved.append(float(apart / own.std(ddof=1)))
    return float(np.mean(moved))


def expected_changes(made: Any, strength: str, seeds: int) -> np.ndarray:
    """The change at rising strengths, shape (strengths, seeds)."""
    ends = made.ranges[strength]
    kinds = {lever.name: lever for lever in made.params.levers}
    positions = [ends.low + share * (ends.high - ends.low) for share in (0.0, 0.1, 0.3, 0.6, 1.0)]
    if kinds[strength].whole:
        positions = [round(position) for position in positions]
    return np.array(
        [
            [change(made.microdata, one.release(key(i)).masked) for i in range(seeds)]
            for one in (made.at(**{strength: position}) for position in positions)
            if not _loses(one)
        ]
    )


def _loses(made: Any) -> bool:
    """Whether records without neighbors lose their values: no small change, at a small radius."""
    neighborhoods = None if made.law is None else made.law.neighborhoods
    return neighborhoods is not None and bool((neighborhoods.sizes == 0).any())


def test_more_strength_never_lowers_the_expected_change():
    def rule(method: str) -> None:
        made = prepared(method, table("mixed"))
        found = expected_changes(made, made.params.strength, 30)
        steps = np.diff(found, axis=0)
        error = steps.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        assert np.all(steps.mean(axis=1) >= -3 * error - 1e-12), found.mean(axis=1)
        assert found[-1].mean() > found[0].mean()

    hold(rule, METHODS)


def test_hard_tables_are_masked_and_types_survive():
    def rule(method: str, name: str) -> None:
        data = table(name)
        if alike(method, name):
            return
        before = data.frame.copy(deep=True)
        masked = prepared(method, data).release(key(5)).masked
        pd.testing.assert_frame_equal(data.frame, before)
        assert masked.n == data.n
        assert masked.names == data.names
        for column in data.names:
            one, other = (str(each.frame[column].dtype) for each in (data, masked))
            lost = masked.frame[column].isna().any()
            assert one == other or (lost and one == other.lower()), column
        if issubclass(METHODS[method], TableMethod):
            assert (masked.frame.isna() == data.frame.isna()).to_numpy().all()
        for variable in data.schema.released:
            if variable.kind in LEVELS:
                known = set(data.frame[variable.name].dropna())
                assert set(masked.frame[variable.name].dropna()) <= known

    hold(rule, METHODS, [*TABLES, WITHOUT])


def test_five_thousand_levels():
    data = described(many_levels(), s=Role.KEY, x=Role.CONFIDENTIAL)

    def rule(method: str) -> None:
        masked = prepared(method, data).release(key(6)).masked
        assert set(masked.frame["g"]) <= set(data.frame["g"])

    hold(rule, [method for method in METHODS if issubclass(METHODS[method], TableMethod)])


def test_the_frame_that_the_caller_has_is_never_changed():
    def rule(method: str) -> None:
        frame = mixed()
        copy = frame.copy(deep=True)
        data = Microdata.from_frame(frame, table("mixed").schema)
        theirs = prepared(method, data).release(key(7)).masked.frame
        theirs["x"] = 0.0
        pd.testing.assert_frame_equal(frame, copy)

    hold(rule, METHODS)


def attacked(name: str) -> tuple[str, ...]:
    """Few variables, so that the attack neither always succeeds nor never."""
    return {"bodyfat": ("siri", "age"), "pima": ("pregnant", "age", "test", "insulin"),
            "cps1988": ("education", "ethnicity", "smsa", "region", "parttime")}[name]  # fmt: skip


def excess(made: Any, names: tuple[str, ...], releases: int, law: Any = None) -> float:
    """Analytic success less simulated success, in standard errors."""
    expected, counted = [], []
    for seed in range(releases):
        masked = made.release(key(seed)).masked
        links = link(law or made.law, masked, names)
        expected.append(links.best)
        counted.append(links.top1)
    apart = np.mean(expected, axis=1) - np.mean(counted, axis=1)
    by_row = np.subtract(expected, counted)
    error = max(apart.std(ddof=1) / np.sqrt(releases), by_row.std() / np.sqrt(by_row.size))
    return float(apart.mean() / max(error, 1e-9))


@pytest.mark.parametrize("name", ["bodyfat", "pima", "cps1988"])
@pytest.mark.parametrize("method", METHODS)
def test_the_attack_succeeds_as_often_as_the_law_says(method, name):
    try:
        made = prepared(method, demo(name))
    except ParameterError as refusal:
        pytest.skip(str(refusal))
    if made.law is None:
        pytest.skip("The method has no law.")
    assert abs(excess(made, attacked(name), 12)) < 3


def test_a_law_of_another_setting_does_not_say_how_often_it_succeeds():
    """The same for planted laws, of half the strength."""

    def rule(case: str) -> None:
        method, name = case.split(" on ")
        made = prepared(method, demo(name))
        strength = made.params.strength
        other = made.at(**{strength: getattr(made.params, strength) / 2})
        names = ("wage", "region") if method == "record_swapping" else attacked(name)
        assert abs(excess(made, names, 12, other.law)) > 3

    hold(rule, ["random_swapping on cps1988", "record_swapping on cps1988", "pram on cps1988",
                "additive_noise on bodyfat"])  # fmt: skip
