"""Private members of Streamlit and Starlette that the app needs, each checked at the start."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from rwn_core.errors import RWNError


class Controls(NamedTuple):
    """The state that Streamlit stores for one session."""

    key: str  # of the session
    state: Any
    fragments: Any

    def forget(self) -> None:
        """Forget the controls and parts of all pages."""
        # Their descriptions name levels, and hold the arguments of callbacks: a button that
        # cancels a reading holds the table that was read.
        self.state._new_widget_state.widget_metadata.clear()
        self.fragments.clear()


def current_controls() -> Controls | None:
    """Return what is stored for the session that runs this page; None outside of a run."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    return Controls(context.session_id, context.session_state._state, context.fragment_storage)


def require_members() -> None:
    """Raise if the installed Streamlit has none of these names: the app would leave data behind."""
    from starlette.formparsers import MultiPartParser
    from streamlit.runtime import Runtime
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.runtime.state import SafeSessionState
    from streamlit.runtime.state.session_state import SessionState

    members = {
        "Runtime.uploaded_file_mgr": hasattr(Runtime, "uploaded_file_mgr"),
        "Runtime.media_file_mgr": hasattr(Runtime, "media_file_mgr"),
        "SafeSessionState._state": "_state" in vars(SafeSessionState(SessionState(), lambda: None)),
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


def forget_current_user() -> None:
    """Forget uploads, files and controls of the session that runs this page."""
    import streamlit as st
    from streamlit import runtime

    controls = current_controls()
    if controls is not None and runtime.exists():
        server = runtime.get_instance()
        server.uploaded_file_mgr.remove_session_files(controls.key)
        server.media_file_mgr.clear_session_refs(controls.key)
        for _ in range(2):  # the first call only marks a file that was downloaded
            server.media_file_mgr.remove_orphaned_files()
    st.query_params.clear()
    st.session_state.clear()
    if controls is not None:
        controls.forget()
