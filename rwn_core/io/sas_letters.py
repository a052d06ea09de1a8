"""Letters for missing values in a SAS file for transport, which the library does not give.

A number begins with a point, an underscore or a letter, and has zeros after it, where it stands for
a missing value; the letter says why it is missing.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# of the versions 5 and 8
_NAMES = re.compile(rb"HEADER RECORD\*{7}NAM(ESTR|STV8) HEADER RECORD!{7}")
_RECORDS = re.compile(rb"HEADER RECORD\*{7}OBS(V8)? {3,5}HEADER RECORD!{7}")
_LINE = 80  # bytes, to which the parts of a file are filled up
_COUNT = slice(54, 58)  # digits: how many variables there are
_ABOUT = 140  # bytes that describe a variable
_NUMBER = 1
_FIRST_LETTER, _LAST_LETTER = ord("A"), ord("Z")


def with_letters(content: bytes, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a letter in place of each missing value that has one."""
    names = _NAMES.search(content)
    records = _RECORDS.search(content)
    if names is None or records is None:
        return frame
    begin = names.start()
    start = records.start()
    count = int(content[begin:][_COUNT])
    about = content[begin + _LINE : start]
    variables = [about[place * _ABOUT : (place + 1) * _ABOUT] for place in range(count)]
    width = sum(_short(variable, 4) for variable in variables)
    length = len(frame) * width
    rows = np.frombuffer(content, np.uint8, length, start + _LINE).reshape(len(frame), width)
    found = {}
    for name, variable in zip(frame.columns, variables, strict=True):
        place = int.from_bytes(variable[84:88], "big")
        is_number = _short(variable, 0) == _NUMBER
        letters = _letters(rows[:, place : place + _short(variable, 4)]) if is_number else None
        if letters is not None:
            found[name] = frame[name].astype(object).where(pd.isna(letters), letters)
    return frame.assign(**found)


def _short(variable: bytes, place: int) -> int:
    return int.from_bytes(variable[place : place + 2], "big")


def _letters(cells: NDArray[np.uint8]) -> pd.Series[Any] | None:
    """Return the letter of each cell that is missing by one; None where no cell is."""
    # cells: shape (n, bytes of a number)
    first = cells[:, 0]
    missing = (first >= _FIRST_LETTER) & (first <= _LAST_LETTER) & ~cells[:, 1:].any(axis=1)
    if not missing.any():
        return None
    pairs = zip(first.tolist(), missing.tolist(), strict=True)
    return pd.Series([chr(code) if gone else None for code, gone in pairs])
