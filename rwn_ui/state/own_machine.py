"""Tell if browser and server share a machine, so that a path means the same to both."""

from __future__ import annotations

import ipaddress

import streamlit as st

from rwn_ui.server.environment import in_class

_PASSED_ON = {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"}


def on_own_machine() -> bool:
    """True if only its own account is let in, on this machine alone, and no proxy forwards."""
    if in_class():  # other accounts are let in, and have files of their own
        return False
    if _PASSED_ON & {name.lower() for name in st.context.headers}:
        return False
    try:
        return ipaddress.ip_address(str(st.get_option("server.address"))).is_loopback
    except ValueError:
        return False
