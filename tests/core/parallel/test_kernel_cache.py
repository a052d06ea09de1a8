"""Where the machine code is kept, on accounts and installations of every kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rwn_core.parallel import kernel_cache


@pytest.fixture
def _nothing_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel_cache.os, "access", lambda *_: False)


@pytest.mark.usefixtures("_nothing_writable")
def test_an_account_without_a_home_gets_a_folder_nobody_can_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(kernel_cache.Path, "home", no_home)
    place = kernel_cache.folder().parent
    assert place == kernel_cache.folder().parent  # the same for the whole process
    assert place.stat().st_mode & 0o077 == 0


def test_the_folder_of_an_account_is_where_it_keeps_its_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    assert kernel_cache._of_the_user() == [tmp_path / "rwn"]
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert kernel_cache._of_the_user() == [Path.home() / ".cache" / "rwn"]


def test_a_given_folder_is_used_and_remembers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path))
    assert kernel_cache.folder().parent == tmp_path
    assert not kernel_cache.is_ready()
    kernel_cache.set_ready()
    assert kernel_cache.is_ready()


def test_code_that_was_installed_anew_is_not_taken_for_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("parallel/jit.py", "laws/search_kernel.py"):
        source = tmp_path / name
        source.parent.mkdir()
        source.write_text("")
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    state = kernel_cache._state.__wrapped__
    first = state()
    assert state() == first
    os.utime(source, ns=(1, 1))  # as another installation of the same version leaves it
    assert state() != first
