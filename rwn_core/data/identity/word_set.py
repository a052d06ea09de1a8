"""Lists of words, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks and line breaks part."""
    return frozenset(text.split())
