"""Sliders that send every position on the way, each after the picture of the last.

`st.slider` tells only where the mouse was let go. These are the browser's own sliders, so that
keyboard, touch and screen readers know them, in Streamlit's looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "rwn_live_sliders",
    html='<div class="rwn-sliders"></div>',
    css=(_HERE / "live_sliders.css").read_text(encoding="utf-8"),
    js=(_HERE / "live_sliders.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Slider positions changed since the last answer of the server.

    Attributes
    ----------
    stamp : str
        Tells moves apart; `live_sliders` takes it as the answer.
    values : mapping of str to float
        The new positions, by the sliders' names.
    dragging : bool
        Whether the mouse still holds a slider: more is to come.
    preset : str or None
        The starting point that was chosen before these positions.
    idle : bool
        Whether nothing has moved since the last answer; the page is to follow.
    """

    stamp: str
    values: Mapping[str, float]
    dragging: bool
    preset: str | None = None
    idle: bool = False

    @classmethod
    def from_json(cls, sent: Mapping[str, Any]) -> Move:
        """Parse the move that a browser sends."""
        stamp, values, dragging = (sent[part] for part in ("stamp", "values", "dragging"))
        preset, idle = sent.get("preset"), sent.get("idle", False)
        return cls(stamp=stamp, values=values, dragging=dragging, preset=preset, idle=idle)


def last_move(key: str) -> Move | None:
    """The last move of the sliders of this key; None where there was none."""
    sent = (st.session_state.get(key) or {}).get("move")
    return None if sent is None else Move.from_json(sent)


def live_sliders(
    sliders: Sequence[Mapping[str, Any]],
    *,
    key: str,
    answered: str = "",
    large: bool = False,
    presets: Sequence[Mapping[str, Any]] = (),
    endpoint: Mapping[str, str] | None = None,
) -> None:
    """Draw sliders, or move those that are not dragged to their values."""
    data = {
        "sliders": list(sliders),
        "answered": answered,
        "large": large,
        "presets": presets,
        "endpoint": endpoint and {**endpoint, "key": key},
    }
    _mount(key=key, data=orjson.dumps(data), height="content", on_move_change=_nothing)


def _nothing() -> None:
    """Let Streamlit know that there are moves; they are read by `last_move`."""
