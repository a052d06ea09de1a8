"""What a method declares to keep is kept in every release; what it does not is broken in one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core import METHODS, Rounded
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.data.rounding import rounded
from rwn_core.data.variable import NUMBERS, Kind
from rwn_core.laws.invariants import Invariants
from tests.core.masking.method_tables import key, table
from tests.tables import MIXED, described

TIGHT = 1e-9
TABLES = ("mixed", "holes", "related")
SLICED = [["g", "s"], ["x", "y"]]
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "rwn": [{"k": 30}, {"k": 40, "q": 0.9}, {"k": 30, "q": 0.3}, {"k": 5, "q": 0.0},
            {"k": 20, "weights": "discrete"}],
    "soft_rwn": [{"balance": 1.0}, {"own": True, "q": 0.9}, {"kernel": "exponential"}],
    "nbrs2015": [{"epsilon": 6.0}, {"epsilon": 5.0, "q": 0.5}, {"epsilon": 2.0, "q": 0.0}],
    "additive_noise": [{}, {"shape": "laplace", "reflected": True}, {"size": 0.0}],
    "correlated_noise": [{}, {"form": "plain"}, {"size": 0.0}],
    "k_noise": [{}, {"shape": "gaussian"}, {"k": 1}],
    "rank_swapping": [{"p": 0.1}, {"p": 0.1, "top": 0.1}, {"p": 0.3, "form": "mu_argus"},
                      {"p": 0.0, "bottom": 0.15}, {"p": 0.0}],
    "random_swapping": [{"share": 0.9}, {"share": 2.0, "pairs": "successive"}, {"share": 0.0},
                        {"share": 1.0, "variables": ("x", "day", "g")}],
    "data_shuffling": [{}, {"variables": "x,age"}, {"anew": 0.0}],
    "record_swapping": [{"share": 1.0}, {"share": 1.0, "within": "g,s"}, {"share": 0.0},
                        {"share": 1.0, "within": (), "variables": ("x", "day")}],
    "pram": [{"change": 0.5}, {"change": 0.9, "within": "g"}, {"change": 0.0}, {"alpha": 0.0},
             {"change": 0.5, "spread": "margins", "invariant": False, "variables": "g,day"}],
    "k_pram": [{"k": 10}, {"k": 10, "draw_from": "permute"}, {"k": 5, "draw_from": "uniform"},
               {"k": 1}],
    "recoding": [{"k": 15}, {"k": 1, "top": 0.1}, {"k": 1}],
    "row_copy": [{"k": 5}, {"k": 5, "q": 0.5}, {"k": 5, "q": 0.0}],
    "microaggregation": [{"k": 5}, {"k": 2}, {"k": 1}],
    "local_suppression": [{"k": 3}, {"k": 3, "classes": 4}, {"k": 1}],
    "cart_synthesis": [{}, {"smoothing": 0.5}, {"q": 0.9, "leaf": 40}, {"q": 0.0}],
    "sampling": [{}, {"left_out": 0.1}, {"left_out": 0.0}],
}  # fmt: skip
CASES = [(name, setting) for name, all_of_it in SETTINGS.items() for setting in all_of_it]


def related(n: int = 120) -> Microdata:
    """A table of few values with rare levels, equal distances and pairs that never occur."""
    rng = np.random.default_rng(8)
    rows = ["aus", "bum", "bwm", "cvl", "cul", "dus", "eul", "cux"]
    chosen = rng.choice(8, n, p=[0.27, 0.2, 0.08, 0.1, 0.14, 0.08, 0.08, 0.05])
    frame = pd.DataFrame([list(rows[at]) for at in chosen], columns=["g", "s", "size"])
    frame["size"] = pd.Categorical(frame["size"], ["s", "m", "l", "x"], ordered=True)
    frame["x"] = rng.integers(0, 6, n) + 0.25
    frame["age"] = rng.integers(20, 30, n)
    day = np.where(np.isin(chosen, [2, 5, 7]), chosen + 3, rng.integers(0, 4, n))
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")
    frame["y"] = rng.integers(0, 5, n) + 0.5 * (rng.random(n) < 0.1)
    return described(frame[list(table("mixed").names)], **MIXED)


def original(name: str) -> Microdata:
    return (related() if name == "related" else table(name)).with_slices(SLICED)


def codes(data: Microdata, masked: Microdata, names: tuple[str, ...]) -> tuple[Any, Any]:
    return codes_together(data, masked, names, np.arange(masked.n))


def kept(data: Microdata, masked: Microdata) -> set[tuple[Any, ...]]:
    """What one release keeps, of each column and of each two of them."""
    names = [variable.name for variable in data.schema.released]
    lost = np.array([masked.frame[name].isna().to_numpy() for name in names]).T
    found: set[tuple[Any, ...]] = set()
    for unit in [*((name,) for name in names), *combinations(names, 2)]:
        own, released = codes(data, masked, unit)
        there = ~lost[:, [names.index(name) for name in unit]].any(axis=1)
        if np.array_equal(own, released):
            found.add(("records", unit))
        if np.array_equal(np.sort(own), np.sort(released)):
            found.add(("rows", unit))
        if (released[there] >= 0).all():
            found.add(("support", unit))
    for variable in data.schema.released:
        if variable.kind in (*NUMBERS, Kind.ORDERED):
            found |= kept_of_numbers(data, masked, variable)
    return found


def kept_of_numbers(data: Microdata, masked: Microdata, variable: Any) -> set[tuple[Any, ...]]:
    """Whether a column keeps its total and its order."""
    found = set[tuple[Any, ...]]()
    name = variable.name
    one = data.values(name)
    two = masked.values(name)
    scale = np.nansum(np.abs(one)) + 1
    if variable.kind in NUMBERS and abs(np.nansum(one) - np.nansum(two)) <= TIGHT * scale:
        found.add(("totals", (name,)))
    known = ~np.isnan(one) & ~np.isnan(two)
    order = np.lexsort((two[known], one[known]))
    first = one[known][order]
    after = two[known][order]
    starts = np.flatnonzero(np.diff(first) > 0) + 1  # ties may be parted
    if (after[starts] >= np.maximum.accumulate(after)[starts - 1] - TIGHT).all():
        found.add(("order", (name,)))
    return found


def declared(data: Microdata, said: Invariants) -> set[tuple[Any, ...]]:
    """The same as it is declared, with what follows from it."""
    found: set[tuple[Any, ...]] = set()
    sets = (("records", (said.records,)), ("rows", said.rows), ("support", said.support))
    after = {"records": ("records", "rows", "support"), "rows": ("rows", "support"),
             "support": ("support",)}  # fmt: skip
    order = [variable.name for variable in data.schema.released]
    for what, units in sets:
        for unit in units:
            names = sorted(unit, key=order.index)
            for some in [*((name,) for name in names), *combinations(names, 2)]:
                found |= {(each, some) for each in after[what]}
    for variable in data.schema.released:
        one = (variable.name,)
        if variable.kind in NUMBERS and (variable.name in said.totals or ("rows", one) in found):
            found.add(("totals", one))
        ordered = variable.kind in (*NUMBERS, Kind.ORDERED)
        if ordered and (variable.name in said.order or ("records", one) in found):
            found.add(("order", one))
    return found


@pytest.mark.parametrize(("method", "setting"), CASES, ids=lambda each: str(each))
def test_what_is_declared_is_kept_and_nothing_else_is(method, setting):
    params = METHODS[method](**setting)
    always: set[tuple[Any, ...]] | None = None
    said: set[tuple[Any, ...]] = set()
    equal: list[bool] = []
    fixed: list[bool] = []
    for name in TABLES:
        data = original(name)
        prepared = params.prepare(data)
        own = params.invariants(prepared.microdata)
        assert Invariants.from_plain(own.plain()) == own
        releases = [prepared.release(key(seed)).masked for seed in range(2)]
        for masked in releases:
            held = kept(data, masked)
            missed = declared(data, own) - held
            assert not missed, f"{name}: {sorted(missed, key=str)}"
            always = held if always is None else always & held
        frames = [masked.frame for masked in releases]
        equal += [all(frames[0].equals(each) for each in frames[1:])]
        fixed += [own.fixed]
        said |= declared(data, own)
    assert fixed == [all(equal)] * len(TABLES)
    beyond = (always or set()) - said
    assert not beyond, sorted(beyond, key=str)


@pytest.mark.parametrize("method", ["rank_swapping", "microaggregation", "rwn"])
def test_rounding_keeps_values_to_the_step_and_no_total(method):
    data = original("mixed")
    setting = Rounded(params=METHODS[method](**SETTINGS[method][0]), precision={"x": 0.5})
    own = setting.invariants(data)
    masked = setting.prepare(data).release(key(1)).masked
    assert "x" not in own.totals
    assert ("y" in own.totals) == (method != "rwn")
    missed = declared(data, own) - kept(rounded(data, {"x": 0.5}), masked)
    assert missed <= {("totals", ("x",))}


@pytest.mark.parametrize(
    ("method", "setting", "wrong"),
    [
        ("microaggregation", {"k": 5}, ("totals", ("age",))),
        ("rank_swapping", {"p": 0.1, "top": 0.1}, ("rows", ("x",))),
        ("rwn", {"k": 5}, ("rows", ("g",))),
        ("pram", {"change": 0.5}, ("rows", ("g",))),
    ],
)
def test_a_wrong_declaration_is_found(method, setting, wrong):
    """A planted fault each: totals of whole numbers, values under coded ends."""
    data = original("mixed")
    prepared = METHODS[method](**setting).prepare(data)
    assert any(wrong not in kept(data, prepared.release(key(seed)).masked) for seed in range(2))


def test_every_condition_names_a_parameter_and_every_invariant_has_words():
    assert set(SETTINGS) == set(METHODS)
    for method in METHODS.values():
        for declaration in method.keeps:
            assert set(declaration.when) <= set(method.__dataclass_fields__)
            assert declaration.words
