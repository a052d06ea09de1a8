"""Small tables named by trait, made once a session, and their releases by a setting.

``table("ties")`` is a checked table, ``frame("ties")`` a data frame of one's own, and
``release("ties", RWN(k=5))`` what a setting makes of the table under seed 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.io.demo import load_demo
from rwn_core.masking import Release, mask

Made = Callable[[int, np.random.Generator], pd.DataFrame]


def described(
    frame: pd.DataFrame,
    slices: Sequence[Sequence[str]] = (),
    unmasked: Sequence[str] = (),
    **roles: Role | str,
) -> Microdata:
    """A table of which some variables have roles, travel together or stay as they are."""
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name, role in roles.items():
        schema = schema.replace_variable(name, role=Role(role))
    for name in unmasked:
        schema = schema.replace_variable(name, masked=False)
    return data.with_schema(schema.with_slices(slices) if slices else schema)


def _mixed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers, whole numbers, categories, an order and days."""
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


def _holes(n: int, rng: np.random.Generator) -> pd.DataFrame:
    whole = _mixed(n, rng).astype({"age": "Int64"})
    return whole.mask(np.random.default_rng(6).random(whole.shape) < 0.1)


def _cloud(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two normal numbers, a whole number and a category."""
    numbers = {"x": rng.normal(size=n).round(3), "y": rng.normal(size=n).round(3)}
    return pd.DataFrame({**numbers, "n": rng.integers(0, 50, n), "g": rng.choice(list("abcd"), n)})


def _skewed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers with outliers and ties, and a category."""
    return pd.DataFrame(
        {
            "a": rng.lognormal(size=n),
            "b": rng.integers(0, 5, size=n).astype(np.float64),
            "c": rng.normal(size=n),
            "d": np.where(rng.random(n) < 0.3, "x", "y"),
        }
    )


def _ties(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers on a grid, so that many pairs lie at exactly one distance, and a category."""
    numbers = {"x": rng.integers(0, 6, n) * 1.0, "y": rng.integers(0, 4, n) * 1.0}
    return pd.DataFrame({**numbers, "g": rng.choice(["u", "v", "w"], n)})


def _people(n: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.exp(rng.normal(10, 1, n)),
            "town": rng.choice(["north", "south", "west"], n),
            "weight": rng.normal(80, 9, n),
        }
    )


def _categories(n: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame({name: rng.choice(list("abcd"), n) for name in ("u", "v", "w")})


def _homes(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Households of three, with what they share and what they do not."""
    home = np.repeat(np.arange(n // 3), 3)
    shared = {
        "hid": home + 1_000,
        "hh_income": rng.normal(30, 9, n // 3).round(1)[home],
        "region": rng.choice(["a", "b", "c"], n // 3)[home],
    }
    return pd.DataFrame({**shared, "age": rng.integers(1, 90, n)})


def _panel(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """People who are asked in four years."""
    person = np.repeat(np.arange(n // 4), 4)
    return pd.DataFrame(
        {
            "pid": person + 70_000,
            "year": np.tile([2016, 2017, 2018, 2019], n // 4),
            "birth": rng.integers(1940, 2000, n // 4)[person],
            "sex": rng.choice(["f", "m"], n // 4)[person],
            "wage": rng.lognormal(3, 1, n).round(1),
        }
    )


def _survey(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Households, a design weight, and names of variables in two languages."""
    return pd.DataFrame(
        {
            "hid": np.repeat(np.arange(n // 2), 2) + 1000,
            "design_weight": np.round(rng.uniform(0.4, 3.1, n), 4),
            "Geschlecht": rng.choice(["m", "w"], n),
            "age": rng.integers(18, 90, n),
            "hhIncome": np.round(rng.lognormal(8, 0.6, n)),
            "Krankheit": rng.choice(["a", "b", "c"], n),
            "opinion3": rng.integers(1, 6, n),
        }
    )


def _rare_flag(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """People who are alone with their keys, and a flag that nine of them have."""
    keys = {"age": rng.integers(20, 90, n), "income": np.round(np.exp(rng.normal(10, 0.7, n)))}
    return pd.DataFrame({**keys, "flag": np.where(np.arange(n) < 9, "yes", "no")})


def _following(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two keys and what follows from them: a number, a level, and a rare one that does not."""
    age = rng.integers(20, 70, n)
    height = (150 + 0.4 * age + rng.normal(0, 6, n)).round(1)
    rich = age * 2 + height + rng.normal(0, 12, n) > 265
    return pd.DataFrame(
        {
            "age": age,
            "height": height,
            "income": (age * 10 + height + rng.normal(0, 40, n)).round(),
            "sport": rng.integers(0, 5, n) + (age < 40),
            "rich": np.where(rich, "y", "n"),
            "sick": np.where(rng.permutation(n) < 8, "yes", "no"),
        }
    )


def _many_levels(n: int, rng: np.random.Generator) -> pd.DataFrame:
    levels = [f"level {i}" for i in range(n)]
    return pd.DataFrame({"g": levels, "x": rng.normal(size=n), "s": rng.choice(["a", "b"], n)})


def _every_type(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Three records of every type of column, some missing."""
    return pd.DataFrame(
        {
            "x": [1.5, np.nan, 3.0],
            "i": pd.array([1, None, 3], dtype="Int64"),
            "t": ["a", None, "b"],
            "c": pd.Categorical(["a", "b", "b"]),
            "d": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "b": [True, False, True],
        }
    )


MIXED: dict[str, Any] = {"g": "key", "age": "key", "y": "confidential"}
FOLLOWING: dict[str, Any] = {
    **dict.fromkeys(("age", "height"), "key"),
    **dict.fromkeys(("rich", "sick"), "confidential"),
    "slices": [["age", "height"]],
}
TRAITS: Mapping[str, tuple[Made, int, int, dict[str, Any]]] = {
    # who makes it, its records, its seed, its roles
    "mixed": (_mixed, 80, 5, MIXED),
    "holes": (_holes, 80, 5, MIXED),
    "two records": (_mixed, 2, 5, MIXED),
    "a constant column": (lambda n, rng: _mixed(n, rng).assign(x=1.5, y=2), 80, 5, MIXED),
    "one level": (lambda n, rng: _mixed(n, rng).assign(g="here", s="yes"), 80, 5, MIXED),
    "identical records": (
        lambda n, rng: _mixed(1, rng).loc[[0] * n].reset_index(drop=True), 9, 5, MIXED
    ),
    "many levels": (_many_levels, 5000, 7, {"s": "key", "x": "confidential"}),
    "every type": (_every_type, 3, 0, {}),
    "cloud": (_cloud, 90, 2, {}),
    "skewed": (_skewed, 50, 8, {}),
    "ties": (_ties, 90, 3, {}),
    "people": (_people, 70, 2, {}),
    "categories": (_categories, 400, 7, {"u": "key", "v": "key", "w": "confidential"}),
    "homes": (_homes, 240, 5, {"hid": "household"}),
    "homes, region shown": (_homes, 240, 5, {"hid": "household", "unmasked": ["region"]}),
    "panel": (_panel, 320, 7, {"pid": "person", "unmasked": ["sex"]}),
    "survey": (_survey, 400, 5, {}),
    "rare flag": (_rare_flag, 400, 8, {}),
    "following": (_following, 200, 0, FOLLOWING),
}  # fmt: skip


def frame(name: str, n: int | None = None) -> pd.DataFrame:
    """A data frame of a trait, to be changed at will."""
    make, records, seed, _ = TRAITS[name]
    return make(n or records, np.random.default_rng(seed))


@cache
def table(name: str, n: int | None = None) -> Microdata:
    """A table of a trait, or at most 300 records of a demo table."""
    if name in TRAITS:
        return described(frame(name, n), **TRAITS[name][3])
    data = load_demo(name)
    most = n or 300
    if data.n <= most:
        return data
    return data.take(np.sort(np.random.default_rng(1).choice(data.n, most, replace=False)))


@cache
def release(name: str, params: Any, seed: int = 1) -> Release:
    """What a setting makes of a table."""
    return mask(table(name), params, seed=seed)
