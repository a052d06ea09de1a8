"""Which way of relating slices leaves most of the use, by table and policy.

``python -m benchmarks ways [--seconds S] [--tables NAME ...] [--ways WAY ...]`` looks, for each
table, policy and way, at the usual slices of RWN as published and of balanced soft RWN within so
many processor seconds, and prints the best: whether several releases keep all limits, the three
shares that are left, the worst slope in standard errors, and the limits. The policies are the
usual one, and the same with 2 % and 10 % of worst-case linkage.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import say
from rwn_core.parallel import clock
from rwn_core.tuning.recommend import look_at_ways
from rwn_core.tuning.strength import TableSearch
from rwn_core.tuning.ways import WAYS

MOST = 2_000
KERNELS: dict[str, Any] = {
    "epsilon, k": rwn.RWN(epsilon=0.0, k=50),
    "epsilon, k, balanced": rwn.RWN(epsilon=0.0, k=50, balance=1.0),
    "soft": rwn.SoftRWN(balance=1.0),
}


def some(name: str) -> rwn.Microdata:
    """A demo table, or random records of a larger one."""
    data = rwn.load_demo(name)
    if data.n <= MOST:
        return data
    return data.take(np.sort(np.random.default_rng(1).permutation(data.n)[:MOST]))


def described(
    frame: pd.DataFrame, keys: str, confidential: str, person: str | None = None
) -> rwn.Microdata:
    """A table with its roles."""
    data = rwn.Microdata.from_frame(frame)
    schema = data.schema
    roles = dict.fromkeys(keys.split(), "key") | dict.fromkeys(confidential.split(), "confidential")
    if person is not None:
        roles[person] = "person"
    for name, role in roles.items():
        schema = schema.replace_variable(name, role=rwn.Role(role))
    return data.with_schema(schema)


def heavy_tail(rng: np.random.Generator) -> rwn.Microdata:
    """Costs with zeros that follow age, visits and a score of health."""
    n = 600
    age = rng.integers(18, 85, n)
    health = rng.normal(size=n)
    visits = rng.poisson(np.exp(0.4 * health + age / 90))
    some_cost = rng.random(n) < 0.7
    cost = np.where(some_cost, np.exp(5 + health + 0.01 * age + rng.normal(size=n)), 0.0)
    frame = pd.DataFrame({"age": age, "health": health, "visits": visits, "cost": cost})
    return described(frame, "age visits", "cost")


def rare_flag(rng: np.random.Generator) -> rwn.Microdata:
    """A diagnosis of 4 % that follows age and weight."""
    n = 600
    age = rng.integers(18, 85, n)
    weight = rng.normal(75, 14, n).round(1)
    height = rng.normal(170, 9, n).round()
    chance = 1 / (1 + np.exp(8 - 0.05 * age - 0.025 * weight))
    flag = (rng.random(n) < chance).astype(int)
    frame = pd.DataFrame({"age": age, "weight": weight, "height": height, "ill": flag})
    return described(frame, "age height", "ill")


def survey(rng: np.random.Generator, n: int = 800) -> rwn.Microdata:
    """Twenty items of two scales, three keys and three confidential answers."""
    two = rng.normal(size=(n, 2))
    items = {
        f"item{number:02d}": np.clip(np.round(3 + two[:, number % 2] + rng.normal(size=n)), 1, 5)
        for number in range(20)
    }
    age = rng.integers(18, 80, n)
    keys = {"age": age, "sex": rng.choice(["f", "m"], n), "region": rng.choice(list("abcdef"), n)}
    secrets = {
        "income": np.round(np.exp(7.5 + 0.3 * two[:, 0] + 0.4 * rng.normal(size=n))),
        "debt": np.round(np.exp(6 + 0.5 * two[:, 1] + 0.8 * rng.normal(size=n))),
        "mood": np.round(50 + 10 * two[:, 1] + 5 * rng.normal(size=n)),
    }
    frame = pd.DataFrame(keys | items | secrets)
    return described(frame, "age sex region", "income debt mood")


def five_rows(rng: np.random.Generator) -> rwn.Microdata:
    """Five visits of 120 people, whose pressure follows age and weight."""
    person = np.repeat(np.arange(120), 5)
    age = rng.integers(30, 80, 120)[person]
    weight = (rng.normal(78, 12, 120)[person] + rng.normal(size=600)).round(1)
    pressure = (90 + 0.4 * age + 0.3 * weight + rng.normal(0, 8, 600)).round()
    frame = pd.DataFrame({"pid": person, "age": age, "weight": weight, "sbp": pressure})
    return described(frame, "age weight", "sbp", person="pid")


def school(rng: np.random.Generator) -> rwn.Microdata:
    """Two marks and a confidential scale of 500 pupils."""
    n = 500
    able = rng.normal(size=n)
    math_mark = np.round(60 + 12 * able + 8 * rng.normal(size=n))
    reading = np.round(62 + 10 * able + 9 * rng.normal(size=n))
    anxiety = np.round(40 - 6 * able + 7 * rng.normal(size=n))
    age = rng.integers(10, 16, n)
    sex = rng.choice(["girl", "boy"], n)
    frame = pd.DataFrame(
        {"age": age, "sex": sex, "math": math_mark, "reading": reading, "anxiety": anxiety}
    )
    return described(frame, "age sex math", "anxiety")


def trial(rng: np.random.Generator) -> rwn.Microdata:
    """A trial of two arms with a product of arm and age."""
    n = 400
    age = rng.integers(40, 80, n)
    arm = rng.integers(0, 2, n)
    before = rng.normal(150, 15, n).round()
    after = (30 + 0.8 * before - 0.15 * arm * age + rng.normal(0, 8, n)).round()
    frame = pd.DataFrame({"age": age, "arm": arm, "before": before, "after": after})
    return described(frame, "age before", "after")


def wages(rng: np.random.Generator) -> rwn.Microdata:
    """Wages of 700 employees in nine trades, larger for men."""
    n = 700
    years = rng.integers(0, 40, n)
    grade = rng.integers(1, 6, n)
    sex = rng.choice(["f", "m"], n)
    trade = rng.choice(list("ABCDEFGHI"), n)
    log = 7 + 0.02 * years + 0.15 * grade + 0.1 * (sex == "m") + 0.2 * rng.normal(size=n)
    frame = pd.DataFrame(
        {"years": years, "grade": grade, "sex": sex, "trade": trade, "wage": np.exp(log).round()}
    )
    return described(frame, "years grade sex trade", "wage")


def counts(rng: np.random.Generator) -> rwn.Microdata:
    """Days of illness that follow age and stress, mostly few."""
    n = 500
    age = rng.integers(20, 65, n)
    stress = rng.integers(0, 11, n)
    children = rng.poisson(1.2, n)
    days = rng.poisson(np.exp(0.2 + 0.15 * stress + 0.01 * age))
    frame = pd.DataFrame({"age": age, "children": children, "stress": stress, "days": days})
    return described(frame, "age children", "days")


MADE: dict[str, Callable[[np.random.Generator], rwn.Microdata]] = {
    "heavy tail": heavy_tail,
    "rare flag": rare_flag,
    "survey": survey,
    "five rows": five_rows,
    "school": school,
    "trial": trial,
    "wages": wages,
    "counts": counts,
}
DEMOS = ("bodyfat", "pima", "cps1988", "randhie")


def table(name: str) -> rwn.Microdata:
    """A table by its name."""
    if name in DEMOS:
        return some(name)
    return MADE[name](np.random.default_rng(7))


def policies() -> dict[str, rwn.Policy]:
    """The usual policy, and the same with other limits on worst-case linkage."""
    usual = rwn.Policy()
    made = {"usual": usual}
    for most in (0.02, 0.10):
        limits = tuple(
            replace(each, at_most=most) if each.measure == "bayes_linkage" else each
            for each in usual.limits
        )
        made[f"{most:.0%}"] = rwn.Policy(limits=limits)
    return made


def best(data: rwn.Microdata, policy: rwn.Policy, way: str, kernel: str, seconds: float) -> str:
    """Say what the best setting of a way keeps and leaves."""
    judged, _ = policy.judgeable(data)
    begin = clock.processor_seconds()
    until = begin + seconds
    search = TableSearch(microdata=data, policy=judged, until=until, stays=frozenset({"rwn"}))
    look_at_ways(search, data, {way: KERNELS[kernel]})
    took = clock.processor_seconds() - begin
    if not search.tried:
        return f"nothing in time                                                     {took:5.1f}"
    found = search.best[0]
    left = found.left
    if left is None:
        return f"no answer                                                           {took:5.1f}"
    fits = [each for each in left.regressions if each.left is not None]
    least = min((each.left for each in fits), default=math.nan)
    slope = max((each.worst_slope or math.nan for each in fits), default=math.nan)
    limits = " ".join(f"{found.verdict.shares.get(key, math.nan):5.2f}" for key in policy.measures)
    kept = "kept  " if found.kept and found.releases > 1 else "one   " if found.kept else "broken"
    shares = f"{left.relations or math.nan:5.2f} {least:5.2f} {left.others or math.nan:5.2f}"
    return f"{kept} {shares} {slope:6.1f}   {limits}   {took:5.1f} {search.looked:3d}"


def main() -> None:
    """Print a line for each table, policy, kernel and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--tables", nargs="*", default=[*DEMOS, *MADE])
    parser.add_argument("--policies", nargs="*", default=["usual"])
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    given = parser.parse_args()
    say(
        "table, policy, kernel, way: kept; left of secrets' relations, regression, others; slope in"
    )
    say(
        "SE; shares of the limits on worst case, gain, true matches, linked over half; CPU s; tried"
    )
    for name in given.tables:
        data = table(name)
        for title in given.policies:
            for kernel in given.kernels:
                for way in given.ways:
                    answer = best(data, policies()[title], way, kernel, given.seconds)
                    say(f"{name:10s} {title:5s} {kernel:20s} {way:9s} {answer}")


if __name__ == "__main__":
    main()
