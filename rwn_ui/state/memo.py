"""A bounded memory of what one user's choices led to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_T = TypeVar("_T")


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
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: _T = self._kept[key]
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
