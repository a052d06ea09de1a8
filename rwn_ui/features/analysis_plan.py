"""Registers the analyses that users will run, and saves them without data: the analysis plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.variable import Kind
from rwn_core.evaluation.registered_analysis import KINDS, Analysis, AnalysisPlan
from rwn_core.io.reading import parse_text
from rwn_core.measures import UTILITY
from rwn_core.reporting.scenario import plan_in
from rwn_ui.features import analysis_plan_results
from rwn_ui.features.scenario_trial import scenario_draft
from rwn_ui.server.messages import escaped, guarded, informed, refused
from rwn_ui.state.results import full_table
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button
from rwn_ui.widgets.upload import file_chooser, parsed

_DRAFT, _SHOWN = "analysis plan", "analysis plan on screen"
_HELP = """Each analysis has a name, a kind and a tolerance. Kinds: `linear`, `logistic` and
`poisson` with a `formula` such as `"wage ~ education * smsa + log(experience)"` (tolerance: largest
change of a slope in standard errors); `table` with `variables` (share of records that would have to
move); `means` with `variables`, the first one averaged over the groups of the others (standard
deviations); `measure` with the key of a measure (its value)."""


def suggested(data: rwn.Microdata) -> AnalysisPlan:
    """Analyses to start from: the steward's question, all relations, a table."""
    analyses = []
    question = data.schema.question
    if question is not None:
        kind = data.schema.variable(question.response).kind
        analyses.append(
            Analysis(
                name=f"Regression of {question.response}",
                kind="logistic" if kind is Kind.CATEGORICAL else "linear",
                tolerance=1.96,
                formula=_formula(question.response, question.predictors),
            )
        )
    released = [variable.name for variable in data.schema.released]
    if len(released) > 1:
        analyses.append(Analysis(name="Relations", kind="measure", tolerance=0.2, measure=UTILITY))
        pair = (released[0], released[1])
        name = f"{released[0]} by {released[1]}"
        analyses.append(Analysis(name=name, kind="table", tolerance=0.1, variables=pair))
    return AnalysisPlan(analyses=tuple(analyses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The analyses as they are being written, what of them is registered, and why nothing is."""

    text: str
    registered: AnalysisPlan
    refusal: str = ""


def draft(session: Session) -> Draft:
    """The text as written by the steward, or as brought by a scenario since."""
    last = session.user.results.last
    analysis_plan = session.analysis_plan
    known: Draft | None = last.get(_DRAFT)
    if known is None or known.registered is not analysis_plan:
        text = analysis_plan.to_toml() if analysis_plan.analyses else ""
        known = last[_DRAFT] = Draft(text=text, registered=analysis_plan)
    return known


def register(session: Session, text: str) -> None:
    """Take in what the steward has written; while it is no analysis plan, nothing is registered."""
    analysis_plan = AnalysisPlan()
    why = ""
    try:
        analysis_plan = parse_text(AnalysisPlan.from_toml, text, "analysis plan")
    except rwn.RWNError as refusal:
        why = str(refusal)
    session.analysis_plan = analysis_plan
    session.user.results.last[_DRAFT] = Draft(text=text, registered=analysis_plan, refusal=why)


def draw(session: Session) -> None:
    """The analyses as a form and as text, with what is wrong about it, and the file."""
    with st.expander("Analysis plan: register the analyses that users will run"):
        key = session.key("utility.pass")
        written = draft(session)
        last = session.user.results.last
        if key not in st.session_state or last.get(_SHOWN) is not written:
            st.session_state[key] = written.text
            last[_SHOWN] = written

        def change(text: str | None = None) -> None:
            register(session, st.session_state[key] if text is None else text)

        form, text = st.tabs(["Form", "As text"])
        with form:
            _form(session, f"{key}.form", change)
        with text:
            st.caption(_HELP)
            st.text_area(
                "Analyses",
                key=key,
                height=220,
                placeholder="[[analysis]]",
                label_visibility="collapsed",
                on_change=change,
            )
        if not analysis_plan_results.runs_immediately(session):
            informed(
                "This plan takes too long to be run with every change of the sliders. Draw many "
                "releases, or compare scenarios, to judge it."
            )
        if not full_table(session).prepared.masks_all_records:
            informed(
                "Analyses of some records have larger standard errors than those of all, so they "
                "are not judged here; the Compare page judges releases of the whole table."
            )
        if written.refusal:
            refused(written.refusal)
        _files(session, key, change)


def _files(session: Session, key: str, change: Callable[[str], None]) -> None:
    """Suggest, save in a scenario file, load from one."""
    kept = scenario_draft(session, "Analysis plan")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Suggest",
            key=f"{key}.suggest",
            on_click=lambda: change(suggested(session.data).to_toml()),
        )
        file_button(
            *("Save in a scenario file", kept.to_toml, "scenario.toml"),
            key=f"{key}.save",
            disabled=not session.analysis_plan.analyses,
            help="This setting with its analysis plan, without any data; Compare loads it, too.",
        )

    def take() -> None:
        upload = st.session_state[f"{key}.file"]
        if upload is not None:
            with guarded():
                change(parsed(upload.getvalue(), plan_in, "scenario").to_toml())

    words = "Load the analysis plan of a scenario file (TOML)"
    file_chooser(words, ["toml"], key=f"{key}.file", on_change=take)


_KINDS = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "poisson": "Poisson regression",
    "table": "Table of counts",
    "means": "Means of groups",
    "measure": "Measure of utility",
}
Register = Callable[[str], None]


def _form(session: Session, key: str, register: Register) -> None:
    """Registered analyses, each with a button that removes it, and the form of another."""
    plan = session.analysis_plan
    for number, analysis in enumerate(plan.analyses):
        about = analysis.formula or ", ".join(analysis.variables) or analysis.measure
        words, press = st.columns([6, 1], vertical_alignment="center")
        words.markdown(
            f"**{escaped(analysis.name)}** · {_KINDS[analysis.kind]} · {escaped(about)} · "
            f"tolerance {analysis.tolerance:g}"
        )
        remaining = plan.analyses[:number] + plan.analyses[number + 1 :]
        press.button(
            "Remove",
            key=f"{key}.remove.{number}",
            on_click=register,
            args=(replace(plan, analyses=remaining).to_toml(),),
        )
    kind = st.selectbox("Analysis", list(_KINDS), key=f"{key}.kind", format_func=_KINDS.__getitem__)
    parts = _parts(session, f"{key}.{kind}", kind)
    left, right = st.columns(2)
    name = left.text_input("Name", _name(kind, parts), key=f"{key}.{kind}.name.{parts}")
    tolerance = right.number_input(
        f"Tolerance: {KINDS[kind]}",
        value=1.96 if kind in ("linear", "logistic", "poisson") else 0.1,
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
    remaining = [name for name in names if name != one]
    chosen = right.multiselect(others, remaining, key=f"{key}.others.{one}")
    if not chosen:
        return {}
    if kind == "means":
        return {"variables": (one, *chosen)}
    return {"formula": _formula(one, chosen)}


def _formula(response: str, predictors: Sequence[str]) -> str:
    """A regression with main effects; names that are no words stand in quotes."""
    first, *others = (f if f.isidentifier() else f"`{f}`" for f in (response, *predictors))
    return f"{first} ~ {' + '.join(others)}"


def _name(kind: str, parts: dict[str, Any]) -> str:
    """The proposed name."""
    if not parts:
        return ""
    if kind == "measure":
        return rwn.MEASURES[parts["measure"]].title
    if "variables" in parts:
        one, *others = parts["variables"]
        words = f"{one} by {', '.join(others)}" if others else one
        return f"Mean {words}" if kind == "means" else words
    return f"{_KINDS[kind]} of {parts['formula'].partition(' ~ ')[0]}"
