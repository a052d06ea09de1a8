"""Slices: which variables of a row travel together, each slice from one donor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

from rwn_core.errors import ParameterError

Slices = tuple[tuple[str, ...], ...]
"""Sets of two or more variables that share a donor; every other variable has its own."""

_NAMED = 2  # variables of a long slice that are named in a short line
_LONG = 4
_COUNTS = ("one", "two", "three")  # variables whose values nearly always name one person


def as_slices(slices: Iterable[Sequence[str]]) -> Slices:
    """Sort slices by name, so that the same partition is always written in the same way.

    >>> as_slices([["weight", "age"], ["b", "a"]])
    (('a', 'b'), ('age', 'weight'))
    """
    given = list(slices)
    if isinstance(slices, str) or not all(_are_names(each) for each in given):
        raise ParameterError(
            'Slices must be lists of names of variables, such as [["age", "weight"]].'
        )
    made = [tuple(sorted(each)) for each in given]
    if any(len(each) < 2 for each in made):
        raise ParameterError(
            "A slice must have two variables or more; one that stands alone needs no slice."
        )
    names = sorted(chain.from_iterable(made))
    twice = next((one for one, two in pairwise(names) if one == two), None)
    if twice is not None:
        raise ParameterError(f"The slices name the variable {twice} twice; name it once.")
    return tuple(sorted(made))


def _are_names(names: Any) -> bool:
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    return listed and all(isinstance(name, str) for name in names)


def slices_words(slices: Slices, *, short: bool = False) -> str:
    """Say which variables travel together; empty where each stands alone.

    >>> slices_words((("age", "weight"), ("a", "b", "c", "d", "e")), short=True)
    'age + weight travel together, a + b + 3 more travel together'
    """
    return ", ".join(f"{slice_words(each, short=short)} travel together" for each in slices)


def verbatim_words(slices: Slices) -> list[str]:
    """Describe the values that a row shows of one respondent, a sentence for each slice.

    >>> verbatim_words((("age", "weight"),))
    ['A row shows age and weight of one person verbatim; who knows one of them may read the other.']
    """
    sentences = []
    for names in slices:
        known = min(len(names) - 1, len(_COUNTS))
        others = "other" if len(names) - known == 1 else "others"
        sentences.append(
            f"A row shows {_listed(names)} of one person verbatim; who knows "
            f"{_COUNTS[known - 1]} of them may read the {others}."
        )
    return sentences


def _listed(names: Sequence[str]) -> str:
    if len(names) > _LONG:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def slice_words(names: Sequence[str], *, short: bool = False) -> str:
    """The variables of one slice; of many the first ones only, where `short` asks for it."""
    if short and len(names) > _LONG:
        return f"{' + '.join(names[:_NAMED])} + {len(names) - _NAMED} more"
    return " + ".join(names)
