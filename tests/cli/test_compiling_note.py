"""The command line says that code is compiled, where it is: in this process or in a worker."""

from __future__ import annotations

import numba
import pytest

import rwn_core as rwn
from rwn_cli import options
from rwn_core.parallel import jit
from rwn_core.parallel.compiling import compiling, on_compiling
from tests.cli.conftest import Run

NOTE = "note: part of the search is compiled for this machine, once; this takes half a minute."


def test_it_is_said_once_where_it_is_true(
    rwn_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that is compiled in a moment stands for the search."""
    assert jit.numba is numba, "whose compiler is listened to"
    kernel = numba.njit(lambda number: number + 1)

    def compiled(*_: object, **__: object) -> None:
        for number in (1, 1.5):  # compiled for each
            kernel(number)
        raise rwn.RWNError("No more than that.")

    monkeypatch.setattr(options, "working_table", compiled)
    mask = ("mask", "demo:bodyfat", "m.csv", "--k", "5")
    assert rwn_command(*mask)[2].count(NOTE) == 1
    assert NOTE not in rwn_command(*mask)[2]  # the code is there


def test_nobody_is_told_twice_or_without_asking() -> None:
    told: list[int] = []
    with on_compiling(lambda: told.append(1)):
        compiling()
        compiling()
    compiling()
    assert told == [1]
