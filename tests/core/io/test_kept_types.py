"""What a written file keeps of the one that was read: types, features, letters."""

from __future__ import annotations

import gzip
import io as std_io
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
import rdata

from rwn_core import InputError, Kind, Microdata, ReleaseError, Schema, Variable, io
from rwn_core.io.format import Feature, Format
from rwn_core.io.format_limits import losses
from rwn_core.io.parse import file_content, parse
from rwn_core.io.readstat_files import coded_table
from rwn_core.io.write import table_bytes, write_atomically, write_together


@pytest.mark.parametrize("code", [1.5, 2**31], ids=["no whole number", "too large"])
def test_codes_that_stata_has_no_labels_for_are_refused_and_kept_by_spss(code, tmp_path):
    frame = pd.DataFrame({"rate": pd.Categorical(["low", "high", "low"])})
    variable = Variable(
        name="rate", kind=Kind.CATEGORICAL, value_labels=((code, "low"), (2.0, "high"))
    )
    schema = Schema(variables=(variable,))
    with pytest.raises(ReleaseError, match="Stata cannot hold this table"):
        table_bytes(frame, "stata", schema)
    (tmp_path / "t.sav").write_bytes(table_bytes(frame, "spss", schema))
    assert pyreadstat.read_sav(tmp_path / "t.sav")[0]["rate"].tolist() == [code, 2.0, code]


def test_a_data_frame_with_a_column_that_is_too_short_is_damaged():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": np.array([7, 8, 9], dtype="int32")})
    content = table_bytes(frame, "r")
    plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    column = b"".join(n.to_bytes(4, "big") for n in (3, 7, 8, 9))
    assert plain.count(column) == 1
    short = plain.replace(column, b"".join(n.to_bytes(4, "big") for n in (2, 7, 8)))
    with pytest.raises(InputError, match="damaged or cut off"):
        parse("t.rds", gzip.compress(short))


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path, measured = tmp_path / "t.csv", Path.stat
    path.write_bytes(b"a\n1\n")

    def grown_since(file: Path, *, follow_symlinks: bool = True) -> object:
        found = measured(file, follow_symlinks=follow_symlinks)
        if file == path:
            with file.open("ab") as stream:
                stream.write(b"2\n")
        return found

    monkeypatch.setattr(Path, "stat", grown_since)
    with pytest.raises(InputError, match=r"t\.csv is still being written; open it when"):
        file_content(path)


def test_the_data_frames_of_an_r_file_are_named(tmp_path):
    frames = {name: pd.DataFrame({"x": [1.5, 2.5, 3.5]}) for name in ("people", "towns")}
    rdata.write_rda(tmp_path / "two.rda", frames)
    data = parse("two.rda", (tmp_path / "two.rda").read_bytes())
    assert "The file holds 2 data frames: people is read, not towns." in data.notices


def test_the_largest_short_numbers_take_four_bytes():
    short = 2**31 - 1000
    frame = pd.DataFrame({"in": [1, short - 1], "out": [1, short], "low": [1, -short]})
    made = coded_table(frame, None)[0]
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64", "float64"]
    frame = pd.DataFrame({"in": pd.Categorical(["a", "b"]), "out": pd.Categorical(["a", "b"])})
    labels = {"in": ((short - 1, "a"), (1, "b")), "out": ((short, "a"), (1, "b"))}
    variables = [
        Variable(name=name, kind=Kind.CATEGORICAL, value_labels=pairs)
        for name, pairs in labels.items()
    ]
    made = coded_table(frame, Schema(variables=tuple(variables)))[0]
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64"]


PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "open-a-file.md"
FRAME = pd.DataFrame(
    {
        "truth": [True, False, True, True],
        "day": pd.to_datetime(["2020-01-02", "1999-12-31", None, "2001-02-03"]).astype(
            "datetime64[s]"
        ),
        "zone": pd.to_datetime(["2020-01-02 00:00", "2020-06-02 03:04"] * 2).tz_localize(
            "UTC+09:00"
        ),
        "rank": pd.Categorical(["lo", "hi", "lo", "mid"], ["lo", "mid", "hi"], ordered=True),
        "sex": pd.Categorical(["m", "f", None, "f"], ["m", "f"]),
        "work": pd.Categorical(["a", "b", None, "a"], ["a", "b"]),
    }
)
SCHEMA = Schema(
    variables=(
        Variable(name="truth", kind=Kind.CATEGORICAL),
        Variable(name="day", kind=Kind.DATE),
        Variable(name="zone", kind=Kind.DATE),
        Variable(name="rank", kind=Kind.ORDERED),
        Variable(
            name="sex",
            kind=Kind.CATEGORICAL,
            label="Sex",
            value_labels=((1, "m"), (2, "f"), (9, "refused")),
            missing_codes=(9,),
        ),
        Variable(
            name="work",
            kind=Kind.CATEGORICAL,
            value_labels=((10, "a"), (20, "b"), ("r", "refused")),
            missing_codes=("r",),
        ),
    )
)
ORIGINAL = Microdata.from_frame(FRAME, SCHEMA)


