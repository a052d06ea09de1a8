"""A user's session, with the data, stored apart from that of every other user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from rwn_ui.server.endpoint import STATE_KEY, Endpoint

_T = TypeVar("_T")
_P = ParamSpec("_P")
_USER: ContextVar[Mapping[str, Any] | None] = ContextVar("rwn.user", default=None)


def user_state(name: str, make: Callable[[], _T]) -> _T:
    """Per-user state, created once per browser session."""
    given = _USER.get()
    if given is not None:
        stored: _T = given[name]
        return stored
    found: _T | None = st.session_state.get(name)
    if found is None:
        found = st.session_state[name] = make()
    return found


@contextmanager
def as_user(state: Mapping[str, Any]) -> Iterator[None]:
    """Let `user_state` return this state: outside of a run Streamlit does not know its user."""
    token = _USER.set(state)
    try:
        yield
    finally:
        _USER.reset(token)


def user_endpoint() -> Endpoint:
    """Endpoint of this user's page."""
    return user_state(STATE_KEY, Endpoint)


def paused(change: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function change choices while the endpoint answers nothing."""

    @wraps(change)
    def alone(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with user_endpoint().paused():
            return change(*args, **kwargs)

    return alone
