"""One column of a table: its kind, role and weight; whether a release has it (identifiers)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Real
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Any,
    ClassVar,
    ParamSpec,
    Self,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from rwn_core.data.file_layout import ALL_NOTATIONS, USUAL_DATES, as_notation
from rwn_core.errors import ParameterError, SchemaError

Code = int | float | str
MOST_DECIMALS = 76  # as an exact decimal of Arrow
LARGEST_WEIGHT = 1e50  # squares of weighted distances stay numbers


def _is_code(value: object, *, text: bool = True) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return number or (text and isinstance(value, str))


def is_number(value: object) -> TypeGuard[float]:
    """True if this is a real number, which a truth value is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_count(name: str, value: object, *, least: int) -> None:
    """Refuse what is no whole number from a least one on."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}.")


def _tuples(value: object) -> tuple[Any, ...]:
    """A list as a tuple, and lists within it, too; anything else as one that is refused."""
    if not isinstance(value, list | tuple):
        return (None,)
    return tuple(tuple(each) if isinstance(each, list) else each for each in value)


def level_names(labels: Sequence[tuple[Code, str]]) -> dict[Code, str]:
    """The level that stands for each code: its label, with the code where a label is shared.

    >>> level_names([(1, "yes"), (2, "other"), (3, "other")])
    {1: 'yes', 2: 'other [2]', 3: 'other [3]'}
    """
    times = Counter(label for _, label in labels)
    alone = {label for label, count in times.items() if count == 1 and label.strip()}
    return {c: each if each in alone else f"{each} [{_text(c)}]".lstrip() for c, each in labels}


def _text(code: Code) -> str:
    return code if isinstance(code, str) else f"{code:.15g}"


def is_missing(code: object, missing: Sequence[Code | tuple[float, float]]) -> bool:
    """True if a value of a file is one of its missing codes."""
    ranges = [each for each in missing if isinstance(each, tuple)]
    inside = isinstance(code, int | float) and any(low <= code <= high for low, high in ranges)
    return inside or any(code == each for each in missing if not isinstance(each, tuple))


def missing_words(missing: Sequence[Code | tuple[float, float]]) -> str:
    """Codes for missing in words.

    >>> missing_words([98, 9999998.0, (-9.0, -1.0)])
    '98, 9999998, -9 to -1'
    """
    parts = (each if isinstance(each, tuple) else (each,) for each in missing)
    return ", ".join(" to ".join(map(_text, part)) for part in parts)


_P = ParamSpec("_P")
_R = TypeVar("_R")
_LISTS = (tuple, Sequence, Iterable)
# which numbers, a function says itself
_ONE: Mapping[Any, Any] = {int: Real, float: Real}
_KINDS: dict[Any, str] = dict.fromkeys(_LISTS, "list")
_KINDS |= {str: "text", int: "whole number", float: "number", bool: "truth value"}
_KINDS |= {Callable: "function", Mapping: "dict"}


def fits(value: object, hint: object) -> bool:
    """True if a value has the form of a type hint; what a hint leaves open fits.

    >>> fits(["age"], Sequence[str]), fits("age", Sequence[str]), fits(5, Sequence[str] | None)
    (True, False, False)
    """
    origin = get_origin(hint)
    parts = get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in parts)
    if hint is Any or origin is Callable:
        return hint is Any or callable(value)
    if origin in _LISTS:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        # an iterator is read once, by the function itself
        pairs = origin is tuple and ... not in parts
        return isinstance(value, Iterator) or pairs or all(fits(e, parts[0]) for e in value)
    kind = _ONE.get(hint, origin or hint)
    return not isinstance(kind, type) or isinstance(value, kind)


def _hint_words(hint: object, *, many: bool = False) -> str:
    """Say what a type hint asks for: "a list of texts"."""
    origin = get_origin(hint)
    parts = get_args(hint)
    if origin in (Union, UnionType):
        each = [_hint_words(part, many=many) for part in parts if part is not NoneType]
        return " or ".join(dict.fromkeys(each))
    of = f" of {_hint_words(parts[0], many=True)}" if origin in _LISTS else ""
    word = str(_KINDS.get(origin or hint) or getattr(origin or hint, "__name__", "value"))
    return f"{word}s{of}" if many else f"{_with_article(word)}{of}"


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeioAEIO' else 'a'} {word}"


def kind_words(value: object) -> str:
    """Say what kind of thing was given, without its value."""
    if value is None or isinstance(value, type):
        return "nothing" if value is None else f"the class {value.__name__}"
    return "this list" if isinstance(value, list | tuple) else _with_article(type(value).__name__)


def check_forms(given: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Refuse an argument of another form than its type hint says."""
    for name, value in given.items():
        if not fits(value, hint := hints.get(name, Any)):
            raise ParameterError(f"{name} must be {_hint_words(hint)}, not {kind_words(value)}.")


