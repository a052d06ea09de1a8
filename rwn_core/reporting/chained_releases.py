"""Says what merges of a release with earlier ones of the same people name, before it is signed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.read_released import read_released
from rwn_core.laws.donors import released_schema
from rwn_core.measures.attacks.red_team.chain import Chained, chain

Files = Sequence[tuple[str, bytes]]
LIMITS = ("attribute_gain", "true_matches")  # the limits that a chain of merges breaks
_KEY, _SECRET = "key", "confidential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Findings of a release merged with earlier ones of the same people."""

    words: tuple[str, ...] = ()  # a sentence each
    met: bool = True  # whether every earlier release was checked, and no limit is broken
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
    files: Files = (),
) -> Together:
    """Merge a release with earlier ones of the same people, as an intruder may."""
    if not entries:
        return Together()
    at_hand = {_digest(content): (name, content) for name, content in files}
    own = _read(record["file"]["sha256"], held(record)["file"], original, at_hand)
    found = [_read(each["sha256"], each.get("file", ""), original, at_hand) for each in entries]
    known = [] if own is None else [
        (entry, frame) for entry, frame in zip(entries, found, strict=True)
        if frame is not None and "slices" in entry
    ]  # fmt: skip
    checked = [entry["release"] for entry, _ in known]
    unchecked = [entry["release"] for entry in entries if entry["release"] not in checked]
    words, breaks, plain = [], False, {}
    others = [each for each, _ in known if sorted(each["slices"]) != sorted(method_slices(record))]
    if others:
        which = _listed([each["release"] for each in others])
        words.append(
            f"Other slices than in {which}: fragments of one person chain over the releases."
        )
    if known and own is not None:
        worst = _worst(original, record, own, known)
        words.append(_said(worst, checked))
        most = _limit(record)
        breaks = worst is not None and most is not None and worst.score > most
        plain = {} if worst is None else _plain(worst)
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
    met = not (breaks or unchecked)
    plain = {**plain, "checked": checked, "unchecked": unchecked, "breaks": breaks}
    return Together(words=tuple(words), met=met, plain=plain)


def _worst(
    original: Microdata,
    record: Mapping[str, Any],
    own: pd.DataFrame,
    known: Sequence[tuple[Mapping[str, Any], pd.DataFrame]],
) -> Chained | None:
    """The chain over this release and earlier ones that names most; None where there is none."""
    table = record["table"]
    roles = dict(zip(table["variables"], table["roles"], strict=True))
    secrets = [name for name, role in roles.items() if role == _SECRET]
    keys = [name for name, role in roles.items() if role == _KEY]
    keys = keys or [name for name in roles if name not in secrets]
    secrets = secrets or [name for name in roles if name not in keys]
    releases = [(own, _pieces(method_slices(record), own))]
    releases += [(frame, _pieces(entry["slices"], frame)) for entry, frame in known]
    found = chain(original.frame, releases, keys, secrets)
    return next((each for each in found if each.releases[0] == 0 < each.releases[-1]), None)


def _pieces(slices: Sequence[Sequence[str]], frame: pd.DataFrame) -> list[list[str]]:
    """The slices, and whole rows: some are one person's where values are kept."""
    return [*(list(each) for each in slices), list(map(str, frame))]


def _limit(record: Mapping[str, Any]) -> float | None:
    """The lowest limit that a chain of merges may break."""
    most = [each["at_most"] for each in record.get("limit", ()) if each["measure"] in LIMITS]
    return min(most, default=None)


def _said(worst: Chained | None, checked: Sequence[str]) -> str:
    which = _listed(checked)
    if worst is None or worst.score <= 0:
        return f"Merges of this release with {which} name no confidential value beyond luck."
    share = f"{100 * worst.named / worst.people:.0f} %"
    people = "the people" if worst.level is None else "the people of one level"
    return (
        f"Merges of this release with {which} name {worst.secret} of {share} of {people}; "
        f"{100 * worst.right / worst.named:.0f} % of the names are right."
    )


def _plain(worst: Chained) -> dict[str, Any]:
    counts = {name: getattr(worst, name) for name in ("right", "named", "people", "exact")}
    return {"secret": worst.secret, "score": worst.score, **counts}


def _listed(releases: Sequence[str]) -> str:
    return f"release{'s' * (len(releases) > 1)} {', '.join(releases)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(
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
