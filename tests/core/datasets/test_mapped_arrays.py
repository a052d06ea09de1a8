"""Mapped arrays are given back where a process holds much, and read again the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.datasets import staged_arrays, steps
from rwn_core.datasets.staged_arrays import give_back, load, save
from rwn_core.parallel.memory import resident_bytes
from tests.core.datasets import datasets

SIZE = 10_000_000  # numbers: 80 MB


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return SimpleNamespace(stage=SimpleNamespace(path=lambda step, name: tmp_path / name))


@pytest.mark.skipif(not resident_bytes(), reason="this system does not say what a process takes")
def test_what_was_read_is_given_back_and_read_again(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(run, "join", "tiles", np.arange(SIZE))
    before = resident_bytes()
    array = load(run, "join", "tiles")
    total = int(array.sum())
    read = resident_bytes()
    assert read - before > 0.9 * array.nbytes
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", 2 * read)
    give_back()
    assert resident_bytes() - before > 0.9 * array.nbytes, "a small process keeps what it has"
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", before)
    give_back()
    assert resident_bytes() - before < 0.1 * array.nbytes
    assert int(array.sum()) == total == SIZE * (SIZE - 1) // 2


def test_the_release_is_the_same_where_everything_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = datasets.write_files(tmp_path / "in", datasets.frame(), 2)
    params, given = rwn.RWN(k=5, epsilon=1.5, q=0.8), []

    def noted() -> None:
        given.append(None)
        give_back()

    monkeypatch.setattr(steps, "give_back", noted)
    datasets.mask(source, tmp_path / "kept", params)
    assert given
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", 0)
    datasets.mask(source, tmp_path / "given back", params)
    assert datasets.digest(tmp_path / "kept") == datasets.digest(tmp_path / "given back")
