"""The fifth step: the ledger is signed; it warns when the same people were released before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from rwn_core.errors import ReleaseError
from rwn_core.reporting.ledger import add, foresee, policy_words
from rwn_core.reporting.release_folder import NOTICE, RECORD, released_file
from rwn_core.reporting.release_record import read_record
from rwn_ui.release.steps import drawn
from rwn_ui.server.messages import escaped, informed, refused, succeeded
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session

ENDING = ".jsonl"
_T = TypeVar("_T")


def draw(session: Session, is_next: bool) -> None:
    """Choose the ledger, read its warnings, sign."""
    last = drawn(session)
    if last is None or last.approval is None or not last.files:
        return
    if (entry := last.entry) is not None:
        show_entry(entry)
        return
    if not on_own_machine():
        informed(
            "The ledger lies with the data steward, and this server is another machine. Sign it "
            "there: rwn ledger add LEDGER internal-record.toml --original IN --by NAME"
        )
        return
    form = session.release
    form.ledger = st.text_input(
        f"Ledger on this machine (whole path, ends in {ENDING}); created if there is none",
        form.ledger,
        key=session.key("release.ledger"),
        placeholder=str(Path.home() / f"ledger{ENDING}"),
    ).strip()
    by = last.approval.by
    if not form.ledger:
        _sign(session, by, is_next, disabled=True)
        return
    uploads = st.file_uploader(
        "Earlier released files that lie no longer where the ledger says",
        accept_multiple_files=True,
        key=session.key("release.earlier"),
    )
    path = _checked(Path(form.ledger))
    record = read_record(last.files[RECORD].decode("utf-8"))
    record = {**record, "source": {**record.get("source", {}), "released": last.place}}
    own = (released_file(last.files), last.judged.content)
    given = [own, *((each.name, each.getvalue()) for each in uploads)]
    asked = (path, path.stat() if path.exists() else None, [each.file_id for each in uploads])
    if last.foreseen is None or last.foreseen[0] != asked:
        with st.spinner("Merging the release with earlier ones"):
            last.foreseen = asked, _opened(lambda: foresee(path, record, session.data, given))
    warnings = last.foreseen[1]
    if warnings:
        st.warning("  \n".join(map(escaped, warnings)))
    else:
        st.caption(
            "No earlier release in it is of these people." if path.exists() else "It is new."
        )
    if _sign(session, by, is_next):
        last.entry, _ = _opened(
            lambda: add(path, record, session.data, by=by, files=given, notice=last.files[NOTICE])
        )
        st.rerun()  # the steps above say more now


def _sign(session: Session, by: str, is_next: bool, *, disabled: bool = False) -> bool:
    """True if the ledger is to be signed; the button waits until a ledger is named."""
    return st.button(
        f"Sign as {escaped(by)}",
        type="primary" if is_next else "secondary",
        key=session.key("release.sign"),
        disabled=disabled,
    )


def show_entry(entry: dict[str, Any]) -> None:
    """Say what the signed entry says of the policy, and its hash."""
    if not entry["kept"]:
        refused(f"The entry says: {policy_words(entry)}.")
    succeeded(
        f"Entry {entry['number']}, signed by {entry['by']} on {entry['time'][:10]}. Note its hash "
        "elsewhere: with it, rwn ledger verify LEDGER --last HASH shows whether the ledger was cut "
        "off."
    )
    st.code(entry["hash"], language=None, wrap_lines=True)


def _checked(path: Path) -> Path:
    """A path that can be a ledger's, before anything of it is read."""
    if not path.is_absolute() or path.suffix.lower() != ENDING:
        raise ReleaseError(
            f"The ledger must be given with its whole path, from the root on, and end in {ENDING}."
        )
    if not path.parent.is_dir():
        raise ReleaseError(f"The folder {path.parent} does not exist; create it first.")
    if path.exists() and not path.is_file():
        raise ReleaseError(f"{path} is no file; choose another name for the ledger.")
    return path


def _opened(work: Callable[[], _T]) -> _T:
    """The result of work on the ledger, or why the system refuses it."""
    try:
        return work()
    except OSError as error:
        raise ReleaseError(
            f"The ledger cannot be read or written ({error.strerror}); nothing was added."
        ) from None
