"""Files of Stata, SPSS, SAS and R: types, codes, labels, missing values, in and out."""

import bz2
import datetime
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata
from rdata.missing import R_INT_NA

import rwn_core as rwn
from rwn_core import InputError, Kind, Microdata, ReleaseError, Role, Schema, Variable
from rwn_core.io import limits, r_files
from rwn_core.io.parse import describe, parse
from rwn_core.io.r_files import _converted, _Vector
from rwn_core.io.reading import read, read_bytes
from rwn_core.io.time_formats import TimeFormat
from rwn_core.io.value_labels import LabelledColumn, coded, labelled_table
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

pytestmark = pytest.mark.usefixtures("read_here")

SEX = {1: "male", 2: "female", 9: "refused"}
PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2, 9, 2, 1],
        "health": [1.0, 3, 2, 3, 1],
        "income": [1500.5, -9, 2250.25, -8, 0.1],
        "town": ["Ulm", "", "Köln", "Ulm", "Bonn"],
        "born": pd.to_datetime(["1960-01-02", "1999-12-31", None, "1900-05-05", "2001-02-03"]).date,
    }
)
LABELS = {"sex": "Sex of the person", "income": "Income in euros"}
HEALTH = {1: "bad", 2: "fair", 3: "good"}
VALUE_LABELS = {"sex": SEX, "health": HEALTH, "income": {-9: "refused"}}


def unchanged(data: Microdata, path: Path) -> Microdata:
    """Through a release with q = 0 in the original order, and back."""
    release = rwn.mask(data, rwn.RWN(k=2, q=0.0), seed=1)
    return read(release.publish(path, order="original"))


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        PEOPLE,
        path,
        column_labels=LABELS,
        variable_value_labels=VALUE_LABELS,
        missing_ranges={"sex": [9], "income": [{"lo": -9, "hi": -1}]},
        variable_measure={"health": "ordinal", "sex": "nominal", "income": "scale"},
    )
    return path


def test_an_spss_file_survives_a_release(spss, tmp_path):
    data = read(spss)
    again = unchanged(data, tmp_path / "out.sav")
    assert Schema.from_toml(data.schema.to_toml()) == again.schema == data.schema
    pd.testing.assert_frame_equal(again.frame, data.frame)
    for ending, form in ((".sav", "spss"), (".dta", "stata"), (".rds", "r")):
        content = table_bytes(data.frame, form, data.schema)
        back = read_bytes(f"t{ending}", content)
        assert table_bytes(back.frame, form, back.schema) == content
    raw, meta = pyreadstat.read_sav(tmp_path / "out.sav", user_missing=True)
    assert meta.variable_value_labels == VALUE_LABELS
    assert meta.missing_ranges["income"] == [{"lo": -9.0, "hi": -1.0}]
    measures = {name: meta.variable_measure[name] for name in VALUE_LABELS}
    assert measures == {"sex": "nominal", "health": "ordinal", "income": "scale"}
    assert raw["health"].tolist() == PEOPLE["health"].tolist()
    assert raw["born"].tolist()[:2] == PEOPLE["born"].tolist()[:2]


def test_stata_and_r_files_of_other_packages_survive_a_release(tmp_path):
    macro = read(Path(str(files("statsmodels") / "datasets/macrodata/macrodata.dta")))
    assert (macro.n, macro.schema.variable("year").kind) == (203, Kind.COUNT)
    expected = pd.read_stata(Path(str(files("statsmodels") / "datasets/macrodata/macrodata.dta")))
    np.testing.assert_array_equal(macro.values("realgdp"), expected["realgdp"].to_numpy(float))
    macro = macro.with_schema(macro.schema.with_rows("separate"))  # it is a series of quarters
    for name in ("out.dta", "out.sav", "out.rds", "out.feather", "out.xlsx", "out.tsv"):
        again = unchanged(macro, tmp_path / name)
        for column in macro.names:
            # Stata's numbers of four bytes: a text has their digits and no more
            mine = again.values(column)
            own = macro.values(column)
            np.testing.assert_array_equal(mine.astype("f4"), own.astype("f4"))
    table = read(rdata.TESTDATA_PATH / "test_dataframe.rda")
    assert str(table.frame["class"].dtype) == "category"
    pd.testing.assert_frame_equal(unchanged(table, tmp_path / "t.rda").frame, table.frame)


