"""An option is a parameter of a method that no slider moves, as its record describes it.

Also the variables that a method does not mask: retained, or refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Variable
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns
from rwn_core.masking.lever import HasKey, HasOptions

Form = Literal["choice", "switch", "whole", "number", "name", "names", "formula", "text"]

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


OPTIONS_IN_WORDS = {
    "bandwidth_k": "neighbors that set the bandwidth",
    "by_prediction": "by prediction",
    "later_balance": "balance of later slices",
    "outside_household": "outside the household",
    "tie_factors": "factors that tie",
}
"""What options are called where their own name is no word of the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A parameter of a method that no slider moves."""

    name: str  # the parameter
    # one of `choices`; true or false; a whole number; a number; a variable of numbers; names of
    # variables; terms of a formula; a text
    form: Form
    choices: tuple[str, ...] = ()  # what may be chosen
    # those choices to be read by a person, where their own words do not do
    titles: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False  # whether it may be None
    default: Any
    help: str = ""  # what the method's documentation says of it

    @property
    def title(self) -> str:
        """Its name, to be read by a person."""
        words = OPTIONS_IN_WORDS.get(self.name, self.name.replace("_", " "))
        return words.capitalize() if len(words) > len("k0") else words


@cache
def method_options(method: type[HasOptions]) -> tuple[Option, ...]:
    """Return the parameters of a method's record that are no levers, in the order of its fields.

    >>> from rwn_core.masking.k_pram import KPRAM
    >>> [(each.name, each.choices) for each in method_options(KPRAM)][0]
    ('draw_from', ('resample', 'permute', 'uniform'))
    """
    moved = {lever.name for lever in method.levers}
    hints = get_type_hints(method)
    words = method_words(method, "parameters")
    titles = getattr(method, "choice_titles", {})
    forms: dict[Any, Form] = {bool: "switch", int: "whole", float: "number", str: "name"}
    forms[tuple[str, ...]] = "names"
    made = []
    for each in fields(method):
        if each.name in moved:
            continue
        # the form that its type says
        hint = hints[each.name]
        first = next((kind for kind in get_args(hint) if kind is not NoneType), hint)
        form = "choice" if get_origin(hint) is Literal else forms.get(first, "text")
        if each.name in method.formulas:
            form = "formula"
        option = Option(
            name=each.name,
            form=form,
            choices=get_args(hint) if form == "choice" else (),
            titles=titles.get(each.name, {}),
            optional=NoneType in get_args(hint),
            default=each.default,
            help=words.get(each.name, ""),
        )
        made.append(option)
    return tuple(made)


def method_words(method: HasKey, about: str = "methods") -> Mapping[str, str]:
    """Return what is said of a method: name, what it does and destroys, source; or of parameters.

    `python -m docs.build` writes them from the documentation of the methods, which a program
    without documentation texts (`python -OO`) does not have.
    """
    words: Mapping[str, str] = _WORDS[about].get(method.method, {})
    return words


def option_words(value: object) -> str:
    """The value of an option, to be read by a person: names alone where it has more."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.6g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(each if isinstance(each, str) else str(each[0]) for each in value)
    return str(value)


Others = Literal["keep", "refuse"]

_NAMED = 4  # variables named in a sentence


def maskable(
    microdata: Microdata, able: Callable[[Variable], bool], others: str, what: str
) -> tuple[str, ...]:
    """The variables that a method masks, of those that the schema lets it mask."""
    masked_columns(microdata)
    chosen = [variable for variable in microdata.schema.released if variable.masked]
    names = tuple(variable.name for variable in chosen if able(variable))
    if not names:
        raise ParameterError(
            f"The method masks {what} only, and no variable that is to be masked has such values; "
            "choose another method."
        )
    unable = [variable.name for variable in chosen if not able(variable)]
    if unable and others == "refuse":
        raise ParameterError(
            f"The method masks {what} only, not {_some(unable)}; choose another method, take them "
            'out of the masking, or say others="keep" to release them unmasked.'
        )
    return names


def name_tuple(variables: str | Sequence[str], what: str = "variables") -> tuple[str, ...]:
    """Names as a tuple: given as such, or as a text with commas."""
    given = variables if isinstance(variables, Iterable) else [variables]
    names = given.split(",") if isinstance(given, str) else list(given)
    stripped = tuple(name.strip() if isinstance(name, str) else name for name in names)
    if not all(isinstance(name, str) and name for name in stripped if names != [""]):
        raise ParameterError(f"{what} must be names of variables; separate them by commas.")
    if len(set(stripped)) < len(stripped):
        raise ParameterError(f"{what} must name each variable once.")
    return () if names == [""] else stripped


def require_masked(microdata: Microdata, names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names, each of a variable that the schema lets a method mask."""
    masked_columns(microdata)
    chosen = {variable.name for variable in microdata.schema.released if variable.masked}
    for name in names:
        if name not in chosen:
            raise ParameterError(
                f"{name} is no variable that is to be masked; name others, or choose it for "
                "masking."
            )
    return names


def require_released(microdata: Microdata, within: tuple[str, ...]) -> tuple[str, ...]:
    """The same names of `within`, each of a released variable."""
    released = {variable.name for variable in microdata.schema.released}
    for name in within:
        if name not in released:
            raise ParameterError(f"within must name released variables, not {name}.")
    return within


def kept_as_they_are(microdata: Microdata, names: tuple[str, ...]) -> list[str]:
    """The remark that some variables are released unmasked; none where all are masked."""
    others = [variable.name for variable in microdata.schema.released if variable.name not in names]
    return [f"released unmasked: {_some(others)}"] if others else []


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
