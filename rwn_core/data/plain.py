"""Plain data in and out: a budget of all text from outside, TOML files, records over type hints.

TOML files are written and read here, and nowhere else.

The text depends on the document alone: the hash of a frozen record is taken of it.

The budget of all text from outside: letters, marks, depth, terms, seconds and memory.

What a text would become is counted while it is still a text. A page parses a text of up to
`LETTERS_AT_ONCE` itself; a longer one is parsed in a process with limits (`io.reading.parse_text`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, time
from enum import StrEnum
from functools import partial
from inspect import signature
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from rwn_core.errors import InputError, RWNError

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
WIDTH = 100
"""Columns of a line; a longer list goes over several."""

# a name of so many parts that the parser would take the square of their number
_DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){21}""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DELETE = "\x7f"  # the one character that JSON leaves bare and TOML forbids

Path = tuple[str, ...]
LONGEST_DOCUMENT = 5_000_000  # letters of a TOML file
# decides: letters of a text that a page parses itself; a longer one is parsed in a process
LETTERS_AT_ONCE = 50_000
LONGEST_PARSING_S = 20.0  # seconds of a process that parses a longer one
PARSING_MEMORY = 2e9  # bytes that it may take
DEEPEST = 20  # tables within tables
LARGEST_WHOLE_BITS = 256  # of a whole number
LONGEST_FORMULA = 5_000  # letters
MOST_TERMS = 500  # of a formula once its crossings are written out
MOST_FACTORS = 10  # variables of one product, or table of counts
MOST_TABLE_CELLS = 1_000_000  # of a registered table of counts
LONGEST_RULE = 500  # letters of an edit rule
MOST_RULES = 200
LONGEST_RULES = 20_000  # letters of all rules together
MOST_ANALYSES = 100
# decides: multiplications of registered analyses that a page runs itself; beyond, a job runs them
WORK_AT_ONCE = 50_000_000
LONGEST_LINK = 20_000  # letters of all parts of a page's address


def read_plain(
    kind: Any, given: object, what: str, *, path: str = "", refusal: type[RWNError] = InputError
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
    origin = get_origin(kind)
    parts = get_args(kind)
    subject = f"The {path} of the {what}" if path else f"The {what}"
    below = partial(read_plain, what=what, refusal=refusal)
    if kind is Any or (given is None and NoneType in parts):
        return given
    if origin in (Union, UnionType):
        kinds = [each for each in parts if each is not NoneType]
        return _read_one_of(kinds, partial(below, given=given, path=path), refusal)
    if origin in (tuple, Sequence):
        if not isinstance(given, list | tuple):
            raise refusal(f"{subject} must be a list; correct it.")
        return tuple(
            below(parts[0], each, path=f"{path}[{place}]") for place, each in enumerate(given, 1)
        )
    if origin is Mapping:
        if not isinstance(given, Mapping):
            raise refusal(f"{subject} must be a table; correct it.")
        return {
            name: below(parts[1], each, path=f"{path}.{name}".lstrip("."))
            for name, each in given.items()
        }
    if is_dataclass(kind):
        return _read_record(kind, given, what, path, refusal)
    return _read_one(kind, given, subject, refusal)


def _read_one_of(kinds: Sequence[Any], read: Callable[[Any], Any], refusal: type[RWNError]) -> Any:
    """Read what is of one of several kinds: the first that fits; the last one may refuse."""
    for kind in kinds[:-1]:
        with suppress(refusal):
            return read(kind)
    return read(kinds[-1])


def _read_one(kind: type[Any], given: object, subject: str, refusal: type[RWNError]) -> Any:
    """Read a text, a number, a truth value, or a word of a list of words."""
    if issubclass(kind, StrEnum):
        if given not in list(kind):
            raise refusal(f"{subject} must be one of: {', '.join(kind)}.")
        return kind(str(given))
    fits = isinstance(given, int | float if kind is float else kind)
    if not fits or (isinstance(given, bool) and kind is not bool):
        raise refusal(f"{subject} must be {_WORDS[kind]}; correct it.")
    return given


def _read_record(kind: Any, given: object, what: str, path: str, refusal: type[RWNError]) -> Any:
    make, known = file_fields(kind)
    subject = f"The {path} of the {what}" if path else f"The {what}"
    before = f"{path}." if path else ""
    if make is kind and len(known) == 1:  # its only field, as a list
        given = {"": given}
        known = {"": next(iter(known.values()))}
        before = path
    if not isinstance(given, Mapping):
        raise refusal(f"{subject} must be a table with: {', '.join(known)}.")
    own = {"format"} if hasattr(kind, "file_format") else set()
    for name in sorted(set(given) - set(known) - own):
        raise refusal(f"{subject} has the unknown field {name}; known are: {', '.join(known)}.")
    for name, (_, _, needed) in known.items():
        if needed and name not in given:
            raise refusal(f"{subject} has no {name}; state it.")
    read = partial(read_plain, what=what, refusal=refusal)
    return make(
        **{
            field: read(hint, given[name], path=before + name)
            for name, (field, hint, _) in known.items()
            if name in given
        }
    )


def file_fields(kind: Any) -> tuple[Any, dict[str, tuple[str, Any, bool]]]:
    """Return what makes a record, and its parameters by their names in a file.

    Each with its own name, its hint, and True if it is needed.
    """
    make = getattr(kind, "of", kind)
    hints = get_type_hints(make)
    if make is not kind:
        taken = signature(make).parameters
        return make, {n: (n, hints[n], each.default is each.empty) for n, each in taken.items()}
    given = [each for each in fields(kind) if each.init]
    needed = {e.name for e in given if e.default is e.default_factory is MISSING}
    return make, {
        e.metadata.get("in_file", e.name): (e.name, hints[e.name], e.name in needed) for e in given
    }


def plain_values(node: object) -> Iterator[Any]:
    """Yield every text, number and truth value of plain data, without the names."""
    if isinstance(node, Mapping | list | tuple):
        for each in node.values() if isinstance(node, Mapping) else node:
            yield from plain_values(each)
    else:
        yield node


def toml_text(document: Mapping[str, Any], *, ordered: bool = False) -> str:
    """Write plain data as TOML: values first, then tables; numbers at full precision.

    >>> print(toml_text({"b": 1.0, "a": {"c": [1, 2]}}), end="")
    b = 1.0
    <BLANKLINE>
    [a]
    c = [1, 2]
    """
    return "\n".join("\n".join(block) + "\n" for block in _blocks(document, (), ordered))


def toml_document(text: str, what: str, refusal: type[RWNError] = InputError) -> dict[str, Any]:
    """Read TOML."""
    if not isinstance(text, str):
        raise refusal(f"The {what} must be given as a text, not as a {type(text).__name__}.")
    check_letters(text, LONGEST_DOCUMENT, f"The {what}", refusal)
    deep = refusal(f"The {what} has tables more than {DEEPEST} deep; write them flatter.")
    if _DOTTED.search(text):
        raise deep
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = str(error).rpartition("(")[2].rstrip(")")
        raise refusal(f"The {what} is not valid TOML ({position}).") from None
    except RecursionError:
        raise deep from None
    except ValueError:  # a number of thousands of digits, say
        raise refusal(f"The {what} is not valid TOML; write shorter numbers.") from None
    # Refuse parsed TOML with tables too deep, or with integers beyond any use.
    level: list[Any] = [document]
    for _ in range(DEEPEST + 1):
        if any(isinstance(v, int) and v.bit_length() > LARGEST_WHOLE_BITS for v in level):
            raise refusal(f"The {what} has a whole number of too many digits; shorten it.")
        lists = [v for v in level if isinstance(v, dict | list)]
        level = [*chain.from_iterable(v if isinstance(v, list) else v.values() for v in lists)]
    if level:
        raise deep
    return document


def _holds_tables(value: object) -> bool:
    """True if a value is a mapping or a list of mappings."""
    items = value if isinstance(value, list | tuple) else [value]
    return bool(items) and all(isinstance(each, Mapping) for each in items)


def _blocks(
    node: Mapping[str, Any], path: Path, ordered: bool, header: str = ""
) -> Iterator[list[str]]:
    """The lines of a table, then those of the tables below it."""
    known = _known(node, ordered)
    tables = [(name, value) for name, value in known if _holds_tables(value)]
    lines = [_line(_name(n), value, ordered) for n, value in known if not _holds_tables(value)]
    # a table that holds nothing but tables is named by theirs
    if header and (lines or not tables or header.startswith("[[")):
        lines.insert(0, header)
    if lines:
        yield lines
    for name, value in tables:
        where = (*path, name)
        words = ".".join(map(_name, where))
        single = isinstance(value, Mapping)
        for each in [value] if single else value:
            yield from _blocks(each, where, ordered, f"[{words}]" if single else f"[[{words}]]")


def _known(node: Mapping[str, Any], ordered: bool) -> list[tuple[str, Any]]:
    """Names and values without what is None."""
    return [(n, node[n]) for n in (sorted(node) if ordered else node) if node[n] is not None]


def _line(name: str, value: object, ordered: bool) -> str:
    line = f"{name} = {_value(value, ordered)}"
    if len(line) <= WIDTH or not isinstance(value, list | tuple):
        return line
    # the parts of a list in indented lines, as many in each as fit
    lines = [""]
    for part in (_value(each, ordered) for each in value):
        if lines[-1] and len(lines[-1]) + len(part) + 6 > WIDTH:
            lines.append("")
        lines[-1] += f" {part}," if lines[-1] else f"{part},"
    return "\n".join([f"{name} = [", *(f"    {each}" for each in lines), "]"])


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    # a JSON text is TOML too
    return json.dumps(value, ensure_ascii=False).replace(_DELETE, "\\u007f")


def _value(value: object, ordered: bool) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return float.__repr__(value)  # also "nan" and "inf", and of NumPy's numbers
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(partial(_value, ordered=ordered), value)) + "]"
    if isinstance(value, Mapping):  # within a list of other things
        known = _known(value, ordered)
        inside = ", ".join(f"{_name(name)} = {_value(each, ordered)}" for name, each in known)
        return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"TOML has no value of the type {type(value).__name__}.")


def check_letters(text: str, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a text of too many letters; `what` is the subject of the sentence."""
    if len(text) > most:
        raise refusal(f"{what} has more than {most:,} letters; shorten it.")


def check_number(items: Sized, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a list of too many entries; `what` names the list and its entries."""
    if len(items) > most:
        raise refusal(f"{what} are more than {most:,}; take some out.")
