"""The Data page's parts: choose a table, look at it, say what its variables are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.errors import ParameterError
from rwn_ui.messages import plain
from rwn_ui.state.change_table import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import own_work
from rwn_ui.widgets.upload import text_of, written_name

PREVIEW_ROWS = 100


def choose(session: Session) -> None:
    """A demo table or a file of one's own."""
    left, right = st.columns(2, gap="large")
    with left:
        demo = st.selectbox(
            "Demo table",
            list(rwn.DEMOS),
            index=None,
            key="data.demo",
            placeholder="Choose a demo table",
            format_func=_demo_words,
        )
        # each chooser acts when its own value changes, or two filled ones would take turns
        if demo != st.session_state.get("data.demo.seen"):
            if demo is not None:
                load(session, rwn.load_demo(demo), name=demo, demo=demo)
            st.session_state["data.demo.seen"] = demo
            _show_what_is_coming()
    with right:
        _open_file(session)


def _open_file(session: Session) -> None:
    upload = st.file_uploader(
        f"Or open a file: {io.kinds()}",
        type=[suffix.removeprefix(".") for form in io.FORMATS for suffix in form.suffixes],
        key="data.upload",
    )
    described = st.file_uploader(
        "Its schema, if you have one (TOML)",
        type=["toml"],
        key="data.upload.schema",
        help="Kinds, roles, weights and the regression: what this page and rwn demo --schema "
        "write. It settles what a file alone leaves open, such as a code that is no number.",
    )
    if upload is None:
        return
    chosen = (upload.file_id, described.file_id if described else None)
    if chosen != st.session_state.get("data.upload.seen"):
        schema = _schema(described.getvalue()) if described else None
        name = written_name(upload.name)
        data = rwn.read_bytes(name, upload.getvalue(), schema)
        load(session, data, name=name, demo=None)
        st.session_state["data.upload.seen"] = chosen
        _show_what_is_coming()


def _show_what_is_coming() -> None:
    """The top of the page was drawn before the choice."""
    if own_work().preparation is not None:
        st.rerun()


def _schema(content: bytes) -> rwn.Schema:
    return rwn.Schema.from_toml(text_of(content, "schema"))


def _demo_words(name: str) -> str:
    return f"{name} · {rwn.DEMOS[name].title} ({rwn.DEMOS[name].size})"


def overview(session: Session) -> None:
    """What the gate noticed, and the first records."""
    st.markdown(f"#### The table: {session.data.n:,} records, {session.data.p} variables")
    for notice in session.data.notices:
        st.info(plain(notice), icon=":material/info:")
    # not head(): a slice of a text column is sent with bytes of the record after it
    shown = session.data.frame.take(range(min(PREVIEW_ROWS, session.data.n)))
    shown.index = pd.RangeIndex(1, len(shown) + 1, name="record")
    st.caption(
        f"The first {len(shown):,} of {session.data.n:,} records. This is the confidential "
        "original: it stays on this machine."
    )
    st.dataframe(shown, height=200, width="stretch")


def variables(session: Session) -> None:
    """Kind, role and group of each variable, and the regression to keep; applied together."""
    st.markdown("#### Its variables, and the regression to keep")
    schema = session.data.schema
    with st.form(f"data.{session.generation}.variables", border=False):
        edited = st.data_editor(
            _start(session),
            hide_index=True,
            width="stretch",
            key=f"data.{session.generation}.edit",
            disabled=["variable", "missing", "different values"],
            column_config={
                "kind": st.column_config.SelectboxColumn(options=list(rwn.Kind), required=True),
                "role": st.column_config.SelectboxColumn(
                    options=list(rwn.Role),
                    required=True,
                    help="A direct identifier never reaches a release.",
                ),
                "masked": st.column_config.CheckboxColumn(
                    help="An unmasked variable keeps its values in the release."
                ),
                "group": st.column_config.TextColumn(
                    help="Variables with the same group word take their values from one common "
                    "donor, so that sums and ratios among them stay possible."
                ),
            },
        )
        question = schema.question
        left, right = st.columns([1, 3])
        names = list(session.data.names)
        response = left.selectbox(
            "Regression: response",
            names,
            key=f"data.{session.generation}.response",
            index=names.index(question.response) if question else None,
        )
        predictors = right.multiselect(
            "Predictors",
            names,
            list(question.predictors) if question else [],
            key=f"data.{session.generation}.predictors",
        )
        if st.form_submit_button("Apply", type="primary"):
            _apply(session, edited, response, predictors)


def _start(session: Session) -> pd.DataFrame:
    """The editor's first content: made once a table, or the editor would forget its edits."""
    place = f"data.{session.generation}.start"
    if place not in st.session_state:
        frame, schema = session.data.frame, session.data.schema
        st.session_state[place] = pd.DataFrame(
            {
                "variable": list(schema.names),
                "kind": [str(v.kind) for v in schema.variables],
                "role": [str(v.role) for v in schema.variables],
                "masked": [v.masked for v in schema.variables],
                "group": [v.group or "" for v in schema.variables],
                "missing": [int(frame[name].isna().sum()) for name in schema.names],
                "different values": [int(frame[name].nunique()) for name in schema.names],
            }
        )
    start: pd.DataFrame = st.session_state[place]
    return start


def _apply(
    session: Session, edited: pd.DataFrame, response: str | None, predictors: Sequence[str]
) -> None:
    rows: list[Mapping[str, Any]] = edited.to_dict("records")  # type: ignore[assignment]
    old = session.data.schema
    changed = tuple(
        replace(
            variable,
            kind=row["kind"],
            role=row["role"],
            masked=bool(row["masked"]),
            # an emptied cell comes back as a missing value
            group=None if pd.isna(row["group"]) else str(row["group"]).strip() or None,
        )
        for variable, row in zip(old.variables, rows, strict=True)
    )
    question = _question(response, predictors)
    data = session.data.with_schema(rwn.Schema(variables=changed, question=question))
    if not any(v.masked for v in data.schema.released):
        raise ParameterError("No variable is chosen for masking; choose at least one.")
    load(session, data, name=session.name, demo=session.demo)
    if own_work().preparation is None:
        st.toast("Applied: every page now uses this description.", icon=":material/check:")
    st.rerun()


def _question(response: str | None, predictors: Sequence[str]) -> rwn.Question | None:
    """The regression, or none if neither side of it is chosen."""
    if response is None and not predictors:
        return None
    if response is None:
        raise ParameterError("The regression has no response; choose one, or clear its predictors.")
    return rwn.Question(response=response, predictors=tuple(predictors))


def schema_file(session: Session) -> None:
    """The description as a file for the command line."""
    st.download_button(
        "Schema (TOML)",
        session.data.schema.to_toml,
        file_name="schema.toml",
        on_click="ignore",
        icon=":material/download:",
        key="data.schema",
        help="Kinds, roles, weights and the regression, without any data: for rwn mask --schema.",
    )
