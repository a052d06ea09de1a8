"""Numbers that are codes: of industries, occupations, regions, diagnoses and other official lists.

A distance between codes says nothing. A variable is taken for one where its name is that of a list
of codes, or ends as that of a code does, and its values fit the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.identity.profile import NameWords, name_words, word_list


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeList:
    """One kind of codes: the key of its words in `words.toml`, and what its numbers are like."""

    key: str
    what: str  # for a sentence
    largest: float
    decimals: int = 0


LISTS = (
    # ISIC and NACE have 2 to 4 digits, NAICS 6; NACE and ICD-9 are written with a point
    CodeList(key="industries", what="industries", largest=999_999, decimals=2),
    CodeList(key="occupations", what="occupations", largest=999_999),
    # a municipality of Germany has 8 digits, a census tract of the United States 11
    CodeList(key="regions", what="regions or countries", largest=99_999_999_999),
    CodeList(key="diagnoses", what="diagnoses or treatments", largest=999_999, decimals=2),
    CodeList(key="groups", what="groups of people", largest=9_999),
    CodeList(key="goods", what="goods or services", largest=9_999_999_999, decimals=2),
    CodeList(key="coded", what="a code book", largest=99_999_999_999),
)
_CODES = ("code", "codes", "cd", "kode", "schluessel")
_SHORT = 2  # letters of a word that is a list of codes only with its version, as in hs6
_MANY = 0.5  # different values for each record, beyond which numbers are no codes
_FEW = 20  # different values that are never too many
_FEWEST = 3  # different codes; of two values a distance says as much as a category


def codes_of(column: pd.Series[Any]) -> str:
    """Say what a variable of numbers has codes of; nothing where they are numbers."""
    words = name_words(str(column.name))
    if _is_amount(words):
        return ""
    lists = [each for each in LISTS if _is_called(words, each.key)]
    return next((each.what for each in lists if _fits(column, each)), "")


def _is_called(words: NameWords, key: str) -> bool:
    """True if a name has a word of a list; of a code book, as its first or last word."""
    known = word_list("codes", key)
    named = [word for word in words.words if not word.isdigit()]
    if not named:
        return False
    if key == "coded":
        return named[-1] in known or (named[0] in known and len(named) > 1)
    joined = "".join(named)
    found = known & {*named, joined}
    has_version = len(named) < len(words.words)
    return any(len(word) > _SHORT or has_version for word in found)


def _is_amount(words: NameWords) -> bool:
    """True if a name is that of an amount, a share or a count, whatever it is of."""
    named = [word for word in words.words if not word.isdigit()]
    if named and named[-1] in _CODES:
        return named == ["cd"]  # CD4 is a count of cells
    amounts = word_list("measures") | word_list("codes", "amounts")
    return bool((amounts - word_list("codes", "coded")) & {*named}) or named[:1] == ["n"]


def _fits(column: pd.Series[Any], codes: CodeList) -> bool:
    """True if the known values are no more and no longer than those of a list of codes."""
    known = column.dropna().to_numpy(dtype=np.float64)
    values = np.unique(known)
    if len(values) > max(_FEW, _MANY * len(known)):
        return False
    # -1, -8 and such stand for missing
    values = values[values >= 0]
    if len(values) < _FEWEST or values.max() > codes.largest:
        return False
    scaled = values * 10.0**codes.decimals
    return bool((np.abs(scaled - scaled.round()) < 1e-6).all())
