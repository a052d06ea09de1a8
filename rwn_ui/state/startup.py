"""This user's session; a new one opens the file of the command line, or a demo."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.messages import plain
from rwn_ui.server.launch import FILE_VARIABLE
from rwn_ui.state.session import Session

FIRST_DEMO = "bodyfat"
_PLACE = "rwn.session"


def current() -> Session:
    """This user's session; a new one opens the file of the command line, or the first demo."""
    if _PLACE not in st.session_state:
        st.session_state[_PLACE] = _first()
    session: Session = st.session_state[_PLACE]
    return session


def _first() -> Session:
    given = os.environ.get(FILE_VARIABLE)
    demo = st.query_params.get("demo", FIRST_DEMO)
    if given and "demo" not in st.query_params:
        try:
            return _opened(rwn.read(Path(given)), name=Path(given).name, demo=None)
        except rwn.RWNError as refusal:  # moved or changed since the start
            st.toast(plain(str(refusal)))
    if demo not in rwn.DEMOS:
        st.toast(f"There is no demo of that name; {FIRST_DEMO} is shown.")
        demo = FIRST_DEMO
    return _opened(rwn.load_demo(demo), name=demo, demo=demo)


def _opened(data: rwn.Microdata, *, name: str, demo: str | None) -> Session:
    """A session with this table; behind a large one the first demo waits, should it fail."""
    if data.n > LARGEST_DENSE:
        session = _opened(rwn.load_demo(FIRST_DEMO), name=FIRST_DEMO, demo=FIRST_DEMO)
        session.load(data, name=name, demo=demo)
        session.first = True
        return session
    session = Session(name=name, demo=demo, data=data)
    session.settle()
    return session
