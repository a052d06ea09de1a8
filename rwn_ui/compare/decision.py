"""The decision of a meeting on the Compare page, frozen with a hash."""

from __future__ import annotations

from datetime import date
from functools import partial

import streamlit as st

from rwn_core.reporting.decision import Decision
from rwn_core.reporting.readable import decision_html
from rwn_ui.features import watch_list
from rwn_ui.state.session import Session
from rwn_ui.widgets.page_link import link_to


def _key(session: Session, what: str) -> str:
    return f"compare.{session.table_version}.{what}"


def draw(session: Session, names: list[str]) -> None:
    """Watch list, decision, reason, participants and date, frozen with a hash."""
    st.markdown("#### Decision")
    with st.form(_key(session, "decision")):
        left, right = st.columns(2)
        chosen = left.selectbox("Decision", [*names, "none of them"])
        when = right.date_input("Date", date.today())
        reason = st.text_area("Reason", height=100)
        people = left.text_area("Participants, a line each", height=100)
        watched = right.text_area(
            "Watch list, a line each",
            "\n".join(watch_list.words(session)),
            height=100,
            key=_key(session, f"decision.watched.{hash(session.watched)}"),
            help="What people want to keep an eye on: records, groups, results.",
        )
        frozen = st.form_submit_button("Freeze", type="primary")
    shown = _key(session, "frozen")
    if frozen:
        made = Decision(
            scenarios=tuple(session.scenarios[name] for name in names),
            chosen="" if chosen == "none of them" else chosen,
            reason=reason.strip(),
            participants=_lines(people),
            date=when.isoformat(),
            watched=_lines(watched),
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
                key=_key(session, "decision.file"),
            )
            st.download_button(
                "To read and to print (HTML)",
                partial(decision_html, record),
                file_name=f"decision-{record.hash[:12]}.html",
                on_click="ignore",
                key=_key(session, "decision.page"),
            )
            link_to("pages/release.py", "Carry it out", ":material/outbox:")


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
