"""Marks of a table: keyed fingerprints that show overlap with earlier releases, and no value.

Without the key of the ledger no intruder can try values against them.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata

SKETCH = 2048
"""Smallest marks of records that are kept. Of m records of a table of n, one at least is among them
with probability 1 - exp(-2048 m / n) or so: 98 % for one in five hundred."""

BYTES = 8  # of a mark


def table_marks(microdata: Microdata, key: bytes) -> dict[str, Any]:
    """Mark a table, its variables and a sample of its records."""
    names = sorted(variable.name for variable in microdata.schema.released)
    sorted_hashes = (np.sort(cell_hashes(microdata.frame[name])) for name in names)
    columns = [mark(key, b"column", hashes.tobytes()) for hashes in sorted_hashes]
    # each different record
    hashes = np.column_stack([cell_hashes(microdata.frame[name]) for name in names])
    marks = sorted({mark(key, b"record", row.tobytes()) for row in np.unique(hashes, axis=0)})
    return {
        "table": mark(key, b"table", microdata.fingerprint.encode()),
        "names": mark(key, b"names", "\0".join(names).encode()),
        "columns": sorted(columns),
        "records": marks[:SKETCH],
        "count": len(marks),
    }


def mark(key: bytes, kind: bytes, content: bytes) -> str:
    """Mark a content of some kind: 16 hexadecimal digits that depend on the key."""
    return hashlib.blake2b(content, digest_size=BYTES, key=key, person=kind).hexdigest()


def cell_hashes(column: pd.Series[Any]) -> NDArray[np.uint64]:
    """Find a number for each value, the same for 5 and 5.0, for a text and its category."""
    # shape (n,)
    if pd.api.types.is_numeric_dtype(column.dtype):
        plain: Any = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
    else:
        plain = column.astype(object).where(column.notna(), "\0missing").astype(str)
    hashed = pd.util.hash_pandas_object(pd.Series(plain).reset_index(drop=True), index=False)
    return np.asarray(hashed.to_numpy(), dtype=np.uint64)


def common_records(one: Mapping[str, Any], two: Mapping[str, Any]) -> float:
    """Estimate how large a share of the smaller table's records is in both, over all variables."""
    if one["names"] != two["names"]:
        return 0.0  # records over other variables have other marks
    first, second = set(one["records"]), set(two["records"])
    union = sorted(first | second)
    if max(one["count"], two["count"]) > SKETCH:
        union = union[:SKETCH]
    shared = sum(mark in first and mark in second for mark in union)
    similarity = shared / len(union) if union else 0.0
    both = similarity * (one["count"] + two["count"]) / (1 + similarity)
    smaller = min(one["count"], two["count"])
    return min(1.0, both / smaller) if smaller and math.isfinite(both) else 0.0


def common_columns(one: Mapping[str, Any], two: Mapping[str, Any]) -> int:
    """Count the variables with the same values in both tables."""
    return (Counter(one["columns"]) & Counter(two["columns"])).total()


def changed_people(
    earlier: Mapping[str, Any], now: Mapping[str, Any], shared: int
) -> tuple[int, int] | None:
    """Estimate the people of the earlier table or this one only; None if none are known in both.

    `shared` is the number of their common variables.
    """
    if earlier["table"] == now["table"]:
        return 0, 0
    equal = common_columns(earlier, now)
    if earlier["names"] != now["names"]:  # records over other variables have other marks
        return (0, 0) if equal == shared else (1, 1) if equal else None
    share = common_records(earlier, now)
    if not (share or equal):
        return None
    if earlier["records"] == now["records"] and equal == shared:
        return 0, 0
    common = share * min(earlier["count"], now["count"])
    gone, new = (max(round(each["count"] - common), 0) for each in (earlier, now))
    return (gone, new) if gone or new else (1, 1)


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
