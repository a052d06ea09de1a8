"""Whom a released row shows: beliefs about donors against a list of all that may happen."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.attacks import attribute_attack, posterior
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.neighbors import find_neighborhoods
from rwn_core.tuning.slice_presets import preset_slices
from tests.oracles.donor_enumeration import SmallFile

NAMES = ("x", "y", "z", "s")
UNITS = (
    [["x"], ["y"], ["z"], ["s"]],
    [["x", "s"], ["y"], ["z"]],
    [["x", "y"], ["z", "s"]],
    [["x", "y", "s"], ["z"]],
    [["x", "y", "z", "s"]],
    [["x", "y", "z"], ["s"]],
)


@dataclass
class Case:
    """A law of the program and the same law written out."""

    law: Law
    exact: SmallFile
    keys: tuple[str, ...]
    table: Microdata

    def check(self) -> int:
        """Compare beliefs about every row that may come about; how many there are."""
        expected = self.exact.beliefs([NAMES.index(key) for key in self.keys], NAMES.index("s"))
        frame = pd.DataFrame(np.nan, index=range(len(expected)), columns=list(NAMES))
        for row, known in enumerate(expected):
            for key, value in zip(self.keys, known, strict=True):
                frame.loc[row, key] = np.nan if value is None else value
        masked = Microdata(frame, self.table.schema)
        rows, people = np.arange(len(frame)), np.arange(self.table.n)
        found = beliefs(self.law, masked, rows, self.keys, ["s"], people)
        for place, part in enumerate((found.source, found.donor[0])):
            exact = np.array([both[place] for both in expected.values()], dtype=np.float64)
            np.testing.assert_allclose(part.toarray().T, exact, atol=1e-12)
        return len(expected)


def small_table(rng: np.random.Generator, units: list[list[str]], masked: list[bool]) -> Microdata:
    n = int(rng.integers(3, 7))
    values = rng.integers(0, 3, (n, 4)).astype(float)
    values[rng.random((n, 4)) < 0.1] = np.nan
    values[:2, :] = [[0.0, 0, 0, 0], [1, 1, 1, 2]]  # no variable is constant
    frame = pd.DataFrame(values, columns=list(NAMES))
    group = {name: str(place) for place, unit in enumerate(units) for name in unit}
    able = {name: each for each, unit in zip(masked, units, strict=True) for name in unit}
    variables = tuple(
        Variable(
            name=name,
            kind=Kind.CONTINUOUS,
            role=Role.CONFIDENTIAL if name == "s" else Role.KEY,
            group=group[name],
            masked=able[name],
        )
        for name in NAMES
    )
    return Microdata(frame, Schema(variables=variables))


def chances(rng: np.random.Generator, members: np.ndarray, equal: bool) -> dict[int, Fraction]:
    if not len(members):
        return {}
    weights = [1] * len(members) if equal else rng.integers(1, 5, len(members)).tolist()
    return {int(m): Fraction(w, sum(weights)) for m, w in zip(members, weights, strict=True)}


def case(seed: int) -> Case:
    """A random table, setting and knowledge."""
    rng = np.random.default_rng(seed)
    units = UNITS[int(rng.integers(len(UNITS)))]
    masked = [bool(each) for each in rng.random(len(units)) < 0.85]
    masked[int(rng.integers(len(units)))] = True
    table = small_table(rng, units, masked)
    q, points = Fraction(1, int(rng.integers(1, 3))), rng.random((table.n, 2)) * 3
    whole, equal = bool(rng.random() < 0.4), bool(rng.random() < 0.6)
    able = np.array([each for name in NAMES for each, u in zip(masked, units, strict=True)
                     if name in u])  # fmt: skip
    if whole:
        near = find_neighborhoods(points, epsilon=1.2, strict=True)  # some records are alone
    else:
        near = find_neighborhoods(points, k=int(rng.integers(1, table.n)), epsilon=None)
    shares = [chances(rng, near.members(i), equal or whole) for i in range(table.n)]
    if whole:
        law: Law = RowMixtureLaw(table, near, able, float(q))
    else:
        modification = np.where(able, float(q), 0.0)
        law = CellLaw(table, near, modification, None if equal else matrix(shares))
    if rng.random() < 0.4:
        law = law.rounded({"x": 2.0, "s": 2.0})
    known = tuple(name for name in ("x", "y", "z") if rng.random() < 0.7) or ("x",)
    return Case(law, small_file(law, units, masked, shares, q, whole), known, table)


def matrix(shares: list[dict[int, Fraction]]) -> sparse.csr_array:
    dense = np.zeros((len(shares), len(shares)))
    for record, each in enumerate(shares):
        for member, share in each.items():
            dense[record, member] = float(share)
    return sparse.csr_array(dense)


def small_file(law, units, masked, shares, q, whole) -> SmallFile:
    values = law.original.matrix(list(NAMES))  # rounded, where the release is
    rows = [tuple(None if np.isnan(v) else float(v) for v in row) for row in values]
    columns = [[NAMES.index(name) for name in unit] for unit in units]
    return SmallFile(rows=rows, units=columns, masked=masked, shares=shares, q=q, whole=whole)


def test_two_hundred_small_tables_are_believed_of_exactly():
    kinds = set()
    for seed in range(200):
        made = case(seed)
        assert made.check() > 0
        exact = made.exact
        kinds.add((len(exact.units), exact.whole, exact.q == 1, made.law.precision != {}))
    assert len(kinds) > 20


def test_e1_is_believed_of_exactly(e1, e1_points):
    """Column y is confidential, column x a key: with donors of their own, and with one for both."""
    near = find_neighborhoods(e1_points, k=2, epsilon=1.0)
    half, rows = Fraction(1, 2), [tuple(row) for row in e1.matrix(["x", "y"])]
    shares = [{int(m): Fraction(1, len(near.members(i))) for m in near.members(i)}
              for i in range(6)]  # fmt: skip
    for units, q in product(([[0], [1]], [[0, 1]]), (half, Fraction(1))):
        group = None if len(units) > 1 else "both"
        variables = tuple(replace(each, group=group) for each in e1.schema.variables)
        table = Microdata(e1.frame, Schema(variables=variables))
        exact = SmallFile(rows=rows, units=units, masked=[True] * len(units), shares=shares, q=q,
                          whole=False).beliefs([0], 1)  # fmt: skip
        frame = pd.DataFrame([(x, 0.0) for (x,) in exact], columns=["x", "y"])
        law = CellLaw(table, near, np.full(2, float(q)))
        released = Microdata(frame, table.schema)
        found = beliefs(law, released, np.arange(len(frame)), ["x"], ["y"], np.arange(6))
        expected = np.array([donor for _, donor in exact.values()], dtype=float)
        np.testing.assert_allclose(found.donor[0].toarray().T, expected, atol=1e-14)
    # by hand, whole rows: x = 11 can only be record 6's, so is y, whoever the row comes from
    assert expected[list(exact).index((11.0,))].tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    "params", [RWN(k=4, q=0.6), NBRS2015(epsilon=1.2, q=0.6), RWN(epsilon=1.0, k=2)]
)
@pytest.mark.parametrize("groups", [{}, {"x": "a", "s": "a"}, dict.fromkeys("xyzs", "a")])
def test_a_large_table_is_believed_of_as_a_small_one(params, groups, monkeypatch):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 6, (60, 4)) * 1.0, columns=list(NAMES))
    frame.loc[3] = [40.0, -40, 40, 2]
    frame.loc[rng.random(60) < 0.1, ["y"]] = np.nan
    table = Microdata.from_frame(frame)
    variables = (replace(each, group=groups.get(each.name)) for each in table.schema.variables)
    table = Microdata(table.frame, Schema(variables=tuple(variables)))
    release = mask(table, params, seed=2, precision={"z": 2.0})
    asked, few = (np.arange(60), ["x", "y", "z"], ["s"]), np.array([3, 8, 41])
    small = beliefs(release.law, release.masked, *asked, few)
    monkeypatch.setattr(posterior, "LARGEST_DENSE", 0)
    law = mask(table, params, seed=2, precision={"z": 2.0}).law
    large = beliefs(law, release.masked, *asked, few)
    for one, other in ((small.source, large.source), (small.donor[0], large.donor[0])):
        np.testing.assert_allclose(other.toarray(), one.toarray(), atol=1e-14)
        assert one.nnz


def without_donors(law: Law, *rest: Any) -> attribute_attack.Beliefs:
    """A planted fault: the row shows its source."""
    right = attribute_attack.beliefs(law, *rest)
    return attribute_attack.Beliefs(right.source, [right.source])


def unrounded(law: Any, *rest: Any) -> attribute_attack.Beliefs:
    """A planted fault: values are compared as if nobody had rounded them."""
    exact = copy(law)
    exact.original = law._unrounded
    return attribute_attack.beliefs(exact, *rest)


@pytest.mark.parametrize("fault", [without_donors, unrounded])
def test_planted_faults_are_seen(fault, monkeypatch):
    monkeypatch.setitem(Case.check.__globals__, "beliefs", fault)
    refused = 0
    for seed in range(40):
        try:
            case(seed).check()
        except AssertionError:
            refused += 1
    assert refused > 5


@pytest.mark.parametrize("q", [1.0, 0.9])
def test_a_way_that_no_row_came_about_in_adds_nothing(q: float) -> None:
    """The 2015 method at q = 1 keeps no record: nothing is known of that way, and nothing fails."""
    data = rwn.load_demo("bodyfat")
    data = data.with_slices(preset_slices(data, "whole"))
    work = NBRS2015(epsilon=6.0, q=q).prepare(data).release(rwn.SecretKey.from_seed(1))
    rows, everybody = np.arange(data.n), np.arange(data.n)
    found = beliefs(work.law, work.masked, rows, ("age", "weight"), ("siri",), everybody)
    (shown,) = found.donor
    named = np.asarray(shown.toarray().argmax(axis=0)).ravel()
    some = work.donors[:, 0] >= 0
    # whole rows name their donors
    assert (named[some] == work.donors[some, 0]).mean() > 0.95
