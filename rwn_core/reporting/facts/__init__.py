"""Facts of a report in one list, each with its audience.

A fact is an `Entry` in `inside.py` or `outside.py` with its audience; reports are views of it.
Those of a dataset's release are in `dataset.py`.
"""

from __future__ import annotations

from rwn_core.data.record_noun import RecordNoun
from rwn_core.measures import CHANGED
from rwn_core.reporting.facts.fact import Audience as Audience
from rwn_core.reporting.facts.fact import Content as Content
from rwn_core.reporting.facts.fact import Entry as Entry
from rwn_core.reporting.facts.fact import Fact as Fact
from rwn_core.reporting.facts.fact import Material as Material
from rwn_core.reporting.facts.fact import Table as Table
from rwn_core.reporting.facts.fact import pairs, spoken_fact
from rwn_core.reporting.facts.inside import INSIDE, WITHHELD
from rwn_core.reporting.facts.outside import OUTSIDE

FACTS: tuple[Entry, ...] = (*OUTSIDE, *INSIDE, *WITHHELD)
"""Every fact that reports know, in their order."""


def facts_for(audience: Audience, material: Material) -> tuple[Fact, ...]:
    """The facts of a release that an audience may read, in the noun of its records."""
    facts = tuple(
        Fact(key=each.key, title=each.title, audience=each.audience, content=each.make(material))
        for each in (DATASET if "parts" in material.record["file"] else FACTS)
        if each.make is not None and each.audience in (audience, Audience.BOTH)
    )
    noun = material.noun
    if noun is RecordNoun.PERSON:
        return facts
    return tuple(spoken_fact(fact, noun, material.own_words) for fact in facts)


def _changed(material: Material) -> Content:
    changed = material.reading(CHANGED)
    rows = {name: f"{100 * share:.2f} %" for name, share in material.changed.items()}
    line = f"Of all records: {100 * changed['value']:.1f} % of the values changed."
    return Content(lines=(line,), table=pairs(rows))


def _judged(material: Material) -> Content:
    about = material.record.get("judged")
    if about is None:
        return Content(lines=("No sample of the records was judged with this record.",))
    lines = (
        f"What follows was {about['words']}, drawn at random, without the law of the method.",
        "Among all records linkage by distance finds at most as many of them. An intruder who "
        "knows the method finds more: for the worst case mask a sample of the records with rwn "
        "mask and read its audit.",
    )
    return Content(lines=lines)


def _files(material: Material) -> Content:
    file = material.record["file"]
    named = {
        "files": f"{len(file['parts']):,}",
        "bytes": f"{file['size']:,}",
        "SHA-256 of what sha256sum says of the files": file["sha256"],
        "format and row order": f"{file['format']}, {file['order']}",
        "randomness": file["key"],
    }
    if {"k", "epsilon"} <= material.record["setting"]["parameters"].keys():
        named["records with fewer than k candidates within epsilon"] = f"{file['fell_back']:,}"
    return Content(table=pairs(named))


_OTHERS = {entry.key: entry for entry in (*OUTSIDE, *INSIDE)}
_FIRST = ("label", "treated", "variables", "loss", "data", "context", "parameters")
_READ = ("anonymity", "risks", "utility")
_LAST = ("cautions", "errors", "totals", "use", "file", "review", "versions")
_INTERNAL = Audience.INTERNAL
DATASET = (
    *(_OTHERS[key] for key in _FIRST),
    Entry(key="changed", title="What changed", audience=_INTERNAL, make=_changed),
    Entry(key="judged", title="Judged on a sample", audience=_INTERNAL, make=_judged),
    *(_OTHERS[key] for key in (*_READ, *_LAST)),
    Entry(key="files", title="Files and hashes", audience=_INTERNAL, make=_files),
)
"""In the order of the reports of a dataset's release."""
