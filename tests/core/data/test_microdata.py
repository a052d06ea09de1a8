"""The gate and what is made of a table, its precision and variables that follow."""

import pickle
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rwn_core
import rwn_core as rwn
from rwn_core import (
    RWN,
    Kind,
    Microdata,
    Question,
    Schema,
    SchemaError,
    coordinates,
    find_neighborhoods,
)
from rwn_core.data import microdata as microdata_module
from rwn_core.data import rounding
from rwn_core.data.derived import broken_relations, derived_variables
from rwn_core.data.microdata import codes_together, numbered
from rwn_core.data.variable import Variable, is_missing
from rwn_core.masking.release import notes_on_file
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.neighbors.metric import discretely_weighted
from rwn_core.reporting import read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import file_texts
from rwn_core.reporting.public_notice import public_file
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


@pytest.mark.parametrize("step", [0.1, 0.3, 0.05, 0.002, 1e-7, 2.5, 12.25, 5.0, 1e5, 1e22])
def test_multiples_are_the_numbers_that_a_person_would_write(step):
    places = np.concatenate((np.arange(-300, 301), [10**6 + 1, 123_456_789]))
    written = [float(Decimal(str(step)) * int(place)) for place in places]
    near = np.array(written) + 0.2 * step * np.sin(places)
    np.testing.assert_array_equal(rounding.rounded_values(near, step), written)
    np.testing.assert_array_equal(rounding.rounded_values(np.array(written), step), written)


@given(
    st.floats(1e-12, 1e12), st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=20).map(np.array)
)
def test_any_step_gives_a_multiple_that_is_near_and_stays(step, values):
    once = rounding.rounded_values(values, step)
    np.testing.assert_array_equal(rounding.rounded_values(once, step), once)
    ulp = np.spacing(np.abs(values) + step)
    assert (np.abs(once - values) <= 0.5 * step + 4 * ulp).all()


@pytest.fixture(scope="module")
def bodyfat():
    return rwn_core.load_demo("bodyfat")


def steps(data: Microdata, share: float) -> dict[str, float]:
    return {
        name: share * float(data.values(name).std(ddof=1))
        for name in data.numeric_names
        if data.schema.variable(name).kind in (Kind.CONTINUOUS, Kind.COUNT)
    }


def test_the_law_after_rounding_is_the_law_of_rounded_values(bodyfat):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=5, epsilon=2.0)
    law = RWN(epsilon=2.0, k=5, q=0.6).law(bodyfat, neighborhoods)
    coarse = law.rounded({"weight": 10.0})
    fine_table, fine_values = law.table("weight")
    table, values = coarse.table("weight")
    assert len(values) < len(fine_values)
    to = np.searchsorted(values, rounding.rounded_values(np.array(fine_values), 10.0))
    merged = np.zeros(table.shape)
    np.add.at(merged.T, to, fine_table.toarray().T)
    np.testing.assert_allclose(table.toarray(), merged, atol=1e-14)
    np.testing.assert_allclose(coarse.table("age")[0].toarray(), law.table("age")[0].toarray())
    assert law.rounded({}) is law


PUBLISHED = {
    5: {0.0: 0.998, 0.25: 0.981, 0.5: 0.871, 1.0: 0.606},
    25: {0.0: 0.956, 0.25: 0.464, 0.5: 0.289, 1.0: 0.189},
}
"""R_MAP of bodyfat at q = 1, all columns, by k and rounding in standard deviations."""


@pytest.mark.parametrize("k", PUBLISHED)
def test_BF_5_rounding_lowers_the_worst_case(bodyfat, k):
    neighborhoods = find_neighborhoods(coordinates(bodyfat), k=k, epsilon=0.0)
    law = RWN(k=k, q=1.0).law(bodyfat, neighborhoods)
    masked = simulate(law, np.random.default_rng(6))
    result = {}
    for share in PUBLISHED[k]:
        precision = steps(bodyfat, share) if share else {}
        links = link(law.rounded(precision), rounding.rounded(masked, precision))
        result[share] = links.success
        # the law knows what it is: its own expectation agrees with the luck of the draw
        error = (links.top1 - links.best).std() / np.sqrt(bodyfat.n)
        assert abs((links.top1 - links.best).mean()) <= max(3 * error, 1e-9)
    # another rounding grid and another table of 14 or 15 variables: the second digit may differ
    for share, expected in PUBLISHED[k].items():
        assert result[share] == pytest.approx(expected, abs=0.06)
    assert list(result.values()) == sorted(result.values(), reverse=True)


@pytest.mark.parametrize(
    ("size", "step"),
    [(3.4, 5.0), (0.08, 0.1), (1.3, 1.0), (17.0, 20.0), (0.0021, 0.002), (9, 10.0)],
)
def test_steps_that_a_person_can_read(size, step):
    assert rounding.readable_step(size) == step


def test_whole_numbers_get_no_step_that_rounds_nothing():
    frame = pd.DataFrame({"n": np.arange(10), "x": np.arange(10) / 3})
    data = Microdata.from_frame(frame)
    assert rounding.given_steps(data, 0.25) == {"x": 0.2}
    assert rounding.given_steps(data, 1.0) == {"n": 2.0, "x": 1.0}
    assert rounding.given_steps(data, 0.0) == {}
    assert (
        rounding.precision_words((("age", 5.0), ("pay", 1e6)))
        == "age in steps of 5, pay in steps of 1000000"
    )
    assert rounding.precision_words(()) == ""
    assert set(rounding.given_steps(Microdata.from_frame(frame.assign(c=3.5)), 1.0)) == {"n", "x"}


