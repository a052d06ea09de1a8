"""Ten files that R writes have the cells that R itself reads in them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rwn_core.data.variable import Variable, level_names
from rwn_core.io.parse import parse

MISSING = "<missing>"

pytestmark = [
    pytest.mark.nightly,  # by day: tests/core/io/test_corpus, of files that R wrote once
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed"),
]


def as_r_says(value: object, written: str) -> str:
    """Return a cell as R writes it; a number as R wrote it, where it is the same."""
    if isinstance(value, pd.Timestamp):
        if value.tz is None:
            return f"{value:%Y-%m-%d}"
        return f"{value.tz_convert('UTC'):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        same = written != MISSING and float(written) == value
        return written if same else repr(value)
    return str(value)


def differing(ours: pd.Series[Any], theirs: list[str], variable: Variable) -> list[int]:
    """Return the records in which a column differs from R's."""
    labels = level_names(variable.value_labels)
    wrong = []
    for place, (value, written) in enumerate(zip(ours.tolist(), theirs, strict=True)):
        gone = value is None or pd.isna(value)
        said = MISSING if gone else as_r_says(labels.get(value, value), written)
        if said != written:
            wrong.append(place)
    return wrong


def compared(path: Path) -> int:
    """Compare the cells of one file, and return how many there are."""
    data = parse(path.name, path.read_bytes())
    lines = Path(f"{path}.txt").read_text(encoding="utf-8").splitlines()
    names, *rows = (line.split("\t") for line in lines)
    assert list(data.names) == names, path.name
    for variable, theirs in zip(data.schema.variables, zip(*rows, strict=True), strict=True):
        ours = data.frame[variable.name]
        assert differing(ours, [*theirs], variable) == [], (path.name, variable.name)
        # planted: the cells of other records
        assert differing(ours[::-1], [*theirs], variable), (path.name, variable.name)
    return data.n * len(names)


def test_ten_files_of_r_have_the_cells_that_r_reads(tmp_path: Path) -> None:
    script = Path(__file__).with_name("cells_in_r.R")
    subprocess.run(["Rscript", str(script), str(tmp_path)], check=True)
    files = sorted(path for path in tmp_path.iterdir() if path.suffix != ".txt")
    assert len(files) == 10
    assert sum(map(compared, files)) == 174
