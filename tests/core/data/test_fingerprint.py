"""The fingerprint of a table: it changes with the content, and with nothing else."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata
from tests.core.data.every_type import BASE

CHANGES = {
    "value": lambda f: f.assign(x=[1.5, np.nan, 3.5]),
    "which_is_missing": lambda f: f.assign(x=[np.nan, 1.5, 3.0]),
    "zero_for_missing": lambda f: f.assign(i=pd.array([1, 0, 3], dtype="Int64")),
    "type": lambda f: f.assign(b=[1, 0, 1]),
    "text": lambda f: f.assign(t=["a", None, "c"]),
    "text_missing": lambda f: f.assign(t=["a", "", "b"]),
    "text_type": lambda f: f.assign(t=f["t"].astype("category")),
    "level": lambda f: f.assign(c=pd.Categorical(["a", "b", "a"])),
    "order_of_levels": lambda f: f.assign(c=pd.Categorical(["a", "b", "b"], ["b", "a"])),
    "date": lambda f: f.assign(d=pd.to_datetime(["2020-01-01", None, "2020-01-04"])),
    "bool": lambda f: f.assign(b=[True, True, True]),
    "name": lambda f: f.rename(columns={"x": "y"}),
    "order_of_columns": lambda f: f[f.columns[::-1]],
    "order_of_records": lambda f: f.iloc[::-1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_fingerprint_changes_with(name: str) -> None:
    changed = Microdata.from_frame(CHANGES[name](BASE))
    assert changed.fingerprint != Microdata.from_frame(BASE).fingerprint


def test_the_fingerprint_does_not_change_with_what_is_no_content() -> None:
    plain = Microdata.from_frame(BASE)
    other = BASE.assign(c=pd.Categorical(["a", "b", "b"], ["a", "unused", "b"]))
    other.index = [7, 8, 9]
    # another bit pattern of a missing number
    other["x"] = np.array([1.5, -np.nan, 3.0])
    assert Microdata.from_frame(other).fingerprint == plain.fingerprint
    assert pickle.loads(pickle.dumps(plain)).fingerprint == plain.fingerprint
    assert plain.take(np.arange(3)).fingerprint == plain.fingerprint


def of_texts(texts: list[str]) -> str:
    return Microdata.from_frame(pd.DataFrame({"x": texts})).fingerprint


@given(st.lists(st.text(st.sampled_from("ab:;1"), max_size=3), min_size=2, max_size=4))
def test_texts_cannot_be_shifted_without_changing_the_fingerprint(texts: list[str]) -> None:
    joined = ["".join(texts), *[""] * (len(texts) - 1)]
    same = texts == joined
    assert (of_texts(texts) == of_texts(joined)) == same
