"""Say which of two attacks a worst case of linkage was, and whether it is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import people, percent


def linked(reading: Reading, n: int, who: str) -> str:
    """One sentence without its end: who links how many by which attack, and what the other does.

    Parameters
    ----------
    reading : Reading
        With the detail of `WorstCase`.
    n : int
        Number of records.
    who : str
        The intruder.
    """
    detail, count = reading.detail, people(reading.value, n)
    alone = percent(detail["row_by_row"])
    if detail["standing"] == "at least":
        more = _more(detail["estimate"]) + _at_most(detail)
        rows = f"one row at a time{_some(detail)}"
        return f"{who} links at least {count} rightly, looking at {rows}; {more}"
    if detail["attack"] == "file":
        return (
            f"{who} links {count} rightly by giving all rows to originals at once, each original "
            f"one row (one row at a time: {alone})"
        )
    return (
        f"{who} links {count} rightly, looking at one row at a time (all rows given to originals "
        f"at once: {percent(detail['at_once'])})"
    )


def _some(detail: Mapping[str, Any]) -> str:
    """How many random rows were linked, where it was not all of them."""
    rows, of = detail.get("rows", 0), detail.get("of", 0)
    return f" (of {rows:,} random rows, to all {of:,} originals)" if rows < of else ""


def _at_most(detail: Mapping[str, Any]) -> str:
    """What he links who is told some of the people, and so how many at most he who is not."""
    told = detail.get("told")
    if told is None:
        return ""
    m, share = f"{told['people']:,}", percent(max(told["row_by_row"], told["at_once"]))
    return (
        f"; told which {m} random people {m} of the rows come from, he links {share} of these: who "
        f"is not told links at most {percent(detail['at_most'])} of all"
    )


def _more(estimate: float | None) -> str:
    if estimate is None:
        return "the table is too large to say how many more he links who assigns all rows at once"
    return f"who assigns all rows at once links about {percent(estimate)}, an estimate"
