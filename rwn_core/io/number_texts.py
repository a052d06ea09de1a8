"""Numbers as texts, such that a file that is read and written is unchanged."""

from __future__ import annotations

from decimal import Decimal

from rwn_core.data.variable import MOST_DECIMALS

USUAL = 1  # decimals that a floating number has at least, where nothing else is said


def number_text(value: float, decimals: int) -> str:
    """Write a number with all its digits and at least so many decimals.

    >>> number_text(2.5, 2), number_text(2.0, 0), number_text(2.125, 1), number_text(1e-7, 2)
    ('2.50', '2', '2.125', '1e-07')
    >>> number_text(1e-05, 5), number_text(1e16, 2)
    ('0.00001', '10000000000000000.00')
    """
    text = str(value)
    if "e" in text and decimals > USUAL:
        plain = format(Decimal(text), "f")
        if len(plain.partition(".")[2]) <= decimals and len(plain) <= MOST_DECIMALS:
            text = plain if "." in plain else f"{plain}.0"
    if "e" in text or "." not in text:
        return text
    integer, _, digits = text.partition(".")
    if digits == "0":
        digits = ""
    digits = digits.ljust(decimals, "0")
    return f"{integer}.{digits}" if digits else integer
