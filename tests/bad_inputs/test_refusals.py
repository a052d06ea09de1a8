"""What `tests/refusals.toml` lists is refused in one sentence; the shell's are in `tests/cli`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rwn_core as rwn
from rwn_core import errors
from rwn_core.data.given_tables import as_microdata

LISTED = tomllib.loads((Path(__file__).parents[1] / "refusals.toml").read_text("utf-8"))
ROWS = [(place, *row) for place, group in enumerate(LISTED["group"]) for row in group["refused"]]
RAW = ("positional argument", "object has no attribute", "object is not", "Traceback", "NoneType'")
LEAKS = ("987654", "Oslo", "Bern", "Zaphod", "numpy")


@cache
def names_of(place):
    names = {}
    exec(LISTED["group"][place].get("given", ""), names)
    return names


@pytest.mark.parametrize(
    ("place", "call", "sentence"),
    ROWS,
    ids=[f"{LISTED['group'][place]['about']}: {call[:60]}" for place, call, _ in ROWS],
)
def test_each_is_refused_in_its_sentence(place, call, sentence):
    group = LISTED["group"][place]
    kinds = getattr(errors, group["error"]) if group["error"] else (rwn.RWNError, AttributeError)
    with pytest.raises(kinds) as caught:
        eval(call, names_of(place))
    text = str(caught.value)
    assert re.search(sentence, text), text
    assert text.endswith(".")
    assert "\n" not in text
    assert len(text) < 420
    more = re.search(r"[.!?] (?!A rule reads like: )[A-Z]", text)
    assert more is None or not group["error"], "one sentence, and an example of a rule"
    assert not any(part in text for part in (*RAW, *LEAKS)), text


def test_tables_of_other_libraries_are_taken_with_the_same_release():
    data = rwn.load_demo("bodyfat")
    method = rwn.RWN(epsilon=2.0, k=5)
    release = rwn.mask(data, method, seed=1)
    for frame in (data.frame, pa.Table.from_pandas(data.frame)):
        again = rwn.mask(frame, method, seed=1)
        pd.testing.assert_frame_equal(again.masked.frame, release.masked.frame)
    one, two = (
        rwn.audit(each, other, measures=["correlation"])["correlation"].value
        for each, other in ((data, release), (data.frame, release.masked.frame))
    )
    assert one == two
    assert len(as_microdata(data.frame)) == data.n


def test_a_masked_data_frame_is_read_as_its_original_is_described():
    frame = pd.DataFrame({"code": ["01", "02"] * 10, "x": np.arange(20.0)})
    masked = frame.assign(x=frame["x"][::-1].to_numpy())
    shown = rwn.audit(frame, masked, measures=["cells_changed"])
    assert shown["cells_changed"].value == 0.5
