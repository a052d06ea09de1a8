"""Writes the reference from the catalogues: ``python -m docs.build``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from docs.reference_of import commands, measures, methods, settings

HERE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `python -m docs.build`; change the catalogue, not this file. -->"

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "measures.md": measures.page,
        "methods.md": methods.page,
        "settings.md": settings.page,
        "commands.md": commands.page,
    }
)
"""What writes each page of the reference that is not written by hand or by a benchmark."""


def text(name: str) -> str:
    """A page as it should be."""
    return f"{NOTE}\n\n{PAGES[name]().strip()}\n"


def main() -> None:
    """Write every page."""
    for name in PAGES:
        (HERE / name).write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
