"""A report as one HTML file that needs no other file; the internal report is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from itertools import chain
from types import MappingProxyType

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rwn_core.errors import ParameterError
from rwn_core.reporting.dots import NAMED_BY, picture
from rwn_core.reporting.facts import Audience, Fact, Material, facts_for
from rwn_core.reporting.facts.inside import WITHHELD

FORMAT = "rwn internal report 1"
MARK = "CONFIDENTIAL: INTERNAL REPORT, STAYS IN THE HOUSE"


def rendered(template: str, **values: object) -> bytes:
    """Fill a template of `rwn_core/reporting/templates`; every text in it is escaped."""
    environment = Environment(
        loader=PackageLoader("rwn_core.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template(template).render(values)
    return text.replace("&#39;", "'").encode()  # attributes of templates stand in double quotes


def page(title: str, mark: str, about: str, facts: Sequence[Fact], form: str = "") -> bytes:
    """Write facts as one HTML file; "minutes" fit one printed page."""
    charts = [
        {"data": chart.get("data", []), "layout": chart.get("layout", {})}
        for chart in chain.from_iterable(fact.content.charts for fact in facts)
    ]
    data = library = Markup()
    if charts:  # a script ends at its first end tag, whatever stands around it
        written = orjson.dumps(charts, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        data = Markup(written.replace("</", "<\\/").replace("<!--", "<\\u0021--"))
        script = files("plotly") / "package_data" / "plotly.min.js"
        library = Markup(script.read_text(encoding="utf-8"))
    return rendered(
        "page.html",
        title=title,
        mark=mark,
        about=about,
        facts=facts,
        form=form,
        charts=data,
        library=library,
        named_by=NAMED_BY,
        picture=lambda dots: Markup(picture(dots)),
    )


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
