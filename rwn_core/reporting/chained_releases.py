"""Says what merges of a release with earlier ones of the same people name, before it is signed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.reading import read_released
from rwn_core.laws.donors import released_schema
from rwn_core.laws.invariants import Invariants
from rwn_core.measures.attacks.red_team.chain import Chained, chain
from rwn_core.measures.attacks.red_team.subtraction import Subtracted, Subtrahend, subtract
from rwn_core.reporting.table_marks import changed_people, overlapping

Files = Sequence[tuple[str, bytes]]
LIMITS = ("attribute_gain", "true_matches")  # the limits that a chain of merges breaks
_KEY, _SECRET = "key", "confidential"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedReleases:
    """Findings of a release merged with earlier ones of the same people."""

    words: tuple[str, ...] = ()  # a sentence each
    refusal: str = ""  # why the release must not be made: it reads a person
    # what the entry of the ledger keeps of it
    plain: Mapping[str, Any] = field(default_factory=dict)


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
    together = {name for each in given for name in each}
    unmasked = [name for name in table.get("not_masked", ()) if name in names]
    alone = [[name] for name in names if name not in together]
    return [*(list(each) for each in given), *([unmasked] if len(unmasked) > 1 else []), *alone]


def together(
    entries: Sequence[Mapping[str, Any]],
    record: Mapping[str, Any],
    original: Microdata,
    marks: Mapping[str, Any],
    files: Files = (),
) -> MergedReleases:
    """Merge a release with earlier ones of the same people, and subtract it, as an intruder may."""
    at_hand = {_digest(content): (name, content) for name, content in files}
    read = cache(partial(read_earlier, original=original, at_hand=at_hand))
    own = read(record["file"]["sha256"], held(record)["file"])
    words, refusal, plain = list[str](), "", dict[str, Any]()
    if own is not None and "keeps" in record["table"]:
        subtrahend = _subtrahend(own, held(record))
        words, refusal = subtracted(entries, marks, subtrahend, original, read)
    same = overlapping(entries, marks)
    if not same:
        return MergedReleases(words=tuple(words), refusal=refusal)
    found = [read(each["sha256"], each.get("file", "")) for each in same]
    known = [] if own is None else [
        (entry, frame) for entry, frame in zip(same, found, strict=True)
        if frame is not None and "slices" in entry
    ]  # fmt: skip
    checked = [entry["release"] for entry, _ in known]
    unchecked = [entry["release"] for entry in same if entry["release"] not in checked]
    others = [each for each, _ in known if sorted(each["slices"]) != sorted(method_slices(record))]
    if others:
        which = _listed([each["release"] for each in others])
        words.append(
            f"Other slices than in {which}: fragments of one person chain over the releases."
        )
    breaks = False
    if known and own is not None:
        # the merges of this release and an earlier one that name most
        roles = dict(zip(record["table"]["variables"], record["table"]["roles"], strict=True))
        secrets = [name for name, role in roles.items() if role == _SECRET]
        keys = [name for name, role in roles.items() if role == _KEY]
        keys = keys or [name for name in roles if name not in secrets]
        secrets = secrets or [name for name in roles if name not in keys]
        now = own, _pieces(method_slices(record), own)
        tables = (((frame, _pieces(entry["slices"], frame))) for entry, frame in known)
        merges = (
            each
            for table in tables
            for each in chain(original.frame, (now, table), keys, secrets)
            if len({release for release, _ in each.path}) == 2
        )
        worst = max(merges, key=lambda each: each.score, default=None)
        words.append(_said(worst, checked))
        most = min((each["at_most"] for each in record.get("limit", ())
                    if each["measure"] in LIMITS), default=None)  # fmt: skip
        breaks = worst is not None and most is not None and worst.score > most
        counts = ("secret", "score", "right", "named", "people", "exact")
        plain = {} if worst is None else {name: getattr(worst, name) for name in counts}
        if breaks:
            words.append(
                f"Together they break the limit of {100 * (most or 0):g} % on what is learned of "
                "a person: this release is not kept."
            )
    if unchecked:
        which = _listed(unchecked)
        words.append(
            f"Merges with {which} could not be checked, so this release is not kept; give the "
            "released files."
        )
    plain = {**plain, "checked": checked, "unchecked": unchecked, "breaks": breaks}
    return MergedReleases(words=tuple(words), plain=plain, refusal=refusal)


def subtracted(
    entries: Sequence[Mapping[str, Any]],
    marks: Mapping[str, Any],
    own: Subtrahend,
    original: Microdata,
    read: Callable[[str, str], pd.DataFrame | None],
) -> tuple[list[str], str]:
    """Subtract a release from every earlier one; sentences, and why the release is refused."""
    words, refusal, variables = list[str](), "", original.schema.released
    spared = {v.name for v in variables if not v.masked and v.role != _SECRET}
    for entry in entries:
        shared = set(entry.get("columns", ())) & set(map(str, own.frame))
        changed = changed_people(entry["marks"], marks, len(shared))
        if changed == (0, 0) or not shared or "keeps" not in entry:
            continue
        frame = read(entry["sha256"], entry.get("file", ""))
        if frame is None:
            # whether both keep totals or values that they can be subtracted by
            both = own.keeps, Invariants.from_plain(entry["keeps"])
            masked = [{*each.totals, *each.values} - set(each.records) for each in both]
            in_common = bool(masked[0] & masked[1]) or all(each.fixed for each in both)
            if changed:
                refusal = (
                    refusal
                    or (
                        f"The file of release {entry['release']} is missing, so this release of "
                        "some of its people cannot be subtracted from it; give it with --released."
                    )
                    * in_common
                )
            continue
        found = subtract(_subtrahend(frame, entry), own, changed)
        sentence = _reading_words(found, entry["release"], changed)
        words += [sentence] if sentence else []
        # a column that the steward spared is in either file as it is; it counts where it is
        # confidential
        grave = [n for n in found.read if n not in spared] or len(found.exact) == len(found.columns)
        if grave and not refusal:
            refusal = (
                f"{sentence} Release that table again, or mask by a method that "
                "keeps no totals and no values (rwn methods)."
            )
    return words, refusal


def _subtrahend(frame: pd.DataFrame, entry: Mapping[str, Any]) -> Subtrahend:
    keeps = Invariants.from_plain(entry["keeps"])
    return Subtrahend(frame=frame, keeps=keeps, precision=entry.get("precision", {}))


def _reading_words(found: Subtracted, release: str, changed: tuple[int, int] | None) -> str:
    """Say which columns of which person a subtraction reads."""
    gone, new = changed or (1, 1)
    who = {(1, 0): "one person who was withdrawn", (0, 1): "one person who was added"}.get(
        (gone, new),
        "one person who was corrected or replaced" if max(gone, new) == 1
        else f"people of whom {gone} left and {new} came",
    )  # fmt: skip
    exact, among = found.exact, len(found.columns)
    if not found.read:
        return (
            found.shown
            and (
                f"Subtraction of this release and {release} reads nothing for certain of {who}: a "
                f"value that one of them alone shows is theirs with probability {found.shown:.2g} "
                "at most."
            )
        ) or ""
    part = "the whole record" if len(exact) == among else f"{len(found.read)} columns"
    least = min(found.read.values())
    more = f", the others with probability {least:.2g} or more" if least < 1 else ""
    return (
        f"Subtraction of this release and {release} reads {part} of {who}: {len(exact)} of {among} "
        f"columns exactly{more}."
    )


def _pieces(slices: Sequence[Sequence[str]], frame: pd.DataFrame) -> list[list[str]]:
    """The slices, and whole rows: some are one person's where values are kept."""
    return [*(list(each) for each in slices), list(map(str, frame))]


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
    return f"release{'s' * (len(releases) > 1)} {', '.join(releases)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_earlier(
    digest: str, place: str, original: Microdata, at_hand: Mapping[str, tuple[str, bytes]]
) -> pd.DataFrame | None:
    """Read a released file; None if the file with this digest is not found."""
    file = at_hand.get(digest) or _there(Path(place), digest)
    if file is None:
        return None
    for schema in (released_schema(original.schema), None):  # other columns were released then
        try:
            return read_released(file, schema).frame
        except SchemaError:
            continue
        except InputError:
            return None
    return None


def _there(path: Path, digest: str) -> tuple[str, bytes] | None:
    """A file where the ledger says that it lies, unless it is another one by now."""
    try:
        content = path.read_bytes() if path.is_file() else b""
    except OSError:
        return None
    return (path.name, content) if content and _digest(content) == digest else None
