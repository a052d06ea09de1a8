"""Templates of reports: whatever a text holds is escaped, and stands inside its element."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rwn_core.reporting import page
from rwn_core.reporting.facts import Audience, Content, Fact, Table
from rwn_core.reporting.page import rendered
from rwn_core.reporting.public_notice import unchecked_file
from tests.core.reporting.records_by_hand import RECORD, by_hand

HOSTILE = "</p><script>alert('x')</script> \" onload=\"x' {{ 7 * 7 }} & <b"
TEMPLATES = sorted((Path(page.__file__).parent / "templates").iterdir())


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_hostile_text_is_a_text_in_every_place_of_a_page() -> None:
    chart = {"title": HOSTILE, "note": HOSTILE, "alt": HOSTILE, "data": [{"name": HOSTILE}]}
    table = Table(columns=(HOSTILE,), rows=((HOSTILE,),))
    content = Content(lines=(HOSTILE,), table=table, charts=(chart,))
    fact = Fact(key=HOSTILE, title=HOSTILE, audience=Audience.PUBLIC, content=content)
    text = page.page(HOSTILE, HOSTILE, HOSTILE, [fact], HOSTILE).decode()
    read = _Page()
    read.feed(text)
    assert read.tags.count("script") == 3, "the page's own: data, library, drawing"
    assert {name for name, _ in read.attributes if name.startswith("on")} == set()
    assert [value for name, value in read.attributes if name == "aria-label"] == [HOSTILE]
    assert sum(HOSTILE in each for each in read.texts) == 10


def test_a_hostile_name_is_a_name_in_the_codebook() -> None:
    named = RECORD | {"table": RECORD["table"] | {"variables": [HOSTILE, "income", "sex"]}}
    material = by_hand(table=named["table"])
    root = ElementTree.fromstring(unchecked_file(material, ".xml"))
    names = [each.get("name") for each in root.iter("{ddi:codebook:2_5}var")]
    assert names == [HOSTILE, "income", "sex"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_attributes_of_templates_stand_in_double_quotes(path: Path) -> None:
    tags = re.findall(r"<\w[^<>]*>", path.read_text(encoding="utf-8"))
    assert [tag for tag in tags if re.search(r"=\s*['{]", tag)] == []


def test_a_name_that_a_template_lacks_is_no_empty_text() -> None:
    with pytest.raises(Exception, match="undefined"):
        rendered("page.html", title="", mark="")
