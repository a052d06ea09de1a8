"""What a room says, held as a whole against tests/golden/sentences; --update-sentences rewrites it.

Read the difference of the file before it is merged: it is what users will read. A section that is
for the most part like an earlier one is written as its difference from that one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from pathlib import Path

FOLDER = Path(__file__).parent / "golden" / "sentences"
_HEAD = re.compile(r"(?m)^== (.+)\n")
Sections = Mapping[str, Iterable[str]]


def read(room: str) -> dict[str, list[str]]:
    """The sections of a room's file, each with its lines."""
    file = FOLDER / f"{room}.txt"
    _, *parts = _HEAD.split(file.read_text("utf-8")) if file.exists() else [""]
    return {head: text.splitlines() for head, text in zip(parts[::2], parts[1::2], strict=True)}


def shortened(sections: Sections) -> dict[str, list[str]]:
    """The sections as they are written: whole, or as lines that another one has not (+) or has."""
    whole: dict[str, Counter[str]] = {}
    written: dict[str, list[str]] = {}
    for head, given in sorted(sections.items()):
        lines = Counter(given)
        size = lines.total()
        alike = {one: (lines & known).total() for one, known in whole.items()}
        near = max(alike, key=lambda one: 2 * alike[one] - whole[one].total(), default="")
        differs = unified_diff(written.get(near, []), list(given), n=0, lineterm="")
        changed = [line for line in differs if not line.startswith(("---", "+++", "@@"))]
        if near and 3 * len(changed) < 2 * size:
            written[f"{head} (as {near}, but)" if changed else f"{head} (as {near})"] = changed
        else:
            whole[head] = lines
            written[head] = list(given)
    return written


def hold(room: str, about: str, said: Sections, *, update: bool) -> None:
    """Compare all that is said about something with the file, or write it there."""
    found = shortened(
        {f"{about}: {head}": "\n".join(lines).splitlines() for head, lines in said.items()}
    )
    sections = read(room)
    known = {head: lines for head, lines in sections.items() if head.startswith(f"{about}: ")}
    if update and found != known:
        sections = {head: lines for head, lines in sections.items() if head not in known} | found
        texts = ["\n".join([f"== {head}", *sections[head]]) for head in sorted(sections)]
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{room}.txt").write_text("\n".join([*texts, ""]), "utf-8")
    elif not update:
        why = "sentences changed: run pytest --update-sentences and read the difference"
        assert set(found) == set(known), why
        for head, lines in found.items():
            assert lines == known[head], f"{head}: {why}"