def checks_form(
    function: Callable[_P, _R], prepare: Callable[..., None] | None = None
) -> Callable[_P, _R]:
    """Let a public function refuse a wrong call in one sentence, before it begins."""
    known = signature(function)
    name = function.__qualname__

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            given = known.bind(*args, **kwargs)
        except TypeError as why:
            of_method = {n: v for n, v in kwargs.items() if n in _OF_METHODS}
            if of_method and "params" in known.parameters:
                soft = {"kernel", "width", "balance"} & of_method.keys()
                call = ", ".join(
                    f"{each}={value!r}" if isinstance(value, int | float) else f"{each}=..."
                    for each, value in of_method.items()
                )
                raise ParameterError(
                    f"{name} takes a method with its parameters: rwn.{name}(table, "
                    f"rwn.{'SoftRWN' if soft else 'RWN'}({call}), ...)."
                ) from None
            names = ", ".join(each for each in known.parameters if each != "self")
            said = str(why).replace("positional arguments", "arguments without a name")
            raise ParameterError(
                f"{name} was called with other arguments than it has ({said}); it takes: {names}."
            ) from None
        if prepare is not None:
            prepare(given.arguments, known)
        # what a function returns may be named for type checkers alone
        own = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
        hints = get_type_hints(SimpleNamespace(__annotations__=own), function.__globals__)
        check_forms(given.arguments, hints | {"params": Any, "seed": Any})
        return function(*given.args, **given.kwargs)

    return checked


_OF_METHODS = ("epsilon", "k", "q", "kernel", "width", "balance")


class NamedParameters:
    """A base of frozen dataclasses with named parameters: a wrong call is refused."""

    __slots__ = ()

    checks_itself: ClassVar[bool] = False  # whether `__post_init__` refuses wrong forms

    def __new__(cls, *args: object, **given: object) -> Self:
        """Refuse values without a name, unknown names, missing ones and those of another form."""
        if args or not _required(cls) <= given.keys() <= _named(cls).keys():
            raise ParameterError(_wrong_call(cls, args, given))
        if not cls.checks_itself:
            check_forms(given, _hints(cls))  # type: ignore[arg-type]
        return super().__new__(cls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy what was checked, without a new check."""
        return object.__new__, (type(self),), self.__getstate__()


_hints = cache(get_type_hints)
_named: Any = cache(lambda cls: {each.name: each for each in fields(cls) if each.init})


_required: Any = cache(
    lambda cls: {n for n, e in _named(cls).items() if e.default is e.default_factory is MISSING}
)


def _wrong_call(cls: type[Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> str:
    """Say which names the parameters have."""
    known = list(_named(cls))
    call = f"{cls.__name__}({', '.join(f'{name}=...' for name in known[:3])})"
    unknown = [name for name in given if name not in known]
    if args:
        return f"Give the parameters by their names: {call}."
    if not unknown:
        needed = " and ".join(each for each in known if each in _required(cls) - given.keys())
        too = ", too" if given else ""
        return f"{cls.__name__} needs {needed}{too}: {call}."
    left = getattr(cls, "gone", {}).get(unknown[0])  # what to say in its place
    if left:
        return str(left)
    other = getattr(cls, "elsewhere", {}).get(unknown[0])  # a class that has it
    if other:
        return f"{cls.__name__} has no parameter {unknown[0]}; {other} has it."
    near = get_close_matches(unknown[0], known, n=1, cutoff=0.3)
    meant = f"; {near[0]} is near" if near else ""
    return f"{cls.__name__} has no parameter {unknown[0]}{meant}; it has: {', '.join(known)}."


class Kind(StrEnum):
    """The kind of a variable's values."""

    CONTINUOUS = "continuous"
    COUNT = "count"
    ORDERED = "ordered"
    CATEGORICAL = "categorical"
    DATE = "date"


NUMBERS = (Kind.CONTINUOUS, Kind.COUNT)
LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)  # values are equal or not


