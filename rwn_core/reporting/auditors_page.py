"""The page for auditors: facts of a release under the clauses of standards, as HTML or text.

It may say what the internal record says and the fixed words of clauses, questions and measures. A
value of few records, a path, a key or the number of a record is refused by its kind.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain, toml_document
from rwn_core.errors import ParameterError
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES
from rwn_core.reporting import leak_check as public
from rwn_core.reporting.context import QUESTIONS, is_number
from rwn_core.reporting.facts import FACTS, Audience, Content, Fact, Material, Table
from rwn_core.reporting.facts.inside import INTRUDER_TEST
from rwn_core.reporting.facts.public_words import vocabulary
from rwn_core.reporting.leak_check import file_texts, leaves
from rwn_core.reporting.page import page
from rwn_core.reporting.release_record import require_original

MARK = "CONFIDENTIAL: FOR AUDITORS. IT HOLDS RISKS AND PARAMETERS, AND NO VALUE OF A RECORD"
LINES = 58  # of a page of the text form
_WIDTH = 100
_EMPTY = frozenset(
    {
        "",
        "–",
        "not stated",
        "none was recorded",
        "It was not read.",
        "Nobody's name was given with this release.",
        "No decision of a meeting was given with this release.",
    }
)
_OPTIONAL = frozenset({"accepted by", "watched"})
"""Rows of a decision that may be empty: its limits are kept, and no record was watched."""
_ROWS = {each.name: {each.question} for each in QUESTIONS} | {
    key: {measure.title, measure.at_least} - {""} for key, measure in MEASURES.items()
}
_ROWS["intruder_test"] = {INTRUDER_TEST}

_PAGE = "page for auditors"
_STATED = ("context", "decision", "approval")  # in the words of the steward
_SHAPES = ("{:.4g}", "{:.3g}", "{:.0f}", "{:.1f}", "{:,.1f}", "{:,.0f}")
_TEXT = Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseAnswer:
    """Hold the answer to one clause, and where it stands in the text form."""

    chapter: str
    number: str
    asks: str
    # page, line: from 1
    page: int
    line: int
    answered: bool  # whether every part of the answer says something


def auditors_file(material: Material, original: Microdata, suffix: str) -> bytes:
    """Write the page for auditors, once the leak check has passed."""
    if suffix not in FORMS:
        raise ParameterError(f"A page for auditors must end in one of: {', '.join(FORMS)}.")
    require_original(material.record, original)
    content = FORMS[suffix](replace(material, evidence={}))
    # Refuse a page for auditors that holds more than the record and fixed words.
    rare = public.rare_values(original)
    parts = material.record.items()
    record = {name: part for name, part in parts if name not in ("source", *_STATED)}
    known = [*_fixed(), *_own(material), *_texts(record)]
    stated = [material.name, *_texts({name: part for name, part in parts if name in _STATED})]
    numbers = {token for text in known for token in public.TOKEN.findall(text)}
    numbers |= {token for text in stated for token in public.TOKEN.findall(text)
                if not public.of_either_sign(token) & rare}  # fmt: skip
    # Every way in which a report writes numbers of a record, and counts among n.
    values = {*filter(is_number, leaves(record))}
    n = record["table"]["records"]
    scaled = [scale * abs(value) for value in values for scale in (1, 100)]
    shares = [100 * abs(value) / n for value in values if isinstance(value, int)]
    numbers |= {shape.format(value) for value in scaled for shape in _SHAPES} | {
        f"{share:.1f}" for share in shares
    }
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
    return content


def checklist(material: Material) -> list[ClauseAnswer]:
    """Return each clause with the page and line of its answer in the text form."""
    return [answer for _, answer in _laid_out(material) if answer is not None]


def _sections(material: Material) -> Iterator[tuple[Chapter, Clause | None, Content, bool]]:
    """Yield each chapter's heading, then its clauses with their answers."""
    made = {each.key: each.make(material) for each in FACTS if each.make is not None}
    shown: dict[str, str] = {}
    for chapter in CHAPTERS:
        yield chapter, None, Content(lines=(chapter.source,)), True
        for clause in chapter.clauses:
            # Compose the answer; a whole table is shown once, and named where it is
            # needed again.
            lines: list[str] = []
            table, answered = None, True
            for key, *quoted in clause.parts:
                content = made[key]
                for part in quoted:
                    if part == "lines":
                        lines += content.lines
                        answered &= bool(content.lines) and _EMPTY.isdisjoint(content.lines)
                    elif part == "table":
                        said = (
                            []
                            if content.table is None
                            else [
                                set(row[1:])
                                for row in content.table.rows
                                if row[0] not in _OPTIONAL
                            ]
                        )
                        answered &= bool(said) and all(
                            row - _EMPTY and "not stated" not in row for row in said
                        )
                        if content.table is not None and key in shown:
                            lines.append(f"See the table under {shown[key]}.")
                        elif content.table is not None:
                            table, shown[key] = content.table, f"{chapter.title}, {clause.number}"
                    else:
                        rows = _named_rows(content.table, part)
                        lines += [
                            f"{row[0]}{'' if row[0].endswith('?') else ':'} {row[1]}"
                            for row in rows
                        ]
                        answered &= bool(rows) and all(row[1] not in _EMPTY for row in rows)
            yield chapter, clause, *(Content(lines=tuple(lines), table=table), answered)


