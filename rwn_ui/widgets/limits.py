"""Editor of the policy: its limits, their sources, and their authors."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_core.data.noun_of_table import noun_of
from rwn_core.data.record_noun import spoken_of
from rwn_core.data.units import unit_of
from rwn_core.tuning.named_policies import NAMED_POLICIES, name_of
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session

OWN = "Limits of your own"
PAGES = ("tune", "find")  # that have the fields


def edit(session: Session, page: str) -> None:
    """Choose a policy by name, or change, add and remove limits; every page judges by them."""
    _choice(session, page)
    limits = tuple(_number(session, page, limit) for limit in session.policy.limits)
    if limits:
        with st.popover("Who set these limits", width="stretch"):
            limits = tuple(_with_source(session, page, limit) for limit in limits)
    else:
        st.caption("The policy has no limits, so that nothing is judged.")
    if limits != session.policy.limits:
        session.policy = rwn.Policy(limits=limits)
    _adding(session, page)


def judge_by(session: Session, policy: rwn.Policy) -> None:
    """Judge by a policy from now on; the fields of its limits forget what they had before."""
    session.policy = policy
    for page in PAGES:
        for limit in policy.limits:
            field = session.key(f"{page}.limit.{limit.measure}")
            for part in ("", ".source", ".by"):
                st.session_state.pop(f"{field}{part}", None)


def _choice(session: Session, page: str) -> None:
    """Choose who is to read the file, and with it the limits."""
    name = name_of(session.policy)
    names = [*NAMED_POLICIES, *([] if name else [OWN])]
    key = session.key(f"{page}.limit.policy.{name or OWN}")

    def choose() -> None:
        chosen = st.session_state[key]
        if chosen in NAMED_POLICIES:
            judge_by(session, NAMED_POLICIES[chosen].policy)

    st.selectbox(
        "Who is to read the file?",
        names,
        index=names.index(name or OWN),
        key=key,
        on_change=choose,
        help="Each policy states who set its numbers. Change them below for limits of your own.",
    )
    st.caption(NAMED_POLICIES[name].audience if name else "You or your organization set them.")


def _with_source(session: Session, page: str, limit: rwn.Limit) -> rwn.Limit:
    """Ask for the source of a limit (law, handbook or decision) and for who set it."""
    key = session.key(f"{page}.limit.{limit.measure}")
    st.caption(escaped(f"{limit.title}: {limit.origin}."))
    left, right = st.columns(2)
    source = left.text_input(f"{limit.title}: source", limit.source, key=f"{key}.source")
    by = right.text_input(f"{limit.title}: set by", limit.set_by, key=f"{key}.by")
    return replace(limit, source=source, set_by=by)


def shown_as(session: Session, limit: rwn.Limit) -> tuple[str, float]:
    """Return the name of a limit's field, and by what its number is multiplied there."""
    measure = rwn.MEASURES[limit.measure]
    if measure.counts:
        unit = unit_of(session.data)
        words, count = (unit.words, unit.size) if unit else ("records", session.data.n)
        return f"{limit.title}, {words} at most", float(count)
    share = measure.is_share
    return f"{limit.title}, {'% ' * share}at most", 100.0 if share else 1.0


def _number(session: Session, page: str, limit: rwn.Limit) -> rwn.Limit:
    measure = rwn.MEASURES[limit.measure]
    name, scale = shown_as(session, limit)
    left, right = st.columns([6, 1], vertical_alignment="bottom", gap="xsmall")
    shown = round(scale * limit.at_most, 10)
    step = 0.5 if measure.is_share else 0.1
    if measure.counts:
        step = 1.0
    value = left.number_input(
        name,
        0.0,
        scale if measure.bounds[1] == 1 else None,  # a share ends at 100 %
        shown,
        step,
        format="%.4g",
        key=session.key(f"{page}.limit.{limit.measure}"),
        help=spoken_of(measure.question, noun_of(session.data.schema)),
    )
    right.button(
        "✕",
        type="tertiary",
        key=session.key(f"{page}.limit.{limit.measure}.remove"),
        on_click=_remove,
        args=(session, limit.measure),
        width="stretch",
        help=f"Remove the limit on {measure.title}",
    )
    if value == shown:  # a limit that was not touched keeps all digits that its file has
        return limit
    # a number of people is not rounded: as many as are allowed keep their limit
    share = value / scale
    return replace(limit, at_most=share if measure.counts else round(share, 12))


def _remove(session: Session, measure: str) -> None:
    limits = tuple(limit for limit in session.policy.limits if limit.measure != measure)
    session.policy = rwn.Policy(limits=limits)


def _adding(session: Session, page: str) -> None:
    """One more limit, on a measure that has none."""
    free = [
        key
        for key, measure in rwn.MEASURES.items()
        if (measure.side == "risk" or measure.must_hold)
        and measure.better == "lower"
        and key not in session.policy.measures
    ]
    chosen = st.selectbox(
        "Another limit on",
        free,
        key=session.key(f"{page}.limit.new.{len(free)}"),
        format_func=lambda key: rwn.MEASURES[key].title,
    )

    def add() -> None:
        if chosen is not None:
            limit = rwn.Limit(measure=chosen, at_most=0.05)
            session.policy = rwn.Policy(limits=(*session.policy.limits, limit))

    st.button(
        "Add this limit",
        key=session.key(f"{page}.limit.add"),
        on_click=add,
        disabled=chosen is None,
        width="stretch",
    )
