"""Facts of a report in one list, each with its audience.

A fact is an `Entry` in `inside.py` or `outside.py` with its audience; reports are views of it.
Those of a dataset's release are in `dataset.py`.
"""

from __future__ import annotations

from rwn_core.reporting.facts.dataset import DATASET
from rwn_core.reporting.facts.fact import Audience, Content, Entry, Fact, Material, Table
from rwn_core.reporting.facts.inside import INSIDE, WITHHELD
from rwn_core.reporting.facts.outside import OUTSIDE

__all__ = [
    "DATASET",
    "FACTS",
    "Audience",
    "Content",
    "Entry",
    "Fact",
    "Material",
    "Table",
    "facts_for",
]

FACTS: tuple[Entry, ...] = (*OUTSIDE, *INSIDE, *WITHHELD)
"""Every fact that reports know, in their order."""


def facts_for(audience: Audience, material: Material) -> tuple[Fact, ...]:
    """The facts of a release that an audience may read."""
    return tuple(
        Fact(key=each.key, title=each.title, audience=each.audience, content=each.make(material))
        for each in (FACTS if material.dataset is None else DATASET)
        if each.make is not None and each.audience in (audience, Audience.BOTH)
    )
