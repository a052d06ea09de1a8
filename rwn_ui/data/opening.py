"""Opens the user's file: chosen, read in the background, refused or loaded."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.data.file_layout import FileLayout
from rwn_core.io import packed
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.opening import Opening, is_wide
from rwn_ui.background.progress import wait_for
from rwn_ui.data import questions
from rwn_ui.data.describe import choose_variables
from rwn_ui.state.change_table import load
from rwn_ui.state.session import Session
from rwn_ui.widgets.upload import file_chooser, read_upload

AT_ONCE = 1.5  # seconds that a page waits for a small file before it shows how far it is
_SEEN = "data.upload.seen"


def open_file(session: Session) -> bool:
    """True if a table was opened just now, from a file and perhaps its schema."""
    is_chosen = _choose_file(session)
    opening = session.user.work.opening
    if opening is None:
        return False
    if not is_chosen and not opening.path:
        opening.asked = None
        return False
    if opening.reading is not None and not opening.reading.wait(AT_ONCE):
        wait_for(opening.reading, "data.reading")
        return False
    data = _chosen(session, opening)
    if data is not None:
        load(session, data, name=opening.name, demo=None, path=opening.path)
    if opening.refusal is not None:
        if opening.path:
            session.user.work.opening = None
        if not opening.seen_otherwise:  # else its layout is asked about below
            raise opening.refusal
    return data is not None


def _choose_file(session: Session) -> bool:
    """True if a file is chosen; it is read where it or its schema is another than before."""
    upload = file_chooser(
        f"Open your table: {io.either([form.title for form in io.FORMATS if not form.companion])}",
        _endings(),
        key="data.upload",
    )
    with st.expander("Its schema, if you have one"):
        described = file_chooser(
            "Schema (TOML)",
            ["toml"],
            key="data.upload.schema",
            help="Kinds, roles, weights, the regression and the layout of the file, as this page "
            "and rwn demo --schema write them.",
        )
    if upload is None:
        return False
    # each chooser acts when its own value changes
    chosen = (upload.file_id, described.file_id if described else None)
    if chosen != st.session_state.get(_SEEN):
        st.session_state[_SEEN] = chosen
        read_upload(session, None)
    return True


def _endings() -> list[str]:
    """List the endings of files that are opened, packed ones among them."""
    endings = [suffix for form in io.FORMATS for suffix in form.suffixes]
    return [ending.removeprefix(".") for ending in (*endings, *packed.ENDINGS)]


def _chosen(session: Session, opening: Opening) -> rwn.Microdata | None:
    """The table that was read, of a wide one once its variables are chosen."""
    data = opening.taken()
    below = 0 if opening.seen is None else opening.seen.layout.below
    unsaid = opening.layout is None and not opening.path
    if data is not None and unsaid and below and data.schema.file is None:
        read_upload(session, FileLayout(below=below), proposed=True)
        st.rerun()
    if data is not None and is_wide(data):
        opening.waiting, data = data, None
    if opening.waiting is not None:
        data = choose_variables(opening.waiting, session.key("data.wide"))
    if data is not None:
        opening.waiting = None
    if data is not None and data.n > LARGEST_DENSE and questions.are_open(session, data):
        opening.asked, data = data, None
    return data
