"""The day pass on screen: register analyses, see whether they pass, save them without data."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.analysis import Analysis, Verdict
from rwn_core.comparison import Comparison
from rwn_core.day_pass import DayPass
from rwn_core.schema import Kind
from rwn_ui.session import Session
from rwn_ui.show import plain
from rwn_ui.utility_results import Desk, place_of

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


def verdicts(session: Session, mine: Desk, comparison: Comparison) -> tuple[Verdict, ...]:
    """The registered analyses on the release on screen; none while the text is not one."""
    if not mine.text.strip():
        return ()
    try:
        registered = DayPass.from_toml(mine.text)
    except rwn.RWNError:
        return ()
    return mine.memo.once(
        ("day pass", registered, place_of(session)), lambda: registered.judge(comparison)
    )


def draw(session: Session, mine: Desk) -> None:
    """The analyses as text, with what is wrong about it, and the file."""
    with st.expander("Day pass: register the analyses that users will run"):
        key = f"utility.{session.generation}.pass"

        def suggest() -> None:
            mine.text = st.session_state[key] = suggested(session.data).to_toml()

        if key not in st.session_state:
            st.session_state[key] = mine.text
        st.caption(_HELP)
        mine.text = st.text_area(
            "Analyses",
            key=key,
            height=220,
            placeholder="[[analysis]]",
            label_visibility="collapsed",
        )
        if mine.text.strip():
            try:
                DayPass.from_toml(mine.text)
            except rwn.RWNError as refusal:
                st.error(plain(str(refusal)), icon=":material/block:")
        with st.container(horizontal=True):
            st.button("Suggest", key=f"{key}.suggest", on_click=suggest)
            st.download_button(
                "Save",
                mine.text,
                file_name="day_pass.toml",
                key=f"{key}.save",
                on_click="ignore",
                disabled=not mine.text.strip(),
            )
