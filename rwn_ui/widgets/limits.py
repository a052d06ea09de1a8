"""The editor of the policy: its limits, where each comes from, who set it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_ui.state.session import Session


def edit(session: Session, page: str) -> None:
    """Change, add and remove limits; every page judges by what stands here."""
    limits = tuple(_edited(session, page, limit) for limit in session.policy.limits)
    if limits != session.policy.limits:
        session.policy = rwn.Policy(limits=limits)
    if not limits:
        st.caption("The policy has no limits, so that nothing is judged.")
    _adding(session, page)


def _key(session: Session, page: str, what: str) -> str:
    return f"{page}.{session.generation}.limit.{what}"


def _edited(session: Session, page: str, limit: rwn.Limit) -> rwn.Limit:
    measure = rwn.MEASURES[limit.measure]
    scale = 100.0 if measure.is_share else 1.0
    left, right = st.columns([5, 1.6], vertical_alignment="bottom")
    value = left.number_input(
        f"{measure.title}, {'% ' if measure.is_share else ''}at most",
        0.0,
        None,
        round(scale * limit.at_most, 10),
        0.5 if measure.is_share else 0.1,
        format="%.4g",
        key=_key(session, page, limit.measure),
        help=f"{measure.question} {measure.unit.capitalize()}.",
    )
    with right.popover("⋯", width="stretch", help=f"Source of the limit on {measure.title}"):
        texts = _texts(session, page, limit)
        st.button(
            f"Remove the limit on {measure.title}",
            key=_key(session, page, f"{limit.measure}.remove"),
            on_click=_remove,
            args=(session, limit.measure),
        )
    # a limit that was not touched keeps all digits that its file has
    asked = limit.at_most if value == round(scale * limit.at_most, 10) else round(value / scale, 12)
    return replace(limit, at_most=asked, source=texts[0], set_by=texts[1])


def _texts(session: Session, page: str, limit: rwn.Limit) -> tuple[str, str]:
    source = st.text_input(
        "Where it comes from", limit.source, key=_key(session, page, f"{limit.measure}.source")
    )
    by = st.text_input("Set by", limit.set_by, key=_key(session, page, f"{limit.measure}.by"))
    return source, by


def _remove(session: Session, measure: str) -> None:
    limits = tuple(limit for limit in session.policy.limits if limit.measure != measure)
    session.policy = rwn.Policy(limits=limits)


def _adding(session: Session, page: str) -> None:
    """One more limit, on a measure that has none."""
    free = [
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk"
        and measure.better == "lower"
        and key not in session.policy.measures
    ]
    left, right = st.columns([5, 1.6], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Another limit on",
        free,
        key=_key(session, page, f"new.{len(free)}"),
        format_func=lambda key: rwn.MEASURES[key].title,
    )
    _add_button(right, session, page, chosen)


def _add_button(column: DeltaGenerator, session: Session, page: str, chosen: str | None) -> None:
    def add() -> None:
        if chosen is not None:
            limit = rwn.Limit(measure=chosen, at_most=0.05)
            session.policy = rwn.Policy(limits=(*session.policy.limits, limit))

    column.button(
        "Add", key=_key(session, page, "add"), on_click=add, disabled=chosen is None,
        width="stretch",
    )  # fmt: skip
