"""A bounded memory of what one user's choices led to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_T = TypeVar("_T")


class Memo:
    """The latest results of one user; the oldest go first. Nothing is shared between users."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The kept result of this key, or a new one."""
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self.keep(key, make())
        result: _T = self._kept[key]
        return result

    def keep(self, key: Hashable, result: object) -> None:
        """Keep a result that was made elsewhere."""
        self._kept[key] = result
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)

    def get(self, key: Hashable) -> Any:
        """The kept result of this key; None where there is none."""
        return self._kept.get(key)

    def __contains__(self, key: Hashable) -> bool:
        """Whether a result of this key is kept."""
        return key in self._kept
