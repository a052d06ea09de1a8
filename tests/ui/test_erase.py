"""Erase leaves no file of the user's on the server."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.state import SessionState

from rwn_core.data.microdata import Microdata
from rwn_ui.state import erase
from rwn_ui.state.session import Session


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
    dataset = SimpleNamespace(erase=lambda: ended.append("dataset"))
    nothing = SimpleNamespace(opening=None, dataset=dataset, end=lambda: None)
    state, parts = SessionState(), {"watch": "a part of a page"}
    state._new_widget_state.widget_metadata["cancel"] = "a button that holds a reading"
    context = SimpleNamespace(
        session_id="me", session_state=SimpleNamespace(_state=state), fragment_storage=parts
    )
    monkeypatch.setattr("streamlit.query_params", {})
    monkeypatch.setattr("streamlit.session_state", {})
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: server)
    monkeypatch.setattr("streamlit.runtime.scriptrunner.get_script_run_ctx", lambda **_: context)
    replaced = {
        "give_up": lambda session: None,
        "user_work": lambda: nothing,
        "user_results": lambda: nothing,
    }
    for each, stand_in in replaced.items():
        monkeypatch.setattr(erase, each, stand_in)
    data = Microdata.from_frame(pd.DataFrame({"x": [1.5, 2.5, 3.5]}))
    session = Session(name="t.csv", demo=None, data=data)
    erase.erase(session)
    assert ended == ["dataset"]
    assert not state._new_widget_state.widget_metadata
    assert not parts
    # Streamlit's buttons still hold the session, which therefore must be empty
    assert not any(hasattr(session, choice.name) for choice in fields(session))
    with pytest.raises(KeyError):
        storage._files_by_id[name.partition(".")[0]]
