"""What is found of an original is held once for all who have it, and goes with the last of them."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.measures.comparison import Comparison
from rwn_ui.state import shared_originals
from rwn_ui.state.results import PreparedTable

SETTING = rwn.RWN(epsilon=2.0, k=5)


@pytest.fixture
def data() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def held() -> int:
    gc.collect()
    return len(shared_originals._HELD)


def value(key: str, comparison: Comparison) -> float | str:
    reading = rwn.MEASURES[key].read(comparison, bare=True)
    return str(reading) if isinstance(reading, rwn.NotApplicable) else reading.value


def test_two_users_of_one_table_hold_its_parts_once(data: rwn.Microdata) -> None:
    before = held()
    one = PreparedTable.prepare(data)
    other = PreparedTable.prepare(rwn.load_demo("bodyfat"))
    assert one.comparison.cached_for_original is other.comparison.cached_for_original
    first = one.release(SETTING, 1)
    second = other.release(replace(SETTING, k=9), 1)
    rwn.MEASURES["true_matches"].compute(first.comparison)
    found = len(one.comparison.cached_for_original)
    rwn.MEASURES["true_matches"].compute(second.comparison)
    assert len(other.comparison.cached_for_original) == found > 0, "nothing of it is found again"
    assert first.comparison.cached_for_release is not second.comparison.cached_for_release
    del one, first
    assert held() == before + 1, "the other one has it"
    del other, second
    assert held() == before


def test_a_reading_is_the_same_as_alone(data: rwn.Microdata) -> None:
    PreparedTable.prepare(data).release(SETTING, 1)
    shared = PreparedTable.prepare(data).release(SETTING, 1)
    alone = Comparison(original=data, masked=shared.masked.masked, law=shared.masked.law)
    for key in shared.measures:
        assert value(key, shared.comparison) == value(key, alone), key


def test_other_values_another_description_and_other_records_are_apart(data: rwn.Microdata) -> None:
    """Also a value that differs by its last bit, and a role that was changed."""
    frame = data.frame.copy()
    frame.loc[0, "siri"] = np.nextafter(frame.loc[0, "siri"], 0.0)
    another_value = rwn.Microdata.from_frame(frame, data.schema)
    variables = tuple(replace(each, weight=2.0) for each in data.schema.variables)
    another_weight = data.with_schema(replace(data.schema, variables=variables))
    some = np.arange(100)
    comparisons = [
        Comparison(original=each, masked=each) for each in (data, another_value, another_weight)
    ]
    comparisons += [Comparison.of_some(data, some), Comparison.of_some(data, some + 1)]
    shared = [shared_originals.share(each).cached_for_original for each in comparisons]
    assert len({id(each) for each in shared}) == len(shared)
