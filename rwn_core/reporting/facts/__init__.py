"""Facts of a report in one list, each with its audience.

A fact is an `Entry` in `inside.py` or `outside.py` with its audience; reports are views of it.
Those of a dataset's release are in `dataset.py`.
"""

from __future__ import annotations

from rwn_core.reporting.facts.dataset import DATASET as DATASET
from rwn_core.reporting.facts.fact import Audience as Audience
from rwn_core.reporting.facts.fact import Content as Content
from rwn_core.reporting.facts.fact import Entry as Entry
from rwn_core.reporting.facts.fact import Fact as Fact
from rwn_core.reporting.facts.fact import Material as Material
from rwn_core.reporting.facts.fact import Table as Table
from rwn_core.reporting.facts.inside import INSIDE, WITHHELD
from rwn_core.reporting.facts.outside import OUTSIDE

FACTS: tuple[Entry, ...] = (*OUTSIDE, *INSIDE, *WITHHELD)
"""Every fact that reports know, in their order."""


def facts_for(audience: Audience, material: Material) -> tuple[Fact, ...]:
    """The facts of a release that an audience may read."""
    return tuple(
        Fact(key=each.key, title=each.title, audience=each.audience, content=each.make(material))
        for each in (DATASET if "parts" in material.record["file"] else FACTS)
        if each.make is not None and each.audience in (audience, Audience.BOTH)
    )
