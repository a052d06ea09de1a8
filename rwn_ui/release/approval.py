"""Third step: the decision that the release carries out, and its approval."""

from __future__ import annotations

import streamlit as st

from rwn_core.reporting.decision import Decision
from rwn_core.reporting.judged_release import Approval
from rwn_core.reporting.release_record import follows
from rwn_ui.release.steps import drawn, is_checked
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn

NO_MEETING = "of no meeting"


def draw(session: Session) -> None:
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
    with st.form(session.key("release.approval"), border=False):
        form, fixed = session.release, last.entry is not None
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
        by = left.text_input(
            "Name of the person who answers for it",
            form.by,
            key=session.key("release.by"),
            max_chars=100,
            disabled=fixed,
        )
        reason = right.text_input(
            "Reason, where a limit is broken or no decision is followed",
            form.reason,
            key=session.key("release.reason"),
            max_chars=500,
            disabled=fixed,
        )
        pressed = st.form_submit_button("Record", type="primary", disabled=fixed)
    decision = names.get(chosen or "")
    if pressed:
        form.by, form.reason = by.strip(), reason.strip()
        form.decision = decision.hash if decision else ""
        _record(session, last, Approval(by=form.by, reason=form.reason, decision=decision))
    if last.approval is not None:
        st.success(escaped(_words(session, last, last.approval)), icon=":material/check_circle:")


def _record(session: Session, last: Drawn, approval: Approval) -> None:
    """Keep the approval, or say what is missing; files that were made before say otherwise."""
    missing = last.judged.lacks(approval, session.data)
    last.approval, last.files, last.left = None, {}, ""
    if missing:
        st.error(escaped(missing), icon=":material/block:")
        return
    last.approval = approval
    st.rerun()  # the steps above say more now


def _words(session: Session, last: Drawn, approval: Approval) -> str:
    """State the approval in words."""
    words = [f"{approval.by} answers for this release."]
    if not last.judged.verdict.kept:
        words.append("It is an exception: not every limit is kept.")
    words.append(_which(session, last, approval.decision))
    if approval.reason:
        words.append(f"Reason: {approval.reason.rstrip('.')}.")
    return " ".join(words)


def _which(session: Session, last: Drawn, decision: Decision | None) -> str:
    if decision is None:
        return "It follows no decision of a meeting."
    chosen = f"“{decision.chosen}”" if decision.chosen else "no scenario"
    if follows(decision, last.judged.setting, session.data):
        return f"It follows the decision of {decision.date}, which chose {chosen}."
    return f"It does not follow the decision of {decision.date}, which chose {chosen}."
