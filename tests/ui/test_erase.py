"""Erase leaves no file of the user's on the server."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from rwn_ui.state import erase


def test_an_address_of_a_made_file_ends_with_erase(monkeypatch: pytest.MonkeyPatch) -> None:
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
    nothing = SimpleNamespace(opening=None, end=lambda: None)
    replaced = {
        "runtime": SimpleNamespace(exists=lambda: True, get_instance=lambda: server),
        "get_script_run_ctx": lambda **_: SimpleNamespace(session_id="me"),
        "give_up": lambda session: None,
        "own_work": lambda: nothing,
        "own_results": lambda: nothing,
        "st": SimpleNamespace(query_params={}, session_state={}),
    }
    for each, stand_in in replaced.items():
        monkeypatch.setattr(erase, each, stand_in)
    erase.erase(None)  # type: ignore[arg-type]  # give_up alone looks at it
    with pytest.raises(KeyError):
        storage._files_by_id[name.partition(".")[0]]
