"""Editor of the policy: its limits, their sources, and their authors."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_core.data.noun_of_table import noun_of
from rwn_core.data.record_noun import spoken_of
from rwn_core.data.units import unit_of
from rwn_core.tuning.policy import NAMED_POLICIES
from rwn_ui.state.session import Session


def edit(session: Session, page: str) -> None:
    """Change, add and remove limits; every page judges by what stands here."""
    limits = tuple(_number(session, page, limit) for limit in session.policy.limits)
    if limits:
        with st.popover("Where the limits come from", width="stretch"):
            said = []
            for limit in limits:  # its source (law, handbook or decision), and its author
                left, right = st.columns(2)
                key = session.key(f"{page}.limit.{limit.measure}")
                source = left.text_input(
                    f"{limit.title}: source", limit.source, key=f"{key}.source"
                )
                by = right.text_input(f"{limit.title}: set by", limit.set_by, key=f"{key}.by")
                said.append(replace(limit, source=source, set_by=by))
            limits = tuple(said)
    else:
        st.caption("The policy has no limits, so that nothing is judged.")
    if limits != session.policy.limits:
        session.policy = rwn.Policy(limits=limits)
    _adding(session, page)
    st.button(
        "Limits for clinical data (.09)",
        key=session.key(f"{page}.limit.clinical"),
        on_click=lambda: setattr(session, "policy", NAMED_POLICIES["Limits for clinical data"]),
        width="stretch",
        help="In place of the limits above: an intruder's probability for the original of the most "
        "exposed record is at most 9 %. EMA policy 0070 and Health Canada name this threshold for "
        "most circumstances, by an account of rlsciences.com; that it holds for every record is "
        "decided here.",
    )


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
    value = left.number_input(
        name,
        0.0,
        scale if measure.bounds[1] == 1 else None,  # a share ends at 100 %
        shown,
        1.0 if measure.counts else 0.5 if measure.is_share else 0.1,
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
    )  # fmt: skip
