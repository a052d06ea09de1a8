"""Changes to another table or another setting: at once, or once its table is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

import rwn_core as rwn
from rwn_core.masking import Method, lever_values
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning import Setting
from rwn_ui.background.task import Task
from rwn_ui.server.messages import escaped
from rwn_ui.server.private_streamlit import forget_current_user
from rwn_ui.server.sweeper import free_memory
from rwn_ui.state import project_folder
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.results import PreparedTable, preparation_key
from rwn_ui.state.session import Session, first_setting

SOON = 1.5  # seconds that a slider of a weight waits for its picture
Then = Callable[[PreparedTable], None]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def paused(change: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function change choices while the endpoint answers nothing."""

    @wraps(change)
    def alone(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        session: Any = args[0]
        with session.user.endpoint.paused():
            return change(*args, **kwargs)

    return alone


# Reading st.session_state may end a run that the user has overtaken. So each function reads it
# first and changes the session afterwards: a change is made as a whole, or not at all.


def recommended(demo: str | None) -> Setting | None:
    """The recommended setting of a demo table, which is known without a search."""
    return None if demo is None else Setting.from_dict(rwn.DEMOS[demo].start)


@paused
def load(
    session: Session,
    data: rwn.Microdata,
    *,
    name: str,
    demo: str | None,
    path: str = "",
    linked: bool = False,
) -> None:
    """Load another table, with its own setting or that of a link; all old work ends."""
    work = session.user.work
    give_up(session)
    if work.opening is not None:
        work.opening.asked = None

    start = None if linked else recommended(demo)
    kept = "rwn" if session.is_untouched else session.method  # a chosen method stays
    params = first_setting(kept) if start is None else start.params

    def then(table: PreparedTable) -> None:
        session.user.end()
        session.load_table(data, name, demo, params, table.prepared, start)
        session.path = path

    measured = data if start is None else start.resolved(data).applied_to(data)
    switch_table(session, measured, name, then, params)
    if work.preparation is not None:
        work.preparation.again = partial(
            load, session, name=name, demo=demo, path=path, linked=linked
        )


def take_asked(session: Session, data: rwn.Microdata | None = None) -> None:
    """Load the table that waits for answers, with or without them."""
    opening = session.user.work.opening
    if opening is not None and opening.asked is not None:
        taken = data or opening.asked
        opening.asked = None
        load(session, taken, name=opening.name, demo=None, path=opening.path)
        work = session.user.work  # behind the file of the command line no other table is shown
        work.first = bool(opening.path) and work.preparation is not None


@paused
def redescribe(session: Session, data: rwn.Microdata, *, by_grid: bool) -> None:
    """Describe the same records in another way; the setting, pins and undo stay."""
    give_up(session)

    def then(table: PreparedTable) -> None:
        session.user.end()
        session.take_description(data, table.prepared, by_grid=by_grid)

    switch_table(session, data, session.name, then, session.params)
    if (coming := session.user.work.preparation) is not None:
        coming.again = partial(redescribe, session, by_grid=False)


@paused
def answer(session: Session, data: rwn.Microdata) -> None:
    """Describe the table that is on its way, else the one on the pages; no work is lost."""
    work = session.user.work
    coming, first = work.preparation, work.first
    if coming is None:
        redescribe(session, data, by_grid=False)
    elif coming.again is not None:
        coming.again(data)
        work.first = first and work.preparation is not None
    else:  # another method or other weights, which come first
        before = coming.then

        def both(table: PreparedTable) -> None:
            before(table)
            redescribe(session, data, by_grid=False)

        coming.data, coming.then = data, both


@paused
def set_setting(
    session: Session, setting: Setting, *levers: str | Mapping[str, Any], undo: bool = False
) -> None:
    """Go over to a setting of the same table, with its levers as `Session.set` says.

    It is the one way to change a setting: sliders, options, slices, Undo, links and scenarios. With
    `undo` it comes from elsewhere: sliders must be able to show it, and Undo on the Tune page
    brings the present one back.
    """
    if undo:
        positions = lever_values(setting.params).values()
        if setting.method not in rwn.METHODS or not all(
            value is None or isinstance(value, int | float) for value in positions
        ):
            raise rwn.ParameterError(f"Sliders cannot show the setting {setting.words}.")
        setting = replace(setting, slices=setting.resolved(session.data).slices)
        session.record_undo()
    coming = session.user.work.preparation
    before = session.setting
    data = session.data
    changed = {
        each.name: value
        for each in fields(setting)
        if (value := getattr(setting, each.name)) != getattr(before, each.name)
    }
    if {"weights", "slices"} & changed.keys():
        data = setting.applied_to(data)
    same_table = coming is not None and coming.data.fingerprint == data.fingerprint
    if same_table and changed.keys() != {"slices"}:
        give_up(session)  # an earlier setting must not follow this one

    def then(table: PreparedTable) -> None:
        # what was changed meanwhile stays
        session.set(replace(session.setting, **changed), table.prepared, *levers)

    switch_table(session, data, session.name, then, setting.params)
    if undo:
        session.record_undo()


@contextmanager
def toasted(session: Session) -> Iterator[None]:
    """Say that a setting was loaded, or why not."""
    try:
        yield
    except rwn.RWNError as refusal:
        st.toast(escaped(str(refusal)))
    else:
        st.toast(escaped(f"Loaded into Tune: {session.words}"), icon=":material/tune:")


def switch_table(
    session: Session, data: rwn.Microdata, name: str, then: Then, params: Method
) -> None:
    """Have a table prepared and switch to it: at once, or later by `adopt_prepared`."""
    work = session.user.work
    tables = session.user.results.tables
    key = preparation_key(session, data, params)
    prepare = partial(PreparedTable.prepare, params=params)
    known: PreparedTable | None = tables.get(key)
    if known is None and data.n <= LARGEST_DENSE:
        known = prepare(data)
        tables.keep(key, known)
    if known is not None:
        then(known)
        return
    give_up(session)

    def adopt(table: PreparedTable) -> None:
        tables.keep(key, table)
        then(table)

    work.preparation = Task(data, name, prepare, adopt)
    if work.worker is not None:
        work.worker.interrupt()  # its readings are about to be of no use


def adopt_soon(session: Session) -> None:
    """Wait a while for the same table with other weights, and switch to it."""
    coming = session.user.work.preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        coming.wait(SOON)
        adopt_prepared(session)


def adopt_prepared(session: Session) -> bool:
    """True if anything changed: the prepared table is in use, or a note says why there is none."""
    work = session.user.work
    coming = work.preparation
    if coming is None or coming.running:
        return False
    work.preparation, work.first = None, False
    if coming.result is None:
        session.edit_version += 1  # typed weights are not those in use
        work.notice = f"{coming.name}: {coming.refusal}"
        return True
    coming.then(coming.result)
    return True


def give_up(session: Session) -> None:
    """Give up what is being prepared."""
    work = session.user.work
    work.notice = ""
    if work.preparation is not None:
        work.preparation.cancel()
        work.preparation, work.first = None, False
        session.edit_version += 1


def erase(session: Session) -> None:
    """Forget all that a user brought and chose, at once, and free its memory."""
    # Python cannot promise that no byte of them is left in memory that it keeps; the end of the
    # server does.
    work = session.user.work
    if on_own_machine():
        project_folder.forget(session.data.fingerprint)
    give_up(session)
    if work.opening is not None:
        work.opening.give_up("It was erased.")
    session.user.end()
    forget_current_user()
    for choice in fields(session):  # Streamlit keeps what the buttons of all pages were given
        delattr(session, choice.name)
    free_memory()
