"""Levels that look the same: they differ in case, blanks, invisible or composed letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from rwn_core.data.variable import LEVELS, Variable


def looks(text: str) -> str:
    r"""Return what is seen of a text: one key for all texts that look the same.

    >>> looks("North\u200b  East") == looks("north\u00a0east")
    True
    """
    return _alike(text, _LEVELLED)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _visible(text: str) -> str:
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cf")


def _without_blanks(text: str) -> str:
    return " ".join(text.split())


_LEVELLED: dict[str, Callable[[str], str]] = {
    "composed letters": _composed,
    "invisible letters": _visible,
    "blanks": _without_blanks,
    "case": str.casefold,
}
"""By what texts that look the same may differ: what takes such a difference away."""


def _alike(text: str, steps: Mapping[str, Callable[[str], str]]) -> str:
    for step in steps.values():
        text = step(text)
    return text


class Pair(NamedTuple):
    """A pair of levels that look the same; cells, for the steward's screen alone."""

    level: str
    usual: str  # of these levels that which most records have
    records: int  # with the first one
    differ_in: str


def pairs_of_levels(column: pd.Series[Any]) -> list[Pair]:
    """Return each level that looks like a more frequent one, with that one."""
    counts = column.value_counts()
    usual = _usual_levels(counts)
    pairs = []
    for text in counts.index:
        best = usual[looks(text)]
        if text != best:
            differ_in = ", ".join(differences(text, best))
            pairs.append(Pair(seen(text), seen(best), int(counts[text]), differ_in))
    return pairs


def differences(one: str, two: str) -> list[str]:
    r"""Return in what two texts that look the same differ.

    >>> differences("North\u200b East", "north  East")
    ['invisible letters', 'blanks', 'case']
    """
    found = []
    for name in _LEVELLED:
        others = {other: step for other, step in _LEVELLED.items() if other != name}
        if _alike(one, others) != _alike(two, others):
            found.append(name)
    return found


def seen(text: str) -> str:
    r"""Return a text in which everything can be seen: odd blanks and invisible letters by number.

    >>> seen("Ulm\u200b"), seen("New\u00a0York "), seen("Bonn")
    ('Ulm⟨200B⟩', 'New⟨00A0⟩York⟨0020⟩', 'Bonn')
    """
    inner = text.strip(" ")
    begin = text.index(inner)
    parts = []
    for place, letter in enumerate(text):
        outside = not begin <= place < begin + len(inner)
        odd = unicodedata.category(letter) == "Cf" or (letter.isspace() and letter != " ")
        parts.append(f"⟨{ord(letter):04X}⟩" if odd or outside else letter)
    return "".join(parts)


def _usual_levels(counts: pd.Series[Any]) -> dict[str, str]:
    """Return for each look the level that most records have."""
    best: dict[str, str] = {}
    for text in sorted(counts.index, key=lambda each: (-int(counts[each]), each)):
        best.setdefault(looks(text), text)
    return best


def equal_looks(texts: Iterable[str]) -> int:
    """Count the texts that look like another one before them."""
    keys = [looks(text) for text in texts]
    return len(keys) - len(set(keys))


def may_join(column: pd.Series[Any], variable: Variable) -> bool:
    """True if a variable has texts that can be joined: no codes, and no order that is stated."""
    texts = pd.api.types.is_string_dtype(column.dtype)
    free = not variable.value_labels and variable.levels is None
    return bool(texts and free and variable.is_released and variable.kind in LEVELS)


def joined(column: pd.Series[Any]) -> pd.Series[Any]:
    """Give texts that look the same the one of them that most records have."""
    counts = column.value_counts()
    best = _usual_levels(counts)
    names = {text: best[looks(text)] for text in counts.index}
    changed = {text: name for text, name in names.items() if text != name}
    return column.replace(changed) if changed else column
