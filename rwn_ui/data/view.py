"""Draws the Data page: choose a table, see its records, say what its variables are."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.io.reading import saved_schema
from rwn_core.io.write import write_atomically
from rwn_ui.data import questions
from rwn_ui.data.opening import open_file
from rwn_ui.server.environment import in_class
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import erase, load, take_asked
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button

PREVIEW_ROWS = 100
_OWN = "**Open your table**, or a demo table, to begin; it stays on this machine."


def choose(session: Session) -> None:
    """A demo table or a file of one's own."""
    st.markdown(
        "### RWN masks a table of people\n"
        "It replaces values by those of similar records, and shows at once what that costs an "
        "analyst and what it protects from an intruder. "
        + ("In a class, with demo tables only." if in_class() else _OWN)
    )
    left, right = st.columns([3, 2], gap="large")
    with right:
        demo = st.selectbox(
            "Or look at a demo table",
            list(rwn.DEMOS),
            index=None,
            key="data.demo",
            placeholder="Choose a demo table",
            format_func=lambda name: f"{name} · {rwn.DEMOS[name].title} ({rwn.DEMOS[name].size})",
        )
        # each chooser acts when its own value changes, or two filled ones would take turns
        if demo != st.session_state.get("data.demo.seen"):
            if demo is not None:
                load(session, rwn.load_demo(demo), name=demo, demo=demo)
            st.session_state["data.demo.seen"] = demo
            _show_what_is_coming(session)
    with left:
        if open_file(session):
            _show_what_is_coming(session)


def asked_table(session: Session) -> bool:
    """True if a question about a large table has no answer yet: no neighbors are ranked before."""
    opening = session.user.work.opening
    if opening is None or opening.asked is None:
        return False
    if not questions.are_open(session, opening.asked):  # of the file that the app was started with
        take_asked(session)
        st.switch_page("pages/tune.py")
    answered = questions.ask(session, opening.asked)
    if answered is not None:
        if questions.are_open(
            session, answered
        ):  # of another answer come others; nothing is ranked yet
            opening.asked = answered
        else:
            take_asked(session, answered)
        st.rerun()
    overview(opening.asked, opening.name)
    say_what_stays(session)
    return True


def is_read(session: Session) -> bool:
    """True if a file is being read: no row and no question of another table is shown."""
    opening = session.user.work.opening
    if opening is None or opening.reading is None:
        return False
    say_what_stays(session)
    return True


def table_on_its_way(session: Session) -> bool:
    """True if another table than that of the pages is ranked: its own rows are shown."""
    coming = session.user.work.preparation
    if coming is None or coming.data.fingerprint == session.data.fingerprint:
        return False
    overview(coming.data, coming.name)
    say_what_stays(session)
    return True


def say_what_stays(session: Session) -> None:
    """Name the table of the other pages, while another one is on its way."""
    st.caption(escaped(f"The other pages show {session.name} until then."))


def _show_what_is_coming(session: Session) -> None:
    """The top of the page was drawn before the choice."""
    if session.user.work.preparation is not None:
        st.rerun()


def overview(data: rwn.Microdata, name: str) -> None:
    """The first records of a table, under its name."""
    st.markdown(f"#### {escaped(name)}: {data.n:,} records, {data.p} variables")
    # not head(): a slice of a text column is sent with bytes of the record after it
    shown = data.frame.take(range(min(PREVIEW_ROWS, data.n)))
    shown.index = pd.RangeIndex(1, len(shown) + 1, name="record")
    st.caption(
        f"The first {len(shown):,} of {data.n:,} records. This is the confidential "
        "original: it stays on this machine."
    )
    dates = {}  # without a time of day
    for name in (v.name for v in data.schema.variables if v.kind is rwn.Kind.DATE):
        known = data.frame[name].dropna()
        if (known == known.dt.normalize()).all():
            dates[name] = st.column_config.DateColumn()
    st.dataframe(shown, lazy=False, height=200, column_config=dates, placeholder="missing")


def notices(session: Session) -> None:
    """Notices of the validation, where they move nothing: a role that is chosen may bring one."""
    shown = [notice for notice in session.data.notices if not questions.asks(session.data, notice)]
    if shown:
        st.info("  \n".join(map(escaped, shown)), icon=":material/info:")


def schema_file(session: Session) -> None:
    """The description as a file for the command line, saved with the table if it has a path."""
    if session.path and on_own_machine():
        place = saved_schema(session.path)
        text = session.data.schema.to_toml().encode("utf-8")
        if place.is_file() and place.read_bytes() == text:
            st.caption(escaped(f"The description is saved as {place.name}; rwn finds it there."))
        elif st.button("Save this description with the file", key="data.schema.save"):
            try:
                write_atomically(place, text)
            except OSError as error:
                raise rwn.RWNError(
                    f"{place.name} cannot be written ({error.strerror}); open the table from "
                    "another folder."
                ) from None
            st.rerun()
        return
    file_button(
        *("Schema (TOML)", session.data.schema.to_toml, "schema.toml"),
        key="data.schema",
        icon=":material/download:",
        help="Kinds, roles, weights and the regression, without any data: for rwn mask --schema.",
    )


def erase_button(session: Session) -> None:
    """Forget everything, after a second click."""
    with st.popover("Erase everything", icon=":material/delete_forever:"):
        st.markdown(
            "The table, its uploads, scenarios, decisions and results are forgotten at once, and "
            "the project that is saved of it. What you have downloaded stays."
        )
        st.button("Erase now", key="data.erase", type="primary", on_click=erase, args=(session,))
