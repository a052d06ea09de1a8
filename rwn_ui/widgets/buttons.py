"""Buttons that several pages have: a file to take, a setting to load into Tune."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rwn_core.tuning import Setting
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session


def file_button(
    label: str, content: Callable[[], Any], name: str, *, key: str, place: Any = st, **more: Any
) -> None:
    """Offer a file, made at the click; the page is not drawn anew."""
    place.download_button(label, content, file_name=name, on_click="ignore", key=key, **more)


def load_button(
    session: Session, label: str, setting: Setting, *, key: str, place: Any = st, **more: Any
) -> None:
    """Load a setting into Tune."""
    place.button(label, key=key, on_click=load, args=(session, setting), **more)
