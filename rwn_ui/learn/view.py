"""Draws a lesson: its controls, its picture, its words, its question and its code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.charts import serialise
from rwn_ui.learn.lesson import Choice, Control, Lesson, Slider, Switch, Values
from rwn_ui.learn.lessons import LESSONS
from rwn_ui.panel.parts import stamp
from rwn_ui.server.messages import guarded
from rwn_ui.state import address, change_table
from rwn_ui.state.kept_picture import guarded_picture, show_picture
from rwn_ui.state.results import memo
from rwn_ui.state.session import Session

PICTURE = "learn"
_LINK, _CHOSEN = "learn.link", "learn.lesson"


def chosen(session: Session) -> Lesson:
    """Let the student choose a lesson; only this one is computed."""
    if _LINK not in st.session_state:  # once, so that a link is not taken twice
        st.session_state[_LINK] = True
        take_link(session, st.query_params.to_dict())
    if _CHOSEN not in st.session_state:
        st.session_state[_CHOSEN] = session.lesson or next(iter(LESSONS))
    session.lesson = st.radio(
        "Lesson", LESSONS, key=_CHOSEN, format_func=lambda key: LESSONS[key].title
    )
    return LESSONS[session.lesson]


def take_link(session: Session, asked: Mapping[str, str]) -> None:
    """Choose the lesson and the positions of an address."""
    lesson = LESSONS.get(asked.get("lesson", ""))
    if lesson is not None:
        session.lesson = lesson.key
        session.lessons[lesson.key], refused = read_link(lesson, asked)
        for sentence in refused:
            st.toast(sentence)


def projector(session: Session) -> None:
    """Large type for a class room."""
    key = "learn.projector"
    if key not in st.session_state:
        st.session_state[key] = session.projector
    session.projector = st.toggle("Projector mode", key=key, help="Large type for a class room.")


def _write(words: str) -> None:
    """Write a text in which no line ends between a number and its percent sign."""
    st.markdown(words.replace(" %", "\N{NO-BREAK SPACE}%"))


def draw(session: Session, lesson: Lesson, above: DeltaGenerator) -> None:
    """The picture at the left, the words at the right."""
    size = "large" if session.projector else "usual"
    with st.container(key=f"lesson-{size}"):
        picture_side, words_side = st.columns([1.25, 1], gap="medium")
        with words_side:
            st.subheader(lesson.title.partition(" · ")[2])
            _write("\n\n".join(lesson.sentences))
            _write(f"**Question.** {lesson.question}")
            with st.expander("Answer"):
                _write(lesson.answer)
            code_side = st.container()
            # go on with the lesson's table and setting on the Tune page
            if st.button(
                "Open this on Tune",
                key=f"learn.{lesson.key}.tune",
                icon=":material/tune:",
                help=f"Takes this setting over to Tune, with the demo table {lesson.demo}.",
            ):
                with guarded():
                    take(session, lesson)
                st.switch_page("pages/tune.py")
            if session.demo is None:
                st.caption(f"The demo table {lesson.demo} then takes the place of your own table.")
            # to the lesson before, and to the next one
            keys = list(LESSONS)
            at = keys.index(lesson.key)
            with st.container(horizontal=True):
                for way, key in (
                    *(("Previous", key) for key in keys[:at][-1:]),
                    *(("Next", key) for key in keys[at + 1 :][:1]),
                ):
                    st.button(
                        f"{way}: {LESSONS[key].title}",
                        key=f"learn.{way}",
                        on_click=st.session_state.__setitem__,
                        args=(_CHOSEN, key),
                    )
        with picture_side:
            picture(session, lesson, above, code_side)


def take(session: Session, lesson: Lesson) -> None:
    """Make the lesson's demo table and setting the session's."""
    wanted = lesson.on_tune(control_values(session, lesson))
    if session.demo != lesson.demo:
        data = rwn.load_demo(lesson.demo)
        change_table.load(session, data, name=lesson.demo, demo=lesson.demo)
    with change_table.toasted(session):
        change_table.set_setting(session, wanted, undo=True)


@st.fragment
def picture(
    session: Session, lesson: Lesson, above: DeltaGenerator, code_side: DeltaGenerator
) -> None:
    """Draw the part that a slider changes."""
    # a lesson that fails shows its own last picture, and never that of another one
    with guarded_picture(session, PICTURE, lesson.key):
        values = apply_values(session, lesson)
        show_picture(session, payload(session, lesson, values), key=PICTURE, about=lesson.key)
    with guarded():
        with above:
            for control in lesson.controls:
                show(lesson, control)
        with code_side, st.expander("The code"):
            st.code(lesson.code(control_values(session, lesson)), language="python")
        address.write(
            session, lesson=lesson.key, **write_link(lesson, control_values(session, lesson))
        )


def payload(session: Session, lesson: Lesson, values: Values) -> dict[str, Any]:
    """The lesson's picture with its numbers."""
    seen = lesson.show(values, partial(memo, session))
    shown = {
        "lesson": lesson.key,
        "projector": session.projector,
        "tall": True,
        "summary": {"text": seen.words},
        "tiles": seen.tiles,
        "cards": [serialise(seen.chart)],
        "tables": list(seen.tables),
    }
    return {"stamp": stamp(f"{lesson.key} {seen.words}", shown), **shown}


