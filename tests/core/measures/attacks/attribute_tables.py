"""Tables on which a confidential value is disclosed, or is not, and slow references for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Reading, Role
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.masking import Method, mask


def table(
    frame: pd.DataFrame,
    keys: Sequence[str],
    secrets: Sequence[str],
    *,
    group: Sequence[str] = (),
    light: Sequence[str] = (),
    fixed: Sequence[str] = (),
) -> rwn.Microdata:
    """A table with these keys and secrets; some travel together, weigh nothing or stay."""
    data = rwn.Microdata.from_frame(frame)
    schema = data.schema
    for name in frame:
        role = Role.KEY if name in keys else Role.OTHER
        given: dict[str, Any] = {"role": Role.CONFIDENTIAL if name in secrets else role}
        given |= {"group": "together"} if name in group else {}
        given |= {"weight": 0.0} if name in light else {}
        given |= {"masked": False} if name in fixed else {}
        schema = schema.replace_variable(str(name), **given)
    return data.with_schema(schema)


def released(
    data: rwn.Microdata, params: Method, seed: int = 1, share: float = 0.0, **given: Any
) -> Comparison:
    """A release beside its original, if asked rounded to a share of the standard deviations."""
    release, steps = mask(data, params, seed=seed), given_steps(data, share)
    masked, law = rounded(release.masked, steps), release.law.rounded(steps)
    return Comparison(original=data, masked=masked, law=law, **given)


def beside(comparison: Comparison, masked: pd.DataFrame) -> Comparison:
    """The same original and law beside another table."""
    frame = rwn.Microdata(masked, comparison.original.schema)
    return comparison.with_masked(frame, comparison.law)


def reading(key: str, comparison: Comparison) -> Reading:
    """What a measure reads."""
    found = MEASURES[key].read(comparison)
    assert isinstance(found, Reading), found
    return found


def value(key: str, comparison: Comparison) -> float:
    """The number of a measure."""
    return reading(key, comparison).value


def rare_flag(seed: int, n: int = 400, positives: int = 9) -> pd.DataFrame:
    """Finding A1: survey answers beside a flag that few people have."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "born": rng.integers(1930, 1960, n),
            "rooms": rng.integers(1, 9, n),
            "rent": np.exp(rng.normal(6, 0.5, n)).round(),
            "town": rng.choice(list("abcde"), n),
        }
    )
    frame["flag"] = "no"
    frame.loc[rng.choice(n, positives, replace=False), "flag"] = "yes"
    return frame


def coarse_answers(seed: int, n: int = 400, answers: int = 12) -> pd.DataFrame:
    """Finding A2: answers of two values, two coarse keys and a diagnosis."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": rng.choice(["yes", "no"], n) for i in range(answers)})
    frame["age"] = rng.choice(["young", "middle", "old"], n)
    frame["sex"] = rng.choice(["m", "f"], n)
    frame["diagnosis"] = rng.choice(list("uvwxyz"), n)
    return frame


def heavy_tail(seed: int, richest: float | None, n: int = 400) -> pd.DataFrame:
    """Finding A3: wealth, with one rich person."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.exp(rng.normal(3.5, 0.6, n)).round(1),
            "age": rng.integers(25, 65, n),
            "size": rng.integers(1, 8, n),
            "wealth": np.exp(rng.normal(2.5, 1.6, n)).round(2),
        }
    )
    if richest is not None:
        frame.loc[0, "wealth"] = richest
    return frame


def merged(comparison: Comparison, keys: Sequence[str], secret: str) -> Mapping[int, Any]:
    """What a plain merge on the keys reads of people who are alone with them, row by row."""
    own = comparison.original.frame[list(keys)]
    alone = np.flatnonzero(~own.duplicated(keep=False))
    rows: dict[Any, list[Any]] = {}
    shown = comparison.masked.frame
    for *key, said in shown[[*keys, secret]].itertuples(index=False):
        rows.setdefault(tuple(key), []).append(said)
    read = {int(person): rows.get(tuple(own.iloc[person])) for person in alone}
    return {person: said for person, said in read.items() if said}