def kept(form: Format) -> set[Feature]:
    """The features of the table that come back from a file."""
    content = table_bytes(ORIGINAL.frame, form.key, ORIGINAL.schema)
    again = parse(f"t{form.suffixes[0]}", content)
    frame, schema = again.frame, again.schema
    sex, work = schema.variable("sex"), schema.variable("work")
    checks = {
        Feature.TRUTHS: frame["truth"].dtype == bool,
        Feature.DATES: frame["day"].dropna().tolist() == FRAME["day"].dropna().tolist(),
        Feature.TIME_ZONES: getattr(frame["zone"].dtype, "tz", None) is not None
        and frame["zone"].tolist() == FRAME["zone"].tolist()
        and frame["zone"].dt.hour.tolist() == [0, 3, 0, 3],
        Feature.LEVEL_ORDER: schema.variable("rank").levels == ("lo", "mid", "hi"),
        Feature.LABELS: sex.label == "Sex",
        Feature.VALUE_LABELS: dict(sex.value_labels) == {1: "m", 2: "f", 9: "refused"}
        and dict(work.value_labels).items() >= {10: "a", 20: "b"}.items(),
        Feature.MISSING_CODES: sex.missing_codes == (9,),
        Feature.MISSING_LETTERS: work.missing_codes == ("r",),
    }
    assert frame["sex"].tolist()[:2] == ["m", "f"]
    assert frame["sex"].isna().tolist() == [False, False, True, False]
    return {feature for feature, fine in checks.items() if fine}


@pytest.mark.parametrize("form", io.writable(), ids=lambda form: form.key)
def test_a_format_keeps_what_it_says_and_the_rest_is_named(form):
    assert kept(form) == set(form.keeps)
    lost = set(Feature) - set(form.keeps) - {Feature.DATES}
    said = losses(ORIGINAL, form)
    assert len(said) == len(lost)
    for feature in lost:
        assert any(f"{form.title} does not keep {feature} (" in sentence for sentence in said)


def table_of_formats() -> str:
    """The table of the page, made of FORMATS."""
    lines = [
        "| | " + " | ".join(form.title for form in io.FORMATS) + " |",
        "|---|" + ":-:|" * len(io.FORMATS),
        "| endings | " + " | ".join(" ".join(form.suffixes) for form in io.FORMATS) + " |",
        "| written | " + " | ".join("yes" if form.write else "no" for form in io.FORMATS) + " |",
    ]
    for feature in Feature:
        marks = ("yes" if feature in form.keeps else "no" for form in io.FORMATS)
        lines.append(f"| {feature} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


def test_the_page_has_the_table_of_formats():
    assert table_of_formats() in PAGE.read_text("utf-8")


SECRET = b"Zaphod"


def leaky() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", "b", "Zaphod"]),
            "x": [0.1, 27.5, 78051120.5],
            "t": ["u", 'v, "w"\n', "Zaphod"],
        },
        index=pd.Index(["p", "q", "r"], name="Zaphod"),
    )
    frame.attrs["source"] = "/home/Zaphod"
    return frame.iloc[:2]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_nothing_but_the_values_is_written(format):
    content = table_bytes(leaky(), format)
    assert SECRET not in content
    if format == "csv":
        assert content == b'c,x,t\na,0.1,u\nb,27.5,"v, ""w""\n"\n'
    else:
        file = pq.ParquetFile(std_io.BytesIO(content))
        assert file.schema_arrow.metadata is None
        assert not file.metadata.row_group(0).column(1).is_stats_set
        again = file.read()
        assert SECRET not in repr(again.to_pydict()).encode()
        assert again.column_names == ["c", "x", "t"]


def test_a_carriage_return_inside_a_text_is_quoted():
    frame = pd.DataFrame({"t": ["a\rb", "c"], "x": [1, 2]})
    assert table_bytes(frame, "csv") == b'"t","x"\n"a\rb",1\n"c",2\n'


def test_an_old_file_survives_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_files_that_belong_together_are_all_there_or_none(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"old")
    write_together({one: b"1", two: b"2"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    real, calls = os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:  # the second file finds the disk full
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="The file two could not be written"):
        write_together({one: b"new", two: b"new"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path, monkeypatch):
    seen = []

    def sync(descriptor: int) -> None:
        seen.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "one").exists()))

    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(tmp_path / "one", b"1")
    assert seen == [(False, False), (True, True)]


def test_what_a_killed_program_left_is_swept_and_what_another_writes_is_not(tmp_path):
    old, young = tmp_path / ".part-rwn-old", tmp_path / ".part-rwn-young"
    foreign, folder = tmp_path / ".part-of-a-song", tmp_path / ".part-rwn-0123"
    folder.mkdir()
    for left in (old, young, foreign, folder / "release.csv"):
        left.write_bytes(b"masked")
    for left in (old, foreign, folder):
        os.utime(left, (1, 1))
    write_atomically(tmp_path / "one", b"1")
    assert sorted(os.listdir(tmp_path)) == [".part-of-a-song", ".part-rwn-young", "one"]
