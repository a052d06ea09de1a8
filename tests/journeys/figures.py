"""Where the figures of the journeys go, if they are asked for."""

from __future__ import annotations

import csv
import os
from pathlib import Path

FILE = os.environ.get("RWN_JOURNEYS", "")
"""The file to add them to; then the survey has all of its people."""
HEAD = ("job", "way", "actions", "machine", "hands", "end")


def add(job: str, way: str, actions: int, seconds: tuple[float, float], end: str) -> None:
    if FILE:
        with Path(FILE).open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow((job, way, actions, *(f"{one:.0f}" for one in seconds), end))
