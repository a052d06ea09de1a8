"""What every masking method keeps, whatever it does: a later one in METHODS is held to it, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Role
from rwn_core.masking import METHODS, mask
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from tests.core.masking.method_tables import (
    TABLES,
    WITHOUT,
    described,
    key,
    many_levels,
    prepared,
    table,
)
from tests.holding import hold

CERTAIN = {"recoding", "microaggregation", "local_suppression"}
"""Nothing is random in them."""
SUPPRESSING = {"local_suppression", "sampling"}
"""They lose values on purpose."""
LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)


def alike(method: str, name: str) -> bool:
    """Whether a table has no distances, so that a method of neighborhoods refuses it."""
    return name == "identical records" and issubclass(METHODS[method], NeighborhoodMethod)


def same(one: Microdata, other: Microdata) -> None:
    pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)


def test_a_key_gives_the_same_bytes_however_it_is_drawn():
    def rule(method: str, name: str) -> None:
        data = table(name)
        other = prepared(method, data)
        first = mask(data, other.params, seed=3)
        same(mask(data, other.params, seed=3, threads=1).masked, first.masked)
        for lever in other.params.levers:  # what was asked for before changes nothing
            end = other.ranges[lever.name].high
            other.with_levers(**{lever.name: end}).release(key(9))
        same(other.release(key(3), threads=2).masked, first.masked)

    hold(rule, METHODS, ["mixed", "holes", WITHOUT])


def test_the_slices_that_a_table_has_may_be_asked_for_again():
    """Sweeps and pages do so at every setting; whole rows must not be torn by it."""

    def rule(method: str) -> None:
        data = table("mixed")
        made = prepared(method, data)
        again = made.with_slices(data.schema.slices)
        same(again.release(key(8)).masked, made.release(key(8)).masked)

    hold(rule, METHODS)


def test_two_keys_differ_where_anything_is_random():
    def rule(method: str) -> None:
        one, other = (prepared(method, table("mixed")).release(key(i)).masked for i in (1, 2))
        assert one.frame.equals(other.frame) == (method in CERTAIN)

    hold(rule, METHODS)


def weakest(params: Any) -> dict[str, float]:
    """Where a method masks nothing: no cell, classes of one record, or no strength at all."""
    levers = {lever.name: lever for lever in params.levers}
    if "q" in levers:
        return {"q": 0.0}
    return {params.strength: 1 if levers[params.strength].whole_number else 0.0}


def test_at_its_weakest_a_method_returns_the_table():
    def rule(method: str, name: str) -> None:
        if alike(method, name):
            return
        made = prepared(method, table(name))
        released = made.with_levers(**weakest(made.params)).release(key(4)).masked
        same(released, table(name))

    hold(rule, METHODS, [*TABLES, WITHOUT])


def change(original: Microdata, masked: Microdata) -> float:
    """How far values moved: in standard deviations, or 1 for another category or a lost value."""
    moved = []
    for variable in original.schema.released:
        if variable.kind in LEVELS:
            levels = original.codes(variable.name)[1]
            one, other = (table.codes(variable.name, levels)[0] for table in (original, masked))
            moved.append(float(((one != other) | (one < 0)).mean()))
        else:
            own = original.values(variable.name)
            apart = np.abs(masked.values(variable.name) - own) / own.std(ddof=1)
            moved.append(float(np.where(np.isnan(apart), 1.0, apart).mean()))
    return float(np.mean(moved))


def expected_changes(made: Any, strength: str, seeds: int) -> np.ndarray:
    """The change at rising strengths, shape (strengths, seeds)."""
    ends = made.ranges[strength]
    kinds = {lever.name: lever for lever in made.params.levers}
    positions = [ends.low + share * (ends.high - ends.low) for share in (0.0, 0.1, 0.3, 0.6, 1.0)]
    if kinds[strength].whole_number:
        positions = [round(position) for position in positions]
    return np.array(
        [
            [change(made.microdata, one.release(key(i)).masked) for i in range(seeds)]
            for one in (made.with_levers(**{strength: position}) for position in positions)
            if not _loses(one)
        ]
    )


def _loses(made: Any) -> bool:
    """Whether records without neighbors lose their values: no small change, at a small radius."""
    if made.law is None or made.params.method in SUPPRESSING:
        return False
    neighborhoods = made.law.neighborhoods
    return neighborhoods is not None and bool((neighborhoods.sizes == 0).any())


def test_more_strength_never_lowers_the_expected_change():
    def rule(method: str) -> None:
        made = prepared(method, table("mixed"))
        found = expected_changes(made, made.params.strength, 12)
        steps = np.diff(found, axis=0)
        error = steps.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        assert np.all(steps.mean(axis=1) >= -3 * error - 1e-12), found.mean(axis=1)
        assert found[-1].mean() > found[0].mean()

    hold(rule, METHODS)


def test_hard_tables_are_masked_and_types_survive():
    def rule(method: str, name: str) -> None:
        data = table(name)
        if alike(method, name):
            return
        before = data.frame.copy(deep=True)
        masked = prepared(method, data).release(key(5)).masked
        pd.testing.assert_frame_equal(data.frame, before)
        assert masked.n == data.n
        assert masked.names == data.names
        for column in data.names:
            one, other = (str(each.frame[column].dtype) for each in (data, masked))
            lost = masked.frame[column].isna().any()
            assert one == other or (lost and one == other.lower()), column
        missing, lost = (each.frame.isna().to_numpy() for each in (data, masked))
        if not METHODS[method].moves_missing:
            assert lost[missing].all()
            assert method in SUPPRESSING or not lost[~missing].any()
        elif name == "holes":  # somebody who lacks a value gets one
            assert not lost[missing].all()
        for variable in data.schema.released:
            if variable.kind in LEVELS:
                known = set(data.frame[variable.name].dropna())
                assert set(masked.frame[variable.name].dropna()) <= known

    hold(rule, METHODS, [*TABLES, WITHOUT])


def test_five_thousand_levels():
    data = described(many_levels(), s=Role.KEY, x=Role.CONFIDENTIAL)

    def rule(method: str) -> None:
        masked = prepared(method, data).release(key(6)).masked
        assert set(masked.frame["g"].dropna()) <= set(data.frame["g"])

    hold(rule, METHODS)
