"""Results of this user's choices: a bounded memory, freed when the session ends."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_ui.background.progress import searching
from rwn_ui.state.prepared_table import CurrentRelease, PreparedTable
from rwn_ui.state.session import Session
from rwn_ui.state.user import user_state

_T = TypeVar("_T")
_MISSING: Any = object()


class Memo:
    """The latest results of one user; the oldest go first. Nothing is shared between users.

    It may be cleared from another thread while a page reads it.
    """

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_make(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The kept result of this key, or a new one."""
        with self._lock:
            kept: _T = self._kept.get(key, _MISSING)
            if kept is not _MISSING:
                self._kept.move_to_end(key)
                return kept
        result = make()
        self.keep(key, result)
        return result

    def keep(self, key: Hashable, result: object) -> None:
        """Keep a result that was made elsewhere."""
        with self._lock:
            self._kept[key] = result
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)

    def get(self, key: Hashable) -> Any:
        """The kept result of this key; None where there is none."""
        return self._kept.get(key)

    def copied(self) -> Memo:
        """A memory of its own with the same results."""
        made = Memo(self._entries)
        with self._lock:
            made._kept.update(self._kept)
        return made

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._kept.clear()

    def __contains__(self, key: Hashable) -> bool:
        """True if a result of this key is stored."""
        return key in self._kept

    def __len__(self) -> int:
        """Number of stored results."""
        return len(self._kept)


RESULTS = "rwn.results"
"""Key in Streamlit's session state."""
# decides: records up to which Utility and Sweep read all, though Tune shows some
ALL_RECORDS = 100_000
Key = tuple[Any, ...]
Options = tuple[tuple[str, Any], ...]


@dataclass(slots=True)
class Results:
    """Everything that was computed for one user; nothing is shared between users."""

    tables: Memo = field(default_factory=lambda: Memo(2))  # prepared tables, by `preparation_key`
    memos: dict[str, Memo] = field(default_factory=dict)  # the results of each feature, see `memo`
    last: dict[str, Any] = field(default_factory=dict)  # the last good picture, by what shows it

    def end(self) -> None:
        """Forget what belongs to a table that is given up; the latest prepared tables stay."""
        self.memos.clear()
        self.last.clear()


def user_results() -> Results:
    """This user's results."""
    return user_state(RESULTS, Results)


def memo(feature: str, entries: int) -> Memo:
    """The results of a feature, of which the latest are kept."""
    memos = user_state(RESULTS, Results).memos
    if feature not in memos:
        memos[feature] = Memo(entries)
    return memos[feature]


def table_key(data: rwn.Microdata) -> Key:
    """Cache key of a table: values, variables and their weights."""
    return data.fingerprint, data.schema


def verdict_key(session: Session) -> Key:
    """Cache key of what is found on a kind of setting: strengths do not count."""
    kind = session.method, session.options, session.precision
    return *table_key(session.data), session.policy, *kind


def policy_presets(session: Session) -> dict[str, dict[str, float]]:
    """Positions of the levers by their distance from the policy; empty while there are none."""
    found: dict[str, dict[str, float]] | None = memo("presets", 8).get(verdict_key(session))
    return found or {}


def setting_key(session: Session) -> Key:
    """Cache key of many releases of the current setting."""
    return *table_key(session.data), session.masking


def release_key(session: Session) -> Key:
    """Cache key of the current release."""
    return *setting_key(session), session.seed


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

    def prepare() -> PreparedTable:
        table: PreparedTable = user_results().tables.get_or_make(
            preparation_key(data, method, options),
            lambda: PreparedTable.prepare(data, method=method, options=dict(options)),
        )
        return table if table.data.schema == data.schema else table.with_slices(data)

    return memo("described tables", 2).get_or_make((*table_key(data), method, options), prepare)


def is_drawn(session: Session) -> bool:
    """True if `current_release` has drawn it already."""
    return release_key(session) in memo("releases", 8)


def current_release(session: Session, slot: DeltaGenerator | None = None) -> CurrentRelease:
    """The release of the current setting, as Tune shows it, and its readings."""
    return _release(session, prepared(session), slot, "releases")


def full_table(session: Session, slot: DeltaGenerator | None = None) -> PreparedTable:
    """The prepared table of all records, also where Tune shows some of them."""
    shown, data = prepared(session), session.data
    if shown.prepared.masks_all_records or data.n > ALL_RECORDS:
        return shown

    def prepare() -> PreparedTable:
        options = dict(session.options)
        with searching(slot) as progress:
            return PreparedTable.prepare(
                data, progress, method=session.method, options=options, most=ALL_RECORDS
            )

    key = (*table_key(data), session.method, session.options)
    full: PreparedTable = memo("full tables", 1).get_or_make(key, prepare)
    return full


def full_release(session: Session, slot: DeltaGenerator | None = None) -> CurrentRelease:
    """The release of all records of the current setting, and its readings."""
    table = full_table(session, slot)
    if table is prepared(session):
        return current_release(session, slot)
    return _release(session, table, slot, "full releases")


def _release(
    session: Session, table: PreparedTable, slot: DeltaGenerator | None, feature: str
) -> CurrentRelease:
    def draw() -> CurrentRelease:
        if slot is None:
            return table.release(session.masking, session.seed)
        with searching(slot) as progress:
            return table.release(session.masking, session.seed, progress)

    return memo(feature, 8).get_or_make(release_key(session), draw)
