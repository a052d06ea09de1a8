"""Says which releases of a ledger show the same people as another one, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.reporting.table_marks import common_columns, common_records


def overlaps(
    entries: Sequence[Mapping[str, Any]], marks: Mapping[str, Any], record: Mapping[str, Any]
) -> list[str]:
    """Say which earlier releases show the same people, and what one more of them costs."""
    said = [
        f"Release {entry['release']} of {entry['made'][:10]} {_overlap(entry['marks'], marks)}."
        for entry in overlapping(entries, marks)
    ]
    if said:
        said.append(_cost(len(said) + 1, record))
    return said


def overlapping(
    entries: Sequence[Mapping[str, Any]], marks: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Which entries are of the same people as a table, as far as their marks tell."""
    return [entry for entry in entries if _overlap(entry["marks"], marks)]


def _overlap(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if earlier["table"] == now["table"]:
        return "is of the same table"
    share = common_records(earlier, now)
    if share > 0:
        some = f"about {100 * share:.0f} %" if share >= 0.01 else "a few"
        return f"has {some} of its records in common with this table, by all their values"
    columns = common_columns(earlier, now)
    if columns:
        return f"has the same values in {columns} of {len(now['columns'])} variables"
    return ""


def _cost(times: int, record: Mapping[str, Any]) -> str:
    """State the joint risk of several releases, as far as the record knows."""
    reading = record["readings"].get("repeated_releases", {})
    shares = reading.get("same_order", reading.get("bound", []))  # "bound": of earlier versions
    known = dict(zip(reading.get("releases", []), shares, strict=True))
    most = max((m for m in known if m <= times), default=None)
    if most is None or 1 not in known:
        why = reading.get("not_applicable", "The record has no reading of it.")
        return f"Together they give away more than each alone; how much is not known. {why}"
    least = "" if reading.get("standing") == "worst" else "at least "
    fresh = reading.get("shuffled", known[1])
    times_ = "1 release" if most == 1 else f"{most} releases"
    return (
        f"Who knows the keys links {least}{100 * known[most]:.0f} % of the records after {times_} "
        f"if rows keep their places, at least {100 * fresh:.0f} % in fresh secret order."
    )