def _named_rows(table: Table | None, name: str) -> list[tuple[str, ...]]:
    names = _ROWS.get(name, {name})
    rows = [] if table is None else [row for row in table.rows if row[0] in names]
    # a table of attacks has the question between the attack and its answer
    return [(row[0], row[2]) if table and table.columns[1] == "question" else row for row in rows]


def _html(material: Material) -> bytes:
    facts = []
    for chapter, clause, content, _ in _sections(material):
        title = f"Chapter: {chapter.title}" if clause is None else _title(clause)
        key = "-".join(re.findall("[a-z]+", f"{chapter.title} {title}".casefold()))
        facts.append(Fact(key=key, title=title, audience=Audience.INTERNAL, content=content))
    return page(material.name, MARK, _about(material), facts)


def _text(material: Material) -> bytes:
    lines = [line for line, _ in _laid_out(material)]
    pages = [lines[start : start + LINES] for start in range(0, len(lines), LINES)]
    numbered = (
        "\n".join([*each, f"{'page':>{_WIDTH - 4}} {number}"])
        for number, each in enumerate(pages, start=1)
    )
    return ("\n\f".join(numbered) + "\n").encode()


def _laid_out(material: Material) -> Iterator[tuple[str, ClauseAnswer | None]]:
    """Yield the lines of the text form; the first line of an answer comes with the answer."""
    place = 0
    for line in (*textwrap.wrap(MARK, _WIDTH), material.name, _about(material)):
        yield line, None
        place += 1
    for chapter, clause, content, answered in _sections(material):
        for line in ("", chapter.title.upper() if clause is None else _title(clause)):
            yield line, None
            place += 1
        # The lines of an answer; one that says nothing has a line, too.
        texts = list(content.lines)
        if content.table is not None:
            texts += [" | ".join(row) for row in (content.table.columns, *content.table.rows)]
        wrapped = (textwrap.wrap(text, _WIDTH - 2) for text in texts)
        for number, line in enumerate(
            [f"  {line}" for lines in wrapped for line in lines] or ["  not stated"]
        ):
            answer = None
            if number == 0 and clause is not None:
                about = {"page": place // LINES + 1, "line": place % LINES + 1}
                answer = ClauseAnswer(chapter=chapter.title, number=clause.number, asks=clause.asks,
                                answered=answered, **about)  # fmt: skip
            yield line, answer
            place += 1


def _title(clause: Clause) -> str:
    return f"{clause.number} · {clause.asks}"


def _about(material: Material) -> str:
    return f"Release {material.record['release']['id']}, made on {material.made}."


def _texts(node: Any) -> list[str]:
    return [each for each in leaves(node) if isinstance(each, str)]


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
    yield from (*method_words(method).values(), material.does, method.title)
    yield from (material.setting.words, material.made, material.context.review)
    yield from material.setting.params.cautions()
    yield from (f"{each}-anonymity" for each in material.reading("k_anonymity").get("limits", ()))
    test = material.context.intruder_test
    yield from () if test is None else map(str, astuple(test))


FORMS = MappingProxyType({".html": _html, ".txt": _text})
"""How the page for auditors is written, by the ending of its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """State one clause and the parts of facts that answer it."""

    # number, asks: as a standard numbers it, and what it asks for in a few words
    number: str
    asks: str
    parts: tuple[tuple[str, ...], ...]  # as clauses.toml says


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Hold the clauses of one standard."""

    # title, source: the standard, and what of it was read
    title: str
    source: str
    clauses: tuple[Clause, ...] = field(metadata={"in_file": "clause"})


CHAPTERS: tuple[Chapter, ...] = read_plain(
    tuple[Chapter, ...], toml_document(_TEXT, "list of clauses")["chapter"], "list of clauses"
)
"""All chapters of the page for auditors, in order."""
