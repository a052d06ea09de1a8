"""What the command line says of a table: the right number of the right noun."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("header", "row", "words"),
    [
        ("x", "{0}", "RWN, the 2022 method: 40 records, 1 variable,"),
        ("x,y", "{0},{1}", "40 records, 2 variables,"),
    ],
)
def test_one_variable_is_no_plural(rwn_command: Run, header: str, row: str, words: str) -> None:
    lines = [header, *(row.format(i * 3 % 13, i * 7 % 17) for i in range(40))]
    Path("t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, _, said = rwn_command("mask", "t.csv", "out.csv", "--k", 3)
    assert code == 0
    assert words in said
