"""The file dialogs offer every format of the catalogue, and no list of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from rwn_core import io

TOY = replace(
    io.FORMATS[0], key="toy", title="Toy", demand="no blanks", suffixes=(".toy", ".plaything")
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the pages ask Streamlit for, by label."""
    result: dict[str, Any] = {}

    def note(name: str) -> None:
        real = getattr(st, name)

        def seen(label: str, *arguments: Any, **more: Any) -> Any:
            result[label] = (arguments, more)
            return real(label, *arguments, **more)

        monkeypatch.setattr(st, name, seen)

    for name in ("file_uploader", "segmented_control", "download_button"):
        note(name)
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], TOY))
    return result


def test_a_file_of_a_third_format_can_be_opened(asked, open_page) -> None:
    assert open_page("data").errors == []
    (label,) = (label for label in asked if label.startswith("Open your table"))
    assert label.endswith(
        "CSV (UTF-8, separated by commas, one header line), Parquet or Toy (no blanks)"
    )
    assert asked[label][1]["type"] == ["csv", "parquet", "pq", "toy", "plaything"]


def test_a_release_can_be_written_in_a_third_format(asked, open_page) -> None:
    screen = open_page("tune")
    assert asked["Format"][0] == (["csv", "parquet", "toy"],)
    assert asked["Download the trial"][1]["file_name"].endswith(".csv")
    screen.test.session_state[asked["Format"][1]["key"]] = "toy"
    screen.test.run()
    assert screen.errors == []
    assert asked["Download the trial"][1]["file_name"].endswith(".toy")
