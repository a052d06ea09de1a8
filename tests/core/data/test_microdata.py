"""The gate and what is made of a table: types, refusals, notices, codes, fingerprint."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core import Question, Schema, SchemaError
from rwn_core.data import microdata as microdata_module
from rwn_core.data.microdata import Microdata, codes_together, numbered
from rwn_core.data.variable import Kind, Variable, is_missing
from rwn_core.neighbors.metric import discretely_weighted
from tests.tables import frame


def gate(values: Any, **fields: Any) -> Microdata:
    frame = pd.DataFrame({"x": values})
    if not fields:
        return Microdata.from_frame(frame)
    return Microdata.from_frame(frame, Schema(variables=(Variable(name="x", **fields),)))


CATEGORIES = {
    "bool": ([True, False], [1, 0], [False, True]),
    "boolean": (pd.array([None, True], dtype="boolean"), [-1, 0], [True]),
    "arrow_bool": (pd.array([None, True], dtype="bool[pyarrow]"), [-1, 0], [True]),
    "object": (pd.Series(["b", None], dtype=object), [0, -1], ["b"]),
    "text": (["b", "a"], [1, 0], ["a", "b"]),
    "python_string": (pd.array(["b", None], dtype="string[python]"), [0, -1], ["b"]),
    "category": (pd.Categorical(["b", "a"], ["b", "z", "a"]), [0, 1], ["b", "a"]),
    "whole_categories": (pd.Categorical([3, None]), [0, -1], [3]),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_types_with_categories(name):
    values, codes, levels = CATEGORIES[name]
    microdata = gate(values)
    assert microdata.schema.variable("x").kind is Kind.CATEGORICAL
    result, found_levels = microdata.codes("x")
    assert result.dtype == np.int32
    assert result.tolist() == codes
    assert found_levels == levels
    assert microdata.codes("x", [levels[-1]])[0].tolist() == [
        0 if code == len(levels) - 1 else -1 for code in codes
    ]
    with pytest.raises(SchemaError, match="categorical and has no numbers"):
        microdata.values("x")


def test_levels_of_a_schema_fit_numbers_and_texts():
    for values in ([3, 1, 2], [3.0, 1.0, 2.0], ["3", "1", "2"]):
        microdata = gate(values, kind="ordered", levels=("2", "3", "1"))
        assert microdata.values("x").tolist() == [1, 2, 0]


def test_a_direct_identifier_has_no_numbers_and_a_notice():
    microdata = gate([1, 2], kind="count", role="identifier")
    assert "direct identifier" in microdata.notices[0]
    assert microdata.numeric_names == ()
    with pytest.raises(SchemaError, match="direct identifier"):
        microdata.values("x")


def test_notices():
    frame = pd.DataFrame(
        {
            "same": [7] * 30,
            "gap": [None] + ["a", "b"] * 14 + ["a"],
            "name": [f"person {i}" for i in range(30)],
            "number": range(30),
            "Gap": [1.5] * 29 + [2.5],
        }
    )
    notices = " ".join(Microdata.from_frame(frame).notices)
    assert "same is constant" in notices
    assert "gap has 1 missing value." in notices
    assert "name looks like names or numbers of people: nearly every record" in notices
    assert "number looks like numbers of people, cases or objects" in notices
    assert "gap, Gap differ only in case" in notices
    assert "person" not in notices.replace("identifies people", "")
    assert repr(gate(["Zaphod", "b"])) == "Microdata(2 records x 1 variables)"
    ordered = gate(["low", "high"], kind="ordered")
    assert any("ordered by the alphabet" in notice for notice in ordered.notices)


def test_neither_the_callers_frame_nor_ours_can_change_the_table():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    index = pd.MultiIndex.from_tuples([(1, 2), (1, 2)])
    frame = pd.DataFrame(values, index, columns=["x", "y"], copy=False)
    frame.attrs["source"] = "a path"
    microdata = Microdata.from_frame(frame)
    before = microdata.fingerprint
    values[0, 0] = 9
    frame.iloc[0, 1] = 9
    taken = microdata.frame
    assert taken.index.equals(pd.RangeIndex(2)), "index and attributes are left out"
    assert taken.attrs == {}
    taken.loc[0, "x"] = 9
    assert microdata.frame["x"].tolist() == [1, 3]
    assert Microdata.from_frame(microdata.frame).fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        microdata.matrix(["x", "y"])[0, 0] = 9


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the columns that pass the gate from now on."""
    seen: list[str] = []
    check = microdata_module.check_column

    def counted(column: pd.Series, variable: Variable) -> None:
        seen.append(variable.name)
        check(column, variable)

    monkeypatch.setattr(microdata_module, "check_column", counted)
    return seen


