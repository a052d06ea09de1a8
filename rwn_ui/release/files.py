"""The fourth step: all files of the release are made, and downloaded or written to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from rwn_core.errors import log_fault
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts.outside import label
from rwn_core.reporting.release_folder import (
    RECORD,
    for_users,
    release_files,
    released_file,
    write_folder,
    zipped,
)
from rwn_core.reporting.release_record import read_record
from rwn_ui.background.progress import polled
from rwn_ui.release.steps import drawn, is_checked
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn
from rwn_ui.widgets.buttons import file_button


def draw(session: Session, is_next: bool) -> None:
    """Make the files, then hand them out."""
    last = drawn(session)
    if last is None or last.approval is None or not is_checked(session):
        return
    if last.files:
        _hand_out(session, last, is_next)
    _make(session, last)


def _hand_out(session: Session, last: Drawn, is_next: bool) -> None:
    """Offer the files; only what may leave the house is the next thing to take."""
    left, right = st.columns(2)
    with left:
        _button(session, last, "for users", for_users(last.files), primary=is_next)
    with right:
        _button(session, last, "everything, internal", last.files)
    if on_own_machine():
        _folder(session, last)
    _listed(last)
    if last.left:
        return

    def watch() -> None:
        if last.left:  # a download reports there
            st.rerun()

    polled(watch)


def _make(session: Session, last: Drawn) -> None:
    """Ask for the title of the public files, and make all files."""
    form = session.release
    fixed = last.entry is not None
    said = session.drafts().context
    with st.form(session.key("release.files"), border=False, enter_to_submit=False):
        title = st.text_input(
            "What the data are called, in public",
            form.title,
            key=session.key("release.title"),
            max_chars=200,
            placeholder="Masked microdata",
            disabled=fixed,
        )
        if said.missing:
            st.caption(f"The reports say “not stated” of: {', '.join(said.missing)}.")
        pressed = st.form_submit_button(
            "Make the files", type="secondary" if last.files else "primary", disabled=fixed
        )
    if not pressed:
        return
    assert last.approval is not None
    form.title = title.strip()
    last.files = {}
    last.left = ""
    with st.spinner("Writing the reports and holding the public files against the original"):
        last.files = release_files(
            last.judged,
            session.data,
            replace(last.approval, context=said),
            number=last.number,
            title=form.title,
        )
    st.rerun()  # the steps above say more now


def _listed(last: Drawn) -> None:
    """List the files by their readers."""
    st.caption(
        "The folder **for-users** may leave the house: nothing of the original was found in its "
        "notice and codebook. The folder **internal** holds values of the original in its "
        "report and stays. SHA256SUMS has the hash of every file."
    )
    record = read_record(last.files[RECORD].decode("utf-8"))
    if (first := label(Material(record=record)).table) is not None:
        st.table(pd.DataFrame(first.rows, columns=first.columns).set_index(first.columns[0]))
    sizes = [f"{len(content):,}" for content in last.files.values()]
    st.dataframe({"file": list(last.files), "bytes": sizes}, lazy=False, hide_index=True)


def _button(
    session: Session, last: Drawn, what: str, files: Mapping[str, bytes], *, primary: bool = False
) -> None:
    """File name with the release's random number, which cannot be guessed."""

    def content() -> bytes:
        try:
            made = zipped(files)
        except Exception as error:  # Streamlit would log its text, which may hold a value
            raise RuntimeError(f"no file (error {log_fault(error)})") from None
        last.left = last.left or "The files were downloaded."
        return made

    words = what.replace(", ", "-").replace(" ", "-")
    # a run during the download would take the file from under the browser
    file_button(
        *(f"Download ({what})", content, f"release-{last.judged.id}-{words}.zip"),
        icon=":material/download:",
        width="stretch",
        type="primary" if primary else "secondary",
        key=session.key(f"release.download.{words}"),
        mime="application/zip",
    )


def _folder(session: Session, last: Drawn) -> None:
    """Write the files on this machine, without a browser between."""
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    form = session.release
    form.folder = left.text_input(
        "Or a folder on this machine, in which a folder of the release is made",
        form.folder,
        key=session.key("release.folder"),
        placeholder=str(Path.home()),
    ).strip()
    pressed = right.button(
        "Write", key=session.key("release.write"), width="stretch", disabled=not form.folder
    )
    if pressed:
        folder = write_folder(last.files, Path(form.folder), last.judged.id)
        last.left = f"The files lie in {folder}."
        last.place = str(folder / released_file(last.files))
        st.rerun()  # the steps above say more now
