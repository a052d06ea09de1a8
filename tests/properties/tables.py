"""Small tables for property tests: every kind of column, ties, missing values, groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata

EXAMPLES = settings(max_examples=40)

# A column is a list of small numbers (None where missing), written as one of these types.
TYPES = {
    "int64": lambda codes: pd.Series(codes, dtype="int64"),
    "float64": lambda codes: pd.Series(codes, dtype="float64") * 0.5,
    "float32": lambda codes: pd.Series(codes, dtype="float32"),
    "bool": lambda codes: pd.Series([code % 2 == 0 for code in codes], dtype="bool"),
    "category": lambda codes: _categories(codes, ordered=False),
    "ordered": lambda codes: _categories(codes, ordered=True),
    "datetime64": lambda codes: pd.Series(
        [pd.NaT if code is None else pd.Timestamp(2020, 1, 1 + code) for code in codes],
        dtype="datetime64[ns]",
    ),
    "string": lambda codes: pd.Series(_letters(codes), dtype="string"),
    "text": lambda codes: pd.Series(_letters(codes), dtype="str"),
    "Int64": lambda codes: pd.Series(codes, dtype="Int64"),
    "boolean": lambda codes: pd.Series(
        [None if code is None else code % 2 == 0 for code in codes], dtype="boolean"
    ),
}
WITHOUT_MISSING = {"int64", "bool"}


def _letters(codes: list[int | None]) -> list[str | None]:
    return [None if code is None else "abcdefghij"[code] for code in codes]


def _categories(codes: list[int | None], *, ordered: bool) -> pd.Series:
    levels = list("jihgfedcba") if ordered else list("abcdefghij")
    return pd.Series(pd.Categorical(_letters(codes), categories=levels, ordered=ordered))


@st.composite
def columns(draw: st.DrawFn, n: int, types: tuple[str, ...] = tuple(TYPES)) -> pd.Series:
    """One column of n values, at least two of them different, none or some missing."""
    type_ = draw(st.sampled_from(types))
    code: st.SearchStrategy[int | None] = st.integers(0, draw(st.sampled_from([1, 3, 9])))
    if type_ not in WITHOUT_MISSING and draw(st.booleans()):
        code = st.none() | code
    codes = draw(st.lists(code, min_size=n - 2, max_size=n - 2))
    return TYPES[type_]([0, 1, *codes])


@st.composite
def frames(draw: st.DrawFn, smallest: int = 3, largest: int = 30) -> pd.DataFrame:
    """A table of up to 30 records and 5 columns."""
    n = draw(st.integers(smallest, largest))
    names = list("uvwxy")[: draw(st.integers(1, 5))]
    return pd.DataFrame({name: draw(columns(n)) for name in names})


@st.composite
def settings_for(draw: st.DrawFn, n: int) -> dict[str, object]:
    """A k, an epsilon or both, for n records; no neighborhood is empty."""
    k = draw(st.integers(1, n - 1))
    epsilon = draw(st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))
    return {"k": k, "epsilon": epsilon}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Microdata, dict[str, object], float, int]:
    """A table, a rule (epsilon and k), a q and a seed."""
    frame = draw(frames())
    rule = draw(settings_for(len(frame)))
    q = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    return Microdata.from_frame(frame), rule, q, draw(st.integers(0, 1000))


def random_frame(number: int, largest: int = 32) -> pd.DataFrame:
    """Table `number` of a fixed series: numbers with ties, categories, missing values."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(2, largest + 1))
    frame = {}
    for place in range(int(rng.integers(1, 5))):
        name, kind = f"c{place}", rng.integers(0, 4)
        if kind == 0:
            column = rng.normal(size=n)
        elif kind == 1:
            column = rng.integers(0, 4, n).astype(float)
        else:
            column = rng.choice(["a", "b", "c"], n).astype(object)
        if kind in (1, 3) and n > 4:
            column[rng.choice(n, n // 5, replace=False)] = np.nan if kind == 1 else None
        frame[name] = column
    frame["last"] = np.arange(n) % max(2, n // 3)
    return pd.DataFrame(frame)


def with_variable(microdata: Microdata, name: str, **changes: object) -> Microdata:
    """The table with another field of one variable's schema."""
    return microdata.with_schema(microdata.schema.replace_variable(name, **changes))
