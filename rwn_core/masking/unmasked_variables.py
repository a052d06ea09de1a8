"""Variables that a method does not mask: retained, or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns

Others = Literal["keep", "refuse"]

LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)
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
            'out of the masking, or say others="keep" to release them as they are.'
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


def kept_as_they_are(microdata: Microdata, names: tuple[str, ...]) -> list[str]:
    """The remark that some variables are released as they are; none where all are masked."""
    others = [variable.name for variable in microdata.schema.released if variable.name not in names]
    return [f"released as they are: {_some(others)}"] if others else []


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
