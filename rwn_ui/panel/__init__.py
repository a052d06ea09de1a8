"""The whole main area of a page from one payload: summary, tiles, charts and tables.

One component instead of many Streamlit elements, because every element costs time on each run.
The payload is plain data; texts in it are shown as text, never as HTML.
"""

import secrets
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import streamlit as st

_HERE = Path(__file__).parent
_SCRIPTS = (
    "panel.js",
    "summary.js",
    "card.js",
    "painter.js",
    "marks.js",
    "full_view.js",
    "question_form.js",
)
"""Parts of one script module."""
_SERVER = secrets.token_hex(4)  # another one counts anew
_TURNS = count()

_mount = st.components.v2.component(
    "rwn_panel",
    html='<div class="rwn-panel"></div>',
    css=(_HERE / "panel.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS),
    isolate_styles=False,
)


def panel(
    payload: Mapping[str, Any],
    *,
    key: str = "panel",
    on_pick: Callable[[str], None] | None = None,
) -> None:
    """Draw or redraw the panel."""

    def picked() -> None:
        chosen = st.session_state[key].get("picked")
        if on_pick is not None and isinstance(chosen, str):
            on_pick(chosen)

    _mount(
        key=key,
        data=written(payload),
        height="content",
        on_picked_change=picked,
        on_again_change=_nothing,
    )


def written(payload: Mapping[str, Any]) -> bytes:
    """The payload as the panel reads it, with its number: an older one is not drawn after it.

    Bytes, because Streamlit would write a mapping as JSON twice, once only to compare it.
    """
    return orjson.dumps({**payload, "server": _SERVER, "turn": next(_TURNS)})


def asks_for_more(key: str) -> bool:
    """True if a poll of the panel has led to this run; called before the panel is drawn.

    No callback: one within a fragment must not draw anything, nor fail.
    """
    return bool((st.session_state.get(key) or {}).get("again"))


def _nothing() -> None:
    """Let Streamlit know of the event; it is read by `asks_for_more`."""