def control_values(session: Session, lesson: Lesson) -> dict[str, Any]:
    """Values of the lesson's controls."""
    start = {control.name: control.start for control in lesson.controls}
    return start | session.lessons.get(lesson.key, {})


def apply_values(session: Session, lesson: Lesson) -> Values:
    """Take the controls' values before they are drawn, so that the picture can come first."""
    values = control_values(session, lesson)
    for control in lesson.controls:
        key = _key(lesson, control)
        if key not in st.session_state:  # after a visit to another page
            st.session_state[key] = values[control.name]
        value = st.session_state[key]
        values[control.name] = round(value, 10) if isinstance(value, float) else value
    session.lessons[lesson.key] = values
    return values


def _key(lesson: Lesson, control: Control) -> str:
    return f"learn.{lesson.key}.{control.name}"


def show(lesson: Lesson, control: Control) -> None:
    """Draw a control, after `apply_values`."""
    key = _key(lesson, control)
    label = control.label
    words = lesson.controls[control]
    if isinstance(control, Slider):
        digits = max(0, -math.floor(math.log10(control.step)))
        st.slider(
            label, *control.ends, step=control.step, key=key, help=words, format=f"%.{digits}f"
        )
    elif isinstance(control, Choice):
        st.selectbox(label, control.options, key=key, help=words)
    else:
        st.toggle(label, key=key, help=words)


def write_link(lesson: Lesson, values: Values) -> dict[str, str]:
    """Return the controls that are not at their start, as parameters of an address."""
    return {
        _link_name(control): f"{int(value) if isinstance(value, bool) else value}"
        for control in lesson.controls
        if (value := values[control.name]) != control.start
    }


def read_link(lesson: Lesson, asked: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the positions that an address asks for, and a sentence for each that is refused."""
    found = {}
    refused = []
    for control in lesson.controls:
        if _link_name(control) in asked:
            value = _link_value(control, asked[_link_name(control)])
            if value is not None:
                found[control.name] = value
                continue
            allowed = "0 or 1"
            if isinstance(control, Slider):
                allowed = "a number from {:g} to {:g}".format(*control.ends)
            elif isinstance(control, Choice):
                allowed = f"one of: {', '.join(control.options)}"
            refused.append(
                f"{control.name} of the link must be {allowed}; the lesson begins with its usual "
                "one."
            )
    return found, refused


def _link_name(control: Control) -> str:
    return f"lesson-{control.name}"


def _link_value(control: Control, text: str) -> Any:
    """Return a position of the control; None if the text is none."""
    if isinstance(control, Slider):
        low, high = control.ends
        try:
            steps = (float(text) - low) / control.step
        except ValueError:
            return None
        if not (math.isfinite(steps) and 0 <= round(steps) <= round((high - low) / control.step)):
            return None
        return type(control.start)(round(low + round(steps) * control.step, 10))
    if isinstance(control, Switch):
        return {"0": False, "1": True}.get(text)
    return text if text in control.options else None
