"""Small text files of a command: a scenario, a decision, a record, a card."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path, what: str) -> str:
    """Read a small text file."""
    from rwn_core.io.open_file import file_text

    path.stat()  # an OSError where it is not there
    return file_text(path, what)
