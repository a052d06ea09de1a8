"""Draws the Release page: what to do next, its five steps, and questions about the release."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal

import streamlit as st

import rwn_core as rwn
from rwn_core.data.derived import listed
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
from rwn_ui.release.steps import (
    DECISION,
    LEDGER,
    POLICY,
    Step,
    description,
    drawn,
    is_checked,
    next_number,
    steps,
    still_asked,
    to_do,
)
from rwn_ui.server.messages import escaped, guarded, refused, succeeded, warned
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn
from rwn_ui.widgets.buttons import link_to


def draw(session: Session) -> None:
    """Draw what to do next, the line of steps, each step that is open to a click, and questions.

    A refusal at one step leaves the others standing.
    """
    st.space("xxsmall")  # below the bar of pages
    found = steps(session)
    number = next_number(found)
    at_top = number or LEDGER  # at the end the entry stays in view, with the hash to note
    with st.container(border=True, key="release-next"):
        st.markdown(f"#### {escaped(to_do(session, number))}")
        with guarded():
            _next(session, number)
    with st.container(key="release-steps"):
        st.markdown(_line_of_steps(found, number))
    st.caption(f"Setting: {escaped(session.name_of_setting)}", help=escaped(session.words))
    for at, (step, part) in enumerate(zip(found, PARTS, strict=True), start=1):
        if at == POLICY:
            _policy(session, step, number)
        elif at != at_top:
            title = _title(at, step) if step.done else _out_of_turn(session, at)
            if title:
                with st.expander(title), guarded():
                    part(session, False)
    with guarded():
        _ask_context(session)


def _next(session: Session, number: int) -> None:
    """Draw what the next step needs, with its one primary button."""
    last = drawn(session)
    if number == 1 and still_asked(session):
        _go("Open the Data page", "pages/data.py", session)
        st.caption(escaped(still_asked(session)))
    elif number == POLICY and last is not None:
        _go("Change the setting on Tune", "pages/tune.py", session)
    elif number:
        if number == LEDGER and last is not None:
            succeeded(last.left)
        PARTS[number - 1](session, True)
    else:
        ledger.draw(session, False)


def _go(label: str, page: str, session: Session) -> None:
    if st.button(label, type="primary", key=session.key(f"release.go.{page}")):
        st.switch_page(page)


def _out_of_turn(session: Session, number: int) -> str:
    """Return the offer of a step that can be done although another is next; empty where none."""
    last = drawn(session)
    if last is None or not is_checked(session):
        return ""
    if number == DECISION:
        return "Or answer for an exception, with name and reason"
    if number == LEDGER and last.files:
        return "Or sign the ledger first"
    return ""


def _policy(session: Session, step: Step, number: int) -> None:
    """Draw the verdict on the file, which stays in view; before it there is nothing to see."""
    last = drawn(session)
    if last is None:
        if number != POLICY:
            judging.say_of_last(session)
        return
    with st.container(border=True, key="release-policy"):
        st.markdown(f"##### {_title(POLICY, step)}")
        with guarded():
            judging.show_verdict(session, last)
        if last.approval is not None:
            show = succeeded if last.judged.verdict.kept else warned
            show(_approval_words(session, last, last.approval))
        with guarded():
            judging.draw(session, False)


def _title(number: int, step: Step) -> str:
    return f"{number} · {_called(step)}"


def _called(step: Step) -> str:
    """Return a step's title, which says if it was done against a limit."""
    return f"{step.title}: an exception" if step.exception else step.title


def _line_of_steps(found: Sequence[Step], number: int) -> str:
    """Return all steps as a list, which is drawn as one line: done, next and later ones."""
    items = []
    for at, step in enumerate(found, start=1):
        words = f"{at}\N{NO-BREAK SPACE}{_called(step)}"
        if step.exception:
            words = f":orange[! {_called(step)}]"
        elif step.done:
            words = f":green[✓] {_called(step)}"
        elif at == number:
            words = f"**{words}**"
        items.append(f"- {words}")
    return "\n".join(items)


def _data(session: Session, is_next: bool) -> None:
    """The table's description, and its confirmation."""
    data = session.data
    lines = [f"{data.n:,} records, {data.p} variables of {escaped(session.name)}."]
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
        lines.append(f"{words}: {escaped(', '.join(names)) or 'none'}.")
    st.markdown("  \n".join(lines))
    unmasked = [v.name for v in data.schema.released if not v.masked]
    if unmasked:
        st.warning(escaped(f"Released unmasked: {', '.join(unmasked)}."))
    if data.notices:
        st.info("  \n".join(map(escaped, data.notices)), icon=":material/info:")
    with st.container(horizontal=True, vertical_alignment="center"):
        label = CONFIRM if is_next else "Take this back"
        kind: Literal["primary", "secondary"] = "primary" if is_next else "secondary"
        key = session.key(f"release.checked.{is_next}")
        if st.button(label, type=kind, key=key):
            session.release.checked = description(session) if is_next else ()
            st.rerun()  # the steps above say more now
        link_to("pages/data.py", "Change kinds and roles", ":material/table:")


CONFIRM = "I have looked at every variable: kinds and roles are right"
NO_MEETING = "of no meeting"
_REASON = "Reason, where a limit is broken or no decision is followed"


def _approve(session: Session, is_next: bool) -> None:
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
        kind: Literal["primary", "secondary"] = "primary" if is_next else "secondary"
        pressed = st.form_submit_button("Record", type=kind, disabled=fixed)
    if pressed:
        decision = names.get(chosen or "")
        _record(session, last, Approval(by=by.strip(), reason=reason.strip(), decision=decision))


def _record(session: Session, last: Drawn, approval: Approval) -> None:
    """Record who answers for the file, or say what the approval lacks."""
    form = session.release
    form.by = approval.by
    form.reason = approval.reason
    form.decision = approval.decision.hash if approval.decision else ""
    missing = last.judged.lacks(approval, session.data)
    # files that were made before say otherwise
    last.approval = None if missing else approval
    last.files = {}
    last.left = ""
    if missing:
        refused(missing)
    else:
        st.rerun()  # the steps above say more now


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
        names = [each.title for each in QUESTIONS if each.public]
        public = listed(names)
        st.caption(
            "Auditors ask these. No answer is required; reports say “not stated” where there is "
            f"none. The answers on {public} stand in public files; all others stay in the house."
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


PARTS = (_data, judging.draw, _approve, files.draw, ledger.draw)
"""What each step draws: it is given whether it is next, and then has the primary button."""
