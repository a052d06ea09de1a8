"""Every text of a finished file: what a reader sees, and what only a program sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import orjson

from rwn_core.data.toml import toml_document


def file_texts(content: bytes, suffix: str) -> list[str]:
    """Give the texts of a file, each by itself; a form is known by the end of its name."""
    return list(_READERS[suffix.rpartition(".")[2]](content.decode("utf-8")))


class _Texts(HTMLParser):
    """Collects what an HTML file says."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes, but for those of the page's form."""
        self._open = tag
        if tag != "meta":
            self.texts += [value for _, value in attrs if value]

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._open = ""

    def handle_data(self, data: str) -> None:
        """Take a text, unless it is style."""
        if self._open != "style" and data.strip():
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Take a comment, too."""
        self.texts.append(data)


def _html(text: str) -> list[str]:
    parser = _Texts()
    parser.feed(text)
    parser.close()
    return parser.texts


def leaves(node: Any) -> Iterator[Any]:
    """Yield every name and value of plain data."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield name
            yield from leaves(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from leaves(value)
    else:
        yield node


def _plain(node: Any) -> list[str]:
    return [str(each) for each in leaves(node) if each is not None]


def _xml(text: str) -> Iterator[str]:
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    for element in ElementTree.fromstring(text, parser=parser).iter():
        yield from (part for part in (element.text, element.tail) if part and part.strip())
        yield from element.attrib.values()


_READERS: dict[str, Any] = {
    "html": _html,
    "json": lambda text: _plain(orjson.loads(text)),
    "xml": _xml,
    "txt": lambda text: [" ".join(text.split())],
    "toml": lambda text: [
        *_plain(toml_document(text, "card")),
        *(line for line in text.splitlines() if line.startswith("#")),
    ],
}
