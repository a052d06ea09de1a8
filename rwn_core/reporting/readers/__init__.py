"""Programs for analysts that read a masked file with its notice; each is one file to copy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

READERS: Mapping[str, bytes] = MappingProxyType(
    {
        name: (Path(__file__).parent / name).read_bytes()
        for name in ("rwn_intervals.py", "rwn_intervals.R")
    }
)
"""The readers for Python and R, by the name of their file."""
