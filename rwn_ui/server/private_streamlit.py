"""Private members of Streamlit and Starlette that the app needs, each checked at the start."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from rwn_core.errors import RWNError


class User(NamedTuple):
    """One session of the server.

    Attributes
    ----------
    key : str
    connected : bool
        False after its browser has gone.
    state : SessionState
        What the app stores for it.
    fragments : FragmentStorage
    """

    key: str
    connected: bool
    state: Any
    fragments: Any


def require_members() -> None:
    """Raise if the installed Streamlit has none of these names: the app would leave data behind."""
    from starlette.formparsers import MultiPartParser
    from streamlit.runtime import Runtime
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.runtime.session_manager import SessionManager
    from streamlit.runtime.state.session_state import SessionState

    runtime, session = (each.__init__.__code__.co_names for each in (Runtime, AppSession))
    members = {
        "Runtime._session_mgr": "_session_mgr" in runtime,
        "Runtime.uploaded_file_mgr": hasattr(Runtime, "uploaded_file_mgr"),
        "Runtime.media_file_mgr": hasattr(Runtime, "media_file_mgr"),
        "Runtime.dataframe_source_mgr": hasattr(Runtime, "dataframe_source_mgr"),
        "SessionManager.list_sessions": hasattr(SessionManager, "list_sessions"),
        "SessionManager.is_active_session": hasattr(SessionManager, "is_active_session"),
        "AppSession._fragment_storage": "_fragment_storage" in session,
        "SessionState._new_widget_state": hasattr(SessionState(), "_new_widget_state"),
        "PagesManager.uses_pages_directory": hasattr(PagesManager, "uses_pages_directory"),
        "MultiPartParser.spool_max_size": hasattr(MultiPartParser, "spool_max_size"),
    }
    missing = [name for name, there in members.items() if not there]
    if missing:
        raise RWNError(
            f"The installed Streamlit lacks {', '.join(missing)}, which the app needs to forget "
            "what a user leaves; install the version that the package asks for."
        )


def prepare() -> None:
    """Set what no option sets, before the server starts."""
    from starlette.formparsers import MultiPartParser
    from streamlit.runtime.pages_manager import PagesManager

    # left alone, it takes the folder pages for an app of the old kind until app.py has run:
    # a page opened by its address first would have no bar with the others
    PagesManager.uses_pages_directory = False
    MultiPartParser.spool_max_size = sys.maxsize  # above it, a file in clear in TMPDIR


def users(server: Any) -> list[User]:
    """Return the sessions of a server."""
    manager = server._session_mgr
    found = [info.session for info in manager.list_sessions()]
    return [
        User(
            each.id, manager.is_active_session(each.id), each.session_state, each._fragment_storage
        )
        for each in found
    ]


def forget_controls(state: Any, fragments: Any) -> None:
    """Forget the controls and parts of all pages."""
    # Their descriptions name levels, and hold the arguments of callbacks: a button that cancels a
    # reading holds the table that was read.
    state._new_widget_state.widget_metadata.clear()
    fragments.clear()


def forget_current_user() -> None:
    """Forget uploads, files and controls of the session that runs this page."""
    import streamlit as st
    from streamlit import runtime
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    if context is not None and runtime.exists():
        server = runtime.get_instance()
        server.uploaded_file_mgr.remove_session_files(context.session_id)
        server.media_file_mgr.clear_session_refs(context.session_id)
        for _ in range(2):  # the first call only marks a file that was downloaded
            server.media_file_mgr.remove_orphaned_files()
        server.dataframe_source_mgr.clear_all_for_session(context.session_id)
    st.query_params.clear()
    st.session_state.clear()
    if context is not None:
        forget_controls(context.session_state._state, context.fragment_storage)


def stored(state: Any, name: str) -> Any:
    """Return what the app stores for a user under a name; None without it."""
    try:
        return state[name]
    except KeyError:
        return None
