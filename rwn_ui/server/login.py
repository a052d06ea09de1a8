"""Login before every page, if the server requires it."""

from __future__ import annotations

import os

import streamlit as st

LOGIN = "RWN_LOGIN"
"""Environment variable that, if it is not empty, lets in only people with a login."""


def require_login() -> None:
    """Stop the page for users that are not logged in by the provider of the server's secrets."""
    if not os.environ.get(LOGIN):
        return
    if st.user.to_dict().get("is_logged_in") is True:
        return
    st.markdown("#### This table is confidential")
    st.markdown("Log in with the account of your institution to go on.")
    if st.button("Log in", type="primary", icon=":material/login:"):
        st.login()
    st.stop()
