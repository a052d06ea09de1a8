"""Goes over to another table, other weights or an earlier choice: at once, or once it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.threads import Progress
from rwn_ui.background.look_ahead import LookAhead
from rwn_ui.background.preparation import Preparation
from rwn_ui.state.history import Choice
from rwn_ui.state.prepared_table import PreparedTable
from rwn_ui.state.results import Options, is_prepared, preparation_key, user_results
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work, user_work

REST = 0.5  # seconds after a first picture in which another weight is likely to come
SOON = 3.0  # seconds that a slider of a weight waits for its first picture
Then = Callable[[PreparedTable], None]

# Reading st.session_state may end a run that the user has overtaken. So each function reads it
# first and changes the session afterwards: a change is made as a whole, or not at all.


def load(session: Session, data: rwn.Microdata, *, name: str, demo: str | None) -> None:
    """Take up another table; all work on the old one ends."""
    work, results = user_work(), user_results()
    give_up(session)

    def then(table: PreparedTable) -> None:
        work.end()
        results.end()
        session.options = ()
        session.load_table(data, name, demo, table.prepared)

    switch_table(session, data, name, then, session.method)


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
    begun = user_work().preparation
    if begun is not None:
        begun.rest = REST
    return True


def reslice(session: Session, slices: Sequence[Sequence[str]]) -> None:
    """Have exactly these variables travel together, at once: distances do not depend on it."""
    session.data = session.data.with_slices(slices)


def ask_for(session: Session, question: rwn.Question) -> None:
    """Have releases keep this regression, at once: distances do not depend on it."""
    schema = replace(session.data.schema, question=question)
    session.data = session.data.with_schema(schema)


def change_method(session: Session, method: str) -> None:
    """Go over to another method, on the same table."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)

    def then(table: PreparedTable) -> None:
        session.use_method(method, table.prepared)

    switch_table(session, session.data, session.name, then, method)


def change_options(session: Session, options: Options) -> None:
    """Go over to other options of the method, on the same table."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)

    def then(table: PreparedTable) -> None:
        session.use_options(options, table.prepared)

    switch_table(session, session.data, session.name, then, session.method, options)


def apply_choice(session: Session, choice: Choice) -> None:
    """Go over to a choice, from the history or elsewhere."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)  # an earlier choice is not to come after this one
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
    """Have a table prepared, then go over to it: at once, or from `adopt_prepared` later on."""
    work, tables = user_work(), user_results().tables
    key = preparation_key(data, method, options)
    chosen: dict[str, Any] = {"method": method, "options": options}
    known: PreparedTable | None = tables.get(key)
    if known is None and data.n <= LARGEST_DENSE:
        known = _prepare(data, **chosen)
        tables.keep(key, known)
    if known is not None and not known.begun:
        then(known)
        return
    give_up(session)
    there: list[PreparedTable] = []
    some = known

    def begin(*given: Any) -> PreparedTable | None:
        nonlocal some
        some = some or _begin(*given, **chosen)
        return some

    def keep(table: PreparedTable) -> None:
        tables.keep(key, table)
        if not there:  # the whole table takes the place of its first records, and nothing else
            then(table)
        if not table.begun:
            look = partial(table.look_ahead, session.masking, session.seed)
            work.ahead = LookAhead.start(look, key, some)
        there.append(table)

    work.preparation = Preparation.start(
        data,
        name,
        begin=begin,
        prepare=partial(_prepare, **chosen),
        then=keep,
    )
    if work.worker is not None:
        work.worker.interrupt()  # what it reads is about to be of no use


def _begin(
    data: rwn.Microdata, progress: Progress, cancel: Event, *, method: str, options: Options
) -> PreparedTable | None:
    """Some records, for a first picture."""
    return PreparedTable.begin(data, progress, cancel, method=method, options=dict(options))


def _prepare(
    data: rwn.Microdata,
    progress: Progress | None = None,
    cancel: Event | None = None,
    begun: PreparedTable | None = None,
    *,
    method: str,
    options: Options,
) -> PreparedTable:
    """The whole table, or random records of a very large one."""
    return PreparedTable.prepare(
        data, progress, cancel, begun=begun, method=method, options=dict(options)
    )


def adopt_soon(session: Session) -> None:
    """Wait a while for the first picture of this table's other weights, and go over to it."""
    coming = user_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        coming.wait(SOON)
        adopt_prepared(session)


def prepare_again(session: Session) -> bool:
    """Have a table prepared that was given back while its user rested."""
    work = user_work()
    if work.ahead is not None and not work.ahead.running:
        work.ahead = None  # here and not when it ends, so that a page shows one table throughout
    if is_prepared(session):
        return False
    if work.preparation is None and not work.notice:
        data, method, options = session.data, session.method, session.options
        switch_table(session, data, session.name, lambda table: None, method, options)
        work.first = True
        adopt_soon(session)
    return work.first


def adopt_prepared(session: Session) -> bool:
    """Go over to what was prepared, or keep the reason why not; whether anything changed."""
    work = user_work()
    coming = work.preparation
    if coming is None:
        return False
    if coming.running:
        return _begin_with_some(work, coming)
    work.preparation, work.first = None, False
    if coming.result is None:
        session.edit_version += 1  # typed weights are not those in use
        work.notice = f"{coming.name}: {coming.refusal}"
        return True
    coming.then(coming.result)
    return True


def _begin_with_some(work: Work, coming: Preparation) -> bool:
    """Go over to the records that are ready, once."""
    some, coming.begun = coming.begun, None
    if some is None:
        return False
    work.first = False
    coming.then(some)
    return True


def give_up(session: Session) -> None:
    """Give up what is being prepared."""
    work = user_work()
    work.notice = ""
    if work.ahead is not None:
        work.ahead.cancel()
        work.ahead = None
    if work.preparation is not None:
        work.preparation.cancel()
        work.preparation, work.first = None, False
        session.edit_version += 1
