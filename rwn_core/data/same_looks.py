"""Levels that look the same: they differ in case, blanks, invisible or composed letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import pandas as pd

from rwn_core.data.variable import LEVELS, Variable


def looks(text: str) -> str:
    r"""Return what is seen of a text: one key for all texts that look the same.

    >>> looks("North\u200b  East") == looks("north\u00a0east")
    True
    """
    composed = unicodedata.normalize("NFC", text)
    visible = "".join(letter for letter in composed if unicodedata.category(letter) != "Cf")
    return " ".join(visible.split()).casefold()


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
    best: dict[str, str] = {}
    for text in sorted(counts.index, key=lambda each: (-int(counts[each]), each)):
        best.setdefault(looks(text), text)
    names = {text: best[looks(text)] for text in counts.index}
    changed = {text: name for text, name in names.items() if text != name}
    return column.replace(changed) if changed else column
