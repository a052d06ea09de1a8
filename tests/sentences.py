"""What a room says, held as a whole against tests/golden/sentences; --update-sentences rewrites it.

Read the difference of the file before it is merged: it is what users will read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "golden" / "sentences"
_HEAD = re.compile(r"(?m)^== (.+)\n")
Sections = Mapping[str, Iterable[str]]


def read(room: str) -> dict[str, list[str]]:
    """The sections of a room's file, each with its lines."""
    file = FOLDER / f"{room}.txt"
    _, *parts = _HEAD.split(file.read_text("utf-8")) if file.exists() else [""]
    return {head: text.splitlines() for head, text in zip(parts[::2], parts[1::2], strict=True)}


def hold(room: str, about: str, said: Sections, *, update: bool) -> None:
    """Compare all that is said about something with the file, or write it there."""
    found = {f"{about}: {head}": "\n".join(lines).splitlines() for head, lines in said.items()}
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
