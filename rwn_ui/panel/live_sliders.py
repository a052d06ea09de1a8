"""Sliders that tell of every position on the way, as soon as the picture of the last is painted.

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
    """What a user has done to sliders since the server last answered.

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
    rests : bool
        Whether nothing has moved since the last answer; the page is to follow.
    """

    stamp: str
    values: Mapping[str, float]
    dragging: bool
    preset: str | None = None
    rests: bool = False

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Move:
        """The move that a browser tells of."""
        stamp, values, dragging = (told[part] for part in ("stamp", "values", "dragging"))
        preset, rests = told.get("preset"), told.get("rests", False)
        return cls(stamp=stamp, values=values, dragging=dragging, preset=preset, rests=rests)


def last_move(key: str) -> Move | None:
    """The last move of the sliders of this key; None where there was none."""
    told = (st.session_state.get(key) or {}).get("move")
    return None if told is None else Move.told(told)


def live_sliders(
    sliders: Sequence[Mapping[str, Any]],
    *,
    key: str,
    answered: str = "",
    large: bool = False,
    presets: Sequence[Mapping[str, Any]] = (),
    beside: Mapping[str, str] | None = None,
) -> None:
    """Draw sliders, or bring those that nobody holds to their values.

    Parameters
    ----------
    sliders : sequence of {"name", "title", "low", "high", "step", "value", "digits": int, "help"?,
        "most"?}
        In their order. "most" is the largest number that may be typed into a field beside the
        slider, which has none without it. Texts are shown as text, never as HTML.
    key : str
        Streamlit key; the same on every run.
    answered : str
        The stamp of the last move that these values hold. The next one comes when it is here.
    large : bool
        Whether letters are large.
    presets : sequence of {"name", "help", "chosen": bool}
        Starting points, as buttons above the sliders; the one on screen is marked.
    beside : {"address", "token"}, optional
        Where moves are told at first, with the key and this token; empty answers lead to a run of
        the page at once, pictures to one at rest.
    """
    told = {
        "sliders": list(sliders),
        "answered": answered,
        "large": large,
        "presets": presets,
        "beside": beside and {**beside, "key": key},
    }
    _mount(key=key, data=orjson.dumps(told), height="content", on_move_change=_nothing)


def _nothing() -> None:
    """Let Streamlit know that there are moves; they are read by `last_move`."""
