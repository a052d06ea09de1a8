"""What office files are made of: types of numbers in Stata, columns in R, records in a text."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata

from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.parse import file_content, parse
from rwn_core.io.readstat_files import coded_table
from rwn_core.io.write import table_bytes


@pytest.mark.parametrize("code", [1.5, 2**31], ids=["no whole number", "too large"])
def test_codes_that_stata_has_no_labels_for_are_refused_and_kept_by_spss(
    code: float, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"rate": pd.Categorical(["low", "high", "low"])})
    variable = Variable(
        name="rate", kind=Kind.CATEGORICAL, value_labels=((code, "low"), (2.0, "high"))
    )
    schema = Schema(variables=(variable,))
    with pytest.raises(ReleaseError, match="Stata cannot hold this table"):
        table_bytes(frame, "stata", schema)
    (tmp_path / "t.sav").write_bytes(table_bytes(frame, "spss", schema))
    assert pyreadstat.read_sav(tmp_path / "t.sav")[0]["rate"].tolist() == [code, 2.0, code]


def test_a_data_frame_with_a_column_that_is_too_short_is_damaged() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": np.array([7, 8, 9], dtype="int32")})
    content = table_bytes(frame, "r")
    plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    column = b"".join(n.to_bytes(4, "big") for n in (3, 7, 8, 9))
    assert plain.count(column) == 1
    short = plain.replace(column, b"".join(n.to_bytes(4, "big") for n in (2, 7, 8)))
    with pytest.raises(InputError, match="damaged or cut off"):
        parse("t.rds", gzip.compress(short))


def test_the_last_records_of_a_single_column_are_no_notes() -> None:
    seen = guess_text_layout(b"income\n1\n2\n3\n", ",")
    assert seen is not None
    assert (seen.layout.below, seen.layout.above) == (0, 0)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_data_frames_of_an_r_file_are_named(tmp_path: Path) -> None:
    frames = {name: pd.DataFrame({"x": [1.5, 2.5, 3.5]}) for name in ("people", "towns")}
    rdata.write_rda(tmp_path / "two.rda", frames)
    data = parse("two.rda", (tmp_path / "two.rda").read_bytes())
    assert "The file holds 2 data frames: people is read, not towns." in data.notices


def test_the_largest_short_numbers_take_four_bytes() -> None:
    short = 2**31 - 1000
    frame = pd.DataFrame({"in": [1, short - 1], "out": [1, short], "low": [1, -short]})
    made = coded_table(frame, None).frame
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64", "float64"]
    frame = pd.DataFrame({"in": pd.Categorical(["a", "b"]), "out": pd.Categorical(["a", "b"])})
    labels = {"in": ((short - 1, "a"), (1, "b")), "out": ((short, "a"), (1, "b"))}
    variables = [
        Variable(name=name, kind=Kind.CATEGORICAL, value_labels=pairs)
        for name, pairs in labels.items()
    ]
    made = coded_table(frame, Schema(variables=tuple(variables))).frame
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64"]
