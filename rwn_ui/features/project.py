"""The project of a table: saved on request, and offered again when the same table is opened."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import streamlit as st

from rwn_core.reporting.project import Project
from rwn_core.reporting.scenario import Scenario
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state import change_table, load_setting, project_folder
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.folded import folded
from rwn_ui.widgets.upload import file_chooser, parsed

_SEEN, _COMING = "project.seen", "project.coming"


def current_project(session: Session) -> Project:
    """All that was chosen for the present table."""
    present = Scenario(
        name="present",
        table=session.data.fingerprint,
        setting=session.setting,
        seed=session.seed,
        search=session.search,
        policy=session.policy,
        analysis_plan=session.analysis_plan,
    )
    made = Project.from_table(session.data, present, date.today().isoformat())
    return replace(
        made, scenarios=tuple(session.scenarios.values()), decisions=tuple(session.decisions)
    )


def offer(session: Session) -> None:
    """Offer a project that was saved of this table, once; go on with one that is being taken up."""
    _resume(session)
    table = session.data.fingerprint
    if st.session_state.get(_SEEN) == table or not on_own_machine():
        return
    found = project_folder.find(table)
    if found is None:
        st.session_state[_SEEN] = table
        return
    with st.container(border=True, key="project-offer"):
        words, yes, no = st.columns([5, 1, 1], vertical_alignment="center")
        words.markdown(escaped(_words(found)))
        yes.button("Take it up", key="project.yes", on_click=_accept, args=(session, found))
        no.button("Not now", key="project.no", on_click=_dismiss, args=(table,))


def _words(found: Project) -> str:
    counts = [
        f"{len(each)} {name}{'' if len(each) == 1 else 's'}"
        for each, name in ((found.scenarios, "scenario"), (found.decisions, "decision"))
        if each
    ]
    also = f", {' and '.join(counts)}" if counts else ""
    return (
        f"A project of this table was saved on {found.saved}: kinds and roles, limits, a "
        f"setting{also}."
    )


def _dismiss(table: str) -> None:
    st.session_state[_SEEN] = table


def _accept(session: Session, project: Project) -> None:
    with guarded():  # a callback runs outside of the page's own
        take_up(session, project)


def take_up(session: Session, project: Project) -> None:
    """Go over to a project's description of the table, and then to its choices."""
    schema = project.describe(session.data)
    st.session_state[_SEEN] = project.table
    st.session_state[_COMING] = project
    if schema != session.data.schema:
        data = session.data.with_schema(schema)
        change_table.load(session, data, name=session.name, demo=session.demo)
    _resume(session)


def _resume(session: Session) -> None:
    """Take over a project's choices, once its table is ready; nothing of one that was given up."""
    project: Project | None = st.session_state.get(_COMING)
    if project is None or user_work().preparation is not None:
        return
    del st.session_state[_COMING]
    if session.data.fingerprint != project.table:
        return
    present = project.present
    session.seed, session.search = present.seed, present.search
    session.analysis_plan = present.analysis_plan
    if present.policy is not None:
        session.policy = present.policy
    session.scenarios.update({each.name: each for each in project.scenarios})
    known = {each.hash for each in session.decisions}
    session.decisions.extend(each for each in project.decisions if each.hash not in known)
    if present.setting is not None:
        load_setting.load(session, present.setting)


def controls(session: Session) -> None:
    """Save the project on this machine or as a file, and open such a file."""
    box = folded("Project", f"project.{session.table_version}")
    if box is None:
        return
    with box:
        st.caption(
            "Kinds, roles, limits, setting, scenarios and decisions; none of the table's records. "
            "It is internal."
        )
        if on_own_machine() and st.button(
            "Save for this table", key=f"project.{session.table_version}.save", width="stretch"
        ):
            project_folder.save(current_project(session))
            st.session_state[_SEEN] = session.data.fingerprint
            st.toast("Saved: it is offered when this table is opened again.")
        st.download_button(
            "Project file (TOML)",
            lambda: current_project(session).to_toml(),
            file_name="project.toml",
            on_click="ignore",
            width="stretch",
            key=f"project.{session.table_version}.file",
        )
        _open(session)


def _open(session: Session) -> None:
    upload = file_chooser(
        "Open a project file", ["toml"], key=f"project.{session.table_version}.upload"
    )
    seen = f"project.{session.table_version}.upload.seen"
    if upload is not None and upload.file_id != st.session_state.get(seen):
        st.session_state[seen] = upload.file_id
        take_up(session, parsed(upload.getvalue(), Project.from_toml, "project"))
        st.rerun()
