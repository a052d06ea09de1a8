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
    """Draw or redraw the panel.

    Parameters
    ----------
    payload : mapping
        stamp : str, written to the element's data-stamp once everything in view is drawn.
        projector : bool, two columns and everything larger.
        wide, single : bool, two columns or one, and higher charts.
        tall : bool, one chart as high as the window leaves room for, under three tiles in a row.
        stacked : bool, up to three tiles side by side, each of several lines.
        table : str, the name of the table, for files.
        summary : {"text", "help"?}, the present parameters in one line.
        changed : {"names": [str], "share": [float], "overall": float, "q": float | None,
            "least"?, "warning"?}, realized share of changed cells, the least and what is amiss in
            words.
        tiles : list of {"label", "original"?, "released", "state": "kept" | "over" | None,
            "limit"?, "aim"?: bool, "broken"?: [str], "against": [{"pin", "text", "better": bool |
            None}], "help"}; all texts ready to read. What is over an aim is over no limit; broken
            are the names of all limits that are, where the tile stands for several.
        cards : list of str, each a chart written by `rwn_core.charts.serialise`.
        address : mapping of str to str, the query of the page's address.
        again : int, milliseconds after which, and again after as many, more of this is asked for;
            see `asks_for_more`.
        waits : list of str, what that is, for who asks beside the runs of the page.
        tables : list of {"title", "columns", "rows", "caption"?, "file"?}, shown below the charts;
            with the name of a file, it can be copied and downloaded.
        Every part but the stamp may be left out.
    key : str
        Streamlit key; the same on every run, so that the charts are redrawn in place.
    on_pick : callable, optional
        Called before the next run with the "customdata" of a point that was clicked.
    """

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
    """Whether a panel's "again" has led to this run; asked before the panel is drawn in it.

    No callback: one within a fragment must not draw anything, nor fail.
    """
    return bool((st.session_state.get(key) or {}).get("again"))


def _nothing() -> None:
    """Let Streamlit know of the event; it is read by `asks_for_more`."""
