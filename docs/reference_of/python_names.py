"""The page of the Python names: what each does, its parameters, and an example with its output."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import rwn_core as rwn
from docs.docstrings import entries, sections

_BEGINNING = """
# Python

`import rwn_core as rwn`: the public names with an example, and what it prints. The tests run every
example. `help(rwn.NAME)` has shapes, errors and sources; [methods](methods.md) and
[measures](measures.md) have pages of their own.
"""
CHAPTERS = {
    "Read a table": ("read", "load_demo", "Microdata", "Schema", "Variable"),
    "Mask it": ("mask", "RWN", "Rounded", "Radii", "SecretKey", "recommend"),
    "Measure it": ("audit", "Audit", "ensemble", "combine_releases"),
    "Search a setting": (
        *("Limit", "Policy", "Plan", "Grid", "sweep", "Goal", "seek", "Setting"),
        "quick_verdict",
    ),
    "Below": ("coordinates", "find_neighborhoods"),
}
"""Names by what they are for."""


def page() -> str:
    """The page's text."""
    parts = [_BEGINNING.strip()]
    for title, names in CHAPTERS.items():
        parts += [f"## {title}", *(part for name in names for part in _entry(name))]
    return "\n\n".join(parts)


def _entry(name: str) -> Iterator[str]:
    """What a name is for, its parameters and its example."""
    thing = getattr(rwn, name)
    parts = sections(thing)
    yield f"### `rwn.{name}`"
    yield parts[""].partition("\n\n")[0].replace("\n", " ")
    if described := "\n".join(_parameters(thing)):
        yield described
    yield f"```python\n{parts['Examples']}\n```"


def _parameters(thing: Any) -> Iterator[str]:
    """The parameters that callers give, with type and description."""
    known = inspect.signature(thing).parameters
    for name, (kind, words) in entries(thing).items():
        if name in known:
            yield f"- `{name}` ({kind}): {words}".removesuffix(": ")
