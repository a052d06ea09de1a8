"""Registers the analyses that users will run, and saves them without data: the analysis plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

import rwn_core as rwn
from rwn_core.data.variable import Kind
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.io.reading import parse_text
from rwn_core.measures import UTILITY
from rwn_core.reporting.scenario import Scenario, plan_in
from rwn_ui.features import analysis_form, analysis_plan_results
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.results import full_table, user_results
from rwn_ui.state.session import Session
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
        names = [analysis_form.quoted(name) for name in question.predictors]
        kind = data.schema.variable(question.response).kind
        response = analysis_form.quoted(question.response)
        analyses.append(
            Analysis(
                name=f"Regression of {question.response}",
                kind="logistic" if kind is Kind.CATEGORICAL else "linear",
                tolerance=1.96,
                formula=f"{response} ~ {' + '.join(names)}",
            )
        )
    released = [variable.name for variable in data.schema.released]
    if len(released) > 1:
        analyses.append(Analysis(name="Relations", kind="measure", tolerance=0.2, measure=UTILITY))
        analyses.append(
            Analysis(
                name=f"{released[0]} by {released[1]}",
                kind="table",
                tolerance=0.1,
                variables=(released[0], released[1]),
            )
        )
    return AnalysisPlan(analyses=tuple(analyses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The analyses as they are being written, what of them is registered, and why nothing is."""

    text: str
    registered: AnalysisPlan
    refusal: str = ""


def draft(session: Session) -> Draft:
    """The text as written by the steward, or as brought by a scenario since."""
    last, analysis_plan = user_results().last, session.analysis_plan
    known: Draft | None = last.get(_DRAFT)
    if known is None or known.registered is not analysis_plan:
        text = analysis_plan.to_toml() if analysis_plan.analyses else ""
        known = last[_DRAFT] = Draft(text=text, registered=analysis_plan)
    return known


def register(session: Session, text: str) -> None:
    """Take in what the steward has written; while it is no analysis plan, nothing is registered."""
    analysis_plan, refused = AnalysisPlan(), ""
    try:
        analysis_plan = parse_text(AnalysisPlan.from_toml, text, "analysis plan")
    except rwn.RWNError as refusal:
        refused = str(refusal)
    session.analysis_plan = analysis_plan
    user_results().last[_DRAFT] = Draft(text=text, registered=analysis_plan, refusal=refused)


def draw(session: Session) -> None:
    """The analyses as a form and as text, with what is wrong about it, and the file."""
    with st.expander("Analysis plan: register the analyses that users will run"):
        key = session.key("utility.pass")
        written, last = draft(session), user_results().last
        if key not in st.session_state or last.get(_SHOWN) is not written:
            st.session_state[key] = written.text
            last[_SHOWN] = written

        def change(text: str | None = None) -> None:
            register(session, st.session_state[key] if text is None else text)

        form, text = st.tabs(["Form", "As text"])
        with form:
            analysis_form.draw(session, f"{key}.form", change)
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
            st.info(
                "This plan takes too long to be run with every change of the sliders. Draw many "
                "releases, or compare scenarios, to judge it.",
                icon=":material/info:",
            )
        if not full_table(session).prepared.masks_all_records:
            st.info(
                "Analyses of some records have larger standard errors than those of all, so they "
                "are not judged here; the Compare page judges releases of the whole table.",
                icon=":material/info:",
            )
        if written.refusal:
            st.error(escaped(written.refusal), icon=":material/block:")
        _files(session, key, change)


def _files(session: Session, key: str, change: Callable[[str], None]) -> None:
    """Suggest, save in a scenario file, load from one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Suggest",
            key=f"{key}.suggest",
            on_click=lambda: change(suggested(session.data).to_toml()),
        )
        st.download_button(
            "Save in a scenario file",
            _scenario(session).to_toml,
            file_name="scenario.toml",
            key=f"{key}.save",
            on_click="ignore",
            disabled=not session.analysis_plan.analyses,
            help="This setting with its analysis plan, without any data; Compare loads it, too.",
        )

    def take() -> None:
        upload = st.session_state[f"{key}.file"]
        if upload is not None:
            with guarded():
                change(parsed(upload.getvalue(), plan_in, "scenario").to_toml())

    file_chooser(
        "Load the analysis plan of a scenario file (TOML)",
        ["toml"],
        key=f"{key}.file",
        on_change=take,
    )


def _scenario(session: Session) -> Scenario:
    return Scenario(
        name="Analysis plan",
        table=session.data.fingerprint,
        setting=session.setting,
        seed=session.seed,
        analysis_plan=session.analysis_plan,
    )
