"""Lists of words of ``words.toml``, and the letters that they are compared by."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any

from rwn_core.data.toml import toml_document

_NO_ACCENT = str.maketrans("łŁøØđĐı", "lLoOdDi")  # letters that Unicode does not take apart


@cache
def _lists() -> dict[str, Any]:
    text = (files(__package__) / "words.toml").read_text(encoding="utf-8")
    return toml_document(text, "list of words")


def word_list(*keys: str) -> frozenset[str]:
    """Return a list of ``words.toml``; empty if there is none under these keys."""
    found: Any = _lists()
    for key in keys:
        found = found.get(key, "")
    return frozenset(found.split())


def plain_letters(text: str) -> str:
    """Return a text without accents, so that it compares with the lists."""
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss").translate(_NO_ACCENT))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