POLICY = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.5),))


def people(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 10, n).round(1),
            "height": rng.normal(170, 8, n).round(),
            "wage": rng.gamma(2, 500, n).round(),
            "rent": rng.gamma(2, 300, n).round(2),
            "aid": np.where(rng.random(n) < 0.6, 0, rng.gamma(2, 300, n).round()),
            "adults": rng.integers(1, 5, n),
            "children": rng.integers(0, 4, n),
        }
    )
    # asked on some day of the year: a birthday may still come
    frame["born"] = 2024 - frame["age"] - (rng.random(n) < 0.5)
    frame["bmi"] = (frame["weight"] / (frame["height"] / 100) ** 2).round(1)
    frame["income"] = frame["wage"] + frame["rent"] + frame["aid"]
    frame["share"] = (100 * frame["rent"] / frame["wage"]).round(3)
    frame["persons"] = frame["adults"] + frame["children"]
    return frame


def words(frame: pd.DataFrame) -> set[str]:
    return {each.words for each in derived_variables(rwn.Microdata.from_frame(frame))}


FOUND = {
    "born follows from age",
    "bmi follows from weight and height",
    "income follows from wage, rent and aid",
    "share follows from rent and wage",
    "persons follows from adults and children",
}


@pytest.mark.parametrize("seed", range(2))
def test_what_follows_from_others_is_found(seed):
    """Finding V13: age and year of birth, a body mass index and totals contradicted each other."""
    assert words(people(seed=seed)) == FOUND


def test_one_record_that_differs_is_no_relation():
    frame = people()
    for name in ("born", "income", "persons", "bmi"):
        frame.loc[7, name] += 9
    assert words(frame) == {"share follows from rent and wage"}


def test_independent_and_nearly_related_numbers_show_none():
    rng = np.random.default_rng(3)
    drawn = {f"x{i}": rng.normal(50, 10, 300).round(i % 3) for i in range(60)}
    drawn |= {f"n{i}": rng.integers(0, 2 + i, 300) for i in range(40)}
    assert words(pd.DataFrame(drawn)) == set()
    sparse = {
        f"z{i}": np.where(rng.random(300) < 0.04, rng.integers(1, 5, 300), 0) for i in range(30)
    }
    assert words(pd.DataFrame(sparse)) == set()
    for demo in ("bodyfat_raw", "pima", "randhie", "cps1988"):
        assert derived_variables(rwn.load_demo(demo)) == ()
    (one,) = derived_variables(rwn.load_demo("bodyfat"))
    assert one.words == "bmi follows from weight and height"


def test_the_share_is_that_of_a_release():
    data = rwn.Microdata.from_frame(people())
    assert broken_relations(data, data, {}) == []
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), seed=1)
    masked = release.masked.frame
    found = {each["name"]: each for each in broken_relations(data, release.masked, {})}
    off = ~(masked["born"] + masked["age"]).isin([2023, 2024])
    assert found["born"] == {"name": "born", "parts": ["age"], "share": pytest.approx(off.mean())}
    assert off.mean() > 0.5
    total = masked["wage"] + masked["rent"] + masked["aid"]
    assert found["income"]["share"] == pytest.approx(
        (total - masked["income"]).abs().gt(0.01).mean()
    )
    # what travels together from one donor stays true, also within a coarser rounding
    together = data.with_slices([["wage", "rent", "aid", "income"], ["age", "born"]])
    steps = {"income": 100.0, "wage": 50.0, "born": 5.0}
    release = rwn.mask(together, rwn.RWN(epsilon=1.0, k=8), seed=1, precision=steps)
    left = {each["name"] for each in broken_relations(data, release.masked, steps)}
    assert left == {"bmi", "share", "persons"}


def test_a_notice_and_a_shell_say_the_share_and_no_value():
    """In the notice the share is in order of magnitude, as all of its numbers."""
    data = rwn.Microdata.from_frame(people())
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), precision={"rent": 1})
    file = rwn.ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = read_record(rwn.internal_record(data, release, file, measures=(), policy=POLICY))
    (share,) = [each["share"] for each in record["table"]["derived"] if each["name"] == "income"]
    notice = file_texts(public_file(Material(record=record), data, "notice.html"), ".html")
    begins = "income follows from wage, rent and aid in every record of the original; in this file "
    (line,) = [each for each in notice if each.startswith(begins)]
    assert share > 0.9
    assert line.startswith(f"{begins}it does not in nearly all of the records.")
    (note,) = [each for each in notes_on_file(release, data, "csv") if begins in each]
    assert note.startswith(f"note: {begins}it does not in {share:.0%} of the records.")


def test_whole_numbers_too_large_for_their_type_become_real_ones():
    frame = pd.DataFrame({"n": [2**62, 2**62 + 2**40, 3], "x": [1.0, 2.0, 4.0]})
    result = rounding.rounded(Microdata.from_frame(frame), {"n": 1e19}).frame["n"]
    assert result.tolist() == [0, 0, 0]
    result = rounding.rounded(Microdata.from_frame(frame), {"n": 9e18}).frame["n"]
    assert result.tolist() == [9e18, 9e18, 0]
