"""A page is whole: it names who may read it, and draws each chart in its own place."""

from __future__ import annotations

import re

from rwn_core.reporting.facts.fact import Audience, Content, Fact
from rwn_core.reporting.page import page


def fact(key: str, *charts: str) -> Fact:
    drawn = tuple(
        {"title": title, "data": [{"y": [1, 2]}], "alt": f"{title} alt"} for title in charts
    )
    content = Content(lines=(f"About {key}.",), charts=drawn)
    return Fact(key=key, title=key.title(), audience=Audience.INTERNAL, content=content)


def test_every_chart_has_a_place_and_the_program_that_draws_it() -> None:
    html = page(
        "Report", "INTERNAL", "Release 1", [fact("a", "A<"), fact("b"), fact("c", "C", "D")]
    )
    text = html.decode()
    places = re.findall(r'<div id="chart-(\d)" role="img" aria-label="([^"]*)"', text)
    assert places == [("0", "A< alt"), ("1", "C alt"), ("2", "D alt")]
    assert text.count('class="charts"') == 2
    assert text.count('{"y":[1,2]}') == 3
    assert len(re.findall(r"<script", text)) >= 3  # what is drawn, the library, and what draws it
    assert len(text) > 1_000_000
    assert "<title>INTERNAL: Report</title>" in text
    assert '<p class="mark">INTERNAL</p>' in text


def test_a_page_without_charts_and_mark_has_no_program() -> None:
    text = page("Notice", "", "Release 1", [fact("a")]).decode()
    assert "<script" not in text
    assert "<title>Notice</title>" in text
    assert 'class="mark"' not in text
    assert 'class="charts"' not in text
