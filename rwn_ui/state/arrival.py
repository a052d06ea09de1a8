"""What every page shows first: the table that is being made ready, and what became of it."""

from __future__ import annotations

from itertools import product

import streamlit as st

from rwn_ui.background.progress import bar, polled
from rwn_ui.messages import plain
from rwn_ui.state.session import Session
from rwn_ui.state.startup import current

_CANCELLED = "arrival.cancelled"
_PAGES, _LEVERS = ("tune", "utility", "risk"), ("epsilon", "k", "q")


def arrived(*, alone: bool = False) -> Session:
    """This user's session, with the table that was prepared in the background if it is ready.

    Parameters
    ----------
    alone : bool
        Whether the page goes on while the first table of all is still being prepared.
    """
    session = current()
    session.slot = st.empty()
    if session.arrive():
        for page, what in product(_PAGES, _LEVERS):  # sliders start anew, at the session's values
            st.session_state.pop(f"{page}.{session.generation}.{what}", None)
    if st.session_state.pop(_CANCELLED, False):
        st.toast(f"Cancelled; the pages show {plain(session.name)}.")
    if session.coming is not None:
        _wait(session)
    elif session.notice:
        _tell(session)
    if session.first and not alone:
        st.stop()
    place = st.empty()  # always there, or what stands below would be drawn anew when work begins
    if session.busy:
        with place.container():
            _heed_work(session)
    return session


def _heed_work(session: Session) -> None:
    """Draw the page anew when work ends that another page began: its buttons wait for that."""

    def watch() -> None:
        if not session.busy:
            st.rerun()

    polled(watch)


def _wait(session: Session) -> None:
    if session.coming is not None:
        session.coming.shown = True

    def watch() -> None:
        coming = session.coming
        if coming is None or not coming.running:
            st.rerun()
        with st.container(border=True, key="arrival"):
            bar(coming, "arrival.cancel", wide=True, cancel=stay)
            if session.first:
                st.caption("The Data page can open another table meanwhile.")
            else:
                st.caption(f"The pages show {plain(session.name)} until then.")

    def stay() -> None:
        session.stay()
        st.session_state[_CANCELLED] = True

    polled(watch)


def _tell(session: Session) -> None:
    with st.container(border=True, key="arrival"):
        words, close = st.columns([6, 1], vertical_alignment="center")
        words.error(plain(session.notice), icon=":material/block:")
        if close.button("Close", key="arrival.close", width="stretch"):
            session.notice = ""
            st.rerun()


def sample_note(session: Session) -> None:
    """Say so where the page shows some records of a very large table."""
    bench = session.bench()
    if bench.preview.whole:
        return
    shown, of = len(bench.preview.records), session.data.n
    st.caption(
        f"**{shown:,} random records of {of:,}**, with neighborhoods in the full table; standard "
        f"errors are of {shown:,}. What needs every record is left out; a download masks all."
    )
