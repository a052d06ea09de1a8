"""TOML files are written and read here, and nowhere else.

The text depends on the document alone: the hash of a frozen record is taken of it.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any

from rwn_core.data.text_budget import (
    DEEPEST,
    LARGEST_WHOLE_BITS,
    LONGEST_DOCUMENT,
    MOST_MARKS,
    check_letters,
)
from rwn_core.errors import InputError, RWNError

WIDTH = 100
"""Columns of a line; a longer list goes over several."""

_MARK = re.compile(r'"""|\'\'\'|["\'#\[\]{}=,.]|\n+')
_REST: Mapping[str, re.Pattern[str]] = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']|'(?!''))*+'{3,5}"),
    '"': re.compile(r'(?:[^"\\\n]|\\.)*+"'),
    "'": re.compile(r"[^'\n]*+'"),
    "#": re.compile(r"[^\n]*+"),
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DELETE = "\x7f"  # the one character that JSON leaves bare and TOML forbids

Path = tuple[str, ...]


def toml_text(document: Mapping[str, Any], *, ordered: bool = False) -> str:
    """Write plain data as TOML: values first, then tables; numbers at full precision.

    >>> print(toml_text({"b": 1.0, "a": {"c": [1, 2]}}), end="")
    b = 1.0
    <BLANKLINE>
    [a]
    c = [1, 2]
    """
    blocks = ["\n".join(block) + "\n" for block in _blocks(document, (), ordered)]
    return "\n".join(blocks)


def toml_document(text: str, what: str, refusal: type[RWNError] = InputError) -> dict[str, Any]:
    """Read TOML."""
    _check_document(text, what, refusal)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = str(error).rpartition("(")[2].rstrip(")")
        raise refusal(f"The {what} is not valid TOML ({position}).") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, say
        raise refusal(f"The {what} is not valid TOML; write shorter numbers.") from None
    _check_parsed(document, what, refusal)
    return document


def _check_document(text: str, what: str, refusal: type[RWNError]) -> None:
    """Refuse a TOML text that would take much time or memory; the parser refuses a broken one."""
    check_letters(text, LONGEST_DOCUMENT, f"The {what}", refusal)
    marks = depth = points = place = 0
    while (found := _MARK.search(text, place)) is not None:
        mark, place = found[0], found.end()
        marks += 1
        pattern = _REST.get(mark)
        if pattern is not None:
            end = pattern.match(text, place)
            if end is None:
                return  # never closed: the parser stops here
            place = end.end()
        elif mark == ".":
            points += 1
        else:
            depth += (mark in "[{") - (mark in "]}")
            points = 0
        if marks > MOST_MARKS:
            raise refusal(f"The {what} has more than {MOST_MARKS:,} names and values; shorten it.")
        if max(depth, points) > DEEPEST:
            raise _too_deep(what, refusal)


def _check_parsed(document: Mapping[str, Any], what: str, refusal: type[RWNError]) -> None:
    """Refuse parsed TOML with tables too deep, or with integers beyond any use."""
    left: list[tuple[int, Any]] = [(0, document)]
    while left:
        depth, value = left.pop()
        if depth > DEEPEST:
            raise _too_deep(what, refusal)
        if isinstance(value, Mapping):
            left += [(depth + 1, each) for each in value.values()]
        elif isinstance(value, list):
            left += [(depth + 1, each) for each in value]
        elif isinstance(value, int) and value.bit_length() > LARGEST_WHOLE_BITS:
            raise refusal(f"The {what} has a whole number of too many digits; shorten it.")


def _too_deep(what: str, refusal: type[RWNError]) -> RWNError:
    return refusal(f"The {what} has tables more than {DEEPEST} deep; write them flatter.")


def _is_tables(value: Any) -> bool:
    """Return True if a value is a list of mappings."""
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_table, value))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _blocks(
    node: Mapping[str, Any], path: Path, ordered: bool, header: str = ""
) -> Iterator[list[str]]:
    """The lines of a table, then those of the tables below it."""
    known = _known(node, ordered)
    tables = [(name, value) for name, value in known if _is_table(value) or _is_tables(value)]
    lines = [
        _line(_name(name), value, ordered)
        for name, value in known
        if not (_is_table(value) or _is_tables(value))
    ]
    # a table that holds nothing but tables is named by theirs
    if header and (lines or not tables or header.startswith("[[")):
        lines.insert(0, header)
    if lines:
        yield lines
    for name, value in tables:
        where = (*path, name)
        words = ".".join(map(_name, where))
        if _is_table(value):
            yield from _blocks(value, where, ordered, f"[{words}]")
        else:
            for each in value:
                yield from _blocks(each, where, ordered, f"[[{words}]]")


def _known(node: Mapping[str, Any], ordered: bool) -> list[tuple[str, Any]]:
    """Names and values without what is None."""
    names = sorted(node) if ordered else node
    return [(name, node[name]) for name in names if node[name] is not None]


def _line(name: str, value: Any, ordered: bool) -> str:
    line = f"{name} = {_value(value, ordered)}"
    if len(line) <= WIDTH or not isinstance(value, list | tuple):
        return line
    return f"{name} = [\n{_filled([_value(each, ordered) for each in value])}]"


def _filled(parts: Sequence[str]) -> str:
    """The parts of a list in indented lines, as many in each as fit."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) + 6 > WIDTH:
            lines.append("")
        lines[-1] += f" {part}," if lines[-1] else f"{part},"
    return "".join(f"    {line}\n" for line in lines)


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    # a JSON text is TOML too
    return json.dumps(value, ensure_ascii=False).replace(_DELETE, "\\u007f")


def _value(value: Any, ordered: bool) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return json.dumps(value) if math.isfinite(value) else _endless(value)
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(each, ordered) for each in value) + "]"
    if isinstance(value, Mapping):
        return _inline(value, ordered)
    raise TypeError(f"TOML has no value of the type {type(value).__name__}.")


def _endless(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _inline(node: Mapping[str, Any], ordered: bool) -> str:
    """A mapping within a list of other things."""
    known = _known(node, ordered)
    inside = ", ".join(f"{_name(name)} = {_value(value, ordered)}" for name, value in known)
    return f"{{ {inside} }}" if inside else "{}"
