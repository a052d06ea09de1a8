"""What is said of a measure that does not exist."""

from __future__ import annotations

from difflib import get_close_matches

from rwn_core.measures import MEASURES

_NAMED = 5


def no_measure(key: str) -> str:
    """The refusal of an unknown measure: the nearest that there are, and where all are listed.

    Examples
    --------
    >>> no_measure("entropi")
    'There is no measure entropi; docs/reference/measures.md lists all.'
    """
    near = [known for known in MEASURES if str(key) in known][:_NAMED]
    near = near or get_close_matches(str(key), MEASURES, n=_NAMED)
    meant = f"; near it: {', '.join(near)}" if near else ""
    return f"There is no measure {key}{meant}; docs/reference/measures.md lists all."
