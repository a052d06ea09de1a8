"""The words about a record that is out of order."""

from __future__ import annotations

from collections.abc import Sequence

from rwn_core.io.limits import LONGEST_FIELD


def ragged(record: Sequence[str], width: int) -> str:
    """Describe a record of another number of fields."""
    if not record:
        return (
            "the line is empty; remove it and any title above the header line, or write two "
            "quotes for a missing value."
        )
    fields = "is 1 field" if len(record) == 1 else f"are {len(record):,} fields"
    fault = f"there {fields}, and the header has {width:,}"
    if len(record) == width + 1 and record[-1] == "":
        return f"{fault}; remove the comma at the end of the lines."
    if width == 1:
        return f"{fault}; remove any title above the header line."
    return f"{fault}; give every record one field for each column."


def broken(error: str) -> str:
    """Describe an error of the csv module."""
    if "unexpected end" in error:
        return "a quote is opened and never closed; close it."
    if "expected after" in error:
        return "text follows a closing quote; double the quotes inside a quoted field."
    return (
        f"a field is longer than {LONGEST_FIELD:,} characters; shorten it, or close a quote "
        "that was left open."
    )
