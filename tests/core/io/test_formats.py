"""A format is one record: a third one is known to every dialog, message, help text and command."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import io
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ParameterError
from rwn_core.io import Format, csv_format, parquet_format
from rwn_core.io.parse import parse

ROOT = Path(__file__).resolve().parents[3]
SIGN = b"TOY\n"


def read_toy(file: str, content: bytes, schema: Any, layout: Any = None) -> Microdata:
    if not content.startswith(SIGN):
        raise InputError(f"{file} is not a Toy file.")
    lines = content.removeprefix(SIGN).decode().splitlines()
    rows = [[float(part) for part in line.split()] for line in lines[1:]]
    return Microdata.from_frame(pd.DataFrame(rows, columns=lines[0].split()), schema)


def write_toy(frame: pd.DataFrame, schema: Any = None) -> bytes:
    lines = [frame.columns, *frame.to_numpy().tolist()]
    return SIGN + "\n".join(" ".join(map(str, line)) for line in lines).encode()


TOY = Format(
    key="toy",
    title="Toy",
    noun="a Toy file",
    suffixes=(".toy", ".plaything"),
    media_type="text/x-toy",
    read=read_toy,
    write=write_toy,
    demand="no blanks",
    detects=lambda content: content.startswith(SIGN),
)
# some programs have no type of whole numbers: decimals tell that these are none
TABLE = pd.DataFrame({"a": [1.5, 2.0, 4.0, 7.0], "b": [3.0, 1.0, 0.5, 2.0]})


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue with a third format, without any list or message being edited."""
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], TOY))


def test_every_file_of_a_format_is_in_the_catalogue_and_no_key_or_ending_is_shared() -> None:
    folder = Path(inspect.getfile(csv_format)).parent
    assert {path.stem for path in folder.glob("*_format.py")} == {
        f"{form.key}_format" for form in io.FORMATS
    }
    assert io.FORMATS[:2] == (csv_format.FORMAT, parquet_format.FORMAT)
    endings = [suffix for form in io.FORMATS for suffix in form.suffixes]
    assert len(set(endings)) == len(endings)
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in endings)


@pytest.mark.parametrize("form", [*io.writable(), TOY], ids=lambda form: form.key)
def test_a_format_reads_what_it_writes_and_writes_the_same_again(form: Format) -> None:
    assert form.write is not None
    content = form.write(TABLE, None)
    again = form.read(f"t{form.suffixes[0]}", content, None)
    pd.testing.assert_frame_equal(again.frame, TABLE)
    assert form.write(again.frame, again.schema) == content
    others = [each for each in (*io.FORMATS, TOY) if each is not form]
    assert not any(each.detects(content) for each in others)


def test_a_third_format_is_read_and_published(toy: None, tmp_path: Path) -> None:
    source = tmp_path / "in.PLAYTHING"
    source.write_bytes(write_toy(TABLE))
    data = parse(source.name, source.read_bytes())  # another process has no toy
    assert data.n == 4
    release = rwn.mask(data, rwn.RWN(k=2), seed=7)
    target = release.publish(tmp_path / "out.toy")
    assert target.read_bytes() == release.to_bytes("toy") == write_toy(release.published().frame)


def test_a_third_format_is_in_the_refusals(toy: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not end in \.csv, \.parquet or \.toy; save .* Toy"):
        parse("table.txt", b"a b")
    with pytest.raises(InputError, match=r"is a Toy file; give it the ending \.toy or \.plaything"):
        parse("table.txt", SIGN)
    with pytest.raises(InputError, match="is a Toy file and not CSV"):
        parse("table.csv", SIGN)
    with pytest.raises(InputError, match=r"a file of another format the ending \.csv or \.toy"):
        parse("table.parquet", b"a,b")
    with pytest.raises(ParameterError, match=r"must end in \.csv, \.parquet or \.toy"):
        rwn.mask(Microdata.from_frame(TABLE), rwn.RWN(k=2)).publish(tmp_path / "out.txt")
    with pytest.raises(ParameterError, match="one of: csv, parquet, toy"):
        io.format_of_key("xlsx")


HELPS = """
from dataclasses import replace
from rwn_core import io
io.FORMATS = (*io.FORMATS[:2], replace(io.FORMATS[0], key='toy', title='Toy', suffixes=('.toy',)))
from rwn_cli import main as cli
for command in ('app', 'demo', 'mask', 'sweep'):
    print(chr(12))
    cli.run([command, '--help'])
"""


def test_a_third_format_is_in_the_help() -> None:
    run = subprocess.run(
        [sys.executable, "-c", HELPS], capture_output=True, text=True, check=True, cwd=ROOT
    )
    app, demo, mask, sweep = (" ".join(each.split()) for each in run.stdout.split("\f")[1:])
    for text in (app, mask):
        assert "CSV, Parquet or Toy file" in text
    for text in (demo, mask, sweep):
        assert "Ends in .csv, .parquet or .toy" in text


def test_the_list_of_formats_is_cheap() -> None:
    code = "import sys, rwn_core.io, rwn_cli.main; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not {"numpy", "pandas", "pyarrow"} & set(run.stdout.split())


def test_no_other_file_names_an_ending_or_a_title_of_a_format() -> None:
    """A list of formats anywhere else would miss the next one."""
    for folder in ("rwn_core", "rwn_ui", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            names = [text.lower() for text in _texts(path)]
            both = [text for text in names if "csv" in text and "parquet" in text]
            assert not both, f"{path}: {both}"
            assert not {"csv", "parquet"} <= set(names), path


def _texts(path: Path) -> list[str]:
    """The texts of a file that are no documentation, and its lists of texts."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented
    ]
