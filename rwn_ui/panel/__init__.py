"""The whole main area of a page from one payload: summary, tiles, charts and tables.

One component instead of many Streamlit elements, because every element costs time on each run.
The payload is plain data; texts in it are shown as text, never as HTML.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import streamlit as st

_HERE = Path(__file__).parent
SCRIPTS = (
    "panel.js",
    "summary.js",
    "candidates.js",
    "card.js",
    "painter.js",
    "marks.js",
    "full_view.js",
    "question_form.js",
)
"""Parts of one script, which uses a `channel`."""
MODULE = ("channel.js", "page_channel.js", *SCRIPTS, "panel_mount.js")

_mount = st.components.v2.component(
    "rwn_panel",
    html='<div class="rwn-panel"></div>',
    css=(_HERE / "panel.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / name).read_text(encoding="utf-8") for name in MODULE),
    isolate_styles=False,
)


def panel(
    payload: Mapping[str, Any],
    *,
    key: str = "panel",
    on_pick: Callable[[str], None] | None = None,
    on_edits: Callable[[list[Any]], None] | None = None,
) -> None:
    """Draw or redraw the panel."""

    def take(name: str, act: Callable[[Any], None] | None, kind: type) -> None:
        sent = st.session_state[key].get(name)
        if act is not None and isinstance(sent, kind):
            act(sent)

    _mount(
        key=key,
        data=orjson.dumps(payload),  # Streamlit would write a mapping as JSON twice
        height="content",
        on_picked_change=lambda: take("picked", on_pick, str),
        on_edits_change=lambda: take("edits", on_edits, list),
    )
