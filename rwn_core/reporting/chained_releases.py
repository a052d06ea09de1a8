"""Says what merges of a release with earlier ones of the same people name, before it is signed.

Marks of a table are keyed fingerprints that show overlap with earlier releases, and no value.
Without the key of the ledger no intruder can try values against them.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from rwn_core.data.microdata import Microdata
from rwn_core.data.units import unit_of
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.reading import read_released
from rwn_core.laws.donors import released_schema
from rwn_core.laws.invariants import Invariants
from rwn_core.measures.attacks.red_team.chain import Chained, chain
from rwn_core.measures.attacks.red_team.subtraction import Subtracted, Subtrahend, subtract
from rwn_core.measures.risk.attributes import ATTRIBUTE_GAIN
from rwn_core.measures.risk.true_matches import MEASURE as TRUE_MATCHES

SKETCH = 2048
"""Smallest marks of records that are kept. Of m records of a table of n, one at least is among them
with probability 1 - exp(-2048 m / n) or so: 98 % for one in five hundred."""

BYTES = 8  # of a mark
_MISSED = 0.01  # the probability that fewer people differ than are counted


def table_marks(microdata: Microdata, key: bytes) -> dict[str, Any]:
    """Mark a table, its variables and a sample of its records."""
    names = sorted(variable.name for variable in microdata.schema.released)
    hashes: list[NDArray[np.uint64]] = []
    for column in (microdata.frame[name] for name in names):
        # a number for each value, the same for 5 and 5.0, for a text and its category
        if pd.api.types.is_numeric_dtype(column.dtype):
            plain: Any = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
        else:
            plain = column.astype(object).where(column.notna(), "\0missing").astype(str)
        hashed = pd.util.hash_pandas_object(pd.Series(plain).reset_index(drop=True), index=False)
        hashes.append(np.asarray(hashed.to_numpy(), dtype=np.uint64))
    columns = [mark(key, b"column", np.sort(each).tobytes()) for each in hashes]
    # each different record
    marks = sorted({mark(key, b"record", row.tobytes()) for row in np.unique(hashes, axis=1).T})
    unit = unit_of(microdata)
    return {
        "table": mark(key, b"table", microdata.fingerprint.encode()),
        "names": mark(key, b"names", "\0".join(names).encode()),
        "columns": sorted(columns),
        "records": marks[:SKETCH],
        "count": len(marks),
        "most_rows": 1 if unit is None else int(np.bincount(unit.numbers).max()),
    }


def mark(key: bytes, kind: bytes, content: bytes) -> str:
    """Mark a content of some kind: 16 hexadecimal digits that depend on the key."""
    return hashlib.blake2b(content, digest_size=BYTES, key=key, person=kind).hexdigest()


def common_records(one: Mapping[str, Any], two: Mapping[str, Any]) -> float:
    """Estimate how large a share of the smaller table's records is in both, over all variables."""
    if one["names"] != two["names"]:
        return 0.0  # records over other variables have other marks
    first, second = _seen(one, two)
    union = first | second
    similarity = len(first & second) / len(union) if union else 0.0
    both = similarity * (one["count"] + two["count"]) / (1 + similarity)
    smaller = min(one["count"], two["count"])
    return min(1.0, both / smaller) if smaller and math.isfinite(both) else 0.0


