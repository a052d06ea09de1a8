"""The released table as a file of the browser's."""

from __future__ import annotations

import secrets
import time

import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.errors import log_fault
from rwn_core.reporting import ReleasedFile, internal_record
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work, own_work
from rwn_ui.widgets.sidebar import widget_key

PATIENCE = 60.0  # seconds that a page waits for its file


@st.fragment
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
            [each.key for each in io.writable()],
            default=io.FORMATS[0].key,
            key=widget_key(session, "download.format"),
        )
        # a second click takes the choice back
        form = io.format_of_key(chosen or io.FORMATS[0].key)
        seed, work = None if fresh else session.seed, own_work()
        number_key = widget_key(session, "download.id")
        number = st.session_state.setdefault(number_key, secrets.token_hex(8))

        def content() -> bytes:
            try:  # at the click: a slider may have moved since this was drawn
                data = session.data
                release = rwn.mask(data, session.masking, seed=seed)
                made = release.to_bytes(form.key)
                file = ReleasedFile.of(made, form.key, seeded=seed is not None)
                work.written = (data, release, file)
            except Exception as error:  # Streamlit would log its text, which may hold a value
                raise RuntimeError(f"no file (error {log_fault(error)})") from None
            else:
                return made
            finally:
                work.downloads += 1

        pressed = st.download_button(
            "Download",
            content,
            file_name=f"release-{number}{form.suffixes[0]}",
            on_click="rerun",
            width="stretch",
            key=widget_key(session, "download"),
            mime=form.media_type,
        )
        st.caption("Rows are in random order; direct identifiers are left out.")
        seen = widget_key(session, "download.seen")
        if pressed:
            _wait(work, st.session_state.get(seen, 0))
        st.session_state[seen] = work.downloads
        _last(session, work)


def _wait(work: Work, seen: int) -> None:
    """Until the file that was asked for is there; it is made beside this run."""
    end = time.monotonic() + PATIENCE
    with st.spinner("Writing"):
        while work.downloads == seen and time.monotonic() < end:
            time.sleep(0.05)


def _last(session: Session, work: Work) -> None:
    """Which file was written last, and its internal record."""
    if work.written is None:
        return
    data, release, file = work.written
    st.caption(f"Last file: {file.format}, {file.size:,} bytes, SHA-256")
    st.code(file.sha256, language=None, wrap_lines=True)
    decisions = {
        f"{m.date}: {m.chosen or 'none chosen'} ({m.hash[:8]})": m for m in session.decisions
    }
    chosen = None
    if decisions:
        chosen = st.selectbox(
            "Made on the decision",
            [*reversed(decisions), None],
            key=widget_key(session, f"download.decision.{len(decisions)}"),
            format_func=lambda name: name or "of no meeting",
        )

    def record() -> str:
        try:
            decision = None if chosen is None else decisions[chosen]
            return internal_record(data, release, file, decision=decision, policy=session.policy)
        except Exception as error:  # as above
            raise RuntimeError(f"no file (error {log_fault(error)})") from None

    st.download_button(
        "Internal record (TOML)",
        record,
        file_name=f"internal-record-{file.sha256[:12]}.toml",
        on_click="ignore",
        width="stretch",
        key=widget_key(session, "download.record"),
        help="Setting, table, file, versions, readings and decision; no key, donor or value. It "
        "stays in the house.",
    )