def test_an_r_file_has_factors_orders_labels_and_codes_of_its_own_reader(spss, tmp_path):
    data = read(spss)
    again = unchanged(data, tmp_path / "out.rds")
    pd.testing.assert_series_equal(again.frame["sex"], data.frame["sex"])
    assert again.schema.variable("sex").value_labels == data.schema.variable("sex").value_labels
    assert again.schema.variable("sex").missing_codes == (9,)
    assert again.schema.variable("income").missing_codes == ((-9.0, -1.0),)
    assert again.schema.variable("income").label == LABELS["income"]
    frame = pd.DataFrame(
        {
            "f": pd.Categorical(["b", None, "a"], ["b", "a"]),
            "o": pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"], ordered=True),
            "d": pd.Series(["2020-01-02", "1900-01-01", None]).astype("datetime64[s]"),
            "m": pd.to_datetime(["2020-01-02 03:04:05.5"] * 3).tz_localize("Asia/Tokyo"),
            "b": pd.array([True, None, False], "boolean"),
            "i": pd.array([1, None, 3], "Int64"),
            "t": pd.array(["x", None, "é"], "str"),
        }
    )
    content = table_bytes(frame, "r")
    (tmp_path / "f.rds").write_bytes(content)
    pd.testing.assert_frame_equal(read(tmp_path / "f.rds").frame, frame.astype({"m": MOMENT}))
    with pytest.warns(UserWarning, match="Missing constructor"):  # it knows no dates
        other = rdata.read_rds(tmp_path / "f.rds")
    assert other["o"].tolist() == ["lo", "hi", "lo"]
    assert other["o"].cat.ordered
    assert other["t"].isna().tolist() == [False, True, False]


MOMENT = "datetime64[us, Asia/Tokyo]"


def test_an_old_stata_file_without_its_last_part_says_that_labels_are_missing(tmp_path):
    path = tmp_path / "old.dta"
    frame = pd.DataFrame({"sex": [1, 2, 1], "age": [20, 31, 42]})
    pyreadstat.write_dta(frame, path, version=10, variable_value_labels={"sex": {1: "m", 2: "f"}})
    whole = path.read_bytes()
    assert not any("does not hold" in notice for notice in read_bytes("a.dta", whole).notices)
    cut = read_bytes("a.dta", whole[:-20])  # its labels come last, and nothing says how many
    assert cut.frame["sex"].tolist() == [1, 2, 1]
    assert any("names value labels for sex and does not hold them" in n for n in cut.notices)


NAN = np.nan
DAYS = [datetime.date(2020, 2, 29), None, datetime.date(1950, 1, 1)]
MOMENTS = pd.to_datetime(["2020-02-29 01:02:03", None, "1950-01-01 00:00:00"])


def written(path: Path, frame: pd.DataFrame, **options: Any) -> bytes:
    getattr(pyreadstat, f"write_{path.suffix[1:].replace('xpt', 'xport')}")(frame, path, **options)
    return path.read_bytes()


def test_the_columns_of_a_stata_file_come_in_with_their_types(tmp_path):
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


def test_the_columns_of_an_spss_file_come_in_with_their_codes(tmp_path):
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


def test_a_file_without_its_end_or_with_fewer_records_than_it_says_is_damaged(
    tmp_path, monkeypatch
):
    content = written(tmp_path / "t.dta", pd.DataFrame({"x": [1.5, 2.5]}))
    assert parse("t.dta", content + b"\0\r\n ").n == 2
    assert said_of("t.dta", content[:-1]) == "t.dta is cut off; get or save the file again."
    whole = pyreadstat.read_sav

    def shortened(*given: Any, **options: Any) -> Any:
        frame, meta = whole(*given, **options)
        return frame.iloc[:-1], meta

    content = written(tmp_path / "t.sav", pd.DataFrame({"x": [1.5, 2.5, 3.5]}))
    monkeypatch.setattr(pyreadstat, "read_sav", shortened)
    again = "t.sav is damaged, cut off or encrypted; get or save the file again."
    assert said_of("t.sav", content) == again