def _seen(one: Mapping[str, Any], two: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the marks of either table among the smallest of both, which are a random sample."""
    first, second = set(one["records"]), set(two["records"])
    most = SKETCH if max(one["count"], two["count"]) > SKETCH else None
    smallest = set(sorted(first | second)[:most])
    return first & smallest, second & smallest


def common_columns(one: Mapping[str, Any], two: Mapping[str, Any]) -> int:
    """Count the variables with the same values in both tables."""
    return (Counter(one["columns"]) & Counter(two["columns"])).total()


def changed_people(
    earlier: Mapping[str, Any], now: Mapping[str, Any], shared: int
) -> tuple[int, int] | None:
    """Count the people of the earlier table or this one only, at least; None if none are in both.

    `shared` is the number of their common variables.
    """
    if earlier["table"] == now["table"]:
        return 0, 0
    equal = common_columns(earlier, now)
    if earlier["names"] != now["names"]:  # records over other variables have other marks
        if equal == shared:
            return 0, 0
        return (1, 1) if equal else None
    share = common_records(earlier, now)
    if not (share or equal):
        return None
    if earlier["records"] == now["records"] and equal == shared:
        return 0, 0
    first, second = _seen(earlier, now)
    # one seen in a sample of few may be all that there are: a lower bound counts, not the estimate
    left = earlier["count"]
    came = now["count"]
    sampled = len(first | second) / max(left + came - share * min(left, came), 1.0)
    gone, new = (
        max(len(each), int(special.gammaincinv(len(each), _MISSED) / sampled)) if each else 0
        for each in (first - second, second - first)
    )
    new = max(new, gone - left + came, came - left)  # the difference of the two is known
    # records of one person are one person: at least so many people have them
    most = max(each.get("most_rows", 1) for each in (earlier, now))
    gone, new = (-(-each // most) for each in (new + left - came, new))
    return (gone, new) if gone or new else (1, 1)


def overlaps(
    entries: Sequence[Mapping[str, Any]], marks: Mapping[str, Any], record: Mapping[str, Any]
) -> list[str]:
    """Say which earlier releases show the same people, and what one more of them costs."""
    said = [
        f"Release {entry['release']} of {entry['made'][:10]} {_overlap(entry['marks'], marks)}."
        for entry in overlapping(entries, marks)
    ]
    if not said:
        return said
    # the joint risk of all of them, as far as the record knows
    reading = record["readings"].get("repeated_releases", {})
    shares = reading.get("same_order", [])
    known = dict(zip(reading.get("releases", []), shares, strict=True))
    most = max((m for m in known if m <= len(said) + 1), default=None)
    if most is None or 1 not in known:
        why = reading.get("not_applicable", "The record has no reading of it.")
        cost = f"Together they give away more than each alone; how much is not known. {why}"
        return [*said, cost]
    least = "" if reading.get("standing") == "worst" else "at least "
    fresh = reading.get("shuffled", known[1])
    times = "1 release" if most == 1 else f"{most} releases"
    cost = (
        f"Who knows the keys links {least}{100 * known[most]:.0f} % of the records after {times} "
        f"if rows keep their places, at least {100 * fresh:.0f} % in fresh secret order."
    )
    return [*said, cost]


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


Files = Sequence[tuple[str, bytes]]
LIMITS = (ATTRIBUTE_GAIN.key, TRUE_MATCHES.key)  # the limits that a chain of merges breaks
_KEY = "key"
_SECRET = "confidential"
_COUNTS = ("secret", "score", "right", "named", "people", "exact")
"""What the ledger keeps of the worst merge."""


def held(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a record that later releases need to be merged with it."""
    table, setting = record["table"], record["setting"]
    return {
        "columns": list(table.get("variables", ())),
        "slices": method_slices(record),
        "not_masked": list(table.get("not_masked", ())),
        "parameters": dict(setting.get("parameters", {})),
        **({"keeps": table["keeps"]} if "keeps" in table else {}),
        "precision": dict(setting.get("precision", {})),
        "file": str(record.get("source", {}).get("released", "")),
    }


def method_slices(record: Mapping[str, Any]) -> list[list[str]]:
    """Return the sets of released columns with one person's values each, by the method."""
    table, setting = record["table"], record["setting"]
    names = list(table.get("variables", ()))
    given = record["file"].get("slices", setting.get("slices", ()))
    together = set[str]().union(*given)
    unmasked = [name for name in table.get("not_masked", ()) if name in names]
    alone = [[name] for name in names if name not in together]
    return [*(list(each) for each in given), *([unmasked] if len(unmasked) > 1 else []), *alone]


def _of_other_slices(entries: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> list[str]:
    """Return the earlier releases whose slices are not those of a record."""
    slices = sorted(method_slices(record))
    return [entry["release"] for entry in entries if sorted(entry["slices"]) != slices]


def together(
    entries: Sequence[Mapping[str, Any]],
    record: Mapping[str, Any],
    original: Microdata,
    marks: Mapping[str, Any],
    files: Files = (),
) -> tuple[list[str], dict[str, Any], str]:
    """Merge a release with earlier ones of the same people, and subtract it, as an intruder may.

    Return a sentence for each finding, what the entry of the ledger keeps of them, and why the
    release must not be made: it reads a person.
    """
    at_hand = {hashlib.sha256(content).hexdigest(): (name, content) for name, content in files}
    read = cache(partial(read_earlier, original=original, at_hand=at_hand))
    facts = held(record)
    own = read(record["file"]["sha256"], facts["file"])
    words: list[str] = []
    refusal = ""
    if own is not None and "keeps" in record["table"]:
        words, refusal = subtracted(entries, marks, _subtrahend(own, facts), original, read)
    same = overlapping(entries, marks)
    if not same:
        return words, {}, refusal

    # of earlier releases of the same people: those whose file and slices are at hand
    at_hand_of_same = _with_files(same, read) if own is not None else []
    checked = [entry["release"] for entry, _ in at_hand_of_same]
    unchecked = [entry["release"] for entry in same if entry["release"] not in checked]
    kept: dict[str, Any] = {"checked": checked, "unchecked": unchecked, "breaks": False}
    others = _of_other_slices([entry for entry, _ in at_hand_of_same], record)
    if others:
        words.append(
            f"Other slices than in {_listed(others)}: fragments of one person chain over the "
            "releases."
        )
    if own is not None and at_hand_of_same:
        worst = _worst_merge(own, at_hand_of_same, record, original)
        words.append(_said(worst, checked))
        if worst is not None:
            kept |= {name: getattr(worst, name) for name in _COUNTS}
            limit = _limit_on_merges(record)
            if worst.score > limit:
                kept["breaks"] = True
                words.append(
                    f"Together they break the limit of {100 * limit:g} % on what is learned of a "
                    "person: this release is not kept."
                )
    if unchecked:
        words.append(
            f"Merges with {_listed(unchecked)} could not be checked, so this release is not kept; "
            "give the released files."
        )
    return words, kept, refusal


Earlier = tuple[Mapping[str, Any], pd.DataFrame]
"""An entry of the ledger, and the file that it tells of."""


def _with_files(
    entries: Sequence[Mapping[str, Any]], read: Callable[[str, str], pd.DataFrame | None]
) -> list[Earlier]:
    """Return the entries that hold their slices and whose file is at hand, with the file."""
    files = [read(each["sha256"], each.get("file", "")) for each in entries]
    pairs = zip(entries, files, strict=True)
    return [(entry, file) for entry, file in pairs if file is not None and "slices" in entry]


def _worst_merge(
    own: pd.DataFrame,
    earlier: Sequence[Earlier],
    record: Mapping[str, Any],
    original: Microdata,
) -> Chained | None:
    """Return the merge of a release and an earlier one that names most; None if there is none."""
    keys, secrets = _keys_and_secrets(record)
    # the slices, and whole rows: some are one person's where values are kept
    release = (own, [*method_slices(record), list(map(str, own))])
    worst: Chained | None = None
    for entry, file in earlier:
        table = (file, [*entry["slices"], list(map(str, file))])
        for merge in chain(original.frame, (release, table), keys, secrets):
            uses_both = len({number for number, _ in merge.path}) == 2
            if uses_both and (worst is None or merge.score > worst.score):
                worst = merge
    return worst


def _keys_and_secrets(record: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the keys and the confidential variables of a record; all others where one lacks."""
    roles = dict(zip(record["table"]["variables"], record["table"]["roles"], strict=True))
    secrets = [name for name, role in roles.items() if role == _SECRET]
    keys = [name for name, role in roles.items() if role == _KEY]
    if not keys:
        keys = [name for name in roles if name not in secrets]
    if not secrets:
        secrets = [name for name in roles if name not in keys]
    return keys, secrets


def _limit_on_merges(record: Mapping[str, Any]) -> float:
    """Return the least limit that a merge can break; infinite where the policy has none."""
    limits = [each["at_most"] for each in record.get("limit", ()) if each["measure"] in LIMITS]
    return min(limits, default=math.inf)


def subtracted(
    entries: Sequence[Mapping[str, Any]],
    marks: Mapping[str, Any],
    own: Subtrahend,
    original: Microdata,
    read: Callable[[str, str], pd.DataFrame | None],
) -> tuple[list[str], str]:
    """Subtract a release from every earlier one; sentences, and why the release is refused."""
    words: list[str] = []
    refusal = ""
    spared = {v.name for v in original.schema.released if not v.masked and v.role != _SECRET}
    for entry in entries:
        shared = set(entry.get("columns", ())) & set(map(str, own.frame))
        changed = changed_people(entry["marks"], marks, len(shared))
        if changed == (0, 0) or not shared or "keeps" not in entry:
            continue
        frame = read(entry["sha256"], entry.get("file", ""))
        if frame is None:
            if changed and _could_be_subtracted(own.keeps, Invariants.from_plain(entry["keeps"])):
                refusal = refusal or (
                    f"The file of release {entry['release']} is missing, so this release of some "
                    "of its people cannot be subtracted from it; give it with --released."
                )
            continue
        found = subtract(_subtrahend(frame, entry), own, changed)
        sentence = _reading_words(found, entry["release"], changed)
        if sentence:
            words.append(sentence)
        if _is_grave(found, spared):
            refusal = refusal or (
                f"{sentence} Release that table again, or mask by a method that "
                "keeps no totals and no values (rwn methods)."
            )
    return words, refusal


def _could_be_subtracted(one: Invariants, two: Invariants) -> bool:
    """True if both keep totals or values of the same columns, or move nothing."""
    moved_one = {*one.totals, *one.values} - set(one.records)
    moved_two = {*two.totals, *two.values} - set(two.records)
    return bool(moved_one & moved_two) or (one.fixed and two.fixed)


def _is_grave(found: Subtracted, spared: set[str]) -> bool:
    """True if a subtraction reads a masked column, or all columns exactly.

    A column that the steward spared is in either file as it is; it counts where it is
    confidential.
    """
    reads_a_masked_one = any(name not in spared for name in found.read)
    return reads_a_masked_one or len(found.exact) == len(found.columns)


_PEOPLE = {
    (1, 0): "one person who was withdrawn",
    (0, 1): "one person who was added",
    (1, 1): "one person who was corrected or replaced",
}
"""The people that a difference is about, by how many left and how many came."""


def _subtrahend(frame: pd.DataFrame, entry: Mapping[str, Any]) -> Subtrahend:
    keeps = Invariants.from_plain(entry["keeps"])
    return Subtrahend(frame=frame, keeps=keeps, precision=entry.get("precision", {}))


def _reading_words(found: Subtracted, release: str, changed: tuple[int, int] | None) -> str:
    """Say which columns of which person a subtraction reads."""
    gone, new = changed or (1, 1)
    people = _PEOPLE.get((gone, new), f"{gone} people who left and {new} who came")
    exact = found.exact
    among = len(found.columns)
    if not found.read and not found.shown:
        return ""
    if not found.read:
        return (
            f"Subtraction of this release and {release} reads nothing for certain of {people}: a "
            f"value that one of them alone shows is theirs with probability {found.shown:.2g} "
            "at most."
        )
    part = "the whole record" if len(exact) == among else f"{len(found.read)} columns"
    least = min(found.read.values())
    more = f", the others with probability {least:.2g} or more" if least < 1 else ""
    return (
        f"Subtraction of this release and {release} reads {part} of {people}: {len(exact)} of "
        f"{among} columns exactly{more}."
    )


def _said(worst: Chained | None, checked: Sequence[str]) -> str:
    which = _listed(checked)
    if worst is None or worst.score <= 0:
        return (
            f"Merges of this release with {which} by equal values, two at most, name no "
            "confidential value beyond luck; other ways to join them were not tried."
        )
    share = f"{100 * worst.named / worst.people:.0f} %"
    people = "the people" if worst.level is None else "the people of one level"
    return (
        f"Merges of this release with {which} name {worst.secret} of {share} of {people}; "
        f"{100 * worst.right / worst.named:.0f} % of the names are right."
    )


def _listed(releases: Sequence[str]) -> str:
    noun = "release" if len(releases) == 1 else "releases"
    return f"{noun} {', '.join(releases)}"


def read_earlier(
    digest: str, place: str, original: Microdata, at_hand: Mapping[str, tuple[str, bytes]]
) -> pd.DataFrame | None:
    """Read a released file; None if the file with this digest is not found."""
    file = at_hand.get(digest)
    if file is None:
        # where the ledger says that it lies, unless it is another one by now
        path = Path(place)
        content = b""
        with suppress(OSError):
            content = path.read_bytes() if path.is_file() else b""
        if not content or hashlib.sha256(content).hexdigest() != digest:
            return None
        file = path.name, content
    for schema in (released_schema(original.schema), None):  # other columns were released then
        try:
            return read_released(file, schema).frame
        except SchemaError:
            continue
        except InputError:
            return None
    return None
