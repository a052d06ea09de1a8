"""Ask about recipient, purpose, access, intruders and harms; no answer is required."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from rwn_core.reporting.context import (
    ACCESS,
    LONGEST_ANSWER,
    LONGEST_CONTACT,
    QUESTIONS,
    Asked,
    Context,
    IntruderTest,
)
from rwn_ui.release.steps import drawn
from rwn_ui.state.session import Session

_WORDS = {
    "public": "public: everybody gets it",
    "on request": "on request: known recipients get it",
    "safe setting": "safe setting: it is used under supervision",
}
_HEIGHT = 68  # pixels, two lines


def draw(session: Session) -> None:
    """Show all questions in one form, folded; answers are kept with the project."""
    said, last = session.drafts().context, drawn(session)
    answered = len(QUESTIONS) - len(said.missing)
    fixed = last is not None and last.entry is not None
    with (
        st.expander(f"Questions about the release: {answered} of {len(QUESTIONS)} answered"),
        st.form(session.key("release.context"), border=False),
    ):
        st.caption(
            "Auditors ask these. No answer is required; reports say “not stated” where there is "
            "none. Purpose, access, contact and the day of the review stand in public files; all "
            "other answers stay in the house."
        )
        rows = [place for _ in QUESTIONS[::2] for place in st.columns(2)]
        given = {
            each.name: _ask(session, place, each, said, fixed)
            for place, each in zip(rows, QUESTIONS, strict=False)
        }
        test = _ask_test(session, said.intruder_test, fixed)
        pressed = st.form_submit_button("Save the answers", disabled=fixed)
    if pressed:
        session.drafts().context = Context(**given, intruder_test=test())
        if last is not None:
            last.files, last.left = {}, ""  # they say otherwise
        st.rerun()


def _ask(session: Session, place: Any, asked: Asked, said: Context, fixed: bool) -> str:
    """Ask one question; an answer is one line."""
    answer = getattr(said, asked.name)
    more: dict[str, Any] = {"key": session.key(f"release.context.{asked.name}"), "disabled": fixed}
    if asked.name == "access":
        index = ACCESS.index(answer) if answer else None
        chosen = place.selectbox(asked.question, ACCESS, index, format_func=_WORDS.get, **more)
        return chosen or ""
    if asked.name == "review":
        day = date.fromisoformat(answer) if answer else None
        chosen = place.date_input(f"{asked.question} (in a year if empty)", day, **more)
        return chosen.isoformat() if chosen else ""
    longest = LONGEST_CONTACT if asked.name == "contact" else LONGEST_ANSWER
    text = place.text_area(asked.question, answer, max_chars=longest, height=_HEIGHT, **more)
    return " ".join(text.split())


def _ask_test(session: Session, test: IntruderTest | None, fixed: bool) -> Any:
    """Ask for a motivated-intruder test; return a function that checks the answers."""
    st.markdown("**Motivated-intruder test**")
    st.caption(
        "Somebody tries to recognize persons in the file, as an intruder would. The result is "
        "recorded and never public. Leave the first field empty if nobody tried."
    )
    known = test or IntruderTest(
        by="nobody", day=date.today().isoformat(), sources="none", hours=0, claims=0, confirmed=0
    )

    def more(name: str) -> dict[str, Any]:
        return {"key": session.key(f"release.context.test.{name}"), "disabled": fixed}

    by_place, day_place, hours_place = st.columns([3, 1, 1])
    by = by_place.text_input("Who tried?", test.by if test else "", **more("by"))
    day = day_place.date_input("On which day?", date.fromisoformat(known.day), **more("day"))
    hours = hours_place.number_input("For how many hours?", 0.0, None, float(known.hours),
                                     **more("hours"))  # fmt: skip
    source_place, claims_place, confirmed_place = st.columns([3, 1, 1])
    sources = source_place.text_input(
        "With which other sources?", test.sources if test else "", **more("sources")
    )
    claims = claims_place.number_input("Persons claimed", 0, None, known.claims, **more("claims"))
    confirmed = confirmed_place.number_input(
        "Claims that were true", 0, None, known.confirmed, **more("confirmed")
    )

    def made() -> IntruderTest | None:
        if not by.strip():
            return None
        return IntruderTest(
            by=by, day=day.isoformat(), sources=sources, hours=hours, claims=claims,
            confirmed=confirmed,
        )  # fmt: skip

    return made
