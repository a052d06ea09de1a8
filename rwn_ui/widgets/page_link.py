"""Links from one page to another."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError


def link_to(page: str, label: str, icon: str) -> None:
    """Link to a page by its file, such as "pages/release.py"."""
    # The first visit of an address may run a page without the list of pages; then there is no link
    # until the page is drawn again.
    with suppress(StreamlitPageNotFoundError):
        st.page_link(page, label=label, icon=icon)
