"""What is done once before workers begin: byte code that is not of today is seen, and kernels."""

from __future__ import annotations

import ast
import os
import struct
import sys
from collections.abc import Callable
from importlib.util import source_hash
from pathlib import Path

import pytest

from rwn_core.parallel.kernel_cache import folder, is_ready
from tests.before_workers import KERNELS, cached, stale_tests, writes_byte_code
from tests.rules.import_law import ROOT

KEPT = {"jit_entry", "jit_internal", "jit_no_refcount"}
"""Decorators of kernels whose machine code is kept on disk."""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of tests without byte code."""
    monkeypatch.setattr(sys, "pycache_prefix", None)
    made = tmp_path / "test_one.py"
    made.write_text("def test_one():\n    assert True\n")
    cached(made).parent.mkdir()
    return made


def by_time(source: Path) -> bytes:
    """The head of byte code that holds when its source was changed, and its size."""
    return struct.pack("<LLLL", 0, 0, int(source.stat().st_mtime), source.stat().st_size)


def by_hash(source: Path) -> bytes:
    """The head of byte code that holds a hash of its source."""
    return struct.pack("<LL", 0, 3) + source_hash(source.read_bytes())


@pytest.mark.parametrize("head", [by_time, by_hash])
def test_only_byte_code_of_today_is_current(file: Path, head: Callable[[Path], bytes]) -> None:
    assert stale_tests(file.parent) == [file]
    cached(file).write_bytes(head(file))
    assert stale_tests(file.parent) == []
    file.write_text(file.read_text() + "\n")
    assert stale_tests(file.parent) == [file]
    cached(file).write_bytes(head(file))
    assert stale_tests(file.parent) == []
    cached(file).unlink()
    assert stale_tests(file.parent) == [file]


def test_byte_code_lies_where_pytest_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """This file was read by pytest, which has kept what it made of it, if it may."""
    own = Path(__file__).resolve()
    if writes_byte_code(own.parent):
        assert cached(own).is_file()
        assert own not in stale_tests(own.parent)
    monkeypatch.setattr(sys, "pycache_prefix", os.fspath(own.parent / "elsewhere"))
    assert cached(own).parent == own.parent / "elsewhere" / own.parent.relative_to(own.anchor)


def test_nothing_is_kept_where_that_is_not_wanted_or_not_possible(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert writes_byte_code(file.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert not writes_byte_code(file.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", os.fspath(file))  # a file is no folder
    assert not writes_byte_code(file.parent)


def kernels(source: str) -> set[str]:
    """The names of the kernels of a file whose machine code is kept."""
    functions = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    return {each.name for each in functions if is_kept(each)}


def is_kept(function: ast.FunctionDef) -> bool:
    """True if the machine code of a function is kept."""
    return any(isinstance(by, ast.Name) and by.id in KEPT for by in function.decorator_list)


def test_every_kernel_is_compiled_before_workers_begin() -> None:
    if not is_ready(KERNELS):
        pytest.skip("python -m tests.compiled_kernels has not run")
    indexes = {index.name.split("-")[0] for index in folder().rglob("*.nbi")}
    wanted: set[str] = set()
    for file in (ROOT / "rwn_core").rglob("*_kernel.py"):
        wanted |= {f"{file.stem}.{name}" for name in kernels(file.read_text("utf-8"))}
    assert len(wanted) > 50
    assert wanted - indexes == set()
    assert kernels("@jit_entry\ndef new_kernel(): ...") == {"new_kernel"}
