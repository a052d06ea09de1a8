"""What Streamlit keeps of a user, within a run of a page or beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import streamlit as st

_T = TypeVar("_T")
_BESIDE: ContextVar[Mapping[str, Any] | None] = ContextVar("rwn.beside", default=None)


def kept(name: str, make: Callable[[], _T]) -> _T:
    """What is kept of this user under a name; made when it is first asked for."""
    given = _BESIDE.get()
    if given is not None:
        there: _T = given[name]
        return there
    found: _T | None = st.session_state.get(name)
    if found is None:
        found = st.session_state[name] = make()
    return found


@contextmanager
def beside(given: Mapping[str, Any]) -> Iterator[None]:
    """Have `kept` find this: outside of a run Streamlit does not know its user."""
    token = _BESIDE.set(given)
    try:
        yield
    finally:
        _BESIDE.reset(token)
