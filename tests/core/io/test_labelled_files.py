"""Labels and codes for missing survive reading, masking, writing and reading again."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind
from rwn_core.errors import InputError
from rwn_core.io.reading import read, read_bytes
from rwn_core.io.write import table_bytes

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


def test_an_spss_file_survives_a_release(spss: Path, tmp_path: Path) -> None:
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


def test_a_stata_file_survives_a_release(a_process_reads: None, tmp_path: Path) -> None:
    frame = PEOPLE.assign(sex=pd.Series([1, 2, "a", 2, 1], dtype=object))
    labels = {"sex": {1: "male", 2: "female", "a": "refused"}, "health": VALUE_LABELS["health"]}
    pyreadstat.write_dta(
        frame,
        tmp_path / "people.dta",
        column_labels=LABELS,
        variable_value_labels=labels,
        missing_user_values={"sex": ["a"]},
    )
    data = read(tmp_path / "people.dta")
    assert data.frame["sex"].isna().tolist() == [False, False, True, False, False]
    assert data.schema.variable("sex").missing_codes == ("a",)
    assert any("sex has 1 value declared as missing (a)" in notice for notice in data.notices)
    again = unchanged(data, tmp_path / "out.dta")
    assert again.schema == data.schema
    pd.testing.assert_frame_equal(again.frame, data.frame)
    raw, meta = pyreadstat.read_dta(tmp_path / "out.dta")
    assert meta.variable_value_labels == labels
    assert raw["health"].tolist() == PEOPLE["health"].tolist()
    assert {name: meta.column_names_to_labels[name] for name in LABELS} == LABELS


def test_stata_and_r_files_of_other_packages_survive_a_release(tmp_path: Path) -> None:
    macro = read(Path(str(files("statsmodels") / "datasets/macrodata/macrodata.dta")))
    assert (macro.n, macro.schema.variable("year").kind) == (203, Kind.COUNT)
    expected = pd.read_stata(Path(str(files("statsmodels") / "datasets/macrodata/macrodata.dta")))
    np.testing.assert_array_equal(macro.values("realgdp"), expected["realgdp"].to_numpy(float))
    for name in ("out.dta", "out.sav", "out.rds", "out.feather", "out.xlsx", "out.tsv"):
        again = unchanged(macro, tmp_path / name)
        for column in macro.names:
            # Stata's numbers of four bytes: a text has their digits and no more
            mine, own = again.values(column), macro.values(column)
            np.testing.assert_array_equal(mine.astype("f4"), own.astype("f4"))
    table = read(rdata.TESTDATA_PATH / "test_dataframe.rda")
    assert str(table.frame["class"].dtype) == "category"
    pd.testing.assert_frame_equal(unchanged(table, tmp_path / "t.rda").frame, table.frame)


def test_an_r_file_has_factors_orders_labels_and_codes_of_its_own_reader(
    spss: Path, tmp_path: Path
) -> None:
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


def test_an_old_stata_file_without_its_last_part_says_that_labels_are_missing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.dta"
    frame = pd.DataFrame({"sex": [1, 2, 1], "age": [20, 31, 42]})
    pyreadstat.write_dta(frame, path, version=10, variable_value_labels={"sex": {1: "m", 2: "f"}})
    whole = path.read_bytes()
    assert not any("does not hold" in notice for notice in read_bytes("a.dta", whole).notices)
    cut = read_bytes("a.dta", whole[:-20])  # its labels come last, and nothing says how many
    assert cut.frame["sex"].tolist() == [1, 2, 1]
    assert any("names value labels for sex and does not hold them" in n for n in cut.notices)


def test_sas_files_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.5, np.nan], "n": [1, 2, 3], "t": ["a", "", "b"]})
    pyreadstat.write_xport(frame, tmp_path / "t.xpt", column_labels={"x": "Length in cm"})
    data = read(tmp_path / "t.xpt")
    np.testing.assert_array_equal(data.values("x"), frame["x"])
    assert data.schema.variable("n").kind is Kind.COUNT
    assert data.schema.variable("x").label == "Length in cm"
    with pytest.raises(InputError, match="damaged or cut off"):
        read_bytes("t.xpt", (tmp_path / "t.xpt").read_bytes()[:-30])
    with pytest.raises(rwn.errors.ParameterError, match=r"must end in \.csv"):
        rwn.mask(data, rwn.RWN(k=2)).publish(tmp_path / "out.xpt")


def test_a_portable_spss_file_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"X": [1.0, 2.5, 3], "T": ["a", "b", "c"]})
    pyreadstat.write_por(frame, tmp_path / "t.por")
    assert read(tmp_path / "t.por").frame["X"].tolist() == [1.0, 2.5, 3.0]
    (tmp_path / "u.por").write_bytes((tmp_path / "t.por").read_bytes()[:300])
    with pytest.raises(InputError, match="damaged"):
        read(tmp_path / "u.por")
