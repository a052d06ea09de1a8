"""Buttons that several pages have: a file to take, another page to go to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError


def file_button(
    label: str, content: Callable[[], Any], name: str, *, key: str, place: Any = st, **more: Any
) -> None:
    """Offer a file, made at the click; the page is not redrawn."""
    place.download_button(label, content, file_name=name, on_click="ignore", key=key, **more)


def link_to(page: str, label: str, icon: str) -> None:
    """Link to a page by its file, such as "pages/release.py"."""
    # The first visit of an address may run a page without the list of pages; then there is no link
    # until the page is drawn again.
    with suppress(StreamlitPageNotFoundError):
        st.page_link(page, label=label, icon=icon)
