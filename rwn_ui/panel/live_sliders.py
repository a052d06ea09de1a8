"""Sliders that send every position on the way; presets, Undo and Redo.

`st.slider` reports only the last position. These are the browser's own sliders, so that
keyboard, touch and screen readers know them, in Streamlit's looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import streamlit as st

_HERE = Path(__file__).parent
SCRIPT = "live_sliders.js"
MODULE = ("channel.js", "page_channel.js", SCRIPT, "live_sliders_mount.js")
SHEET = ("channel.js", "page_channel.js", SCRIPT, "sheet.js", "sheet_mount.js")

_mount = st.components.v2.component(
    "rwn_live_sliders",
    html='<div class="rwn-sliders"></div>',
    css=(_HERE / "live_sliders.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / name).read_text(encoding="utf-8") for name in MODULE),
    isolate_styles=False,
)
_mount_sheet = st.components.v2.component(
    "rwn_sheet",
    html='<div class="rwn-sheet"></div>',
    css=(_HERE / "sheet.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / name).read_text(encoding="utf-8") for name in SHEET),
    isolate_styles=False,
)


def live_sliders(data: Mapping[str, Any], *, key: str) -> None:
    """Draw sliders, or move those that are not dragged to their values."""
    _mount(key=key, data=orjson.dumps(data), height="content")


def sheet(data: Mapping[str, Any], *, key: str) -> None:
    """Draw the sliders of all kinds as a sheet at the bottom of a narrow window."""
    _mount_sheet(key=key, data=orjson.dumps(data), height="content")
