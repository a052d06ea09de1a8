"""Goes over to another table, other weights or an earlier choice: at once, or once it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.preparation import Preparation
from rwn_ui.state.results import Options, PreparedTable, preparation_key, user_results
from rwn_ui.state.session import Choice, Session
from rwn_ui.state.work import paused, user_work

SOON = 1.5  # seconds that a slider of a weight waits for its picture
Then = Callable[[PreparedTable], None]

# Reading st.session_state may end a run that the user has overtaken. So each function reads it
# first and changes the session afterwards: a change is made as a whole, or not at all.


@paused
def load(
    session: Session, data: rwn.Microdata, *, name: str, demo: str | None, path: str = ""
) -> None:
    """Take up another table; all work on the old one ends."""
    work, results = user_work(), user_results()
    give_up(session)
    if work.opening is not None:
        work.opening.asked = None

    def then(table: PreparedTable) -> None:
        work.end()
        results.end()
        session.options = ()
        session.load_table(data, name, demo, table.prepared)
        session.path = path

    switch_table(session, data, name, then, session.method)
    if work.preparation is not None:
        work.preparation.again = partial(load, session, name=name, demo=demo, path=path)


def take_asked(session: Session, data: rwn.Microdata | None = None) -> None:
    """Load the table that waits for answers, with or without them."""
    opening = user_work().opening
    if opening is not None and opening.asked is not None:
        taken, opening.asked = data or opening.asked, None
        load(session, taken, name=opening.name, demo=None, path=opening.path)
        work = user_work()  # behind the file of the command line no other table is shown
        work.first = bool(opening.path) and work.preparation is not None


@paused
def redescribe(session: Session, data: rwn.Microdata, *, by_grid: bool) -> None:
    """Describe the same records in another way; the setting, pins and undo stay."""
    work, results = user_work(), user_results()
    give_up(session)

    def then(table: PreparedTable) -> None:
        work.end()
        results.end()
        session.take_description(data, table.prepared, by_grid=by_grid)

    switch_table(session, data, session.name, then, session.method, session.options)
    if work.preparation is not None:
        work.preparation.again = partial(redescribe, session, by_grid=False)


@paused
def answer(session: Session, data: rwn.Microdata) -> None:
    """Describe the table that is on its way, else the one on the pages; no work is lost."""
    work = user_work()
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
def reweigh(session: Session, weights: Mapping[str, float]) -> bool:
    """Go over to other weights of some variables; whether the page is to be drawn anew."""
    data = session.data.with_weights(weights)
    coming = user_work().preparation
    if coming is not None and coming.data.schema == data.schema:
        return False

    def then(table: PreparedTable) -> None:
        # slices and regression may have changed meanwhile
        schema = replace(data.schema, question=session.data.schema.question)
        session.data = data.with_schema(schema).with_slices(session.slices)

    switch_table(session, data, session.name, then, session.method, session.options)
    return True


@paused
def reslice(session: Session, slices: Sequence[Sequence[str]]) -> None:
    """Have exactly these variables travel together, at once: distances do not depend on it."""
    session.data = session.data.with_slices(slices)


@paused
def ask_for(session: Session, question: rwn.Question) -> None:
    """Have releases keep this regression, at once: distances do not depend on it."""
    schema = replace(session.data.schema, question=question)
    session.data = session.data.with_schema(schema)


@paused
def change_method(
    session: Session,
    method: str,
    options: Options = (),
    preset: str = "",
    levers: Mapping[str, float] | None = None,
) -> None:
    """Go over to a method with some options, and to a preset of its sliders, on the same table."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)

    def then(table: PreparedTable) -> None:
        session.use_method(method, options, table.prepared)
        if preset:
            session.use_preset(preset, table.prepared)
        session.levers |= levers or {}

    switch_table(session, session.data, session.name, then, method, options)


@paused
def apply_choice(session: Session, choice: Choice) -> None:
    """Go over to a choice, from the history or elsewhere."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)  # an earlier choice must not follow this one
    data, same = session.data, choice.weights == session.setting.weights
    if not same:
        equal = {variable.name: 1.0 for variable in data.schema.released}
        data = data.with_weights(equal | dict(choice.weights))
    data = data.with_slices(choice.slices)

    def then(table: PreparedTable) -> None:
        session.data = data
        session.edit_version += not same
        session.restore(choice, table.prepared)

    switch_table(session, data, session.name, then, choice.method, choice.options)


def switch_table(
    session: Session,
    data: rwn.Microdata,
    name: str,
    then: Then,
    method: str,
    options: Options = (),
) -> None:
    """Have a table prepared and switch to it: at once, or later by `adopt_prepared`."""
    work, tables = user_work(), user_results().tables
    key = preparation_key(data, method, options)
    prepare = partial(PreparedTable.prepare, method=method, options=dict(options))
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

    work.preparation = Preparation.start(data, name, prepare, adopt)
    if work.worker is not None:
        work.worker.interrupt()  # its readings are about to be of no use


def adopt_soon(session: Session) -> None:
    """Wait a while for the same table with other weights, and switch to it."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        coming.task.wait(SOON)
        adopt_prepared(session)


def adopt_prepared(session: Session) -> bool:
    """Switch to the prepared table, or note why there is none; True if anything changed."""
    work = user_work()
    coming = work.preparation
    if coming is None or coming.task.running:
        return False
    work.preparation, work.first = None, False
    if coming.task.result is None:
        session.edit_version += 1  # typed weights are not those in use
        work.notice = f"{coming.name}: {coming.task.refusal}"
        return True
    coming.then(coming.task.result)
    return True


def give_up(session: Session) -> None:
    """Give up what is being prepared."""
    work = user_work()
    work.notice = ""
    if work.preparation is not None:
        work.preparation.task.cancel()
        work.preparation, work.first = None, False
        session.edit_version += 1
