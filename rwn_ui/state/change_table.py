"""Goes over to another table, other weights or an earlier choice: at once, or once it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.preparation import Preparation
from rwn_ui.state.history import Choice
from rwn_ui.state.prepared_table import PreparedTable
from rwn_ui.state.results import own_results, table_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import own_work

Then = Callable[[PreparedTable], None]

# Reading st.session_state may end a run that the user has overtaken. So each function reads it
# first and changes the session afterwards: a change is made as a whole, or not at all.


def load(session: Session, data: rwn.Microdata, *, name: str, demo: str | None) -> None:
    """Take up another table; all work on the old one ends."""
    work, results = own_work(), own_results()
    give_up(session)

    def then(table: PreparedTable) -> None:
        work.end()
        results.end()
        session.begin(data, name, demo, table.slider_range)

    _go_over(session, data, name, then)


def reweigh(session: Session, weights: Mapping[str, float]) -> bool:
    """Go over to other weights of some variables; whether the page is to be drawn anew."""
    data = session.data.with_weights(weights)
    coming = own_work().preparation
    if coming is not None and coming.data.schema == data.schema:
        return False

    def then(table: PreparedTable) -> None:
        session.data = data

    _go_over(session, data, session.name, then)
    return True


def take(session: Session, choice: Choice) -> None:
    """Go over to a choice, from the history or elsewhere."""
    coming = own_work().preparation
    if coming is not None and coming.data.fingerprint == session.data.fingerprint:
        give_up(session)  # an earlier choice is not to come after this one
    data, same = session.data, choice.weights == session.setting.weights
    if not same:
        equal = {variable.name: 1.0 for variable in data.schema.released}
        data = data.with_weights(equal | dict(choice.weights))

    def then(table: PreparedTable) -> None:
        session.data = data
        session.rewound += not same
        session.choose(choice, table.slider_range)

    _go_over(session, data, session.name, then)


def _go_over(session: Session, data: rwn.Microdata, name: str, then: Then) -> None:
    """Have a table prepared, then go over to it: at once, or from `arrive` later on."""
    work, tables, key = own_work(), own_results().tables, table_key(data)
    if data.n > LARGEST_DENSE and key not in tables:
        give_up(session)
        work.preparation = Preparation.start(data, name, prepare=PreparedTable.of, then=then)
        return
    then(tables.once(key, lambda: PreparedTable.of(data)))


def arrive(session: Session) -> bool:
    """Go over to what was prepared, or keep the reason why not; whether anything changed."""
    work, tables = own_work(), own_results().tables
    coming = work.preparation
    if coming is None or coming.running:
        return False
    work.preparation, work.first = None, False
    if coming.result is None:
        session.rewound += 1  # typed weights are not those in use
        work.notice = f"{coming.name}: {coming.refusal}"
        return True
    tables.keep(table_key(coming.data), coming.result)
    coming.then(coming.result)
    return True


def give_up(session: Session) -> None:
    """Give up what is being prepared."""
    work = own_work()
    work.notice = ""
    if work.preparation is not None:
        work.preparation.cancel()
        work.preparation, work.first = None, False
        session.rewound += 1
