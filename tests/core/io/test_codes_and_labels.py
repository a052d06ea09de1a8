"""Files of Stata, SPSS and SAS: types, letters, ranges and labels, as they come in and go out."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io import limits
from rwn_core.io.parse import parse
from rwn_core.io.readstat_files import read_labelled
from rwn_core.io.value_labels import LabelledColumn, coded, labelled_table
from rwn_core.io.write import table_bytes

NAN = np.nan
DAYS = [datetime.date(2020, 2, 29), None, datetime.date(1950, 1, 1)]
MOMENTS = pd.to_datetime(["2020-02-29 01:02:03", None, "1950-01-01 00:00:00"])


def written(path: Path, frame: pd.DataFrame, **options: Any) -> bytes:
    getattr(pyreadstat, f"write_{path.suffix[1:].replace('xpt', 'xport')}")(frame, path, **options)
    return path.read_bytes()


def test_the_columns_of_a_stata_file_come_in_with_their_types(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "tiny": np.array([1, 2, 7], dtype="int8"),
            "real": [0.1, NAN, 3.0],
            "text": ["a", "", "b"],
            "day": DAYS,
            "moment": MOMENTS,
            "left": pd.Series([1.5, "a", "b"], dtype=object),
            "sex": pd.Series([1, "z", 2], dtype=object),
        }
    )
    content = written(
        tmp_path / "t.dta",
        frame,
        column_labels={"real": "A real number"},
        variable_value_labels={"sex": {1: "m", 2: "f", "z": "refused"}},
        missing_user_values={"left": ["a", "b"], "sex": ["z"]},
    )
    data = parse("t.dta", content)
    expected = pd.DataFrame(
        {
            "tiny": [1, 2, 7],
            "real": [0.1, NAN, 3.0],
            "text": pd.array(["a", None, "b"], "str"),
            "day": pd.Series(["2020-02-29", None, "1950-01-01"]).astype("datetime64[s]"),
            "moment": MOMENTS,
            "left": [1.5, NAN, NAN],
            "sex": pd.Categorical(["m", None, "f"], ["m", "f"]),
        }
    )
    pd.testing.assert_frame_equal(data.frame, expected, check_dtype=False)
    kinds = {name: data.frame[name].dtype.kind for name in data.names}
    assert kinds == dict(zip(data.names, "ifOMMfO", strict=True))
    assert str(data.frame["day"].dtype) == "datetime64[s]"
    left, sex = data.schema.variable("left"), data.schema.variable("sex")
    assert (left.missing_codes, left.value_labels) == (("a", "b"), ())
    assert (sex.missing_codes, dict(sex.value_labels)) == (("z",), {1: "m", 2: "f", "z": "refused"})
    assert data.schema.variable("real").label == "A real number"
    assert data.notices[:2] == (
        "left has 2 values declared as missing (a, b): they are missing here, without their codes.",
        "sex has 1 value declared as missing (z): they are missing here, without their codes.",
    )


def test_the_columns_of_an_spss_file_come_in_with_their_codes(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "age": [20.0, 30.0, 99.0],
            "pay": [10.5, -1.0, 998.0],
            "town": ["Ulm", "n/a", ""],
            "rank": [2.0, 1.0, 2.0],
            "day": DAYS,
            "moment": MOMENTS,
        }
    )
    content = written(
        tmp_path / "t.sav",
        frame,
        missing_ranges={"age": [99], "pay": [{"lo": 997, "hi": 999}, -1], "town": ["n/a"]},
        variable_value_labels={"rank": {1: "lo", 2: "hi"}, "town": {"Ulm": "Ulm (BW)"}},
        variable_measure={"rank": "ordinal", "age": "scale", "town": "nominal"},
    )
    data = parse("t.sav", content)
    age, pay, town, rank, day, moment = data.schema.variables
    assert (age.missing_codes, pay.missing_codes) == ((99,), ((997.0, 999.0), -1))
    assert (town.missing_codes, town.value_labels) == (("n/a",), (("Ulm", "Ulm (BW)"),))
    assert (rank.kind, rank.levels) == (Kind.ORDERED, ("lo", "hi"))
    assert (day.kind, moment.kind) == (Kind.DATE, Kind.DATE)
    assert str(data.frame["age"].dtype) == "Int64"
    assert data.frame["age"].tolist() == [20, 30, pd.NA]
    np.testing.assert_array_equal(data.frame["pay"], [10.5, NAN, NAN])
    assert data.frame["town"].tolist()[0] == "Ulm (BW)"
    assert data.frame["town"].isna().tolist() == [False, True, True]
    assert str(data.frame["day"].dtype) == "datetime64[s]"
    assert data.frame["moment"].tolist()[0] == MOMENTS[0]
    assert data.frame["day"].isna().tolist() == [False, True, False]


def test_a_stata_file_without_its_end_is_cut_off(tmp_path: Path) -> None:
    content = written(tmp_path / "t.dta", pd.DataFrame({"x": [1.5, 2.5]}))
    assert parse("t.dta", content + b"\0\r\n ").n == 2
    with pytest.raises(InputError) as caught:
        parse("t.dta", content[:-1])
    assert str(caught.value) == "t.dta is cut off; get or save the file again."


def test_a_file_with_other_records_than_it_says_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = {
        "column_names": ["a"],
        "column_names_to_labels": {},
        "variable_value_labels": {},
        "variable_to_label": {"b": "B", "c": "C"},
        "missing_ranges": {},
        "missing_user_values": {},
        "variable_measure": {},
        "readstat_variable_types": {"a": "double"},
        "original_variable_types": {},
        "variable_storage_width": {"a": 8},
    }

    def read(records: int | None) -> Microdata:
        found = pd.DataFrame({"a": [1.5, 2.5, 3.5]}), SimpleNamespace(**said, number_rows=records)
        monkeypatch.setattr(pyreadstat, "read_sav", lambda *_, **__: found)
        return read_labelled("t.sav", b"", None, kind="sav", has_missing=True)

    data = read(None)
    assert data.frame["a"].tolist() == [1.5, 2.5, 3.5]
    assert data.notices == (
        "The file names value labels for b, c and does not hold them: it may be cut off, or they "
        "are kept in another file.",
    )
    said["variable_to_label"] = {}
    assert read(3).notices == ()
    with pytest.raises(InputError, match=r"^t\.sav is damaged, cut off or encrypted; get or save"):
        read(4)


@pytest.mark.parametrize(
    ("limit", "size", "words"),
    [("MOST_CELLS", 4, "more than 3 cells"), ("LARGEST_UNPACKED", 32, "unpacks to more than")],
)
def test_a_file_is_not_unpacked_beyond_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, size: int, words: str
) -> None:
    content = written(tmp_path / "t.sav", pd.DataFrame({"x": [1.5, 2.5], "y": [1.5, 2.5]}))
    monkeypatch.setattr(limits, limit, size)
    assert parse("t.sav", content).n == 2
    monkeypatch.setattr(limits, limit, size - 1)
    real = pyreadstat.read_sav
    monkeypatch.setattr(
        pyreadstat, "read_sav", lambda *a, metadataonly: real(*a, metadataonly=True)
    )
    with pytest.raises(InputError, match=words):
        parse("t.sav", content)


LABELS = {1: "no", 2: "yes", 9: "refused"}


def labelled(values: list[Any], schema: Schema | None = None, **more: Any) -> Microdata:
    column = LabelledColumn(name="x", values=pd.Series(values), **more)
    other = LabelledColumn(name="y", values=pd.Series(range(len(values))))
    return labelled_table("t.sav", [column, other], schema, ["A note."])


def test_codes_with_labels_become_levels_and_what_is_odd_is_said() -> None:
    data = labelled([2.0, 9.0, 1.0], value_labels=LABELS, missing_codes=(9,), label="Answer")
    assert data.frame["x"].cat.categories.tolist() == ["no", "yes"]
    x = data.schema.variable("x")
    assert (x.label, dict(x.value_labels), x.missing_codes) == ("Answer", LABELS, (9,))
    assert data.notices[:2] == (
        "A note.",
        "x has 1 value declared as missing (9): they are missing here, without their codes.",
    )
    some = labelled([2.0, 3.0, 1.0], value_labels=LABELS, narrow=True)
    assert some.frame["x"].tolist() == [2, 3, 1]
    assert "x has labels for some of its values only: it stays as it is." in some.notices
    shared = labelled([2.0, 3.0, 1.0], value_labels={3: "b", 2: "a", 1: "b"})
    assert shared.frame["x"].tolist() == ["a", "b [3]", "b [1]"]
    assert shared.frame["x"].cat.categories.tolist() == ["b [1]", "a", "b [3]"]
    assert "x has codes that share a label: they stay apart." in shared.notices
    assert coded(shared.frame["x"], shared.schema.variable("x"))[0].tolist() == [2, 3, 1]
    texts = labelled(["b", "a", "c"], value_labels={"c": "3rd", "b": "2nd", "a": "1st"})
    assert texts.frame["x"].cat.categories.tolist() == ["3rd", "2nd", "1st"]
    assert not texts.frame["x"].cat.ordered


def test_a_schema_keeps_an_identifier_of_codes_and_the_names_must_fit() -> None:
    def schema(**given: Any) -> Schema:
        return Schema(variables=(Variable(name="x", **given), Variable(name="y", kind="count")))

    kept = labelled(
        [2, 9, 1],
        schema(kind=Kind.CATEGORICAL, role=Role.IDENTIFIER),
        value_labels=LABELS,
        missing_codes=(9,),
    )
    assert kept.frame["x"].tolist() == [2, 9, 1]
    ordered = labelled([2, 9, 1], schema(kind=Kind.ORDERED, label="Mine"), value_labels=LABELS)
    assert ordered.frame["x"].cat.ordered
    assert ordered.schema.variable("x").label == "Mine"
    columns = [LabelledColumn(name="x", values=pd.Series([1, 2]))] * 2
    with pytest.raises(InputError, match=r"^t\.sav: the column name x occurs 2 times"):
        labelled_table("t.sav", columns, None)
    partial = labelled([1, 2], Schema(variables=(Variable(name="x", kind="count"),)))
    assert partial.schema.names == partial.names, "a schema may be partial"


def test_levels_get_their_codes_again_and_new_ones_follow_the_largest() -> None:
    column = pd.Series(pd.Categorical(["yes", None, "new", "more"], ["more", "new", "yes", "no"]))
    variable = Variable(
        name="x", kind=Kind.CATEGORICAL, value_labels=tuple(LABELS.items()), missing_codes=(9,)
    )
    codes, labels = coded(column, variable)
    np.testing.assert_array_equal(codes, [2.0, NAN, 11.0, 10.0])
    assert labels == {**LABELS, 10: "more", 11: "new"}
    codes, labels = coded(column, None)
    np.testing.assert_array_equal(codes, [3.0, NAN, 2.0, 1.0])
    assert labels == {1: "more", 2: "new", 3: "yes"}
    texts = Variable(name="x", kind=Kind.CATEGORICAL, value_labels=(("y", "yes"), ("n", "no")))
    codes, labels = coded(column, texts)
    assert codes.tolist()[::2] == ["y", "new"]
    assert labels == {"y": "yes", "n": "no", "new": "new", "more": "more"}


def test_a_table_that_these_programs_cannot_hold_is_refused() -> None:
    for form, title in (("stata", "Stata"), ("spss", "SPSS")):
        with pytest.raises(ReleaseError) as caught:
            table_bytes(pd.DataFrame({"a b": [1.5, 2.5]}), form)
        assert str(caught.value) == (
            f"{title} cannot hold this table: its names may have letters, digits and _ only, "
            "beginning with a letter, and its texts and numbers are limited; rename the columns, "
            "or choose another format."
        )
        for large in (2**53, -(2**53)):
            with pytest.raises(ReleaseError) as caught:
                table_bytes(pd.DataFrame({"n": [1, large]}), form)
            assert str(caught.value) == (
                "Column n has whole numbers of 2^53 or more, which this format would change; "
                "choose another format."
            )
    with pytest.raises(InputError, match=r"^t\.xpt is damaged or cut off; get or save the file"):
        parse("t.xpt", b"HEADER RECORD*******LIB" + b" " * 58)
