"""A page's explanation in a few sentences, and the parts of the Tune page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from rwn_core.data.plain import toml_document

_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
WORDS = toml_document(_TEXT, "guide")
"""What each page shows, by the page's name in the address; under "tour" the parts of Tune."""


def guide(page: str) -> None:
    """Draw a popover that explains the page."""
    with st.container(key="guide"), st.popover("What am I looking at?", icon=":material/help:"):
        for sentence in WORDS[page]:
            st.markdown(sentence)
        for title, words in WORDS["tour"].items() if page == "tune" else ():
            st.markdown(f"**{title}.** {words}")
