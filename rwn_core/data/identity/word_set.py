"""Lists of words, written as text, and the letters that they are compared by."""

from __future__ import annotations

import unicodedata

_NO_ACCENT = str.maketrans("łŁøØđĐı", "lLoOdDi")  # letters that Unicode does not take apart


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks and line breaks part."""
    return frozenset(text.split())


def plain_letters(text: str) -> str:
    """Return a text without accents, so that it compares with the lists."""
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss").translate(_NO_ACCENT))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
