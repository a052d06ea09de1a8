"""Registers the analyses that users will run, and saves them without data: the day pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

import rwn_core as rwn
from rwn_core.data.variable import Kind
from rwn_core.errors import InputError
from rwn_core.evaluation.analysis_plan import DayPass
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.reporting.scenario import Scenario
from rwn_ui.messages import guarded, plain
from rwn_ui.state.results import own_results, prepared
from rwn_ui.state.session import Session
from rwn_ui.widgets.upload import text_of

_DRAFT = "analysis plan"
_HELP = """Each analysis has a name, a kind and a tolerance. Kinds: `linear`, `logistic` and
`poisson` with a `formula` such as `"wage ~ education * smsa + log(experience)"` (tolerance: largest
change of a slope in standard errors); `table` with `variables` (share of records that would have to
move); `means` with `variables`, the first one averaged over the groups of the others (standard
deviations); `measure` with the key of a measure (its value)."""


def suggested(data: rwn.Microdata) -> DayPass:
    """Analyses to start from: the steward's question, the correlations, a table."""
    found = []
    question = data.schema.question
    if question is not None:
        names = [f"`{name}`" if not name.isidentifier() else name for name in question.predictors]
        kind = data.schema.variable(question.response).kind
        response = (
            question.response if question.response.isidentifier() else f"`{question.response}`"
        )
        found.append(
            Analysis(
                name=f"Regression of {question.response}",
                kind="logistic" if kind is Kind.CATEGORICAL else "linear",
                tolerance=1.96,
                formula=f"{response} ~ {' + '.join(names)}",
            )
        )
    if len(data.numeric_names) > 1:
        found.append(
            Analysis(name="Correlations", kind="measure", tolerance=0.08, measure="correlation")
        )
    released = [variable.name for variable in data.schema.released]
    if len(released) > 1:
        found.append(
            Analysis(
                name=f"{released[0]} by {released[1]}",
                kind="table",
                tolerance=0.1,
                variables=(released[0], released[1]),
            )
        )
    return DayPass(analyses=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The analyses as they are being written, and what of them is registered."""

    text: str
    registered: DayPass


def draft(session: Session) -> tuple[Draft, bool]:
    """What the steward has written or what a scenario brought, and whether that is new."""
    last, day_pass = own_results().last, session.day_pass
    known: Draft | None = last.get(_DRAFT)
    if known is not None and known.registered is day_pass:
        return known, False
    text = day_pass.to_toml() if day_pass.analyses else ""
    made = last[_DRAFT] = Draft(text=text, registered=day_pass)
    return made, True


def register(session: Session, text: str) -> None:
    """Take in what the steward has written; while it is no day pass, nothing is registered."""
    last = own_results().last
    try:
        day_pass = DayPass.from_toml(text)
    except rwn.RWNError:
        day_pass = DayPass()
    session.day_pass = day_pass
    last[_DRAFT] = Draft(text=text, registered=day_pass)


def draw(session: Session) -> None:
    """The analyses as text, with what is wrong about it, and the file."""
    with st.expander("Day pass: register the analyses that users will run"):
        key = f"utility.{session.generation}.pass"
        written, new = draft(session)
        if new or key not in st.session_state:
            st.session_state[key] = written.text

        def change(text: str | None = None) -> None:
            if text is not None:
                st.session_state[key] = text
            register(session, st.session_state[key])

        st.caption(_HELP)
        st.text_area(
            "Analyses",
            key=key,
            height=220,
            placeholder="[[analysis]]",
            label_visibility="collapsed",
            on_change=change,
        )
        if not prepared(session).prepared.whole:
            st.info(
                "Analyses of some records have larger standard errors than those of all, so they "
                "are not judged here; the Compare page judges releases of the whole table.",
                icon=":material/info:",
            )
        if written.text.strip():
            try:
                DayPass.from_toml(written.text)
            except rwn.RWNError as refusal:
                st.error(plain(str(refusal)), icon=":material/block:")
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
            disabled=not session.day_pass.analyses,
            help="This setting with its day pass, without any data; Compare loads it, too.",
        )

    def take() -> None:
        upload = st.session_state[f"{key}.file"]
        if upload is not None:
            with guarded():
                change(read(upload.getvalue()).to_toml())

    st.file_uploader(
        "Load the day pass of a scenario file (TOML)",
        type=["toml"],
        key=f"{key}.file",
        on_change=take,
    )


def _scenario(session: Session) -> Scenario:
    return Scenario(
        name="Day pass",
        table=session.data.fingerprint,
        setting=session.setting,
        seed=session.seed,
        day_pass=session.day_pass,
    )


def read(content: bytes) -> DayPass:
    """The analyses of a file: a scenario, or analyses alone.

    Raises
    ------
    InputError, ParameterError
    """
    text = text_of(content, "scenario")
    if "[[analysis]]" in text and "format" not in text:
        return DayPass.from_toml(text)
    found = Scenario.from_toml(text).day_pass
    if not found.analyses:
        raise InputError("The scenario has no day pass; register analyses and save it again.")
    return found
