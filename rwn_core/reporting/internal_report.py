"""The internal report: all that an institution must be able to answer for of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import MappingProxyType

import orjson

from rwn_core.errors import ParameterError
from rwn_core.reporting.facts import Audience, Material, facts_for
from rwn_core.reporting.facts.inside import WITHHELD
from rwn_core.reporting.page import page

FORMAT = "rwn internal report 1"
MARK = "CONFIDENTIAL: INTERNAL REPORT, STAYS IN THE HOUSE"


def internal_html(material: Material) -> bytes:
    """Write the internal report as one HTML file with its charts."""
    facts = facts_for(Audience.INTERNAL, material)
    withheld = ", ".join(entry.title for entry in WITHHELD)
    about = f"Release {material.record['release']['id']}, made on {material.made}. " + (
        f"No report says: {withheld}."
    )
    return page(material.name, MARK, about, facts)


def internal_json(material: Material) -> bytes:
    """Write the same facts as JSON; charts as Plotly dictionaries."""
    facts = [asdict(fact) for fact in facts_for(Audience.INTERNAL, material)]
    document = {"format": FORMAT, "note": MARK, "title": material.name, "facts": facts}
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2)


FORMS: Mapping[str, Callable[[Material], bytes]] = MappingProxyType(
    {".html": internal_html, ".json": internal_json}
)
"""How an internal report is written, by the ending of its name."""


def internal_file(material: Material, suffix: str) -> bytes:
    """Write an internal report."""
    form = FORMS.get(suffix.lower())
    if form is None:
        raise ParameterError(f"An internal report must end in one of: {', '.join(FORMS)}.")
    return form(material)
