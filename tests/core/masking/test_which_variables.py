"""Which variables a method changes where none are named, and which options a method has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.io.parse import parse
from rwn_core.masking import (
    PRAM,
    LocalSuppression,
    RandomSwapping,
    RankSwapping,
    RecordSwapping,
)
from rwn_core.masking.pram import occurring_levels, stated_matrices
from rwn_core.masking.released_values import formula_cells, formula_names, without_formulas
from rwn_core.masking.second_reading import second_reading


@pytest.fixture(scope="module")
def data() -> Microdata:
    frame = pd.DataFrame(
        {
            "g": list("abba"),
            "s": pd.Categorical(list("llmm"), ["l", "m"], ordered=True),
            "n": [1, 2, 2, 5],
            "x": [0.5, 1.5, 2.5, 4.5],
        }
    )
    return Microdata.from_frame(frame)


def changed(data: Microdata, method: Any) -> list[str]:
    """The variables that the law may change."""
    law = method.prepare(data).law
    return [name for name in data.names if law.modification(name) > 0]


def test_categories_come_first_then_counts_then_all(data: Microdata) -> None:
    numbers, real = (Microdata.from_frame(data.frame[each]) for each in (["n", "x"], ["x"]))
    assert changed(data, PRAM()) == ["g", "s"]
    assert changed(data, PRAM(within="g")) == ["s"]
    assert PRAM(within="g,s").masked_names(data) == ("n",)
    assert changed(data, PRAM(variables="n,x")) == ["n", "x"]
    assert changed(numbers, PRAM()) == ["n"]
    assert changed(data, RandomSwapping(share=1)) == ["g", "s"]
    assert changed(numbers, RandomSwapping(share=1)) == ["n", "x"]
    assert changed(real, RandomSwapping(share=1)) == ["x"]
    shown = data.with_schema(data.schema.replace_variable("g", masked=False))
    assert changed(shown, PRAM()) == ["s"]
    assert RankSwapping(p=1.0).masked_names(data) == ("s", "n", "x")


def test_roles_say_what_is_swapped_and_within_what(data: Microdata) -> None:
    def roles(**given: Role) -> Microdata:
        schema = data.schema
        for name, role in given.items():
            schema = schema.replace_variable(name, role=role)
        return data.with_schema(schema)

    plain, one, two = (
        roles(),
        roles(g=Role.KEY, n=Role.KEY),
        roles(g=Role.KEY, s=Role.KEY, x=Role.CONFIDENTIAL),
    )
    method = RecordSwapping()
    assert [method.makers(each) for each in (plain, one, two)] == [(), ("g",), ("g", "s")]
    assert method.masked_names(one) == ("s", "x")  # a numeric key makes no block and is not swapped
    assert method.masked_names(two) == ("x",)
    named = RecordSwapping(variables="x,s")
    assert (named.makers(two), named.masked_names(two)) == (("g",), ("s", "x"))
    assert RecordSwapping(within="n").masked_names(plain) == ("g", "s", "x")
    made = RecordSwapping(within="g").prepare(one)
    assert made.params.blocks(made).tolist() == [0, 1, 1, 0]
    keys = LocalSuppression()._keys
    assert (keys(plain), keys(one), keys(two)) == (("g", "s", "n", "x"), ("g", "n"), ("g", "s"))
    assert keys(roles(x=Role.CONFIDENTIAL)) == ("g", "s", "n")


def test_so_many_of_a_block_are_selected_unharmed_by_rounding() -> None:
    blocks = np.repeat([0, 1, 2, -1], [10, 5, 1, 3])
    counts = {
        share: RecordSwapping(share=share).selected(blocks).tolist()
        for share in (0.0, 0.1, 0.3, 0.61, 1.0)
    }
    assert counts == {
        0.0: [0, 0, 0], 0.1: [1, 1, 1], 0.3: [3, 2, 1], 0.61: [7, 4, 1], 1.0: [10, 5, 1],
    }  # fmt: skip


def test_levels_are_those_that_occur_without_missing_ones() -> None:
    sizes = pd.Categorical(["l", None, "s", "l", "m"], ["s", "m", "l"], ordered=True)
    data = Microdata.from_frame(pd.DataFrame({"s": sizes, "g": list("aabbb")}))
    found = occurring_levels(data.take(np.arange(4)), "s")
    assert (found.codes.tolist(), found.counts.tolist()) == ([0, 2], [1, 2])
    assert found.own.tolist() == [2, 3, 0, 2]


def test_a_matrix_under_strata_is_that_of_one_stratum(data: Microdata) -> None:
    from rwn_core.errors import ParameterError

    with pytest.raises(ParameterError, match="each stratum has its own matrix; take one of them"):
        PRAM(within="g").matrix(data, "s")
    half = PRAM(change=0.5, invariant=False).matrix(data, "s")
    assert half.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    part = PRAM(change=0.5, within="g", invariant=False).prepare(data).law
    with_one = part.table("s")[0].toarray()
    assert with_one.tolist() == [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]


def test_matrices_may_be_stated_in_three_ways() -> None:
    stated = (("g", ((0.5, 0.5), (0.0, 1.0))),)
    rows = [[0.5, 0.5], [0, 1]]
    for given in ({"g": rows}, [("g", rows)], '{"g": [[0.5, 0.5], [0, 1]]}', stated):
        assert stated_matrices(given) == stated
    assert stated_matrices("") == stated_matrices(None) == stated_matrices({}) == ()


def test_what_a_spreadsheet_would_run_is_found_by_its_first_sign() -> None:
    texts = ["=1", "+a", "-a", "@a", "\ta", "\ra", "a=1", "=", "-1", "+1.5e3", "\t1", "\r1", ""]
    frame = pd.DataFrame({"t": texts, "n": range(13), "d": pd.Timestamp("2024-01-01")})
    frame["t2"] = [None, *["plain"] * 12]
    runs = [True] * 6 + [False] * 4 + [True, True, False]
    found = formula_cells(frame, "csv")
    assert {name: cells.tolist() for name, cells in found.items()} == {"t": runs}
    assert formula_cells(frame, "parquet") == {}
    written = without_formulas(frame, "csv")
    assert written["t"].tolist() == [
        f"'{t}" if run else t for t, run in zip(texts, runs, strict=True)
    ]
    assert without_formulas(frame, "parquet") is frame
    assert frame["t"].tolist() == texts


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-x(", "=a"])
def test_names_that_a_spreadsheet_would_run_get_an_apostrophe(name: str) -> None:
    """Finding T12: a header is text for a spreadsheet, as values are."""
    content = f'"{name}",b\n' + "".join(f"{i}.50,{i % 3}\n" for i in range(30))
    data = parse("t.csv", content.encode())
    assert data.names == (name, "b")
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    for key in ("csv", "tsv"):
        header, first = release.to_bytes(key).decode().splitlines()[:2]
        assert header.lstrip('"').startswith("'" + name[:1])
        assert first.partition("," if key == "csv" else "\t")[0].endswith(".50"), (
            "its decimals stay"
        )
    assert parse("t.parquet", release.to_bytes("parquet")).names == (name, "b")
    assert second_reading(release, release.to_bytes("csv"), "csv").checked == (name, "b")
    for harmless in ("a=b", "-", "x", "-5a", "'=1"):
        assert formula_names([harmless], "csv") == (["-5a"] if harmless == "-5a" else [])