LIKE = {
    "weights": lambda data: data.with_weights({"x": 3.0}),
    "a schema with weights": lambda data: data.with_schema(data.schema.with_weights({"x": 3.0})),
    "weights that shrink": discretely_weighted,
    "slices": lambda data: data.with_slices([["x", "t"]]),
    "groups": lambda data: data.with_schema(data.schema.replace_variable("x", group="g")),
    "a question": lambda data: data.with_schema(
        replace(data.schema, question=Question(response="x", predictors=("t",)))
    ),
}


@pytest.mark.parametrize("change", LIKE.values(), ids=LIKE)
def test_what_says_nothing_of_the_values_shares_them_unchecked(checks, change):
    microdata = Microdata.from_frame(frame("every type"))
    kept = {name: microdata.array(name) for name in microdata.names}
    matrix = microdata.matrix(microdata.numeric_names)
    checks.clear()
    changed = change(microdata)
    assert not checks
    assert changed.schema != microdata.schema
    assert changed.notices == microdata.notices
    assert all(changed.array(name) is array for name, array in kept.items())
    assert changed.matrix(changed.numeric_names) is matrix


def test_what_is_said_of_a_table_is_what_its_description_says():
    """A kind that is chosen, taken back and chosen again leaves nothing behind."""
    frame = pd.DataFrame({"x": [1.0, 2.5, 3.0], "g": ["low", "mid", "high"]})
    data = Microdata.from_frame(frame, notices=("The file has a title.",))
    said = "g is ordered by the alphabet; give its levels for another order."
    ordered = data.schema.replace_variable("g", kind="ordered")
    for _ in range(3):
        data = data.with_schema(ordered)
        assert data.notices == ("The file has a title.", said)
        data = data.with_schema(data.schema.replace_variable("x", role="key"))
        assert data.notices.count(said) == 1
        data = data.with_schema(data.schema.replace_variable("g", kind="categorical", levels=None))
        assert data.notices == ("The file has a title.",)


