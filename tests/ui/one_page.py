"""A page by itself, without the app around it, and what is on it."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from rwn_ui.state.session import Session
from rwn_ui.state.work import Work

PAGES = Path(__file__).resolve().parents[2] / "pages"


def work_of(page: AppTest) -> Work:
    result: Work = session_of(page).user.work
    return result


def session_of(page: AppTest) -> Session:
    result: Session = page.session_state["rwn.visit"].session
    return result


def field(page: AppTest, kind: str, label: str):
    return next(each for each in getattr(page, kind) if each.label == label)
