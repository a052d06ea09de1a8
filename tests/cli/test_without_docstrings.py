"""A program without documentation texts (`python -OO`) says the same, on screen and in files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import build

RUN = """
import secrets
from rwn_cli.main import run

secrets.token_bytes = lambda size=32: bytes(size)  # the same key in both
for line in (
    "methods", "measures", "mask --help", "ledger add --help", "demo bodyfat --out data.csv",
    "mask data.csv out.csv --k 5 --record record.toml --method row_copy",
    "report record.toml --public -o notice.html", "report record.toml --public -o card.toml",
    "report record.toml -o internal.json",
):
    print(">", line, run(line.split()), flush=True)
"""
# a hash, an identifier, a time, a file that is written first under another name
CHANGES = re.compile(r"[0-9a-f]{64}|[0-9a-f]{16,32}|\d{4}-\d\d-\d\dT[\d:.+]+|[\w-]{16,}\.\w+")
COMPILING = re.compile(r"note: part of the search .*\n")  # said by the first run of a machine
ROOMS = ("rwn_core", "rwn_cli", "rwn_ui", "pages")


def _said(folder: Path, *flags: str) -> dict[str, str]:
    """What is printed and written, without what differs from run to run."""
    folder.mkdir()
    line = [sys.executable, *flags, "-c", RUN]
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = {"stdout": ended.stdout, "stderr": ended.stderr}
    found |= {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.*"))}
    same = {name: COMPILING.sub("", text.replace(str(folder), "")) for name, text in found.items()}
    return {name: CHANGES.sub("...", text) for name, text in same.items()}


@pytest.mark.slow
def test_commands_and_reports_say_the_same_without_docstrings(tmp_path: Path) -> None:
    usual, without = _said(tmp_path / "usual"), _said(tmp_path / "without", "-OO")
    ended = re.findall(r"^> .* (\d+)$", usual["stdout"], re.M)
    assert ended == ["0"] * 9, usual["stdout"] + usual["stderr"]
    assert {"notice.html", "card.toml", "internal.json", "out.csv"} <= set(usual)
    for name, text in usual.items():
        assert without[name] == text, name


def test_no_module_reads_a_docstring() -> None:
    root = build.HERE.parents[1]
    files = [path for room in ROOMS for path in (root / room).rglob("*.py")]
    reads = [path for path in files if re.search(r"__doc__|getdoc\(", path.read_text("utf-8"))]
    assert reads == []