CHANGES = {
    "value": lambda f: f.assign(x=[1.5, np.nan, 3.5]),
    "which_is_missing": lambda f: f.assign(x=[np.nan, 1.5, 3.0]),
    "zero_for_missing": lambda f: f.assign(i=pd.array([1, 0, 3], dtype="Int64")),
    "type": lambda f: f.assign(b=[1, 0, 1]),
    "text": lambda f: f.assign(t=["a", None, "c"]),
    "text_missing": lambda f: f.assign(t=["a", "", "b"]),
    "text_type": lambda f: f.assign(t=f["t"].astype("category")),
    "level": lambda f: f.assign(c=pd.Categorical(["a", "b", "a"])),
    "order_of_levels": lambda f: f.assign(c=pd.Categorical(["a", "b", "b"], ["b", "a"])),
    "date": lambda f: f.assign(d=pd.to_datetime(["2020-01-01", None, "2020-01-04"])),
    "bool": lambda f: f.assign(b=[True, True, True]),
    "name": lambda f: f.rename(columns={"x": "y"}),
    "order_of_columns": lambda f: f[f.columns[::-1]],
    "order_of_records": lambda f: f.iloc[::-1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_fingerprint_changes_with(name):
    changed = Microdata.from_frame(CHANGES[name](frame("every type")))
    assert changed.fingerprint != Microdata.from_frame(frame("every type")).fingerprint


def test_the_fingerprint_does_not_change_with_what_is_no_content():
    plain = Microdata.from_frame(frame("every type"))
    other = frame("every type").assign(c=pd.Categorical(["a", "b", "b"], ["a", "unused", "b"]))
    other.index = [7, 8, 9]
    # another bit pattern of a missing number
    other["x"] = np.array([1.5, -np.nan, 3.0])
    assert Microdata.from_frame(other).fingerprint == plain.fingerprint
    assert pickle.loads(pickle.dumps(plain)).fingerprint == plain.fingerprint
    assert plain.take(np.arange(3)).fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("columns", "highest"), [(1, 9), (3, 4), (4, 1), (7, 2**12), (3, 2**40)], ids=str
)
def test_rows_are_numbered_as_they_sort(columns, highest):
    rng = np.random.default_rng(columns)
    some = rng.integers(-1, highest, (60, columns))
    cells = some[rng.integers(0, 60, 400)]
    distinct = sorted(set(map(tuple, cells.tolist())))
    assert numbered(cells).tolist() == [distinct.index(tuple(row)) for row in cells.tolist()]


@pytest.mark.parametrize("names", [("x",), ("x", "y")])
def test_a_value_that_the_original_lacks_has_the_code_of_a_missing_one(names):
    original = Microdata.from_frame(pd.DataFrame({"x": [5, 3, 5], "y": [1, 1, 1]}))
    masked = Microdata.from_frame(pd.DataFrame({"x": [3, 4, 5], "y": [1, 1, 1]}))
    codes, released = codes_together(original, masked, names, np.array([0, 1, 2]))
    assert codes.tolist() == [1, 0, 1]
    assert released.tolist() == [0, -1, 1]


def test_a_code_is_missing_if_it_is_declared_or_within_a_declared_range():
    declared = (-9, "x", (97.0, 99.0))
    found = [
        code for code in (-9, -8, "x", "y", 96.9, 97, 98.5, 99, 100) if is_missing(code, declared)
    ]
    assert found == [-9, "x", 97, 98.5, 99]


def notices(**columns: list[object]) -> str:
    return " ".join(Microdata.from_frame(pd.DataFrame(columns)).notices)


CASES = {
    "codes below 0": ([1000, -9, 1200, -9, -8], r"x has -9 \(2 times\), -8 \(1 times\): .*missing"),
    "nines above": ([34, 35, 999, 40, 999], r"x has 999 \(2 times\): if they mean missing"),
    "decimals": ([3.5, -9.0, 2.5, 99.0, 99.0], r"x has -9 \(1 times\), 99 \(2 times\)"),
    "numbers": (["078-05-1120", "078-05-1120", "219-09-9999", "111-22-3333"], "social security"),
    "mail": (["a@b.org", "c@d.de", "e@f.net", "a@b.org"], "e-mail addresses"),
    "account": (["DE89370400440532013000", "GB29NWBK60161331926819"], "account numbers"),
    "phone": (["+49 151 1234567", "+49 151 1234568"], "telephone numbers"),
    "one below 0": ([1000, -1, 1200, -1, 900], r"x has -1 \(2 times\): if they mean missing"),
    "equal digits": ([34, 35, 8888, 40, 8888, 6666, 6666], r"x has 6666 .*, 8888 \(2 times\)"),
    "five sevens": ([34, 35, 40, 77777, 77777], r"x has 77777 \(2 times\): if they mean missing"),
    "six eights": ([34, 35, 40, 888888, 888888], r"x has 888888 \(2 times\): if they mean"),
    "mojibake": (["MÃ¼ller", "ZÃ¼rich", "Ulm"], "2 different texts with letters of a wrong enc"),
    "no byte": (["M\ufffdller", "Ulm", "Bonn"], "1 different texts with letters of a wrong enc"),
    "minus sign": (["\u22125", "3", "\u221212", "\u22121"], "signs other than 0 to 9"),
    "arabic digits": (["\u0661\u0662", "\u0663", "\u0664"], "signs other than 0 to 9"),
    "full width": (["\uff11\uff12", "\uff13", "\uff14"], "signs other than 0 to 9"),
    "hexadecimal": (["0x1F", "0xFF", "0x00"], "signs other than 0 to 9"),
    "underscores": (["1_0", "2_000", "3_1"], "signs other than 0 to 9"),
    "composed": (
        ["Z\u00fcrich", "Zu\u0308rich", "Ulm"],
        "1 levels that differ .* composed letters",
    ),
    "alike": (["Male", "male", "female", "male "], "2 levels that differ .* case or blanks"),
}


@pytest.mark.parametrize("name", CASES)
def test_named(name):
    values, words = CASES[name]
    assert pd.Series([notices(x=values)]).str.contains(words).all(), notices(x=values)


@pytest.mark.parametrize("day", ["9999-12-31", "1900-01-01"])
def test_days_for_missing_are_named_where_they_lie_far_off(day):
    """Finding T9."""
    days = [f"19{70 + i}-03-01" for i in range(9)]
    said = notices(born=pd.to_datetime([*days, day, day]).astype("datetime64[s]"))
    assert f"born has {day} (2 times): if they mean missing" in said
    near = [f"19{10 + i:02}-01-01" for i in range(9)]
    said = notices(born=pd.to_datetime([*near, "1900-01-01"]).astype("datetime64[s]"))
    assert "missing" not in said


def test_a_name_with_invisible_characters_is_named():
    hidden = "The name of column 2 has invisible characters."
    assert notices(x=[1.5, 2.5, 3], **{"y\u200b": [2.5, 1, 4]}) == hidden


def test_ordinary_values_are_not_named():
    assert notices(age=[9, 34, 99, 98, 80], delta=[-9, 3, -4, 8, 0], t=list("abcba")) == ""
    assert notices(t=["-2", "+4", "x", "y"]) == ""
    assert (
        notices(t=["Z\u00fcrich", "\u00c5rhus", "S\u00e3o Paulo", "\u041a\u0438\u0435\u0432"]) == ""
    )
    assert notices(t=["01", "02", "1-2", "a_b", "\u2212"]) == ""


def of_texts(texts: list[str]) -> str:
    return Microdata.from_frame(pd.DataFrame({"x": texts})).fingerprint


@given(st.lists(st.text(st.sampled_from("ab:;1"), max_size=3), min_size=2, max_size=4))
def test_texts_cannot_be_shifted_without_changing_the_fingerprint(texts):
    joined = ["".join(texts), *[""] * (len(texts) - 1)]
    same = texts == joined
    assert (of_texts(texts) == of_texts(joined)) == same