@pytest.mark.parametrize(
    ("limit", "size", "words"),
    [("MOST_CELLS", 4, "more than 3 cells"), ("LARGEST_UNPACKED", 32, "unpacks to more than")],
)
def test_a_file_is_not_unpacked_beyond_its_limits(tmp_path, monkeypatch, limit, size, words):
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


LABELS_CODES = {1: "no", 2: "yes", 9: "refused"}


def labelled(values: list[Any], schema: Schema | None = None, **more: Any) -> Microdata:
    column = LabelledColumn(name="x", values=pd.Series(values), **more)
    other = LabelledColumn(name="y", values=pd.Series(range(len(values))))
    return labelled_table("t.sav", [column, other], schema, ["A note."])


def test_codes_with_labels_become_levels_and_what_is_odd_is_said():
    data = labelled([2.0, 9.0, 1.0], value_labels=LABELS_CODES, missing_codes=(9,), label="Answer")
    assert data.frame["x"].cat.categories.tolist() == ["no", "yes"]
    x = data.schema.variable("x")
    assert (x.label, dict(x.value_labels), x.missing_codes) == ("Answer", LABELS_CODES, (9,))
    assert data.notices[:2] == (
        "A note.",
        "x has 1 value declared as missing (9): they are missing here, without their codes.",
    )
    assert "share a label" not in " ".join(data.notices)
    some = labelled([2.0, 3.0, 1.0], value_labels=LABELS_CODES, narrow=True)
    assert some.frame["x"].tolist() == [2, 3, 1]
    assert "x has labels for some of its values only: no categories." in some.notices
    days = {"time": TimeFormat(unit="days"), "written": "%td"}
    assert labelled([0.0, 366.0], **days).schema.variable("x").kind is Kind.DATE
    counted = Variable(name="x", kind="continuous"), Variable(name="y", kind="count")
    numbers = labelled([0.0, 366.0], Schema(variables=counted), **days)
    assert numbers.frame["x"].tolist() == [0.0, 366.0]  # as its schema wants it
    shared = labelled([2.0, 3.0, 1.0], value_labels={3: "b", 2: "a", 1: "b"})
    assert shared.frame["x"].tolist() == ["a", "b [3]", "b [1]"]
    assert shared.frame["x"].cat.categories.tolist() == ["b [1]", "a", "b [3]"]
    assert "x has codes that share a label: they stay apart." in shared.notices
    assert coded(shared.frame["x"], shared.schema.variable("x"))[0].tolist() == [2, 3, 1]
    texts = labelled(["b", "a", "c"], value_labels={"c": "3rd", "b": "2nd", "a": "1st"})
    assert texts.frame["x"].cat.categories.tolist() == ["3rd", "2nd", "1st"]
    assert not texts.frame["x"].cat.ordered


def test_a_schema_keeps_an_identifier_of_codes_and_the_names_must_fit():
    def schema(**given: Any) -> Schema:
        return Schema(variables=(Variable(name="x", **given), Variable(name="y", kind="count")))

    kept = labelled(
        [2, 9, 1],
        schema(kind=Kind.CATEGORICAL, role=Role.IDENTIFIER),
        value_labels=LABELS_CODES,
        missing_codes=(9,),
    )
    assert kept.frame["x"].tolist() == [2, 9, 1]
    ordered = labelled(
        [2, 9, 1], schema(kind=Kind.ORDERED, label="Mine"), value_labels=LABELS_CODES
    )
    assert ordered.frame["x"].cat.ordered
    assert ordered.schema.variable("x").label == "Mine"
    with pytest.raises(InputError, match=r"^t\.sav: the column name x occurs 2 times"):
        limits.chosen_columns("t.sav", ["x", "x"], None, None)
    partial = labelled([1, 2], Schema(variables=(Variable(name="x", kind="count"),)))
    assert partial.schema.names == partial.names, "a schema may be partial"


