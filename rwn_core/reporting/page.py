"""A report as one HTML file: it needs no other file, asks no server, and prints."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import fromstring, tostring

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rwn_core.reporting.facts import Fact


def rendered(template: str, **values: Any) -> bytes:
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
        for fact in facts
        for chart in fact.content.charts
    ]
    data = library = Markup()
    if charts:  # a script ends at its first end tag, whatever stands around it
        written = orjson.dumps(charts, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        data = Markup(written.replace("</", "<\\/").replace("<!--", "<\\u0021--"))
        script = files("plotly") / "package_data" / "plotly.min.js"
        library = Markup(script.read_text(encoding="utf-8"))
    return rendered(
        "page.html", title=title, mark=mark, about=about, facts=facts, form=form,
        charts=data, library=library, drawing=_drawing,
    )  # fmt: skip


def _drawing(picture: str) -> Markup:
    """The SVG text of a chart as part of a page, as wide as the page."""
    drawing = fromstring(picture.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
    for size in ("width", "height"):
        drawing.attrib.pop(size)
    return Markup(tostring(drawing, encoding="unicode", method="html"))
