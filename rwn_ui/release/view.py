"""Draws the Release page: how far the release is, then its five steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

import rwn_core as rwn
from rwn_ui.release import approval, context, files, judging, ledger
from rwn_ui.release.steps import Step, description, is_checked, steps, unanswered_doubts
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.session import Session
from rwn_ui.widgets.page_link import link_to


def draw(session: Session) -> None:
    """All of it; a refusal at one step leaves the others standing."""
    st.space("xxsmall")  # below the bar of pages
    st.markdown("#### A release that may leave the house")
    st.markdown(
        "This page draws the file that leaves, reads that very file, holds it against the policy, "
        "and makes what goes with it. The trial on Tune is another draw and does not leave."
    )
    st.markdown(f"**Setting** {escaped(session.words)}")
    with guarded():
        context.draw(session)
    found = steps(session)
    _summary(found)
    parts: tuple[Callable[[Session], None], ...] = (
        _data,
        judging.draw,
        approval.draw,
        files.draw,
        ledger.draw,
    )
    for number, (step, part) in enumerate(zip(found, parts, strict=True), start=1):
        with st.container(border=True, key=f"release-step-{number}"):
            st.markdown(f"##### {number} · {step.title}")
            if not step.done:
                st.caption(f"Missing: {step.missing}")
            with guarded():
                part(session)


def _summary(found: tuple[Step, ...]) -> None:
    """The five steps in a row, and what comes next."""
    with st.container(horizontal=True, key="release-steps"):
        for number, step in enumerate(found, start=1):
            mark, color, words = _mark(step)
            st.badge(f"{number} {words}", icon=mark, color=color)


def _mark(step: Step) -> tuple[str, Literal["orange", "green", "gray"], str]:
    if step.exception:
        return ":material/priority_high:", "orange", "Policy: an exception"
    if step.done:
        return ":material/check:", "green", step.title
    return ":material/radio_button_unchecked:", "gray", step.title


def _data(session: Session) -> None:
    """The table's description, and its confirmation."""
    data = session.data
    st.markdown(f"{data.n:,} records, {data.p} variables of {escaped(session.name)}.")
    roles: list[tuple[rwn.Role, str]] = [
        (rwn.Role.KEY, "Key variables, which an intruder may know"),
        (rwn.Role.CONFIDENTIAL, "Confidential variables, which an intruder is after"),
        (rwn.Role.IDENTIFIER, "Direct identifiers, which no release has"),
    ]
    if data.schema.name_with_role(rwn.Role.HOUSEHOLD) is not None:
        roles.append((rwn.Role.HOUSEHOLD, "Household variable, which no release has"))
    for role, words in roles:
        names = [v.name for v in data.schema.variables if v.role == role]
        st.markdown(f"{words}: {escaped(', '.join(names)) or 'none'}.")
    kept = [v.name for v in data.schema.released if not v.masked]
    if kept:
        st.warning(escaped(f"Released as they are, without masking: {', '.join(kept)}."))
    if data.notices:
        st.info("  \n".join(map(escaped, data.notices)), icon=":material/info:")
    link_to("pages/data.py", "Change kinds and roles", ":material/table:")
    if unanswered_doubts(session):
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
