"""Tables whose rows belong together though nothing says so, and harmless ones, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

Frames = dict[str, pd.DataFrame]
Rng = np.random.Generator


def person_effect(rng: Rng, group: np.ndarray, share: float) -> np.ndarray:
    """Normal numbers of variance 1, of which a share lies between groups."""
    own = rng.normal(size=int(group.max()) + 1)[group]
    return np.sqrt(share) * own + np.sqrt(1 - share) * rng.normal(size=len(group))


def autoregressive(rng: Rng, n: int, next_one: float) -> np.ndarray:
    """A series of variance 1 with this correlation of one number with the next one."""
    noise = rng.normal(size=n)
    values = noise.copy()
    for row in range(1, n):
        values[row] = next_one * values[row - 1] + np.sqrt(1 - next_one**2) * noise[row]
    return values


def shuffled(frame: pd.DataFrame, rng: Rng) -> pd.DataFrame:
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


def panel(rng: Rng) -> pd.DataFrame:
    """Forty people whose height is the same in ten rows each."""
    person = np.repeat(np.arange(40), 10)
    return pd.DataFrame(
        {
            "height": np.round(rng.normal(172, 9, 40), 1)[person],
            "weight": np.round(70 + 9 * person_effect(rng, person, 0.6), 1),
            "pulse": np.round(70 + 8 * rng.normal(size=400)),
            "systolic": np.round(120 + 12 * person_effect(rng, person, 0.4)),
            "glucose": np.round(90 + 10 * rng.normal(size=400)),
        }
    )


def visits(rng: Rng) -> pd.DataFrame:
    """Sixty people of five rows each, with a category that numbers them."""
    person = np.repeat(np.arange(60), 5)
    codes = np.array([f"p{number:03d}" for number in rng.permutation(900)[:60]])
    return pd.DataFrame(
        {
            "code": codes[person],
            "x": person_effect(rng, person, 0.5).round(2),
            "y": person_effect(rng, person, 0.4).round(2),
            "z": rng.normal(size=300).round(2),
        }
    )


def households(rng: Rng) -> pd.DataFrame:
    """Households of one to five people with one income and one region."""
    home = np.repeat(np.arange(250), rng.integers(1, 6, 250))
    n = len(home)
    return pd.DataFrame(
        {
            "hinc": np.round(np.exp(rng.normal(10, 0.6, 250)))[home],
            "region": rng.choice(list("ABCDEFGH"), 250)[home],
            "age": np.clip(np.round(40 + 18 * person_effect(rng, home, 0.4)), 0, 95),
            "sex": rng.integers(0, 2, n),
            "years": np.clip(np.round(12 + 3 * person_effect(rng, home, 0.4)), 5, 20),
            "health": np.round(person_effect(rng, home, 0.4), 1),
        }
    )


def classes(rng: Rng) -> pd.DataFrame:
    """Thirty school classes of 25 pupils."""
    group = np.repeat(np.arange(30), 25)
    n = len(group)
    return pd.DataFrame(
        {
            "class": (rng.permutation(30) + 1)[group],
            "math": np.round(500 + 100 * person_effect(rng, group, 0.2)),
            "reading": np.round(500 + 100 * person_effect(rng, group, 0.2)),
            "ses": person_effect(rng, group, 0.25).round(1),
            "sex": rng.integers(0, 2, n),
            "age": np.round(15 + 0.6 * rng.normal(size=n), 1),
        }
    )


def trial(rng: Rng) -> pd.DataFrame:
    """Thirty people of a trial in eight weeks, with sex and year of birth."""
    person = np.repeat(np.arange(30), 8)
    return pd.DataFrame(
        {
            "subject": np.arange(1, 31)[person],
            "week": np.tile(np.arange(8), 30),
            "sex": rng.integers(0, 2, 30)[person],
            "born": rng.integers(1930, 2000, 30)[person],
            "score": np.round(20 + 5 * person_effect(rng, person, 0.5)),
            "side": rng.integers(0, 2, 240),
        }
    )


def pairs(rng: Rng) -> pd.DataFrame:
    """A hundred and fifty people with two rows each."""
    person = np.repeat(np.arange(150), 2)
    return pd.DataFrame(
        {
            "nr": rng.permutation(5000)[:150][person],
            "sex": rng.integers(0, 2, 150)[person],
            "age": rng.integers(18, 90, 150)[person],
            "place": rng.choice(list("ABCDEF"), 150)[person],
            "cost": np.exp(rng.normal(6, 1, 300)).round(2),
            "days": rng.poisson(5, 300),
        }
    )


def days(rng: Rng) -> pd.DataFrame:
    """Two hundred days of temperature and load."""
    return pd.DataFrame(
        {
            "date": pd.date_range("2021-01-01", periods=200),
            "temperature": (10 + 5 * autoregressive(rng, 200, 0.7)).round(1),
            "load": (100 + 20 * autoregressive(rng, 200, 0.7)).round(),
        }
    )


def years(rng: Rng) -> pd.DataFrame:
    """Two hundred years of three prices."""
    columns = {name: autoregressive(rng, 200, 0.8).round(3) for name in ("wheat", "rye", "oats")}
    return pd.DataFrame({"year": np.arange(1820, 2020), **columns})


def blocks(seed: int = 1) -> Frames:
    """Tables with rows of persons, households, clusters and series that nothing declares."""
    rng = np.random.default_rng(seed)
    made: dict[str, Callable[[Rng], pd.DataFrame]] = {
        "panel": panel,
        "visits": visits,
        "households": households,
        "classes": classes,
        "trial": trial,
        "pairs": pairs,
        "days": days,
        "years": years,
    }
    found: Frames = {}
    for name, make in made.items():
        frame = make(rng)
        found[name] = frame
        found[f"{name}, shuffled"] = shuffled(frame, rng)
    found["panel, nothing but height"] = found["panel"].assign(
        weight=rng.normal(size=400), systolic=rng.normal(size=400)
    )
    found["years without the year"] = found["years"].drop(columns="year")
    found["trial without its numbers"] = found["trial"].drop(columns="subject")
    return found


def survey(rng: Rng, n: int) -> pd.DataFrame:
    """People with a region that explains a little of their income."""
    age = rng.integers(18, 90, n)
    years = np.clip(np.round(14 - 0.05 * (age - 50) + 2.5 * rng.normal(size=n)), 5, 20)
    region = rng.choice(8, n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    effect = 0.15 * rng.normal(size=8)
    log = 9 + 0.08 * years + 0.03 * age - 0.0003 * age**2 + effect[region]
    return pd.DataFrame(
        {
            "region": np.array(list("ABCDEFGH"))[region],
            "age": age,
            "sex": rng.choice(["m", "f"], n),
            "education": years.astype(int),
            "income": np.exp(log + 0.5 * rng.normal(size=n)).round(-2),
            "hours": np.clip(np.round(38 + 6 * rng.normal(size=n)), 5, 70),
            "children": rng.poisson(1.2, n),
            "health": np.clip(np.round(4 - 0.02 * age + rng.normal(size=n)), 1, 5),
        }
    )


def harmless(seed: int = 1, n: int = 300) -> Frames:
    """Tables of separate people, sorted or not, with categories, dummies and heavy tails."""
    rng = np.random.default_rng(seed)
    people = survey(rng, n)
    trait = rng.normal(size=n)
    mass = np.round(25 + 4 * rng.normal(size=n), 1)
    height = np.round(172 + 9 * rng.normal(size=n))
    body = {"height": height, "weight": np.round(mass * (height / 100) ** 2, 1), "bmi": mass}
    town = rng.choice(40, n, p=rng.dirichlet(np.ones(40)))
    return {
        "normal": pd.DataFrame(rng.normal(size=(n, 8)).round(1), columns=list("abcdefgh")),
        "heavy tails": pd.DataFrame(
            rng.standard_cauchy(size=(n, 6)).round(1), columns=list("abcdef")
        ),
        "dummies": pd.DataFrame(rng.integers(0, 2, (n, 10)), columns=list("abcdefghij")),
        "answers from 1 to 5": pd.DataFrame(
            {
                name: np.clip(np.round(3 + 0.7 * trait + 0.8 * rng.normal(size=n)), 1, 5)
                for name in "abcdefghijkl"
            }
        ),
        "survey": people,
        "survey by age": people.sort_values("age", kind="stable").reset_index(drop=True),
        "survey by income": people.sort_values("income", kind="stable").reset_index(drop=True),
        "survey by region and age": people.sort_values(["region", "age"]).reset_index(drop=True),
        "survey by a region that is gone": people.sort_values("region", kind="stable")
        .drop(columns="region")
        .reset_index(drop=True),
        "survey of towns": people.assign(
            town=[f"t{number}" for number in town], state=[f"s{number // 5}" for number in town]
        ),
        "body": pd.DataFrame({**body, "pulse": np.round(70 + 8 * rng.normal(size=n))}),
        "derived": pd.DataFrame(
            {
                "born": 2020 - people["age"],
                "age": people["age"],
                "square": people["age"] ** 2,
                "class": pd.cut(people["age"], [0, 30, 45, 60, 99]).astype(str),
                "x": rng.normal(size=n).round(2),
            }
        ),
        "numbered": pd.DataFrame(
            {"id": np.arange(1, n + 1), "a": rng.normal(size=n), "b": rng.normal(size=n)}
        ),
    }
