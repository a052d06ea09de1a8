"""A report as one HTML file: it needs no other file, asks no server, and prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

import orjson

from rwn_core.charts import Chart
from rwn_core.reporting.facts import Fact, Table

_STYLE = """
:root { color-scheme: light; }
body { font: 11pt/1.45 "Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif; color: #1a1a1a;
  background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; border-bottom: 1px solid #ccc; }
p { margin: .35rem 0; }
.mark { font-weight: 700; letter-spacing: .04em; color: #a11; margin: 0 0 1rem; }
.about { color: #555; margin: 0 0 1rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .92em; }
th, td { text-align: left; vertical-align: top; padding: .2rem .7rem .2rem 0;
  border-bottom: 1px solid #e4e4e4; overflow-wrap: break-word; }
th { color: #555; font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(440px, 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; }
figure > svg { display: block; width: 100%; max-width: 46rem; height: auto; }
figcaption { font-size: .92em; } figcaption b { display: block; }
.minutes { font-size: 9pt; line-height: 1.25; }
.minutes h1 { font-size: 1.6rem; } .minutes .about { color: #1a1a1a; font-size: 11pt; }
.minutes h2 { font-size: 1rem; margin: .55rem 0 .1rem; }
.minutes p, .minutes table { margin: .1rem 0; }
.minutes :is(th, td) { padding: .08rem .5rem .08rem 0; }
.minutes td:first-child { min-width: 8.5rem; }
.minutes :is(#decision, #fingerprints) thead { display: none; }
.minutes #map { float: left; width: 56%; margin-right: 4%; } .minutes #fingerprints { clear: both; }
@page minutes { margin: 12mm; }
@media print { .minutes { page: minutes; }
  body { margin: 0; max-width: none; } h2 { break-after: avoid; }
  tr { break-inside: avoid; } .wide { overflow: visible; }
  .charts { grid-template-columns: 1fr 1fr; gap: .6rem; } figure > div { zoom: .7; }
  @page { margin: 18mm; } }
"""
_SAFE = "default-src 'none'; style-src 'unsafe-inline'"
_WITH_CHARTS = f"{_SAFE}; script-src 'unsafe-inline'; img-src data: blob:"
_DRAW = """
const charts = JSON.parse(document.getElementById("chart-data").textContent);
charts.forEach((chart, i) => {
  const layout = { ...chart.layout, width: 440, height: 300, paper_bgcolor: "#fff" };
  layout.font = { ...layout.font, color: "#1a1a1a", family: "Helvetica, Arial, sans-serif" };
  for (const axis of [layout.xaxis, layout.yaxis]) if (axis) axis.automargin = true;
  Plotly.newPlot(`chart-${i}`, chart.data, layout, { staticPlot: true });
});
"""


def page(title: str, mark: str, about: str, facts: Sequence[Fact], form: str = "") -> bytes:
    """Write facts as one HTML file; "minutes" fit one printed page."""
    charts = [chart for fact in facts for chart in fact.content.charts]
    html = Element("html", lang="en")
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    policy = _WITH_CHARTS if charts else _SAFE
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    SubElement(head, "meta", name="viewport", content="width=device-width")
    _text(head, "title", f"{mark}: {title}" if mark else title)
    _text(head, "style", _STYLE)
    body = SubElement(html, "body", {"class": form} if form else {})
    if mark:
        _text(body, "p", mark, "mark")
    _text(body, "h1", title)
    _text(body, "p", about, "about")
    drawn = 0
    for fact in facts:
        drawn = _section(body, fact, drawn)
    if charts:
        _scripts(body, charts)
    text: str = tostring(html, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{text}\n".encode()


def _text(parent: Element, tag: str, text: str, class_: str = "") -> Element:
    element = SubElement(parent, tag, {"class": class_} if class_ else {})
    element.text = text
    return element


def _section(body: Element, fact: Fact, drawn: int) -> int:
    """One fact; gives how many charts have their place so far."""
    section = SubElement(body, "section", id=fact.key)
    _text(section, "h2", fact.title)
    for line in fact.content.lines:
        _text(section, "p", line)
    if fact.content.table is not None:
        _rows(SubElement(section, "div", {"class": "wide"}), fact.content.table)
    for picture in fact.content.stills:
        figure = SubElement(section, "figure")
        figure.append(_drawing(picture))
    if fact.content.charts:
        grid = SubElement(section, "div", {"class": "charts"})
        for chart in fact.content.charts:
            figure = SubElement(grid, "figure")
            caption = SubElement(figure, "figcaption")
            _text(caption, "b", str(chart["title"]))
            caption[0].tail = str(chart.get("note") or "")
            place = {"id": f"chart-{drawn}", "role": "img", "aria-label": str(chart.get("alt", ""))}
            SubElement(figure, "div", place)
            drawn += 1
    return drawn


def _drawing(picture: str) -> Element:
    """The SVG text of a chart as part of a page, as wide as the page."""
    drawing = fromstring(picture.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))
    for size in ("width", "height"):
        drawing.attrib.pop(size)
    return drawing


def _rows(parent: Element, table: Table) -> None:
    grid = SubElement(parent, "table")
    _row(SubElement(grid, "thead"), "th", table.columns)
    body = SubElement(grid, "tbody")
    for row in table.rows:
        _row(body, "td", row)


def _row(parent: Element, tag: str, cells: Iterable[str]) -> None:
    row = SubElement(parent, "tr")
    for cell in cells:
        _text(row, tag, cell)


def _scripts(body: Element, charts: Sequence[Chart]) -> None:
    plain = [{"data": chart.get("data", []), "layout": chart.get("layout", {})} for chart in charts]
    written = orjson.dumps(plain, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    holder = _text(body, "script", written.replace("</", "<\\/").replace("<!--", "<\\u0021--"))
    holder.set("type", "application/json")
    holder.set("id", "chart-data")
    library = files("plotly") / "package_data" / "plotly.min.js"
    _text(body, "script", library.read_text(encoding="utf-8"))
    _text(body, "script", _DRAW)
