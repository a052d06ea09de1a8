"""Code only becomes less: no room holds more than ``volume.toml`` says."""

from __future__ import annotations

from collections import Counter

from tools import volume


def test_no_room_holds_more() -> None:
    assert volume.exceeded(volume.measured(), volume.held()) == []
    most = {"rwn_core/io": Counter(lines=10, functions=2, classes=1, files=1)}
    today = {"rwn_core/io": Counter(lines=11, functions=2, classes=0, files=1)}
    assert volume.exceeded(today, most) == ["rwn_core/io has 11 lines, at most 10 are held"]
