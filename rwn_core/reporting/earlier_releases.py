"""Says which releases of a ledger show the same people as another one, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.reporting.table_marks import common_columns, common_records


def overlaps(
    entries: Sequence[Mapping[str, Any]], marks: Mapping[str, Any], record: Mapping[str, Any]
) -> list[str]:
    """Say which earlier releases show the same people, and what one more of them costs.

    Parameters
    ----------
    entries : sequence of mapping
        Those of the ledger.
    marks : mapping
        Of the table to be released, under the ledger's key.
    record : mapping
        Of its release.
    """
    said = []
    for entry in entries:
        words = _overlap(entry["marks"], marks)
        if words:
            said.append(f"Release {entry['release']} of {entry['made'][:10]} {words}.")
    if said:
        said.append(_cost(len(said) + 1, record))
    return said


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
    """What so many releases add up to, as far as the record knows."""
    reading = record["readings"].get("repeated_releases", {})
    known = dict(zip(reading.get("releases", []), reading.get("bound", []), strict=True))
    most = max((m for m in known if m <= times), default=None)
    if most is None or 1 not in known:
        why = reading.get("not_applicable", "The record has no reading of it.")
        return f"Together they give away more than each alone; how much is not known. {why}"
    return (
        f"Releases add up: at this setting an intruder who knows the keys of everybody links at "
        f"least {100 * known[1]:.0f} % of the records after one release and at least "
        f"{100 * known[most]:.0f} % after {most}."
    )
