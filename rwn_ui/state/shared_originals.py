"""What belongs to an original alone, held once for all users of the same table.

In a class everybody opens the same demo: numbers of levels, unique records and the fits of the
original are the same for all, and are the larger part of a user's memory. They are freed when
nobody has the table any more.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from weakref import WeakValueDictionary

from rwn_core.measures.comparison import Comparison, Memo

_HELD: WeakValueDictionary[Hashable, Memo] = WeakValueDictionary()
_ONE_AT_A_TIME = threading.Lock()


def share(comparison: Comparison) -> Comparison:
    """Let a comparison use what others found of the same values, under the same description."""
    records = None if comparison.records is None else comparison.records.tobytes()
    of_table = comparison.every.fingerprint, comparison.original.schema, records
    with _ONE_AT_A_TIME:
        comparison.cached_for_original = _HELD.setdefault(of_table, comparison.cached_for_original)
    return comparison
