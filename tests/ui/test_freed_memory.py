"""Nothing is left of a user who has left: in memory, in made files, in the session."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import weakref
from dataclasses import fields
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.state import SessionState

from rwn_core.data.microdata import Microdata
from rwn_ui.server.launch import WRITTEN_OVER
from rwn_ui.server.sweeper import free_memory, set_aside
from rwn_ui.state import change_table
from rwn_ui.state.session import Session
from tests.waiting import HANG_S

# ten threads that make words, forget them, and rest; then all memory is searched
PROGRAM = r"""
import re, threading
rest, done = threading.Event(), threading.Barrier(11)
def work(number):
    words = ["QX%03dZ N%02d" % (number, level) for level in range(20)]
    del words
    done.wait()
    rest.wait()
threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(10)]
for each in threads:
    each.start()
done.wait()
found = set()
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        span, rights, *_ = line.split()
        if not rights.startswith("rw"):
            continue
        begin, end = (int(part, 16) for part in span.split("-"))
        try:
            memory.seek(begin)
            part = memory.read(end - begin)
        except OSError:  # a part that nobody can read
            continue
        found |= set(re.findall(rb"QX\d\d\dZ N\d\d", part))
print(len(found))
"""


def words_left(environment: dict[str, str]) -> int:
    plain = {name: value for name, value in os.environ.items() if name not in WRITTEN_OVER}
    line = [sys.executable, "-c", PROGRAM]
    return int(subprocess.check_output(line, env=plain | environment, text=True, timeout=HANG_S))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc writes over")
def test_nothing_that_a_thread_has_freed_is_left() -> None:
    assert words_left(WRITTEN_OVER) == 0
    kept = words_left(WRITTEN_OVER | {"GLIBC_TUNABLES": ""})
    assert kept > 0, "threads keep some of what they free, unwritten"


class Circle:
    def __init__(self) -> None:
        self.itself = self


def test_what_was_set_aside_is_freed_once_somebody_has_left() -> None:
    left = Circle()
    seen = weakref.ref(left)
    try:
        set_aside()
        del left
        gc.collect()
        assert seen() is not None  # the collector passes it over
        free_memory()
        assert seen() is None
        assert gc.get_freeze_count() > 0  # what is still used is set aside again
    finally:
        gc.unfreeze()


def test_made_files_and_the_session_end_with_erase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "me")
    storage = MemoryMediaFileStorage("/media")
    made = MediaFileManager(storage)
    address = made.add(b"levels", "text/plain", "0", "schema.toml", is_for_static_download=True)
    name = address.rpartition("/")[2]
    assert storage.get_file(name).content == b"levels"
    server = SimpleNamespace(
        media_file_mgr=made,
        uploaded_file_mgr=SimpleNamespace(remove_session_files=lambda session_id: None),
    )
    ended: list[str] = []
    nothing = SimpleNamespace(opening=None, end=lambda: ended.append("work"))
    state = SessionState()
    parts = {"watch": "a part of a page"}
    state._new_widget_state.widget_metadata["cancel"] = "a button that holds a reading"
    context = SimpleNamespace(
        session_id="me", session_state=SimpleNamespace(_state=state), fragment_storage=parts
    )
    monkeypatch.setattr("streamlit.query_params", {})
    monkeypatch.setattr("streamlit.session_state", {})
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: server)
    monkeypatch.setattr("streamlit.runtime.scriptrunner.get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(change_table, "give_up", lambda session: None)
    data = Microdata.from_frame(pd.DataFrame({"x": [1.5, 2.5, 3.5]}))
    session = Session(name="t.csv", demo=None, data=data)
    monkeypatch.setattr(session.user, "work", nothing)
    change_table.erase(session)
    assert set(ended) == {"work"}
    assert not state._new_widget_state.widget_metadata
    assert not parts
    # Streamlit's buttons still hold the session, which therefore must be empty
    assert not any(hasattr(session, choice.name) for choice in fields(session))
    with pytest.raises(KeyError):
        storage._files_by_id[name.partition(".")[0]]
