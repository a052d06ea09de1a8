"""Clauses that auditors hold a release against, each with the facts that answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rwn_core.data.plain import read_plain
from rwn_core.data.toml import toml_document

_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """State one clause and the parts of facts that answer it."""

    # number, asks: as a standard numbers it, and what it asks for in a few words
    number: str
    asks: str
    parts: tuple[tuple[str, ...], ...]  # as clauses.toml says


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Hold the clauses of one standard."""

    # title, source: the standard, and what of it was read
    title: str
    source: str
    clauses: tuple[Clause, ...] = field(metadata={"in_file": "clause"})


CHAPTERS: tuple[Chapter, ...] = read_plain(
    tuple[Chapter, ...], toml_document(_TEXT, "list of clauses")["chapter"], "list of clauses"
)
"""All chapters of the page for auditors, in order."""
