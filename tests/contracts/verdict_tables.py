"""Tables on which every entrance has to give one verdict: each has a trait that once split them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

import rwn_core as rwn
from tests import tables

ROLES = {"age": rwn.Role.KEY, "size": rwn.Role.KEY, "ill": rwn.Role.CONFIDENTIAL}
Make = Callable[[], rwn.Microdata]


def frame(n: int = 104) -> pd.DataFrame:
    """Two related numbers, another one, and a category."""
    rng = np.random.default_rng(7)
    age = rng.integers(20, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "size": rng.normal(170, 9, n).round(1),
            "pay": (20 * age + rng.normal(0, 200, n)).round(0),
            "ill": np.where(rng.random(n) < 0.4, "yes", "no"),
        }
    )


def described(table: pd.DataFrame, roles: dict[str, rwn.Role] | None = None) -> rwn.Microdata:
    """The table with the roles of its variables by name."""
    return tables.described(table, **(ROLES if roles is None else roles))


def with_roles() -> rwn.Microdata:
    return described(frame())


def without_roles() -> rwn.Microdata:
    """Nothing is stated of its variables, and their names say nothing."""
    return described(frame().set_axis(list("abcd"), axis=1), {})


def rare_flag() -> rwn.Microdata:
    table = frame()
    return described(table.assign(ill=np.where(np.arange(len(table)) % 40 == 3, "yes", "no")))


def coarse() -> rwn.Microdata:
    """Some fifty cells of people: the unmasked file itself links few, which breaks few limits."""
    table = frame()
    coarser = {"age": table["age"] // 10, "size": table["size"] // 10}
    return described(table.assign(**coarser)[["age", "size", "ill"]])


def heavy_tail() -> rwn.Microdata:
    table = frame()
    return described(table.assign(pay=np.exp(table["pay"] / 200).round(1)))


def panel() -> rwn.Microdata:
    """Each person twice, in rows that nothing declares to be one person's."""
    table = frame(52)
    later = table.assign(age=table["age"] + 2, pay=table["pay"] * 1.1)
    return described(pd.concat([table, later], ignore_index=True))


def households() -> rwn.Microdata:
    table = frame()
    home = np.arange(len(table)) // 2
    return described(table.assign(home=home), {**ROLES, "home": rwn.Role.HOUSEHOLD})


def one_number() -> rwn.Microdata:
    return described(frame()[["pay"]].set_axis(["a"], axis=1), {})


def constant() -> rwn.Microdata:
    return described(frame().assign(same=1.5))


def far_people() -> rwn.Microdata:
    table = frame()
    return described(table.assign(size=table["size"].where(np.arange(len(table)) > 2, 400.0)))


def derived() -> rwn.Microdata:
    """A column is twice another one, and one is a sum."""
    table = frame()
    return described(table.assign(double=2 * table["pay"], sum=table["age"] + table["size"]))


TABLES: tuple[Make, ...] = (
    with_roles,
    without_roles,
    rare_flag,
    coarse,
    heavy_tail,
    panel,
    households,
    one_number,
    constant,
    far_people,
    derived,
)
