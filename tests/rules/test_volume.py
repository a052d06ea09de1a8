"""Code only becomes less: no room holds more than ``volume.toml`` says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tools import volume


def test_no_room_holds_more() -> None:
    assert volume.exceeded(volume.measured(), volume.held()) == []


def test_only_code_is_counted() -> None:
    text = (
        '"""Idea."""\nimport os\n\n\nclass Table:\n    """Hold."""\n\n    rows: int = 1\n'
        '    """Note."""\n\n    def read(self) -> int:\n        # why\n'
        '        text = """two\n        lines"""\n        return len(text)  # so\n'
    )
    assert volume.count(text) == Counter(lines=6, functions=1, classes=1, files=1)


def test_what_grew_is_named() -> None:
    most = {"rwn_core/io": Counter(lines=10, functions=2, classes=1, files=1)}
    today = {"rwn_core/io": Counter(lines=11, functions=2, classes=0, files=1)}
    assert volume.exceeded(today, most) == ["rwn_core/io has 11 lines, at most 10 are held"]


def test_nothing_writes_more_for_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "volume.toml"
    monkeypatch.setattr(volume, "FILE", file)
    held = {"a/all": Counter(lines=5), "a/one": Counter(lines=3), "a/two": Counter(lines=2)}
    file.write_text(volume.written(held), "utf-8")
    moved = {"a/all": Counter(lines=4), "a/one": Counter(lines=0), "a/two": Counter(lines=4)}
    monkeypatch.setattr(volume, "measured", lambda: moved)
    assert volume.lower() == []
    assert volume.held()["a/two"]["lines"] == 4
    monkeypatch.setattr(volume, "measured", lambda: held)
    assert volume.lower() == ["a/all has 5 lines, at most 4 are held"]
    assert volume.held()["a/all"]["lines"] == 4
