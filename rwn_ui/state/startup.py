"""Start of every page: this user's session, and the table in preparation."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.kernel_cache import DRAWS, is_ready, wait_for_others
from rwn_ui.background.opening import Opening, is_wide
from rwn_ui.background.progress import bar, polled
from rwn_ui.server.environment import in_class
from rwn_ui.server.given_file import given_file, read_given
from rwn_ui.server.messages import escaped, redraw
from rwn_ui.state import visit
from rwn_ui.state.change_table import adopt_prepared, give_up, load, recommended, take_asked
from rwn_ui.state.results import PreparedTable, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work

FIRST_DEMO = "bodyfat"
_CANCELLED = "arrival.cancelled"
_SOON = 1.5  # seconds in which a first picture is worth waiting for


def current() -> Session:
    """This user's session; a new one opens the file of the command line, or the first demo."""
    mine = visit.current()
    given = given_file()
    if mine.session is not None:
        return mine.session
    demo = st.query_params.get("demo", FIRST_DEMO)
    opening = None
    notice = ""
    if given is not None and "demo" not in st.query_params:
        try:
            data = read_given()
            if data.n <= LARGEST_DENSE and not is_wide(data):
                mine.session = _opened(data, name=given.name, demo=None, path=str(given))
                return mine.session
            # what the Data page asks comes before the neighbors are ranked
            opening = Opening(name=given.name, layout=None, path=str(given), first=True)
            opening.waiting, opening.asked = (data, None) if is_wide(data) else (None, data)
        except rwn.RWNError as refusal:  # moved or changed since the start
            st.toast(escaped(str(refusal)))
    if demo not in rwn.DEMOS:
        notice = f"There is no demo of that name; {FIRST_DEMO} is shown."
        demo = FIRST_DEMO
    session = mine.session = _opened(rwn.load_demo(demo), name=demo, demo=demo)
    session.user.work.notice = notice
    if opening is not None:
        session.user.work.opening = opening
        session.user.work.first = opening.asked is not None
    return session


def _opened(data: rwn.Microdata, *, name: str, demo: str | None, path: str = "") -> Session:
    """A session with this table; behind a large one the first demo waits, should it fail."""
    linked = bool(visit.current().asked.keys() - {"demo", "projector"})  # to a setting of its own
    if data.n > LARGEST_DENSE:
        session = _opened(rwn.load_demo(FIRST_DEMO), name=FIRST_DEMO, demo=FIRST_DEMO)
        load(session, data, name=name, demo=demo, path=path, linked=linked)
        work = session.user.work
        work.first = True
        if work.preparation is not None:
            work.preparation.wait(_SOON)  # else the page would be drawn once without its table
        return session
    session = Session(name=name, demo=demo, data=data, path=path, projector=in_class())
    _wait_for_kernels()
    session.begin(prepared(session).prepared, None if linked else recommended(demo))
    return session


def _wait_for_kernels() -> None:
    """Wait for what draws, which `rwn app` has compiled while the server starts, and say so."""
    if is_ready(DRAWS):
        return
    with st.spinner("The program is compiled for this machine, once"):
        wait_for_others(DRAWS)


def page_session(*, alone: bool = False) -> Session:
    """This user's session, with the table that was prepared in the background if it is ready."""
    session = current()
    work = session.user.work
    opening = work.opening
    if opening is not None and opening.first:
        opening.first = False
        if not alone:
            st.switch_page("pages/data.py")
    if not alone:
        take_asked(session)
    adopt_prepared(session)
    above = st.empty()  # always there, or what stands below would be drawn anew when work begins
    if st.session_state.pop(_CANCELLED, False):
        st.toast(f"Cancelled; the pages show {escaped(session.name)}.")
    if work.preparation is not None:
        with above.container():
            _wait(session, work)
    elif work.notice:
        with above.container(), st.container(border=True, key="arrival"):
            words, close = st.columns([6, 1], vertical_alignment="center")
            words.error(escaped(work.notice), icon=":material/block:")
            if close.button("Close", key="arrival.close", width="stretch"):
                work.notice = ""
                st.rerun()
    if work.first and not alone:
        st.stop()
    below = st.empty()
    if work.busy:

        def watch() -> None:
            if not work.busy:
                redraw()  # work has ended that another page began

        with below.container():
            polled(watch)
    return session


def _wait(session: Session, work: Work) -> None:

    def watch() -> None:
        if work.preparation is None or not work.preparation.running:
            redraw()
        # over the pictures of the table before, which must not move
        with st.container(border=True, key="arrival" if work.first else "arrival-over"):
            bar(work.preparation, "arrival.cancel", wide=True, cancel=cancel)
            if work.first:
                st.caption("The Data page can open another table meanwhile.")
            else:
                st.caption(f"The pages show {escaped(session.name)} until then.")

    def cancel() -> None:
        give_up(session)
        st.session_state[_CANCELLED] = True

    polled(watch)


def sample_note(session: Session, table: PreparedTable) -> None:
    """Say so where a page shows some records of a large table."""
    preview = table.prepared
    slot = st.empty()
    if preview.masks_all_records:
        return
    shown = len(preview.records)
    full = session.data.n
    slot.caption(
        f"**Charts show a random sample of {shown:,} of {full:,} records**; neighborhoods come "
        "from the full table. Standard errors and the largest Cook’s and Mahalanobis distances are "
        "for the sample. Policy limits use all records."
    )
