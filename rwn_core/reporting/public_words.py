"""Every sentence that a public notice may say, from `public_words.toml`, as names of this module.

The leak check knows these sentences: what a public file holds beyond them, the method's own words,
names of variables, the number of records, dates and hashes, it refuses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rwn_core.data.derived import DERIVED as DERIVED
from rwn_core.data.plain import plain_values, toml_document

_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_WORDS = toml_document(_TEXT, "list of public sentences") | {"DERIVED": DERIVED}


def __getattr__(name: str) -> Any:
    """Return a sentence, a tuple of them, or several by name."""
    if name not in _WORDS:
        raise AttributeError(f"There are no public sentences {name}.")
    return tuple(_WORDS[name]) if isinstance(_WORDS[name], list) else _WORDS[name]


def vocabulary() -> tuple[str, ...]:
    """All sentences, with their places for other words left empty."""
    return (*plain_values(_WORDS), *_WORDS["ACCESS"])