def test_levels_get_their_codes_again_and_new_ones_follow_the_largest():
    column = pd.Series(pd.Categorical(["yes", None, "new", "more"], ["more", "new", "yes", "no"]))
    labels = tuple(LABELS_CODES.items())
    variable = Variable(name="x", kind="categorical", value_labels=labels, missing_codes=(9,))
    codes, labels = coded(column, variable)
    np.testing.assert_array_equal(codes, [2.0, NAN, 11.0, 10.0])
    assert labels == {**LABELS_CODES, 10: "more", 11: "new"}
    codes, labels = coded(column, None)
    np.testing.assert_array_equal(codes, [3.0, NAN, 2.0, 1.0])
    assert labels == {1: "more", 2: "new", 3: "yes"}
    texts = Variable(name="x", kind=Kind.CATEGORICAL, value_labels=(("y", "yes"), ("n", "no")))
    codes, labels = coded(column, texts)
    assert codes.tolist()[::2] == ["y", "new"]
    assert labels == {"y": "yes", "n": "no", "new": "new", "more": "more"}


def test_a_table_that_these_programs_cannot_hold_is_refused():
    for form, title in (("stata", "Stata"), ("spss", "SPSS")):
        with pytest.raises(ReleaseError) as caught:
            table_bytes(pd.DataFrame({"a b": [1.5, 2.5]}), form)
        assert str(caught.value) == (
            f"{title} cannot hold this table: its names may have letters, digits and _ only, "
            "beginning with a letter, and its texts and numbers are limited; rename the columns, "
            "or choose another format."
        )
        for numbers in ([1, 2**53], [1, -(2**53)], [None, 2**53 + 1]):
            with pytest.raises(ReleaseError) as caught:
                table_bytes(pd.DataFrame({"n": pd.array(numbers, "Int64")}), form)
            assert str(caught.value) == (
                "Column n has whole numbers of 2^53 or more, which this format would change; "
                "choose another format."
            )
    with pytest.raises(InputError, match=r"^t\.xpt is damaged or cut off; get or save the file"):
        parse("t.xpt", b"HEADER RECORD*******LIB" + b" " * 58)


def test_a_file_does_not_say_when_it_was_made():
    frame = PEOPLE[["sex", "town", "income"]]
    with zipfile.ZipFile(io.BytesIO(table_bytes(frame, "excel"))) as book:
        made = book.read("docProps/core.xml")
        dates = {part.date_time for part in book.infolist()}
    assert made.count(b">2000-01-01T00:00:00Z<") == 2
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    assert table_bytes(frame, "r")[4:8] == b"\0\0\0\0"
    assert b"01 Jan 1960 00:00" in table_bytes(frame, "stata")
    assert table_bytes(frame, "spss")[92:109] == b"01 Jan 6000:00:00"


