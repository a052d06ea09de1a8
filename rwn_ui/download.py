"""The released table as a file of the browser's."""

from __future__ import annotations

import secrets

import streamlit as st

import rwn_core as rwn
from rwn_ui.controls import widget_key
from rwn_ui.session import Session
from rwn_ui.show import log_fault


def offer(session: Session) -> None:
    """The released table as a file."""
    with st.popover("Released data", icon=":material/download:", width="stretch"):
        fresh = st.toggle(
            "Fresh secret key",
            True,
            key=widget_key(session, "download.fresh"),
            help="On: a new 256-bit secret draws the file, and is forgotten. Off: the file is "
            "the one on screen, drawn from the seed, which anybody can try.",
        )
        chosen = st.segmented_control(
            "Format",
            ["csv", "parquet"],
            default="csv",
            key=widget_key(session, "download.format"),
        )
        form = chosen or "csv"  # a second click takes the choice back
        seed = None if fresh else session.seed
        place = widget_key(session, "download.id")
        number = st.session_state.setdefault(place, secrets.token_hex(8))

        def content() -> bytes:
            try:  # at the click: a slider may have moved since this was drawn
                return rwn.mask(session.data, session.params, seed=seed).to_bytes(form)
            except Exception as error:  # Streamlit would log its text, which may hold a value
                raise RuntimeError(f"no file (error {log_fault(error)})") from None

        st.download_button(
            "Download",
            content,
            file_name=f"release-{number}.{form}",
            on_click="ignore",
            width="stretch",
            key=widget_key(session, "download"),
            mime="application/octet-stream",
        )
        st.caption("Rows are in random order; direct identifiers are left out.")
