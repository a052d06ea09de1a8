"""The project of a table: saved by itself, and offered again when the same table is opened.

On the user's own machine each choice for an own table is saved, and no record.
`rwn_ui/server/sweeper.py` asks for it every two seconds.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from rwn_core.reporting.project import Project
from rwn_core.tuning.verdict import counted
from rwn_ui.background.opening import Opening
from rwn_ui.features.scenario_trial import scenario_draft, take
from rwn_ui.server.environment import in_class
from rwn_ui.server.given_file import begin_described
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state import change_table, project_folder, visit
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button
from rwn_ui.widgets.folded import folded
from rwn_ui.widgets.upload import file_chooser, parsed

_COMING, _AGAIN, _DECLINED = "project.coming", "project.reopened", "project.last.declined"


def current_project(session: Session) -> Project:
    """All that was chosen for the present table."""
    present = scenario_draft(session, "present")
    made = Project.from_table(session.data, present, date.today().isoformat())
    return replace(
        made,
        scenarios=tuple(session.scenarios.values()),
        decisions=tuple(session.decisions),
        context=session.drafts().context,
    )


def offer(session: Session) -> None:
    """Offer the saved choices of the table, or a saved table."""
    _resume(session)
    if name := visit.offered():
        words = f"{name} is open in another tab of this browser; both go on by themselves."
        answer = _box(words, "Take it over", "other", "No")
        if answer:
            visit.take_over()
        if answer is not None:
            visit.current().other = ""
            st.rerun()
        return
    if not on_own_machine():
        return
    found = _found(session)
    if found is not None:
        counts = [
            counted(len(each), name)
            for each, name in ((found.scenarios, "scenario"), (found.decisions, "decision"))
            if each
        ]
        also = f", {' and '.join(counts)}" if counts else ""
        words = (
            f"A project of this table was saved on {found.saved}: kinds and roles, limits, a "
            f"setting{also}."
        )
        answer = _box(words, "Take it up", "yes")
        if answer:
            with guarded():
                take_up(session, found)
        if answer is not None:
            visit.current().answered_table = found.table
            st.rerun()
        return  # nothing is saved in its place before the answer
    _offer_last(session)
    mine = visit.current()
    mine.saver = partial(_save, session, mine.browser)
    mine.save()


def _box(words: str, yes: str, what: str, no: str = "Start anew") -> bool | None:
    """Ask; None until it is answered."""
    with st.container(border=True, key="project-offer"):
        left, accept, decline = st.columns([4, 1, 1], vertical_alignment="center")
        left.markdown(escaped(words))
        if accept.button(yes, key=f"project.{what}"):
            return True
        return False if decline.button(no, key=f"project.{what}.no") else None


def _found(session: Session) -> Project | None:
    """The saved project of the table, unless it was accepted or declined."""
    table = session.data.fingerprint
    if visit.current().answered_table == table or session.user.work.preparation is not None:
        return None
    found = project_folder.find(table)
    if session.demo is None and st.session_state.pop(_AGAIN, False):
        visit.current().answered_table = table
        if found is not None:
            take_up(session, found)
            st.rerun()
        st.toast(
            f"{escaped(session.name)} has changed since its description was saved: it opens "
            "without it."
        )
        return None
    if found is None:
        visit.current().answered_table = table
    return found


def _offer_last(session: Session) -> None:
    """Offer the own table that was open last, before another one is opened."""
    shown = session.demo is not None and session.user.work.opening is None and not in_class()
    last = project_folder.last(visit.current().browser) if shown else None
    if last is None or st.session_state.get(_DECLINED):
        return
    there = bool(last.path) and Path(last.path).is_file()
    words = (
        f"Open {last.path} again, with its roles and its setting?"
        if there
        else f"Your last table was {last.name}. Choose its file again on the Data page: its roles "
        "and its setting are saved."
    )
    answer = _box(words, "Open again" if there else "Data page", "again", "No")
    if answer is not None:
        st.session_state[_DECLINED] = True
    if answer and there:  # the Data page goes on
        open_again(session, Path(last.path))
    if answer:
        st.switch_page("pages/data.py")
    if answer is not None:
        st.rerun()


def open_again(session: Session, path: Path) -> None:
    """Begin to read a file of this machine, to take up its project."""
    reading = begin_described(path)
    session.user.work.opening = Opening(
        name=path.name, layout=None, reading=reading, path=str(path)
    )
    st.session_state[_AGAIN] = True


def _save(session: Session, browser: str, before: Any) -> Any:
    """Save an own table's project unless the choices are those before; the present choices."""
    if session.demo is not None:
        return None
    path = session.path
    made = current_project(session)
    if before is None or (before[0], before[1].table) != (path, made.table):
        project_folder.remember(
            project_folder.Last(table=made.table, name=session.name, path=path, browser=browser)
        )
    elif made != replace(before[1], saved=made.saved):
        project_folder.save(made)
    return path, made


def take_up(session: Session, project: Project) -> None:
    """Go over to a project's description of the table, and then to its choices."""
    schema = project.describe(session.data)
    visit.current().answered_table = project.table
    st.session_state[_COMING] = project
    if schema != session.data.schema:
        data = session.data.with_schema(schema)
        change_table.load(session, data, name=session.name, demo=session.demo, path=session.path)
    _resume(session)


def _resume(session: Session) -> None:
    """Load a project's choices, once its table is ready; nothing of a cancelled one."""
    project: Project | None = st.session_state.get(_COMING)
    if project is None or session.user.work.preparation is not None:
        return
    del st.session_state[_COMING]
    if session.data.fingerprint != project.table:
        return
    session.scenarios.update({each.name: each for each in project.scenarios})
    known = {each.hash for each in session.decisions}
    session.decisions.extend(each for each in project.decisions if each.hash not in known)
    if project.context.to_dict():
        session.drafts().context = project.context
    take(session, project.present)


def controls(session: Session) -> None:
    """Save the project on this machine or as a file, and open such a file."""
    box = folded("Project", f"project.{session.table_version}")
    if box is None:
        return
    with box:
        st.caption(
            "Kinds, roles, limits, setting, context, scenarios and decisions; none of the table's "
            "records. It is internal."
        )
        refusal = visit.current().refusal
        if refusal:
            st.caption(escaped(refusal))
        elif session.demo is None and on_own_machine():
            st.caption("Saved on this machine by itself.")
        if (
            session.demo is not None
            and on_own_machine()
            and st.button("Save for this table", key=session.key("project.save"), width="stretch")
        ):
            project_folder.save(current_project(session))
            visit.current().answered_table = session.data.fingerprint
            st.toast("Saved: it is offered when this table is opened again.")
        file_button(
            *("Project file (TOML)", lambda: current_project(session).to_toml(), "project.toml"),
            key=session.key("project.file"),
            width="stretch",
        )
        upload = file_chooser("Open a project file", ["toml"], key=session.key("project.upload"))
        seen = session.key("project.upload.seen")
        if upload is not None and upload.file_id != st.session_state.get(seen):
            st.session_state[seen] = upload.file_id
            take_up(session, parsed(upload.getvalue(), Project.from_toml, "project"))
            st.rerun()