def test_an_address_in_a_cell_of_a_sheet_is_a_text_and_no_link():
    frame = pd.DataFrame({"place": ["https://example.org/a", "mailto:ada@example.org"] * 3})
    with zipfile.ZipFile(io.BytesIO(table_bytes(frame, "excel"))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert not [name for name, part in parts.items() if b"hyperlink" in part]
    assert any(b"https://example.org/a" in part for part in parts.values())


def texts(*words: str | None) -> np.ndarray:
    return np.array(words, dtype=object)


def r_file(attributes: dict[str, Any] | None = None, **columns: Any) -> bytes:
    """What `saveRDS` writes of a data frame of these vectors."""
    vectors = [v if isinstance(v, _Vector) else _Vector(v, {}) for v in columns.values()]
    rows = np.array([R_INT_NA, -3], dtype=np.int32)
    own = {"names": texts(*columns), "class": texts("data.frame"), "row.names": rows}
    table = _Vector(vectors, {**own, **(attributes or {})})
    data = rdata.conversion.convert_python_to_r_data(table, constructor_dict={_Vector: _converted})
    return gzip.compress(rdata.unparser.unparse_data(data), mtime=0)


def of(values: Any, **attributes: Any) -> _Vector:
    """A vector with attributes; class_ is its class."""
    return _Vector(np.asarray(values), {k.rstrip("_"): v for k, v in attributes.items()})


def read_r(**columns: Any) -> Microdata:
    return parse("t.rds", r_file(None, **columns))


def refusal(content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse("t.rds", content)
    return str(caught.value)


def test_the_vectors_of_r_become_columns_of_their_types():
    codes = np.array([2, R_INT_NA, 1], dtype=np.int32)
    wild = np.array([2, 0, 3], dtype=np.int32)
    whole = np.array([5, np.iinfo(np.int64).min, -(2**60)]).view(np.float64)
    data = read_r(
        truth=np.array([True, False, True]),
        maybe=np.ma.array([True, False, False], mask=[False, True, False]),
        int=np.array([1, 8, 3], dtype=np.int32),
        gap=np.array([1, R_INT_NA, 3], dtype=np.int32),
        real=np.array([1.5, NAN, 3.0]),
        text=texts("a", None, "é"),
        level=of(codes, levels=texts("lo", "hi", "unused"), class_=texts("factor")),
        rank=of(codes, levels=texts("lo", "hi"), class_=texts("ordered", "factor")),
        wild=of(wild, levels=texts("lo", "hi"), class_=texts("factor")),
        day=of([18_321.75, NAN, -0.25], class_=texts("Date")),
        moment=of([0.5, NAN, -1.25], class_=texts("POSIXct", "POSIXt")),
        zone=of([0.0, 3600, NAN], class_=texts("POSIXct", "POSIXt"), tzone=texts("Asia/Tokyo")),
        days=of([1.5, 2, 3], class_=texts("difftime"), units=texts("days")),
        long=of(whole, class_=texts("integer64")),
    )
    expected = pd.DataFrame(
        {
            "truth": [True, False, True],
            "maybe": pd.array([True, None, False], "boolean"),
            "int": [1, 8, 3],
            "gap": pd.array([1, None, 3], "Int64"),
            "real": [1.5, NAN, 3.0],
            "text": pd.array(["a", None, "é"], "str"),
            "level": pd.Categorical(["hi", None, "lo"], ["lo", "hi"]),
            "rank": pd.Categorical(["hi", None, "lo"], ["lo", "hi"], ordered=True),
            "day": pd.Series(["2020-02-29", None, "1969-12-31"]).astype("datetime64[s]"),
            "moment": pd.Series([500_000, None, -1_250_000]).astype("datetime64[us]"),
            "zone": pd.Series([0, 3_600_000_000, None])
            .astype("datetime64[us]")
            .dt.tz_localize("UTC")
            .dt.tz_convert("Asia/Tokyo"),
            "days": [1.5, 2.0, 3.0],
            "long": pd.array([5, None, -(2**60)], "Int64"),
        }
    )
    pd.testing.assert_frame_equal(data.frame.drop(columns="wild"), expected)
    said = "Left out of every release: wild (a factor with codes beyond its levels)."
    assert said in data.notices


def test_labels_and_codes_of_labelled_vectors_are_kept():
    labels = of([1.0, 2.5, 9.0], names=texts("no", "half", "refused"))
    data = read_r(
        x=of(
            [1.0, 9, 2.5],
            label=texts("Answer"),
            labels=labels,
            na_values=np.array([9.0]),
            class_=texts("haven_labelled_spss", "haven_labelled"),
        ),
        y=of([-5.0, 3.5, 4.5], na_range=np.array([-9.0, -1.0]), label=np.array([7])),
        t=of(texts("m", "f", "m"), labels=of(texts("m", "f"), names=texts("man", "woman"))),
        plain=np.array([1.5, 2.5, 3.5]),
    )
    x, y, t, plain = data.schema.variables
    assert (x.label, x.value_labels) == ("Answer", ((1, "no"), (2.5, "half"), (9, "refused")))
    assert x.missing_codes == (9,)
    assert (y.label, y.value_labels, y.missing_codes) == (None, (), ((-9.0, -1.0),))
    assert t.value_labels == (("m", "man"), ("f", "woman"))
    assert (plain.label, plain.value_labels, plain.missing_codes) == (None, (), ())
    assert data.frame["x"].tolist()[::2] == ["no", "half"]
    assert data.frame["x"].isna().tolist() == [False, True, False]
    assert data.frame["t"].tolist() == ["man", "woman", "man"]
    np.testing.assert_array_equal(data.frame["y"], [NAN, 3.5, 4.5])


NUMBERS = np.array([1.5, 2.5, 3.5])
ODD = {
    "matrix": (of(NUMBERS, dim=np.array([3, 1], dtype=np.int32)), "lists or a matrix"),
    "complex": (np.array([1j, 2j, 3j]), "bytes, complex numbers or objects"),
}


def test_what_is_no_column_is_left_out_with_the_reason():
    for vector, fault in ODD.values():
        said = f"Left out of every release: odd ({fault})."
        assert said_of("t.rds", r_file(None, fine=NUMBERS, odd=vector)) == said
    hours = of(NUMBERS, class_=texts("difftime"), units=texts("hours"))
    said = said_of("t.rds", r_file(None, fine=NUMBERS, odd=hours))
    assert said == "odd has durations: they stay numbers of hours."
    data = parse("t.rds", r_file({"row.names": texts("p", "q", "r")}, x=NUMBERS))
    assert data.names == ("row", "x")
    (said,) = data.notices
    assert said.startswith("row looks like names of the records: its texts are row names")
    numbered = parse("t.rds", r_file({"row.names": texts("1", "3", "7")}, x=NUMBERS))
    assert numbered.names == ("x",)
    assert numbered.notices == ("row only numbers the records: it is left out.",)
    assert read_r(x=NUMBERS).notices == ()


NO_FRAME = "t.rds holds no data frame; save one with saveRDS."
SEQUENCE = "test_altrep_compact_intseq__xdr__version_3.rds"


def test_a_short_form_may_not_write_out_more_than_a_table_holds(monkeypatch):
    content = (rdata.TESTDATA_PATH / "generated" / SEQUENCE).read_bytes()
    monkeypatch.setattr(r_files, "MOST_CELLS", 1000)
    assert refusal(content) == refusal(r_file({"class": texts("list")}, x=NUMBERS)) == NO_FRAME
    monkeypatch.setattr(r_files, "MOST_CELLS", 999)
    assert refusal(content) == "t.rds is damaged or cut off; get or save the file again."


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("name", PACKERS)
def test_every_packing_of_r_is_read_and_one_that_ends_too_early_is_damaged(name):
    plain = gzip.decompress(r_file(None, x=NUMBERS, y=np.arange(3)))
    packed = PACKERS[name](plain)
    assert describe(packed) == "an R data file"
    assert parse("t.rda", packed).frame["x"].tolist() == [1.5, 2.5, 3.5]
    assert limits.unpacked("t", packed) == plain
    assert limits.first_bytes(packed, 2) == plain[:2]
    if packed != plain:
        with pytest.raises(InputError, match=r"^t is damaged or cut off; get or save the file"):
            limits.unpacked("t", packed[:-12])


def written_r(frame: pd.DataFrame, schema: Schema | None = None) -> Any:
    """What another program reads of a file of R."""
    content = table_bytes(frame, "r", schema)
    return rdata.parser.parse_data(gzip.decompress(content), extension=".rds")


def test_numbers_of_r_are_integers_where_they_fit():
    frame = pd.DataFrame(
        {
            "int": [2**31 - 1, -5],
            "long": [2**31, -5],
            "low": [-(2**31), 5],
            "short": np.array([-(2**31), 5], dtype=np.int32),
            "gap": pd.array([None, 7], "Int64"),
            "widegap": pd.array([2**40, None], "Int64"),
        }
    )
    kinds = [each.info.type.name for each in written_r(frame).object.value]
    assert kinds == ["INT", "REAL", "REAL", "REAL", "INT", "REAL"]
    again = parse("t.rds", table_bytes(frame, "r")).frame
    assert again["long"].tolist() == [2**31, -5]
    assert again["low"].tolist() == again["short"].tolist() == [-(2**31), 5]
    assert again["gap"].tolist() == [pd.NA, 7]
    np.testing.assert_array_equal(again["widegap"], [2.0**40, NAN])
    for large in (2**53, -(2**53)):
        with pytest.raises(ReleaseError) as caught:
            table_bytes(pd.DataFrame({"n": [1, large]}), "r")
        assert str(caught.value) == (
            "Column n has whole numbers of 2^53 or more, which R would change; choose another "
            "format."
        )
    table_bytes(pd.DataFrame({"n": [1, 2**53 - 1]}), "r")


@pytest.fixture(scope="module")
def for_r() -> tuple[pd.DataFrame, Schema]:
    """A table with a column for each class that R has for labels, texts and times."""
    days = pd.Series(["2020-01-02", None]).astype("datetime64[s]")
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical(["m", None], ["m"]),
            "income": [1.5, -9.0],
            "town": pd.array(["x", None], "str"),
            "day": days,
            "noon": days + pd.Timedelta(hours=12),
            "moment": days.astype("datetime64[us]"),
        }
    )
    labels = ((1, "m"), (9, "refused"), ("a", "letter"))
    schema = Schema(
        variables=(
            Variable(name="sex", kind=Kind.CATEGORICAL, value_labels=labels, missing_codes=(9,)),
            Variable(name="income", kind=Kind.CONTINUOUS, missing_codes=((-9.0, -1.0),)),
            Variable(name="town", kind=Kind.CATEGORICAL, value_labels=(("x", "Xanten"),)),
        )
    )
    return frame, schema


