"""Refuses to show a table under options that would let it out."""

from __future__ import annotations

import streamlit as st

from rwn_ui.server.safety import SAFE_OPTIONS

_OF_THE_PLACE = ("server.address", "server.allowedHosts", "server.maxUploadSize")
"""What another place may need otherwise; of the hosts, all is never right."""


def require_safe_options() -> None:
    """Stop the page where the server was started with an option that is not safe."""
    unsafe = unsafe_options()
    if unsafe:
        st.error(
            f"The server was started with {', '.join(unsafe)}, which may let values out; start it "
            "with rwn app.",
            icon=":material/block:",
        )
        st.stop()


def unsafe_options() -> tuple[str, ...]:
    """The options that differ from those of `rwn app`, by name."""
    wrong = [
        name
        for name, value in SAFE_OPTIONS.items()
        if name not in _OF_THE_PLACE and not _is(name, value)
    ]
    hosts = st.get_option("server.allowedHosts")
    if not hosts or "*" in hosts:
        wrong.append("server.allowedHosts")
    return tuple(wrong)


def _is(name: str, value: object) -> bool:
    # Streamlit reads the flag of one of its options as a text
    return str(st.get_option(name)).lower() == str(value).lower()
