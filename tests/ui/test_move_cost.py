"""A move of a slider enters few files and makes few calls; both may only fall."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from tests.ui.test_live_picture import asked

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES, MOST_CALLS = 74, 2_505


def test_a_move_on_bodyfat_enters_few_files(open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    # with helpers the ranges that this thread takes depend on the machine's load
    monkeypatch.setenv("RWN_THREADS", "1")
    screen = open_page("tune")
    for k in (6.0, 7.0):  # imports and first results
        assert asked(screen, {"k": k}) is not None
    files, calls = set[str](), 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)) and "/tests/" not in name:
            files.add(name)
            calls += 1

    sys.setprofile(count)
    try:
        asked(screen, {"k": 8.0})
    finally:
        sys.setprofile(None)
    sys.stdout.write(f"{len(files)} files, {calls} calls\n")  # python -m pytest -s
    assert len(files) <= MOST_FILES
    assert calls <= MOST_CALLS
