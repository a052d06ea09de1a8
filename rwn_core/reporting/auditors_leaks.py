"""The leak check of the page for auditors: numbers of the internal record, and nothing else.

The page may say what the record says and the fixed words of clauses, questions and measures. A
value of few records, a path, a key or the number of a record is refused by its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import astuple
from typing import Any

from rwn_core.measures import MEASURES
from rwn_core.reporting import leak_check as public
from rwn_core.reporting.clauses import CHAPTERS
from rwn_core.reporting.context import QUESTIONS
from rwn_core.reporting.facts import FACTS, Material
from rwn_core.reporting.facts.fact import method_words, what_it_destroys
from rwn_core.reporting.facts.public_words import vocabulary
from rwn_core.reporting.file_text import file_texts

_PAGE = "page for auditors"
_STATED = ("context", "decision", "approval")  # in the words of the steward
_SHAPES = ("{:.4g}", "{:.3g}", "{:.0f}", "{:.1f}", "{:,.1f}", "{:,.0f}")


def check_auditors(content: bytes, suffix: str, material: Material, rare: Set[Any]) -> None:
    """Refuse a page for auditors that holds more than the record and fixed words."""
    parts = material.record.items()
    record = {name: part for name, part in parts if name not in ("source", *_STATED)}
    known = [*_fixed(), *_own(material), *_texts(record)]
    stated = [material.name, *_texts({name: part for name, part in parts if name in _STATED})]
    numbers = {token for text in known for token in public.TOKEN.findall(text)}
    numbers |= {token for text in stated for token in public.TOKEN.findall(text)
                if not public.of_either_sign(token) & rare}  # fmt: skip
    numbers |= _written({*filter(_is_number, _leaves(record))}, record["table"]["records"])
    numbers |= {str(page) for page in range(1, content.count(b"\f") + 2)}
    said = set[Any]().union(*map(public.phrases, known))
    for text in file_texts(content, suffix):
        public.check_shape(text, material, numbers)
        if public.RECORD.search(text):
            raise public.refusal("the number of a record", _PAGE)
        for token in public.TOKEN.findall(text):
            if any(letter.isdigit() for letter in token) and token not in numbers:
                raise public.refusal("a number that the internal record does not have", _PAGE)
        if public.phrases(text) & rare - said:
            raise public.refusal(public.RARE, _PAGE)


def _texts(node: Any) -> list[str]:
    return [each for each in _leaves(node) if isinstance(each, str)]


def _fixed() -> Iterator[str]:
    """Yield the words that every page for auditors may say."""
    for chapter in CHAPTERS:
        yield from (chapter.title, chapter.source)
        yield from (text for clause in chapter.clauses for text in (clause.number, clause.asks))
    yield from (text for each in QUESTIONS for text in (each.title, each.question))
    yield from (text for each in MEASURES.values()
                for text in (each.title, each.at_least, each.question, each.source))  # fmt: skip
    yield from (each.title for each in FACTS)
    yield from vocabulary()


def _own(material: Material) -> Iterator[str]:
    """Yield words about the method and the names that the steward gave."""
    method = material.method
    yield from (*method_words(method), what_it_destroys(method), method.title)
    yield from (material.setting.words, material.made, material.review_day)
    yield from material.setting.params.cautions()
    yield from (f"{each}-anonymity" for each in material.reading("k_anonymity").get("limits", ()))
    test = material.context.intruder_test
    yield from () if test is None else map(str, astuple(test))


def _leaves(node: Any) -> Iterator[Any]:
    """Yield every name and value of plain data."""
    if isinstance(node, Mapping):
        yield from node
        node = list(node.values())
    if isinstance(node, list | tuple):
        for each in node:
            yield from _leaves(each)
    elif not isinstance(node, Mapping):
        yield node


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(values: Set[float], n: int) -> set[str]:
    """Return every way in which a report writes numbers of a record, and counts among n."""
    scaled = [scale * abs(value) for value in values for scale in (1, 100)]
    shares = [100 * abs(value) / n for value in values if isinstance(value, int)]
    return {shape.format(value) for value in scaled for shape in _SHAPES} | {
        f"{share:.1f}" for share in shares
    }
