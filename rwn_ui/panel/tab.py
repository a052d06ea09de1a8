"""The browser tab that a page is in: its token, and what the browser says of other tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

GONE = "The program on this machine has stopped. Start it again with rwn app"
_KEY = "tab"
_mount = st.components.v2.component(
    "rwn_tab",
    html="<span></span>",
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_show = st.components.v2.component(
    "rwn_address",
    html="<span></span>",
    js="""export default ({ data }) => {
  const wanted = `?${new URLSearchParams(data)}`;
  if (wanted !== location.search) history.replaceState(history.state, "", wanted);
}""",
    isolate_styles=False,
)


def show_address(query: Mapping[str, str]) -> None:
    """Write the address in place: one that the server writes is a further page to go back over."""
    _show(key="address", data=dict(query), height="content")


def tab(
    names: Mapping[str, str],
    *,
    answered: bool,
    waits: bool,
    saved: bool,
    on_answer: Callable[[str, str], None],
    on_other: Callable[[str], None],
) -> None:
    """Give the tab its names; take those it had before a reload, and that of another tab."""

    def take_answer() -> None:
        sent = st.session_state[_KEY].get("answer")
        said = sent if isinstance(sent, Mapping) else {}
        on_answer(str(said.get("tab", "")), str(said.get("browser", "")))

    def take_other() -> None:
        sent = st.session_state[_KEY].get("other")
        if isinstance(sent, str):
            on_other(sent)

    ending = "; your description and setting are saved." if saved else "."
    _mount(
        key=_KEY,
        data={**names, "answered": answered, "waits": waits, "gone": GONE + ending},
        height="content",
        on_answer_change=take_answer,
        on_other_change=take_other,
    )
