"""Say the number of a measure in one plain sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rwn_core.measures.measure import Reading

Sentence = Callable[[Reading[Any], int], str]
"""Of a reading and the number of records."""


def percent(share: float) -> str:
    """Write a share for a sentence; only all is 100 %.

    >>> percent(0.9999), percent(0.25), percent(0.012)
    ('over 99 %', '25 %', '1.2 %')
    """
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %" if share in (0, 1) or share >= 0.1 else f"{100 * share:.2g} %"


def tenths(share: float) -> str:
    """Write a share for a tile, to a tenth of a percent."""
    return f"{100 * share:.1f} %"


def people(share: float, n: int) -> str:
    """Say how many of n records a share is.

    >>> people(0.02, 1500)
    '30 of 1,500 records'
    """
    count = share * n
    if count == 0:
        return f"none of {n:,} records"
    return f"{count:,.0f} of {n:,} records" if count >= 1 else f"fewer than 1 of {n:,} records"


def filled(template: str) -> Sentence:
    """Make a sentence of a template."""
    # Its fields: {people} or {People} (the value as so many records), {share} (the value), {base}
    # (the baseline), both as numbers {value} and {before}, and {keys} and {secret} (the detail's
    # names and secret).

    def sentence(reading: Reading, n: int) -> str:
        count = people(reading.value, n)
        return template.format(
            people=count,
            People=count.capitalize(),
            share=percent(reading.value),
            base=percent(reading.baseline or 0),
            value=reading.value,
            before=reading.baseline or 0,
            keys=", ".join(map(str, reading.detail.names)),
            secret=getattr(reading.detail, "secret", ""),
        )

    return sentence