@pytest.fixture
def attributes(for_r) -> dict[str, Any]:
    """The attributes of each column as R gets them."""
    made = written_r(*for_r)
    names = r_files._Names(made)
    assert [each.info.object for each in made.object.value] == [True] * 6
    columns = map(names.attributes, made.object.value)
    return dict(zip(for_r[0].columns, columns, strict=True))


HAVEN = ["haven_labelled", "vctrs_vctr"]


def test_labels_and_codes_for_missing_are_written_as_haven_has_them(attributes):
    sex, income, town = (attributes[name] for name in ("sex", "income", "town"))
    assert list(sex["class"]) == ["haven_labelled_spss", *HAVEN, "double"]
    assert sex["labels"] == {1: "m", 9: "refused"}
    assert sex["na_values"].tolist() == [9.0]
    assert "na_range" not in sex
    assert list(income["class"]) == ["haven_labelled_spss", *HAVEN, "double"]
    assert income["na_range"].tolist() == [-9.0, -1.0]
    assert not {"na_values", "labels"} & set(income)
    assert list(town["class"]) == [*HAVEN, "character"]
    assert town["labels"] == {"x": "Xanten"}


def test_days_and_moments_are_written_in_classes_of_their_own(attributes):
    day, noon, moment = (attributes[name] for name in ("day", "noon", "moment"))
    assert list(day["class"]) == ["Date"]
    assert list(noon["class"]) == list(moment["class"]) == ["POSIXct", "POSIXt"]
    assert list(noon["tzone"]) == ["UTC"]


def test_labelled_texts_and_days_are_read_again_with_their_gaps(for_r):
    again = parse("t.rds", table_bytes(for_r[0], "r", for_r[1])).frame
    assert again["town"].tolist()[0] == "Xanten"
    assert again["town"].isna().tolist() == again["day"].isna().tolist() == [False, True]
