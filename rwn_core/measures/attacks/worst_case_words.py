"""Say which of three attacks a worst case of linkage was, and whether it is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import people, percent

_WAYS = {
    "rows": "looking at one row at a time",
    "weighed": "naming the most likely original of each row given all rows",
    "file": "by giving all rows to originals at once, each original one row",
}


def linked(reading: Reading, n: int, who: str) -> str:
    """Say which intruder links how many records by which attack; without a full stop."""
    detail, count = reading.detail, people(reading.value, n)
    alone = percent(detail["row_by_row"])
    if detail["standing"] == "at least":
        more = _more(detail) + _at_most(detail)
        rows = f"one row at a time{_some(detail)}"
        return f"{who} links at least {count} correctly in expectation, looking at {rows}; {more}"
    others = {
        "rows": f"one row at a time: {alone}",
        "weighed": f"all rows by the joint posterior: {_share(detail['weighed'])}",
        "file": f"all rows given to originals at once: {_share(detail['at_once'])}",
    }
    del others[detail["attack"]]
    how = f"{_WAYS[detail['attack']]} ({', '.join(others.values())})"
    return f"{who} links {count} correctly in expectation, {how}"


def _some(detail: Mapping[str, Any]) -> str:
    """Return the number of linked rows, if not all were linked."""
    rows, of = detail.get("rows", 0), detail.get("of", 0)
    return f" (of {rows:,} random rows, to all {of:,} originals)" if rows < of else ""


def _at_most(detail: Mapping[str, Any]) -> str:
    """Return the upper bound, with the parts that it rests on."""
    told = detail.get("told")
    if told is None:
        return ""
    most = percent(detail["at_most"])
    if told["parts"] == 1:  # there is nothing to tell
        return f"; no attack that was tried links more than {most}, an estimate"
    return (
        f"; with each row's part of the file ({told['parts']:,} parts) known, "
        f"{percent(told['share'])} are linked: without it at most {most}, an estimate"
    )


def _share(value: float | None) -> str:
    return "not known" if value is None else percent(value)


def _more(detail: Mapping[str, Any]) -> str:
    if detail["estimate"] is None:
        return "the table is too large for the joint posterior of all rows"
    estimate = percent(detail["estimate"])
    return f"by the joint posterior of all rows about {estimate}, an estimate"
