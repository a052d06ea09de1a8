"""Arrow splits records where it gives what the csv module gives, and leaves all others to it."""

from __future__ import annotations

import csv
import io
import random

import pytest

from rwn_core.io.limits import LONGEST_FIELD
from rwn_core.io.text_types import plain_records
from rwn_core.io.text_types.plain_records import plain_columns

PIECES = ("a", "é", "1.5", "", " ", *",,", *"\n\n\r", "\r\n", *'""', '""', '","', "NA", "null")


def by_csv(records: bytes, width: int) -> list[list[str]] | None:
    """Columns by the csv module; None where it refuses, or a record has another width."""
    lines = io.TextIOWrapper(io.BytesIO(records), encoding="utf-8", newline="")
    try:
        rows = list(csv.reader(lines, strict=True))
    except csv.Error:
        return None
    if any(len(row) != width for row in rows):
        return None
    return [list(column) for column in zip(*rows, strict=True)]


def differences(seed: int, count: int) -> tuple[int, int]:
    """Random texts that Arrow takes, and those that it reads in another way."""
    draw, taken, wrong = random.Random(seed), 0, 0
    for _ in range(count):
        width = draw.choice((2, 3))
        if draw.random() < 0.5:  # well-formed, with a piece changed
            cells = [
                [draw.choice(('"a"', "b", '"c,d"', '""', "", '"x\ny"')) for _ in range(width)]
                for _ in range(3)
            ]
            text = "\n".join(",".join(row) for row in cells)
            if draw.random() < 0.5:
                at = draw.randrange(len(text) + 1)
                text = text[:at] + draw.choice(PIECES) + text[at:]
        else:
            text = "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 14)))
        records = text.rstrip("\r\n").encode()
        found = plain_columns(records, width, ",")
        if found is not None:
            taken += 1
            wrong += [column.to_pylist() for column in found] != by_csv(records, width)
    return taken, wrong


def test_what_arrow_takes_is_what_the_csv_module_gives() -> None:
    taken, wrong = differences(seed=1, count=8_000)
    assert taken > 1_200
    assert wrong == 0


@pytest.mark.parametrize("check", ["_has_plain_lines", "_has_plain_quotes"])
def test_without_a_check_some_are_read_in_another_way(
    monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    monkeypatch.setattr(plain_records, check, lambda *_: True)
    assert differences(seed=1, count=5_000)[1] > 0


def test_a_field_beyond_the_limit_of_the_csv_module_is_left_to_it() -> None:
    assert plain_columns(b'a,"' + b"x" * (LONGEST_FIELD + 1) + b'"', 2, ",") is None
    assert plain_columns(b"a;b\nc;d", 2, ";") is not None
    assert plain_columns(b"", 2, ",") is None
    assert plain_columns(b"a\nb", 1, ",") is None
