"""Draws the Release page: questions, the state of the release, and its five steps."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import streamlit as st

import rwn_core as rwn
from rwn_core.reporting.context import (
    ACCESS,
    LONGEST_ANSWER,
    LONGEST_CONTACT,
    QUESTIONS,
    Context,
    ContextQuestion,
)
from rwn_core.reporting.judged_release import Approval
from rwn_core.reporting.release_record import follows
from rwn_ui.release import files, judging, ledger
from rwn_ui.release.steps import description, drawn, is_checked, steps, still_asked
from rwn_ui.server.messages import escaped, guarded, refused, succeeded, warned
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn
from rwn_ui.widgets.buttons import link_to


def draw(session: Session) -> None:
    """All of it; a refusal at one step leaves the others standing."""
    st.space("xxsmall")  # below the bar of pages
    st.markdown("#### A release that may leave the house")
    st.markdown(
        "This page draws the file that leaves, reads that very file, holds it against the policy, "
        "and makes what goes with it. The masked table on Tune is another draw and does not leave."
    )
    st.markdown(f"**Setting** {escaped(session.words)}")
    with guarded():
        _ask_context(session)
    found = steps(session)
    with st.container(horizontal=True, key="release-steps"):
        for number, step in enumerate(found, start=1):
            words = f"{number} {step.title}"
            icon = "radio_button_unchecked"
            color: Literal["gray", "green", "orange"] = "gray"
            if step.exception:
                words = f"{words}: an exception"
                icon = "priority_high"
                color = "orange"
            elif step.done:
                icon, color = "check", "green"
            st.badge(words, icon=f":material/{icon}:", color=color)
    parts = (_data, judging.draw, _approve, files.draw, ledger.draw)
    for number, (step, part) in enumerate(zip(found, parts, strict=True), start=1):
        with st.container(border=True, key=f"release-step-{number}"):
            st.markdown(f"##### {number} · {step.title}")
            if not step.done:
                st.caption(f"Missing: {step.missing}")
            with guarded():
                part(session)


def _data(session: Session) -> None:
    """The table's description, and its confirmation."""
    data = session.data
    st.markdown(f"{data.n:,} records, {data.p} variables of {escaped(session.name)}.")
    roles: list[tuple[rwn.Role, str]] = [
        (rwn.Role.KEY, "Key variables, which an intruder may know"),
        (rwn.Role.CONFIDENTIAL, "Confidential variables, which an intruder is after"),
        (rwn.Role.IDENTIFIER, "Direct identifiers, which no release has"),
    ]
    for role in (rwn.Role.HOUSEHOLD, rwn.Role.PERSON):
        if data.schema.name_with_role(role) is not None:
            roles.append((role, f"{role.capitalize()} variable, which no release has"))
    for role, words in roles:
        names = [v.name for v in data.schema.variables if v.role == role]
        st.markdown(f"{words}: {escaped(', '.join(names)) or 'none'}.")
    unmasked = [v.name for v in data.schema.released if not v.masked]
    if unmasked:
        st.warning(escaped(f"Released unmasked: {', '.join(unmasked)}."))
    if data.notices:
        st.info("  \n".join(map(escaped, data.notices)), icon=":material/info:")
    link_to("pages/data.py", "Change kinds and roles", ":material/table:")
    if still_asked(session):
        return
    described = description(session)
    right = st.checkbox(
        "I have looked at every variable: kinds and roles are right",
        is_checked(session),
        key=session.key(f"release.checked.{hash(described)}"),
    )
    if right != is_checked(session):
        session.release.checked = described if right else ()
        st.rerun()  # the steps above say more now


NO_MEETING = "of no meeting"
_REASON = "Reason, where a limit is broken or no decision is followed"


def _approve(session: Session) -> None:
    """Choose the decision, give name and reason, and record them."""
    last = drawn(session)
    if last is None or not is_checked(session):
        return
    names = {f"{m.date}: {m.chosen or 'none chosen'} ({m.hash[:8]})": m for m in session.decisions}
    if not names:
        st.caption(
            "No decision of a meeting is here: freeze one on the Compare page, open one there, or "
            "give your reason."
        )
    with st.form(session.key("release.approval"), border=False, enter_to_submit=False):
        form = session.release
        fixed = last.entry is not None
        options = [*reversed(names), NO_MEETING]
        before = [name for name, each in names.items() if each.hash == form.decision]
        chosen = st.selectbox(
            "Carries out the decision",
            options,
            options.index(before[0]) if before else 0,
            key=session.key(f"release.decision.{len(names)}"),
            disabled=fixed,
        )
        left, right = st.columns([1, 2])
        by, reason = (
            place.text_input(
                label, start, key=session.key(f"release.{name}"), max_chars=most, disabled=fixed
            )
            for place, name, label, start, most in (
                (left, "by", "Name of the person who answers for it", form.by, 100),
                (right, "reason", _REASON, form.reason, 500),
            )
        )
        pressed = st.form_submit_button("Record", type="primary", disabled=fixed)
    decision = names.get(chosen or "")
    if pressed:
        form.by = by.strip()
        form.reason = reason.strip()
        form.decision = decision.hash if decision else ""
        approval = Approval(by=form.by, reason=form.reason, decision=decision)
        missing = last.judged.lacks(approval, session.data)
        # files that were made before say otherwise
        last.approval = None if missing else approval
        last.files = {}
        last.left = ""
        if missing:
            refused(missing)
        else:
            st.rerun()  # the steps above say more now
    if last.approval is not None:
        show = succeeded if last.judged.verdict.kept else warned
        show(_approval_words(session, last, last.approval))


def _approval_words(session: Session, last: Drawn, approval: Approval) -> str:
    """State the approval in words."""
    words = [f"{approval.by} answers for this release."]
    if not last.judged.verdict.kept:
        words.append(f"It is an exception. {last.judged.verdict.sentence}")
    decision = approval.decision
    which = "It follows no decision of a meeting."
    if decision is not None:
        chosen = f"“{decision.chosen}”" if decision.chosen else "no scenario"
        follow = follows(decision, last.judged.setting, session.data)
        which = "It follows" if follow else "It does not follow"
        which += f" the decision of {decision.date}, which chose {chosen}."
    words.append(which)
    if approval.reason:
        words.append(f"Reason: {approval.reason.rstrip('.')}.")
    return " ".join(words)


_WORDS = {
    "public": "public: everybody gets it",
    "on request": "on request: known recipients get it",
    "safe setting": "safe setting: it is used under supervision",
}
_HEIGHT = 68  # pixels, two lines


def _ask_context(session: Session) -> None:
    """Show all questions in one form, folded; answers are kept with the project."""
    said = session.drafts().context
    last = drawn(session)
    answered = len(QUESTIONS) - len(said.missing)
    fixed = last is not None and last.entry is not None
    with (
        st.expander(f"Questions about the release: {answered} of {len(QUESTIONS)} answered"),
        st.form(session.key("release.context"), border=False, enter_to_submit=False),
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
        pressed = st.form_submit_button("Save the answers", disabled=fixed)
    if pressed:
        session.drafts().context = Context(**given)
        if last is not None:
            # they say otherwise
            last.files = {}
            last.left = ""
        st.rerun()


def _ask(session: Session, place: Any, asked: ContextQuestion, said: Context, fixed: bool) -> str:
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
