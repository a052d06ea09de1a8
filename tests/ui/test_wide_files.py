"""A wide file: its variables are chosen before it is taken up; what is left out stays inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.data.schema import Schema
from rwn_core.errors import SchemaError
from rwn_ui.background.opening import WIDE
from rwn_ui.data import variables

NAMES = [f"v{number}" for number in range(1, WIDE + 11)]


def wide(records: int = 40) -> bytes:
    numbers = np.random.default_rng(1)
    rows = numbers.integers(0, 50, size=(records, len(NAMES)))
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def test_a_wide_file_waits_for_its_variables(open_page) -> None:
    screen = open_page("data").upload("wide.csv", wide())
    assert screen.errors == []
    assert screen.session.name == "bodyfat"
    assert not screen.test.get("arrow_data_frame")
    (chosen,) = [each for each in screen.test.multiselect if each.label.startswith("Variables of")]
    assert chosen.value == []
    key = chosen.key
    screen.test.button(key=f"{key}.The first 50").click().run()
    screen.test.button(key=f"{key}.yes").click().run()
    assert screen.errors == []
    session = screen.session
    assert (session.name, session.data.p) == ("wide.csv", len(NAMES))
    assert [v.name for v in session.data.schema.released] == NAMES[:50]
    assert session.data.notices[-1] == f"{len(NAMES) - 50} variables are left out of every release."
    assert [each.name for each in variables._listed(session.data.schema)] == NAMES[:50]


def test_the_file_of_the_command_line_waits_too(open_page, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(wide())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune")
    assert screen.session.name == "bodyfat"
    screen.visit("data")
    assert screen.work.opening.waiting.p == len(NAMES)
    key = f"data.{screen.session.table_version}.wide"
    screen.test.multiselect(key=key).set_value(["v3", "v5"]).run()
    screen.test.button(key=f"{key}.yes").click().run()
    assert [v.name for v in screen.session.data.schema.released] == ["v3", "v5"]
    assert screen.session.path == str(path)


def test_a_schema_that_releases_some_leaves_out_the_others_and_what_names_them() -> None:
    kinds = {"a": "continuous", "b": "continuous", "hh": "categorical", "id": "categorical"}
    schema = Schema(
        variables=tuple(rwn.Variable(name=name, kind=kind) for name, kind in kinds.items()),
        question=rwn.Question(response="a", predictors=("b",)),
        edit_rules=("a >= 1", "b >= 1"),
    ).replace_variable("hh", role="household")
    few = schema.releasing(["a", "id"])
    assert [v.name for v in few.released] == ["a", "id"]
    assert few.variable("hh").role == "household"
    assert few.question is None
    assert [rule.text for rule in few.edit_rules] == ["a >= 1"]
    back = few.releasing(["a", "b"])
    assert [(v.name, str(v.role)) for v in back.released] == [("a", "other"), ("b", "other")]
    with pytest.raises(SchemaError, match="no variable c"):
        schema.releasing(["c"])


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([1, 1, 2, 11], [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ([0, 23], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ([5, 5], [2]),
    ],
)
def test_bins_of_whole_numbers_hold_equally_many_of_them(
    values: list[int], counts: list[int]
) -> None:
    known = np.array(values, dtype=float)
    assert np.histogram(known, bins=variables._bins(known))[0].tolist() == counts


def test_every_range_of_whole_numbers_is_counted_whole() -> None:
    for high in range(1, 300):
        known = np.arange(high + 1, dtype=float)
        counts = np.histogram(known, bins=variables._bins(known))[0]
        assert counts.sum() == high + 1
        assert len(counts) <= variables._BARS
        assert len(set(counts[:-1].tolist())) <= 1  # no hole, no peak
