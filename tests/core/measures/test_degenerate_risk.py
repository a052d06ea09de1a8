"""Every risk measure on tables that break careless code: a number, or the reason for none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core.charts import serialise
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare as compare_release
from rwn_core.evaluation.disclosure import disclose_release, worst_records
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import tables as risk_tables
from rwn_ui.risk import view as risk_view
from rwn_ui.risk import warnings as risk_warnings
from tests.holding import hold

RISKS = [key for key, measure in MEASURES.items() if measure.side == "risk"]


def table(frame: pd.DataFrame, keys: tuple[str, ...], secrets: tuple[str, ...]) -> Microdata:
    kinds = {name: Microdata.from_frame(frame).schema.variable(name).kind for name in frame}
    roles = dict.fromkeys(keys, Role.KEY) | dict.fromkeys(secrets, Role.CONFIDENTIAL)
    return Microdata.from_frame(
        frame,
        Schema(
            variables=tuple(
                Variable(name=name, kind=Kind(kinds[name]), role=roles.get(name, Role.OTHER))
                for name in frame
            )
        ),
    )


def singular() -> Microdata:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    frame = frame.assign(d=frame["a"] + frame["b"], e=2 * frame["a"])
    return table(frame, ("a", "b", "d"), ("e",))


def unique_key() -> Microdata:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": [f"person {i}" for i in range(30)], "x": rng.normal(size=30)})
    return table(frame, ("id",), ("x",))


def one_level() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"land": ["here"] * 25, "x": rng.normal(size=25), "y": rng.normal(size=25)}
    )
    return table(frame, ("land",), ("x",))


def gaps() -> Microdata:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "g": rng.choice(["u", "v", "w"], 40),
            "x": rng.normal(size=40),
            "n": rng.integers(0, 5, 40) * 1.0,
            "s": rng.choice(["yes", "no"], 40),
        }
    )
    return table(frame.mask(rng.random(frame.shape) < 0.25), ("g", "x", "n"), ("s",))


def identical() -> Microdata:
    frame = pd.DataFrame({"g": ["a"] * 12 + ["b"], "x": [1.0] * 12 + [2.0], "s": ["y"] * 13})
    return table(frame, ("g", "x"), ("s",))


def two() -> Microdata:
    return table(pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]}), ("x",), ("s",))


def two_alike() -> Microdata:
    frame = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0], "s": ["a", "a", "a", "a"]})
    return table(frame, ("x",), ("s",))


TABLES: Mapping[str, Any] = {
    make.__name__: make
    for make in (singular, unique_key, one_level, gaps, identical, two, two_alike)
}


METHODS: Mapping[str, Any] = {
    "rwn": lambda n, q: RWN(k=1 if n < 5 else 3, epsilon=0.1, q=q),
    "count": lambda n, q: NBRS2015(epsilon=0.7, q=q),
    "bernoulli": lambda n, q: NBRS2015(epsilon=0.7, q=q, record_selection="bernoulli"),
}
"""The 2015 method's open balls are empty for some records, or for all."""
WAYS = [("rwn", 0.0), ("rwn", 0.6), ("count", 1.0), ("bernoulli", 0.6)]
EVERY_WAY = ("gaps", "identical", "two")
"""Tables that are released in every way by the day; the others in one, and in all at night."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (name, way, q),
            id=f"{name}-{way}-{q}",
            marks=() if name in EVERY_WAY or (way, q) == ("rwn", 0.6) else pytest.mark.nightly,
        )
        for name in TABLES
        for way, q in WAYS
    ],
)
def comparison(request):
    name, way, q = request.param
    data = TABLES[name]()
    release = mask(data, METHODS[way](data.n, q), seed=1)
    holdout = data.take(np.arange(data.n)[::2])
    found = compare_release(data, release, holdout=holdout)
    return found


def numbers(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in numbers(part)]
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for part in np.asarray(value, dtype=object).ravel() for leaf in
                ([part] if isinstance(part, float) else numbers(part) if
                 isinstance(part, list | tuple | dict) else [])]  # fmt: skip
    return [value] if isinstance(value, float) else []


def test_a_number_with_its_meaning_or_the_reason(comparison):
    def rule(key: str) -> None:
        found = MEASURES[key].read(comparison)
        if isinstance(found, NotApplicable):
            assert found.reason[0].isupper()
            assert found.reason.endswith(".")
        else:
            low, high = MEASURES[key].bounds
            assert low <= found.value <= high
            assert found.baseline is None or math.isfinite(found.baseline)
            assert all(math.isfinite(number) for number in numbers(dict(found.detail)))
            begin, end = found.interval or (found.value, found.value)
            assert begin <= found.value + 1e-12
            assert found.value <= end + 1e-12

    hold(rule, RISKS)


def test_everybody_is_found_in_an_unmasked_table_of_different_records():
    data = unique_key()
    release = mask(data, RWN(k=3, q=0.0), seed=1)
    comparison = compare_release(data, release)
    for key in ("bayes_linkage", "intruder_levels", "whole_file_linkage", "distance_linkage",
                "global_linkage", "membership", "uniqueness", "suda"):  # fmt: skip
        assert MEASURES[key].read(comparison).value == pytest.approx(1.0), key


def test_nobody_is_told_apart_among_identical_records():
    data = identical()
    release = mask(data, RWN(k=3, q=0.0), seed=1)
    found = MEASURES["bayes_linkage"].read(compare_release(data, release))
    assert found.value == pytest.approx(2 / 13)
    assert found.detail["same"] == pytest.approx(1.0)


@pytest.mark.parametrize(("way", "q"), [WAYS[1], WAYS[2]])
@pytest.mark.parametrize("name", TABLES)
def test_the_risk_page_has_words_and_pictures_for_it(name, way, q):
    """Everything the page shows of such a table: no NaN in a sentence, a tile or a picture."""
    data = TABLES[name]()
    params = METHODS[way](data.n, q)
    found = disclose_release(data, params, seed=1)
    sentences = risk_sentences.rows(found.readings, data.n)
    shown = [*sentences, *risk_warnings.warnings(params, found.readings, digits=True, lone=15)]
    shown += [table["rows"] for table in risk_tables.field(found.readings, data.n)]
    assert "nan" not in str(shown).lower().replace("meaning", "")
    for chart in risk_view.cards(found):
        drawn = orjson.loads(serialise(chart))
        assert drawn["title"]
        assert "nan" not in (drawn["note"] + drawn["alt"]).lower().replace("meaning", "")
    for row in worst_records(found.readings):
        assert 0 <= row["truth"] <= 1


def test_numbers_of_half_precision_are_judged_like_any_others():
    """Pandas cannot group or index them; their type survives the masking."""
    values = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float16)
    values[3, 1] = np.nan
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    read = []
    for table in (frame, frame.astype(np.float32)):
        data = Microdata.from_frame(table)
        release = mask(data, RWN(k=5), seed=1)
        assert (release.masked.frame.dtypes == table.dtypes).all()
        comparison = Comparison(original=data, masked=release.masked, law=release.law)
        read.append({key: measure.read(comparison) for key, measure in MEASURES.items()})
    for key in MEASURES:
        one, other = (getattr(each[key], "value", str(each[key])) for each in read)
        assert one == pytest.approx(other, nan_ok=True), key
