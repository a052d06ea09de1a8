"""Result of a match: sentences, a map, one table, pictures, and buttons for each setting."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import rwn_core as rwn
from rwn_core.tuning.match import Loss, Matched, Refused
from rwn_ui.compare import match_cards, match_sentences
from rwn_ui.features.scenario_trial import as_scenario
from rwn_ui.panel import panel
from rwn_ui.server.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session


def _key(session: Session, what: str) -> str:
    return f"compare.{session.table_version}.matched.{what}"


def draw(
    session: Session,
    found: Sequence[Matched | Refused],
    to: Loss | rwn.Policy,
    across: str,
) -> None:
    """Everything about the methods that could be tuned, and why others could not."""
    matched = [each for each in found if isinstance(each, Matched)]
    st.markdown(escaped(f"Tuned to {match_sentences.aim(to)}"))
    left, right = st.columns([1.15, 1], gap="small")
    with right:
        told = match_sentences.sentences(found, to, session.data.n)
        st.markdown("\n".join(f"- {escaped(each)}" for each in told))
        st.caption(
            "Better or worse is said only where the intervals of one more release do not meet."
        )
    if not matched:
        return
    with left:
        _map(session, matched, to, across)
    panel(match_cards.match_table(session, matched), key="compare.match.table")
    for reason in match_sentences.unread(matched, session.data.n):
        st.caption(escaped(reason))
    _settings(session, matched)
    _pictures(session, matched)


def _map(session: Session, matched: Sequence[Matched], to: Loss | rwn.Policy, across: str) -> None:
    """The map over the risks that were read along the curves."""
    read = dict.fromkeys(key for each in matched for point in each.path for key in point.spreads)
    risks = [key for key in read if rwn.MEASURES[key].side == "risk"]
    up = st.selectbox(
        "Up: risk",
        risks,
        key=_key(session, "up"),
        format_func=lambda key: match_sentences.title(key, session.data.n),
    )
    panel(match_cards.match_map(session, matched, to, across, up), key="compare.match.map")
    absent = [each for each in matched if not match_cards.placed(each, across, up)]
    if absent:
        names = match_sentences.listed([match_sentences.method(each.method) for each in absent])
        st.caption(escaped(f"Not on this map, for want of an answer: {names}."))


def _settings(session: Session, matched: Sequence[Matched]) -> None:
    """Take a matched setting to Tune, or save it as a scenario."""
    for each in matched:
        words, press, keep = st.columns([4, 1, 1], vertical_alignment="center")
        name = match_sentences.method(each.method)
        words.text(f"{name}: {match_sentences.setting(each.point)}")
        press.button(
            "Open on Tune",
            key=_key(session, f"open.{each.method}"),
            width="stretch",
            on_click=load,
            args=(session, each.point.setting),
            help=escaped(f"Load the matched setting of {name} into Tune"),
        )
        keep.button(
            "Keep as scenario",
            key=_key(session, f"keep.{each.method}"),
            width="stretch",
            on_click=_keep,
            args=(session, each),
            help=escaped(f"Put {name} on the shelf of scenarios, with these readings"),
        )


def _keep(session: Session, each: Matched) -> None:
    base = f"{match_sentences.method(each.method)}, matched"
    names = (base, *(f"{base} {number}" for number in range(2, 1000)))
    name = next(name for name in names if name not in session.scenarios)
    session.scenarios[name] = as_scenario(session, name, "", each.point)
    st.toast(escaped(f"Scenario {name} is kept."))


def _pictures(session: Session, matched: Sequence[Matched]) -> None:
    """Correlation maps, coefficients, or the distribution of one variable, method by method."""
    choose, which = st.columns([2, 1], vertical_alignment="bottom")
    what = choose.segmented_control(
        "Of one release of each",
        list(match_cards.PICTURES),
        default="Correlations",
        key=_key(session, "picture"),
    )
    released = [variable.name for variable in session.data.schema.released]
    variable = session.variable
    if what == "Distributions":
        variable = which.selectbox(
            "Variable", released, released.index(variable), key=_key(session, "variable")
        )
    if what is not None:
        panel(match_cards.match_pictures(matched, what, variable), key="compare.match.pictures")
