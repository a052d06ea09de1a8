"""A small file that somebody loads."""

from __future__ import annotations


def table(rows: int = 60, mark: str = "c") -> bytes:
    """A small CSV file whose third column holds a recognizable value."""
    lines = [f"{i * 7 % 31},{i * i % 29},{mark if i == 3 else 'ab'[i % 2]}" for i in range(rows)]
    return "\n".join(["x,y,g", *lines]).encode()
