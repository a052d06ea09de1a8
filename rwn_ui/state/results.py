"""Results of this user's choices: a bounded memory, freed when the session ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.progress import searching
from rwn_ui.state.memo import Memo
from rwn_ui.state.prepared_table import CurrentRelease, PreparedTable
from rwn_ui.state.session import Session
from rwn_ui.state.user import user_state
from rwn_ui.state.work import user_work

RESULTS = "rwn.results"
"""Key in Streamlit's session state."""
_MADE_AGAIN = ("releases", "slices", "utility", "lessons", "lesson samples")
Key = tuple[Any, ...]
Options = tuple[tuple[str, Any], ...]


@dataclass(slots=True)
class Results:
    """Everything that was computed for one user; nothing is shared between users.

    Attributes
    ----------
    tables : Memo
        Prepared tables, by `preparation_key`.
    memos : dict of str to Memo
        The results of each feature, see `memo`.
    last : dict of str to object
        The last good picture, by what shows it.
    used : float
        When a page last asked for them, by `time.monotonic`.
    """

    tables: Memo = field(default_factory=lambda: Memo(2))
    memos: dict[str, Memo] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)

    def end(self) -> None:
        """Forget what belongs to a table that is given up; the latest prepared tables stay."""
        self.memos.clear()
        self.last.clear()

    @property
    def holds_tables(self) -> bool:
        """True if it holds prepared tables."""
        return len(self.tables) > 0

    def give_back(self) -> None:
        """Forget what a page makes again by itself: prepared tables, releases, their readings.

        What took a job of its own stays. It may be called from any thread.
        """
        self.tables.clear()
        for feature in _MADE_AGAIN:
            if feature in self.memos:
                self.memos[feature].clear()


def user_results() -> Results:
    """This user's results."""
    results = user_state(RESULTS, Results)
    results.used = time.monotonic()
    return results


def memo(feature: str, entries: int) -> Memo:
    """The results of a feature, of which the latest are kept."""
    return user_results().memos.setdefault(feature, Memo(entries))


def table_key(data: rwn.Microdata) -> Key:
    """Cache key of a table: values, variables and their weights."""
    return data.fingerprint, data.schema


def setting_key(session: Session) -> Key:
    """Cache key of many releases of the current setting."""
    return *table_key(session.data), session.masking


def release_key(session: Session) -> Key:
    """Cache key of the current release."""
    return *setting_key(session), session.seed, prepared(session).begun


def preparation_key(data: rwn.Microdata, method: str, options: Options) -> Key:
    """Cache key of a prepared table: sliders, slices and regression do not count."""
    given = data.schema
    schema = memo("schemas", 4).get_or_make(
        given, lambda: replace(given.with_slices(()), question=None)
    )
    return data.fingerprint, schema, method, options


def prepared(session: Session) -> PreparedTable:
    """The prepared table, under its own slices and regression."""
    data, method, options = session.data, session.method, session.options
    key = preparation_key(data, method, options)
    table: PreparedTable = user_results().tables.get_or_make(
        key, lambda: PreparedTable.prepare(data, method=method, options=dict(options))
    )
    ahead = user_work().ahead
    some = ahead.meanwhile if ahead is not None and ahead.about == key else None
    if some is not None and not table.is_quick(session.masking):
        table = some
    if table.data.schema == data.schema:
        return table
    sliced: PreparedTable = memo("slices", 4).get_or_make(
        (*key, data.schema, table.begun), lambda: table.with_slices(data)
    )
    return sliced


def is_prepared(session: Session) -> bool:
    """True if the table is prepared, or so small that it is at once."""
    key = preparation_key(session.data, session.method, session.options)
    return session.data.n <= LARGEST_DENSE or key in user_results().tables


def is_drawn(session: Session) -> bool:
    """True if `current_release` has drawn it already."""
    return release_key(session) in memo("releases", 8)


def is_looked_up(session: Session) -> bool:
    """True if some records stand for all until the donors of a far position are known."""
    ahead = user_work().ahead
    return ahead is not None and ahead.meanwhile is not None and prepared(session).begun


def current_release(session: Session, slot: DeltaGenerator | None = None) -> CurrentRelease:
    """The release of the current setting and its readings."""
    table = prepared(session)

    def draw() -> CurrentRelease:
        with searching(slot) as progress:
            return table.release(session.masking, session.seed, progress)

    return memo("releases", 8).get_or_make(release_key(session), draw)
