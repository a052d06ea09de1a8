"""What the vectors of R become, and what R is given: factors, days, moments, codes, numbers."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdata
from rdata.missing import R_INT_NA

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io import limits, r_files
from rwn_core.io.parse import describe, parse
from rwn_core.io.r_files import _converted, _Vector
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

NAN = np.nan


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


def read(**columns: Any) -> Microdata:
    return parse("t.rds", r_file(None, **columns))


def refusal(content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse("t.rds", content)
    return str(caught.value)


def test_the_vectors_of_r_become_columns_of_their_types() -> None:
    codes = np.array([2, R_INT_NA, 1], dtype=np.int32)
    wild = np.array([2, 0, 3], dtype=np.int32)
    whole = np.array([5, np.iinfo(np.int64).min, -(2**60)]).view(np.float64)
    data = read(
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
            "wild": pd.Categorical(["hi", None, None], ["hi"]),
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
    pd.testing.assert_frame_equal(data.frame, expected)
    assert "wild is a factor with 2 codes beyond its levels: they are missing here." in data.notices


def test_labels_and_codes_of_labelled_vectors_are_kept() -> None:
    labels = of([1.0, 2.5, 9.0], names=texts("no", "half", "refused"))
    data = read(
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
    "matrix": (
        of(NUMBERS, dim=np.array([3, 1], dtype=np.int32)),
        "lists or a matrix",
    ),
    "complex": (
        np.array([1j, 2j, 3j]),
        "bytes, complex numbers or objects",
    ),
}


def test_a_vector_that_is_no_column_is_left_out_with_the_reason() -> None:
    for vector, fault in ODD.values():
        said = f"Left out of every release: odd ({fault})."
        assert said_of("t.rds", r_file(None, fine=NUMBERS, odd=vector)) == said
    hours = of(NUMBERS, class_=texts("difftime"), units=texts("hours"))
    said = said_of("t.rds", r_file(None, fine=NUMBERS, odd=hours))
    assert said == "odd has durations: they stay numbers of hours."


def test_row_names_are_left_out_and_said() -> None:
    named = r_file({"row.names": texts("p", "q", "r")}, x=NUMBERS)
    data = parse("t.rds", named)
    assert data.names == ("x",)
    assert data.notices == ("The data frame has row names: they are left out.",)
    assert read(x=NUMBERS).notices == ()


def test_an_object_that_is_no_data_frame_is_refused() -> None:
    content = r_file({"class": texts("list")}, x=NUMBERS)
    assert refusal(content) == "t.rds holds no data frame; save one with saveRDS."


SEQUENCE = "test_altrep_compact_intseq__xdr__version_3.rds"


def test_a_short_form_may_not_write_out_more_than_a_table_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = (rdata.TESTDATA_PATH / "generated" / SEQUENCE).read_bytes()
    assert refusal(content) == "t.rds holds no data frame; save one with saveRDS."
    monkeypatch.setattr(r_files, "MOST_CELLS", 1000)
    assert refusal(content) == "t.rds holds no data frame; save one with saveRDS."
    monkeypatch.setattr(r_files, "MOST_CELLS", 999)
    assert refusal(content) == "t.rds is damaged or cut off; get or save the file again."


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("name", PACKERS)
def test_every_packing_of_r_is_read_and_one_that_ends_too_early_is_damaged(name: str) -> None:
    plain = gzip.decompress(r_file(None, x=NUMBERS, y=np.arange(3)))
    packed = PACKERS[name](plain)
    assert describe(packed) == "an R data file"
    assert parse("t.rda", packed).frame["x"].tolist() == [1.5, 2.5, 3.5]
    assert limits.unpacked("t", packed) == plain
    assert limits.first_bytes(packed, 2) == plain[:2]
    if packed != plain:
        with pytest.raises(InputError, match=r"^t is damaged or cut off; get or save the file"):
            limits.unpacked("t", packed[:-12])


def written(frame: pd.DataFrame, schema: Schema | None = None) -> Any:
    """What another program reads of a file of R."""
    content = table_bytes(frame, "r", schema)
    return rdata.parser.parse_data(gzip.decompress(content), extension=".rds")


def test_numbers_of_r_are_integers_where_they_fit() -> None:
    frame = pd.DataFrame(
        {
            "int": [2**31 - 1, -5],
            "long": [2**31, -5],
            "low": [-(2**31), 5],
            "gap": pd.array([None, 7], "Int64"),
            "widegap": pd.array([2**40, None], "Int64"),
        }
    )
    kinds = [each.info.type.name for each in written(frame).object.value]
    assert kinds == ["INT", "REAL", "REAL", "INT", "REAL"]
    again = parse("t.rds", table_bytes(frame, "r")).frame
    assert again["long"].tolist() == [2**31, -5]
    assert again["low"].tolist() == [-(2**31), 5]
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


def test_the_classes_that_r_needs_are_written() -> None:
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
    made = written(frame, schema)
    names = r_files._Names(made)
    sex, income, town, day, noon, moment = (names.attributes(each) for each in made.object.value)
    haven = ["haven_labelled", "vctrs_vctr"]
    assert list(sex["class"]) == ["haven_labelled_spss", *haven, "double"]
    assert sex["labels"] == {1: "m", 9: "refused"}
    assert sex["na_values"].tolist() == [9.0]
    assert "na_range" not in sex
    assert list(income["class"]) == ["haven_labelled_spss", *haven, "double"]
    assert income["na_range"].tolist() == [-9.0, -1.0]
    assert not {"na_values", "labels"} & set(income)
    assert list(town["class"]) == [*haven, "character"]
    assert town["labels"] == {"x": "Xanten"}
    assert list(day["class"]) == ["Date"]
    assert list(noon["class"]) == list(moment["class"]) == ["POSIXct", "POSIXt"]
    assert list(noon["tzone"]) == ["UTC"]
    assert [each.info.object for each in made.object.value] == [True] * 6
    again = parse("t.rds", table_bytes(frame, "r", schema)).frame
    assert again["town"].tolist()[0] == "Xanten"
    assert again["town"].isna().tolist() == again["day"].isna().tolist() == [False, True]
