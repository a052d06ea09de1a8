"""The trial on screen as a file: drawn from its seed, and not for release."""

from __future__ import annotations

import secrets

import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.data.identity.gate import open_doubts
from rwn_core.data.open_questions import table_doubts
from rwn_core.errors import log_fault
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button, link_to


@st.fragment
def offer(session: Session) -> None:
    """The trial as a file, and the way to a release."""
    with st.popover("Trial file", icon=":material/download:", width="stretch"):
        st.caption(
            "The masked table on screen, drawn from the seed, which anybody can try: to look at, "
            "not for release. The Release page draws a table with a secret of its own."
        )
        waiting = open_doubts(table_doubts(session.data), session.data.schema)
        if waiting:
            names = ", ".join(doubt.variable for doubt in waiting)
            st.info(
                escaped(f"Answer on the Data page first whether these identify people: {names}.")
            )
            return
        chosen = st.segmented_control(
            "Format",
            [each.key for each in io.writable()],
            default=io.FORMATS[0].key,
            key=session.key("tune.download.format"),
        )
        # a second click takes the choice back
        form = io.format_of_key(chosen or io.FORMATS[0].key)
        number_key = session.key("tune.download.id")
        # two users with one seed must not share an address: Streamlit makes it of name and content
        number = st.session_state.setdefault(number_key, secrets.token_hex(8))

        def content() -> bytes:
            try:  # at the click: a slider may have moved since this was drawn
                return rwn.mask(session.data, session.masking, seed=session.seed).to_bytes(form.key)
            except Exception as error:  # Streamlit would log its text, which may hold a value
                raise RuntimeError(f"no file (error {log_fault(error)})") from None

        name = f"trial-not-for-release-seed-{session.seed}-{number}{form.suffixes[0]}"
        file_button(
            *("Download the trial", content, name),
            key=session.key("tune.download"),
            width="stretch",
            mime=form.media_type,
        )
        link_to("pages/release.py", "Make a release", ":material/outbox:")
