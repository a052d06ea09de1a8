"""Labels and missing codes of a variable."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rwn_core.errors import SchemaError

Code = int | float | str


def checked_labels(value: object, name: str) -> tuple[tuple[Code, str], ...]:
    """Check pairs of a code and its label."""
    pairs = [tuple(pair) for pair in _listed(value) if isinstance(pair, list | tuple)]
    fine = len(pairs) == len(_listed(value)) and all(
        len(pair) == 2 and _is_code(pair[0]) and isinstance(pair[1], str) for pair in pairs
    )
    if not fine or len({pair[0] for pair in pairs}) < len(pairs):
        raise SchemaError(
            f"The value_labels of variable {name} must be pairs of a code and its label, each code "
            "once."
        )
    return tuple((pair[0], pair[1]) for pair in pairs)


def checked_missing(value: object, name: str) -> tuple[Code | tuple[float, float], ...]:
    """Check codes that mean missing; a pair of numbers is a range."""
    codes = [tuple(code) if isinstance(code, list) else code for code in _listed(value)]
    if not all(_is_code(code) or _is_range(code) for code in codes):
        raise SchemaError(
            f"The missing_codes of variable {name} must be numbers, texts, or pairs of numbers "
            "from the lowest to the highest."
        )
    return tuple(codes)


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (None,)


def _is_code(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str) or (number and not math.isnan(value))  # type: ignore[arg-type]


def _is_range(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return all(_is_code(end) and not isinstance(end, str) for end in value) and value[0] <= value[1]


def level_names(labels: Sequence[tuple[Code, str]]) -> dict[Code, str]:
    """The level that stands for each code: its label, with the code where a label is shared.

    >>> level_names([(1, "yes"), (2, "other"), (3, "other")])
    {1: 'yes', 2: 'other [2]', 3: 'other [3]'}
    """
    times = Counter(label for _, label in labels)
    return {
        code: label
        if times[label] == 1 and label.strip()
        else f"{label} [{code:.15g}]".lstrip()
        if not isinstance(code, str)
        else f"{label} [{code}]".lstrip()
        for code, label in labels
    }


def is_missing(code: object, missing: Sequence[Code | tuple[float, float]]) -> bool:
    """Return True if a value of a file is one of its missing codes."""
    for each in missing:
        if isinstance(each, tuple):
            if isinstance(code, int | float) and each[0] <= code <= each[1]:
                return True
        elif code == each:
            return True
    return False


def missing_words(missing: Sequence[Code | tuple[float, float]]) -> str:
    """Codes for missing in words.

    >>> missing_words([98, 9999998.0, (-9.0, -1.0)])
    '98, 9999998, -9 to -1'
    """
    return ", ".join(
        f"{each[0]:.15g} to {each[1]:.15g}"
        if isinstance(each, tuple)
        else each
        if isinstance(each, str)
        else f"{each:.15g}"
        for each in missing
    )
