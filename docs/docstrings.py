"""Reads the parts of a documentation text that the reference repeats."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from rwn_cli.ledger import ledger
from rwn_cli.main import app
from rwn_core.masking import METHODS

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
    own = _own_entries(thing)
    # what a record shares with others is documented by the class that has it
    for base in getattr(thing, "__mro__", ())[1:]:
        if is_dataclass(base) and base.__doc__:
            own = own | {name: each for name, each in _own_entries(base).items() if name not in own}
    return own


def _own_entries(thing: Any) -> dict[str, tuple[str, str]]:
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


def method_texts() -> dict[str, dict[str, dict[str, str]]]:
    """What public texts say of each method, and what is said of its parameters."""
    return {
        "methods": {key: _method_texts(method) for key, method in METHODS.items()},
        "parameters": {
            key: {name: words for name, (_, words) in entries(method).items()}
            for key, method in METHODS.items()
        },
    }


def _method_texts(method: Any) -> dict[str, str]:
    about = {title: one_line(text).replace("`", "") for title, text in sections(method).items()}
    first, _, more = sections(method)[""].partition("\n\n")
    # Sentences with numbers are left out: next to a table they would be taken for its own.
    destroyed = re.split(r"(?<=\.) (?=[A-Z])", about["What it destroys"])
    return {
        "name": one_line(first).removeprefix("The parameters of ").rstrip("."),
        "does": one_line(more).replace("`", ""),
        "destroys": " ".join(each for each in destroyed if not re.search(r"\d", each)),
        "source": about.get("References", ""),
    }


def command_texts() -> dict[str, str]:
    """What `--help` says of each command."""
    commands = (each.callback for each in (*app.registered_commands, *ledger.registered_commands))
    return {
        f"{each.__module__}.{each.__name__}": inspect.getdoc(each) or ""
        for each in commands
        if each is not None
    }