class Role(StrEnum):
    """The role of a variable for an intruder, or in its survey.

    Identifiers and the numbers of people and households can never reach a release. Roles are
    guessed in `role_guesses.py`; menus and options list those that are here.
    """

    KEY = "key"
    CONFIDENTIAL = "confidential"
    OTHER = "other"
    IDENTIFIER = "identifier"
    SAMPLING_WEIGHT = "sampling weight"
    STRATUM = "stratum"
    HOUSEHOLD = "household"
    PERSON = "person"
    TIME = "time"


_INSIDE = (Role.IDENTIFIER, Role.HOUSEHOLD, Role.PERSON)
_WORDS: dict[Any, list[StrEnum]] = {words: [*words] for words in (Kind, Role)}
_ONE_OF = {words: f"one of: {', '.join(known)}" for words, known in _WORDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(NamedParameters):
    """One column of the table.

    Parameters
    ----------
    name : str
    kind : Kind
    role : Role
        A sampling weight says how many people a record stands for; a household may be any cluster
        of records that belong together; a table has at most one of each. A person (or firm) has
        several rows, as in a panel. Risk is counted in people, else in households, else in rows.
    weight : float
        Factor on the variable's coordinates in the distance, from 0 to 1e50; 0 leaves it out.
    group : str, optional
        Variables of one group take all their values from one common donor.
    masked : bool
        Whether the masking may replace the variable's values.
    levels : tuple of str, optional
        The order of an ordered variable's values.
    label : str, optional
        What the variable is, in the words of its file.
    value_labels : tuple of (code, str)
        The codes of a file with their labels, in order; a code is a number or a text.
    missing_codes : tuple
        Codes that a file declares as missing: numbers, texts, or pairs of numbers from which to
        which.
    decimals : int, optional
        How many decimals a text file writes at least, from 0 to 76: with 2, a half is 0.50; with 0,
        one is 1. Left out, it is 1. A value never loses a digit.
    notation : str, optional
        How a text file writes the dates, such as "DD.MM.YYYY"; as YYYY-MM-DD when left out.
    confirmed : bool
        True if a user stated that the variable, with the role other, identifies no person.

    Raises
    ------
    SchemaError

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Variable(name="age", kind=rwn.Kind.COUNT, role=rwn.Role.KEY, weight=2.0).weight
    2.0
    """

    checks_itself: ClassVar[bool] = True
    name: str
    kind: Kind
    role: Role = Role.OTHER
    weight: float = 1.0
    group: str | None = None
    masked: bool = True
    levels: tuple[str, ...] | None = None
    label: str | None = None
    value_labels: tuple[tuple[Code, str], ...] = ()
    missing_codes: tuple[Code | tuple[float, float], ...] = ()
    decimals: int | None = None
    notation: str | None = None
    confirmed: bool = False

    def __post_init__(self) -> None:
        """Check each field by itself."""
        if not isinstance(self.name, str) or not isinstance(self.group, str | None):
            raise SchemaError("The name and the group of a variable must be texts.")
        for what, is_right, must in _FIELD_RULES:
            if not is_right(self):
                raise SchemaError(f"The {what} of variable {self.name} must be {must}.")
        levels = None if self.levels is None else _tuples(self.levels)
        if levels:
            refuse_repeats(levels, f"among the levels of {self.name}", "Level")
        notation = as_notation(USUAL_DATES if self.notation is None else self.notation)
        read = {
            "kind": Kind(self.kind),
            "role": Role(self.role),
            "weight": float(self.weight),
            "levels": levels,
            "value_labels": _tuples(self.value_labels),
            "missing_codes": _tuples(self.missing_codes),
            "notation": None if notation == USUAL_DATES else notation,
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)

    @property
    def is_released(self) -> bool:
        """True if a release holds it: identifiers, numbers of households and people stay inside."""
        return self.role not in _INSIDE

    @property
    def is_answered(self) -> bool:
        """True if a person stated the role, so that nothing asks whether it identifies people."""
        return self.confirmed or self.role is not Role.OTHER


def _has_kind(variable: Variable) -> bool:
    return isinstance(variable.kind, str) and variable.kind in _WORDS[Kind]


def _has_role(variable: Variable) -> bool:
    return isinstance(variable.role, str) and variable.role in _WORDS[Role]


def _has_weight(variable: Variable) -> bool:
    return is_number(variable.weight) and 0 <= variable.weight < math.inf


def _has_usual_weight(variable: Variable) -> bool:
    return variable.weight <= LARGEST_WEIGHT


def _has_levels(variable: Variable) -> bool:
    """True if the levels are left out, or one text or more."""
    if variable.levels is None:
        return True
    levels = _tuples(variable.levels)
    return bool(levels) and all(isinstance(level, str) for level in levels)


def _has_decimals(variable: Variable) -> bool:
    if variable.decimals is None:
        return True
    return type(variable.decimals) is int and 0 <= variable.decimals <= MOST_DECIMALS


def _has_notation(variable: Variable) -> bool:
    return variable.notation is None or as_notation(variable.notation) is not None


def _has_value_labels(variable: Variable) -> bool:
    """True if all labels are pairs of a code and a text, and no code comes twice."""
    labels = _tuples(variable.value_labels)
    pairs = [each for each in labels if _is_pair(each)]
    if len(pairs) < len(labels):
        return False
    readable = all(_is_code(code) and isinstance(label, str) for code, label in pairs)
    return readable and len({code for code, _ in pairs}) == len(pairs)


def _has_missing_codes(variable: Variable) -> bool:
    """True if all of them are codes, or pairs of numbers that do not fall."""
    return all(
        _is_rising(each) if _is_pair(each) else _is_code(each)
        for each in _tuples(variable.missing_codes)
    )


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 2


def _is_rising(pair: tuple[Any, ...]) -> bool:
    if not all(_is_code(end, text=False) for end in pair):
        return False
    return bool(pair[0] <= pair[1])


_FIELD_RULES: tuple[tuple[str, Callable[[Variable], bool], str], ...] = (
    ("kind", _has_kind, _ONE_OF[Kind]),
    ("role", _has_role, _ONE_OF[Role]),
    ("weight", _has_weight, "a number of at least 0; 0 leaves it out"),
    ("weight", _has_usual_weight, f"at most {LARGEST_WEIGHT:g}; give a smaller one"),
    ("field masked", lambda variable: isinstance(variable.masked, bool), "true or false"),
    ("levels", _has_levels, "a list of texts in their order"),
    ("field confirmed", lambda variable: isinstance(variable.confirmed, bool), "true or false"),
    ("label", lambda variable: isinstance(variable.label, str | None), "a text"),
    ("decimals", _has_decimals, f"a whole number from 0 to {MOST_DECIMALS}"),
    ("notation", _has_notation, f"one of: {ALL_NOTATIONS}"),
    ("value_labels", _has_value_labels, "pairs of a code and its label, each code once"),
    (
        "missing_codes",
        _has_missing_codes,
        "numbers, texts, or pairs of numbers from the lowest to the highest",
    ),
)
"""What each field must be, in the order in which they are looked at; the first other is refused."""


def refuse_repeats(names: Sequence[str], where: str, what: str = "Variable") -> None:
    """Refuse a name that a schema or a list of variables gives twice; `where` says which."""
    for name, times in Counter(names).items():
        if times > 1:
            raise SchemaError(f"{what} {name} occurs {times} times {where}; name it once.")
