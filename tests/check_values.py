"""Published check values of `tests/golden`, by their id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def check_values(name: str) -> dict[str, Any]:
    """Return the entries of one file, such as `risk`."""
    path = Path(__file__).parent / "golden" / f"{name}_check_values.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    listed = entries["values"] if isinstance(entries, dict) else entries
    return {entry["id"]: entry for entry in listed}
