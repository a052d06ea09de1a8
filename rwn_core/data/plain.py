"""Plain data of a TOML or JSON file become records over their type hints: one sentence a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import partial
from inspect import signature
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from rwn_core.errors import InputError, RWNError

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def read_plain(
    kind: Any, given: Any, what: str, *, path: str = "", refusal: type[RWNError] = InputError
) -> Any:
    """Read plain data as a type hint says; nothing is guessed, converted or left out.

    A record is a table with its fields, by the names of `in_file` in their metadata or their own;
    one of a single field is a list; a class with `of` is made by it, from what `of` takes.

    Parameters
    ----------
    kind : type
    given : object
        Of texts, numbers, truth values, lists and mappings.
    what : str
        What the file is, such as "scenario".
    path : str
        Where in the file it stands, such as "setting.weights"; empty at its top.
    refusal : type of RWNError

    Examples
    --------
    >>> read_plain(tuple[int, ...], [1, 2], "list")
    (1, 2)
    """
    origin, parts = get_origin(kind), get_args(kind)
    subject = f"The {path} of the {what}" if path else f"The {what}"
    below = partial(read_plain, what=what, refusal=refusal)
    if kind is Any or (given is None and NoneType in parts):
        return given
    if origin in (Union, UnionType):
        *others, last = [each for each in parts if each is not NoneType]
        for each in others:
            with suppress(refusal):
                return below(each, given, path=path)
        return below(last, given, path=path)
    if origin in (tuple, Sequence):
        if not isinstance(given, list | tuple):
            raise refusal(f"{subject} must be a list; correct it.")
        places = (f"{path}[{place}]" for place in range(1, len(given) + 1))
        return tuple(below(parts[0], e, path=name) for e, name in zip(given, places, strict=True))
    if origin is Mapping:
        if not isinstance(given, Mapping):
            raise refusal(f"{subject} must be a table; correct it.")
        return {
            name: below(parts[1], each, path=f"{path}.{name}".lstrip("."))
            for name, each in given.items()
        }
    if is_dataclass(kind):
        return _read_record(kind, given, what, path, refusal)
    # read a text, a number, a truth value, or a word of a list of words
    if issubclass(kind, StrEnum):
        if given not in list(kind):
            raise refusal(f"{subject} must be one of: {', '.join(kind)}.")
        return kind(given)
    fits = isinstance(given, int | float if kind is float else kind)
    if not fits or (isinstance(given, bool) and kind is not bool):
        raise refusal(f"{subject} must be {_WORDS[kind]}; correct it.")
    return given


def _read_record(kind: Any, given: Any, what: str, path: str, refusal: type[RWNError]) -> Any:
    make, known = file_fields(kind)
    subject = f"The {path} of the {what}" if path else f"The {what}"
    before = f"{path}." if path else ""
    if make is kind and len(known) == 1:  # its only field, as a list
        given, known, before = {"": given}, {"": next(iter(known.values()))}, path
    if not isinstance(given, Mapping):
        raise refusal(f"{subject} must be a table with: {', '.join(known)}.")
    own = {"format"} if hasattr(kind, "file_format") else set()
    for name in sorted(set(given) - set(known) - own):
        raise refusal(f"{subject} has the unknown field {name}; known are: {', '.join(known)}.")
    for name, (_, _, needed) in known.items():
        if needed and name not in given:
            raise refusal(f"{subject} has no {name}; state it.")
    read = partial(read_plain, what=what, refusal=refusal)
    return make(**{field: read(hint, given[name], path=before + name)
                   for name, (field, hint, _) in known.items() if name in given})  # fmt: skip


def file_fields(kind: Any) -> tuple[Any, dict[str, tuple[str, Any, bool]]]:
    """Return what makes a record, and its parameters by their names in a file.

    Each with its own name, its hint, and True if it is needed.
    """
    make = getattr(kind, "of", kind)
    hints = get_type_hints(make)
    if make is not kind:
        taken = signature(make).parameters
        return make, {n: (n, hints[n], each.default is each.empty) for n, each in taken.items()}
    return make, {
        each.metadata.get("in_file", each.name): (
            each.name,
            hints[each.name],
            each.default is MISSING and each.default_factory is MISSING,
        )
        for each in fields(kind)
    }


def plain_values(node: Any) -> Iterator[Any]:
    """Yield every text, number and truth value of plain data, without the names."""
    if isinstance(node, Mapping | list | tuple):
        for each in node.values() if isinstance(node, Mapping) else node:
            yield from plain_values(each)
    else:
        yield node
