"""Published numbers as the golden file writes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def number(text: Any) -> float:
    """A published fraction as a number."""
    return float(Fraction(str(text)))
