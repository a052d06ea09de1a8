"""The form of one registered analysis: its kind, its variables, how far its answer may move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.registered_analysis import KINDS, Analysis
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.session import Session

_KINDS = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "poisson": "Poisson regression",
    "table": "Table of counts",
    "means": "Means of groups",
    "measure": "Measure of utility",
}
_USUAL = {"linear": 1.96, "logistic": 1.96, "poisson": 1.96, "table": 0.1, "means": 0.1}
_MEASURE = 0.1
Register = Callable[[str], None]


def draw(session: Session, key: str, register: Register) -> None:
    """Registered analyses, each with a button that removes it, and the form of another."""
    _registered(session, key, register)
    kind = st.selectbox("Analysis", list(_KINDS), key=f"{key}.kind", format_func=_KINDS.__getitem__)
    parts = _parts(session, f"{key}.{kind}", kind)
    left, right = st.columns(2)
    name = left.text_input("Name", _name(kind, parts), key=f"{key}.{kind}.name.{parts}")
    tolerance = right.number_input(
        f"Tolerance: {KINDS[kind]}",
        value=_USUAL.get(kind, _MEASURE),
        step=0.01,
        key=f"{key}.{kind}.tolerance",
    )

    def add() -> None:
        with guarded():
            analysis = Analysis(name=name.strip(), kind=kind, tolerance=tolerance, **parts)
            register(AnalysisPlan(analyses=(*session.analysis_plan.analyses, analysis)).to_toml())

    taken = name.strip() in {each.name for each in session.analysis_plan.analyses}
    if taken:
        st.caption("An analysis of this name is registered; give this one another name.")
    ready = bool(parts) and bool(name.strip()) and not taken
    st.button("Register", key=f"{key}.add", type="primary", disabled=not ready, on_click=add)


def _registered(session: Session, key: str, register: Register) -> None:
    plan = session.analysis_plan
    for number, analysis in enumerate(plan.analyses):
        about = analysis.formula or ", ".join(analysis.variables) or analysis.measure
        words, press = st.columns([6, 1], vertical_alignment="center")
        words.markdown(
            f"**{escaped(analysis.name)}** · {_KINDS[analysis.kind]} · {escaped(about)} · "
            f"tolerance {analysis.tolerance:g}"
        )
        rest = plan.analyses[:number] + plan.analyses[number + 1 :]
        press.button(
            "Remove",
            key=f"{key}.remove.{number}",
            on_click=register,
            args=(replace(plan, analyses=rest).to_toml(),),
        )


def _parts(session: Session, key: str, kind: str) -> dict[str, Any]:
    """Arguments of an analysis of a kind; empty while something is missing."""
    names = [variable.name for variable in session.data.schema.released]
    if kind == "measure":
        keys = [k for k, each in rwn.MEASURES.items() if each.side == "utility"]
        measure = st.selectbox(
            "Measure", keys, key=f"{key}.measure", format_func=lambda k: rwn.MEASURES[k].title
        )
        return {"measure": measure}
    if kind == "table":
        counted = st.multiselect("Variables of the table", names, key=f"{key}.counted")
        return {"variables": tuple(counted)} if counted else {}
    left, right = st.columns(2)
    first, others = (
        ("Mean of", "In the groups of") if kind == "means" else ("Response", "Predictors")
    )
    one = left.selectbox(first, names, key=f"{key}.one")
    rest = [name for name in names if name != one]
    chosen = right.multiselect(others, rest, key=f"{key}.others.{one}")
    if not chosen:
        return {}
    if kind == "means":
        return {"variables": (one, *chosen)}
    return {"formula": f"{quoted(one)} ~ {' + '.join(map(quoted, chosen))}"}


def quoted(name: str) -> str:
    """A variable's name as a formula has it."""
    return name if name.isidentifier() else f"`{name}`"


def _name(kind: str, parts: dict[str, Any]) -> str:
    """A name to begin with."""
    if not parts:
        return ""
    if kind == "measure":
        return rwn.MEASURES[parts["measure"]].title
    if "variables" in parts:
        one, *others = parts["variables"]
        words = f"{one} by {', '.join(others)}" if others else one
        return f"Mean {words}" if kind == "means" else words
    return f"{_KINDS[kind]} of {parts['formula'].partition(' ~ ')[0]}"
