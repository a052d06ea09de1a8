"""Reads the parts of a documentation text that the reference repeats."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, fields
from typing import Any

_TITLE = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", flags=re.M)
_ENTRY = re.compile(r"^(\S[^:\n]*?)(?: : ([^\n]*))?\n((?:(?:    [^\n]*)?\n)*)", flags=re.M)


def sections(thing: Any) -> dict[str, str]:
    """The parts of a documentation text by their titles; what comes first is under ''."""
    first, *rest = _TITLE.split(inspect.getdoc(thing) or "")
    return {"": first.strip(), **dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))}


def sentence(thing: Any) -> str:
    """The first line of a documentation text."""
    return sections(thing)[""].partition("\n")[0]


def one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def entries(thing: Any) -> dict[str, tuple[str, str]]:
    """The type and the description of each parameter or attribute that a class documents."""
    parts = sections(thing)
    text = parts.get("Parameters") or parts.get("Attributes") or ""
    return {
        name: (kind, one_line(words))
        for names, kind, words in _ENTRY.findall(text + "\n")
        for name in names.split(", ")
    }


def undocumented(record: Any) -> list[str]:
    """The fields of a record that its documentation does not name."""
    return [field.name for field in fields(record) if field.name not in entries(record)]


def default(field: Field[Any]) -> str:
    """What stands where a field is left out."""
    if field.default is not MISSING:
        return f"`{field.default!r}`" if field.default is not None else "none"
    return "needed" if field.default_factory is MISSING else "none"
