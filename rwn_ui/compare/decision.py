"""The decision of a meeting on the Compare page, frozen with a hash."""

from __future__ import annotations

from datetime import date
from functools import partial

import streamlit as st

from rwn_core.reporting.decision import Decision
from rwn_core.reporting.readable import decision_html
from rwn_core.tuning.verdict import Verdict
from rwn_ui.features import watch_list
from rwn_ui.state.session import Session
from rwn_ui.widgets.page_link import link_to

_NONE = "none of them"


def choice_key(session: Session) -> str:
    """Key of the field that says which candidate is chosen."""
    return session.key("compare.decision.chosen")


def draw(session: Session, names: list[str]) -> None:
    """Watch list, decision, reason, participants and date, frozen with a hash."""
    with st.container(key="screen-only-decision"):
        _form(session, names)


def _form(session: Session, names: list[str]) -> None:
    """Draw the fields of a decision, and its files once it is frozen."""
    st.markdown("#### Decision")
    if st.session_state.get(choice_key(session)) not in (*names, _NONE):
        st.session_state[choice_key(session)] = None  # the candidate is no longer shown
    chosen = st.selectbox(
        "Decision",
        [*names, _NONE],
        index=None,
        placeholder="Choose a scenario",
        key=choice_key(session),
    )
    with st.form(session.key("compare.decision")):
        left, right = st.columns(2)
        when = right.date_input("Date", date.today())
        reason = st.text_area("Reason", height=100)
        people = left.text_area("Participants, a line each", height=100)
        watched = right.text_area(
            "Watch list, a line each",
            "\n".join(watch_list.words(session)),
            height=100,
            key=session.key(f"compare.decision.watched.{hash(session.watched)}"),
            help="What people want to keep an eye on: records, groups, results.",
        )
        accepted = st.text_input(
            "Who accepts limits that the scenario does not keep",
            help="Needed where the policy is broken, or a limit is not judged.",
        )
        dissent = st.text_input("Votes or dissent", help="Left empty where all agree.")
        frozen = st.form_submit_button("Freeze", type="primary")
    shown = session.key("compare.frozen")
    verdict = None
    if chosen in names:
        verdict = session.policy.judge_stated(session.scenarios[str(chosen)].readings)
    missing = _missing(chosen, reason, people, accepted, verdict)
    if frozen and missing:
        st.error(f"Nothing is frozen. Missing: {'; '.join(missing)}.")
    elif frozen:
        made = Decision(
            scenarios=tuple(session.scenarios[name] for name in names),
            chosen="" if chosen == _NONE else str(chosen),
            reason=reason.strip(),
            participants=_lines(people),
            date=when.isoformat(),
            watched=_lines(watched),
            verdict="" if verdict is None else verdict.sentence,
            accepted_by=accepted.strip(),
            dissent=dissent.strip(),
            policy=session.policy,
        )
        session.decisions.append(made)
        st.session_state[shown] = made.hash
    record = next((m for m in session.decisions if m.hash == st.session_state.get(shown)), None)
    if record is not None:
        st.success(f"Frozen on {record.date}: SHA-256 {record.hash}", icon=":material/lock:")
        st.caption(
            "A release that carries it out (Release page) names it in its internal record. The "
            "file can be opened here again on another day."
        )
        with st.container(horizontal=True):
            st.download_button(
                "Decision record (TOML)",
                record.frozen,
                file_name=f"decision-{record.hash[:12]}.toml",
                on_click="ignore",
                key=session.key("compare.decision.file"),
            )
            st.download_button(
                "Minutes to print (HTML)",
                partial(decision_html, record),
                file_name=f"decision-{record.hash[:12]}.html",
                on_click="ignore",
                key=session.key("compare.decision.page"),
            )
            link_to("pages/release.py", "Carry it out", ":material/outbox:")


def _missing(
    chosen: str | None, reason: str, people: str, accepted: str, verdict: Verdict | None
) -> list[str]:
    """Return the parts that a decision lacks."""
    parts = []
    if chosen is None:
        parts.append("a decision")
    if not reason.strip():
        parts.append("a reason")
    if not _lines(people):
        parts.append("at least one participant")
    if verdict is not None and not verdict.kept and not accepted.strip():
        parts.append(f"who accepts this: {verdict.sentence.removesuffix('.')}")
    return parts


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
