"""What `write.csv` and `write.table` of R do in their own way: NA without quotes, row names."""

from __future__ import annotations

import re


def quotes_all_names(text: bytes, separator: str) -> bool:
    """True if each name of the first line stands in quotes, as R writes it."""
    mark = re.escape(separator).encode()
    line = _first_lines(text, 1)[0]
    return re.fullmatch(rb'"[^"]*+"(?:%b"[^"]*+")*+' % mark, line) is not None


def without_na(text: bytes, separator: str) -> tuple[bytes, int]:
    """Empty the fields that are NA without quotes; return how many of them there are."""
    mark = re.escape(separator).encode()
    field = rb"(?<![^%b\r\n])NA(?![^%b\r\n])" % (mark, mark)
    if re.search(field, text) is None:
        return text, 0
    count = 0

    def emptied(found: re.Match[bytes]) -> bytes:
        nonlocal count
        if found.group().startswith(b'"'):
            return found.group()
        count += 1
        return b""

    return re.sub(rb'"(?:[^"]|"")*+"|%b' % field, emptied, text), count


def lacks_a_name(text: bytes, separator: str) -> bool:
    """True if the first line has a name less than the second one has fields, the first a text.

    So `write.table` writes row names.
    """
    lines = _first_lines(text, 2)
    if len(lines) < 2 or not lines[1].startswith(b'"'):
        return False
    quoted = re.compile(rb'"(?:[^"]|"")*+"')
    widths = [quoted.sub(b"", line).count(separator.encode()) for line in lines]
    return widths[1] == widths[0] + 1


def _first_lines(text: bytes, number: int) -> list[bytes]:
    """Return the first lines of a text, which may be long: nothing else of it is copied."""
    lines = list[bytes]()
    begin = 0
    while len(lines) < number and begin <= len(text):
        found = text.find(b"\n", begin)
        end = len(text) if found < 0 else found
        lines.append(text[begin:end].rstrip(b"\r"))
        begin = end + 1
    return lines
