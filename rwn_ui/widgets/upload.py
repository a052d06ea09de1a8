"""Takes a file that is given to a page, unless a class looks on, and reads its name and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.plain import LONGEST_DOCUMENT
from rwn_core.errors import InputError
from rwn_core.io.reading import begin, parse_text
from rwn_ui.background.opening import Opening
from rwn_ui.server.environment import in_class
from rwn_ui.state.session import Session

Parsed = TypeVar("Parsed")


def file_chooser(
    label: str,
    types: list[str],
    *,
    key: str,
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> UploadedFile | None:
    """Offer to open a file; in a class there is nothing to choose."""
    if in_class():
        return None
    return st.file_uploader(label, type=types, key=key, help=help, on_change=on_change)


def written_name(sent: str) -> str:
    """The name of a file as its owner wrote it: browsers send a quote in it as %22."""
    return sent.replace("%22", '"')


def parsed(content: bytes, parse: Callable[[str], Parsed], what: str) -> Parsed:
    """Read a text file; a long one in a process with limits, while this thread waits."""
    return parse_text(parse, read_text(content, what), f"{what} file")


def read_text(content: bytes, what: str) -> str:
    """The text of a file."""
    if len(content) > 4 * LONGEST_DOCUMENT:  # bytes of so many letters
        raise InputError(f"The {what} file has more than {LONGEST_DOCUMENT:,} letters; shorten it.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} file is not a UTF-8 text; save it as one.") from None


def read_upload(session: Session, layout: FileLayout | None, *, proposed: bool = False) -> None:
    """Begin to read the chosen file; the reading of another one is cancelled."""
    upload, described = (st.session_state.get(key) for key in ("data.upload", "data.upload.schema"))
    work = session.user.work
    if upload is None:
        return
    if work.opening is not None:
        work.opening.give_up("Another file was opened.")
    work.opening = None
    schema = None if described is None else read_text(described.getvalue(), "schema")
    name = written_name(upload.name)
    reading = begin((name, upload.getvalue()), schema, layout)
    work.opening = Opening(name=name, layout=layout, reading=reading, proposed=proposed)
