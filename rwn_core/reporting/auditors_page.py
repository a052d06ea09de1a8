"""The page for auditors: facts of a release under the clauses of standards, as HTML or text.

It is made of the internal record alone, so it holds risks, parameters and no value of a record.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ParameterError
from rwn_core.measures import MEASURES
from rwn_core.reporting.auditors_leaks import check_auditors
from rwn_core.reporting.clauses import CHAPTERS, Chapter, Clause
from rwn_core.reporting.context import QUESTIONS
from rwn_core.reporting.facts import FACTS, Audience, Content, Fact, Material, Table
from rwn_core.reporting.facts.inside import INTRUDER_TEST
from rwn_core.reporting.leak_check import rare_values
from rwn_core.reporting.page import page

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Hold the answer to one clause, and where it stands in the text form.

    Attributes
    ----------
    chapter, number, asks : str
    page, line : int
        From 1.
    answered : bool
        Whether every part of the answer says something.
    """

    chapter: str
    number: str
    asks: str
    page: int
    line: int
    answered: bool


def auditors_file(material: Material, original: Microdata, suffix: str) -> bytes:
    """Write the page for auditors, once the leak check has passed."""
    if suffix not in FORMS:
        raise ParameterError(f"A page for auditors must end in one of: {', '.join(FORMS)}.")
    if original.fingerprint != material.record["table"].get("fingerprint"):
        raise InputError(
            "The original is not the table that the record was made of; give the file that was "
            "masked, described in the same way."
        )
    content = FORMS[suffix](replace(material, evidence={}))
    check_auditors(content, suffix, material, rare_values(original))
    return content


def checklist(material: Material) -> list[Answer]:
    """Return each clause with the page and line of its answer in the text form."""
    return [answer for _, answer in _laid_out(material) if answer is not None]


def _sections(material: Material) -> Iterator[tuple[Chapter, Clause | None, Content, bool]]:
    """Yield each chapter's heading, then its clauses with their answers."""
    made = {each.key: each.make(material) for each in FACTS if each.make is not None}
    shown: dict[str, str] = {}
    for chapter in CHAPTERS:
        yield chapter, None, Content(lines=(chapter.source,)), True
        for clause in chapter.clauses:
            yield chapter, clause, *_answer(chapter, clause, made, shown)


def _answer(
    chapter: Chapter, clause: Clause, made: Mapping[str, Content], shown: dict[str, str]
) -> tuple[Content, bool]:
    """Compose the answer; a whole table is shown once, and named where it is needed again."""
    lines: list[str] = []
    table, answered = None, True
    for key, *quoted in clause.parts:
        content = made[key]
        for part in quoted:
            if part == "lines":
                lines += content.lines
                answered &= bool(content.lines) and _EMPTY.isdisjoint(content.lines)
            elif part == "table":
                answered &= _says(content.table)
                if content.table is not None and key in shown:
                    lines.append(f"See the table under {shown[key]}.")
                elif content.table is not None:
                    table, shown[key] = content.table, f"{chapter.title}, {clause.number}"
            else:
                rows = _named_rows(content.table, part)
                lines += [f"{row[0]}{'' if row[0].endswith('?') else ':'} {row[1]}" for row in rows]
                answered &= bool(rows) and all(row[1] not in _EMPTY for row in rows)
    return Content(lines=tuple(lines), table=table), answered


def _named_rows(table: Table | None, name: str) -> list[tuple[str, ...]]:
    names = _ROWS.get(name, {name})
    rows = [] if table is None else [row for row in table.rows if row[0] in names]
    # a table of attacks has the question between the attack and its answer
    return [(row[0], row[2]) if table and table.columns[1] == "question" else row for row in rows]


def _says(table: Table | None) -> bool:
    rows = [] if table is None else [set(row[1:]) for row in table.rows if row[0] not in _OPTIONAL]
    return bool(rows) and all(row - _EMPTY and "not stated" not in row for row in rows)


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


def _laid_out(material: Material) -> Iterator[tuple[str, Answer | None]]:
    """Yield the lines of the text form; the first line of an answer comes with the answer."""
    place = 0
    for line in (*textwrap.wrap(MARK, _WIDTH), material.name, _about(material)):
        yield line, None
        place += 1
    for chapter, clause, content, answered in _sections(material):
        for line in ("", chapter.title.upper() if clause is None else _title(clause)):
            yield line, None
            place += 1
        for number, line in enumerate(_written(content)):
            answer = None
            if number == 0 and clause is not None:
                about = {"page": place // LINES + 1, "line": place % LINES + 1}
                answer = Answer(chapter=chapter.title, number=clause.number, asks=clause.asks,
                                answered=answered, **about)  # fmt: skip
            yield line, answer
            place += 1


def _written(content: Content) -> list[str]:
    """Return the lines of an answer; one that says nothing has a line, too."""
    texts = list(content.lines)
    if content.table is not None:
        texts += [" | ".join(row) for row in (content.table.columns, *content.table.rows)]
    wrapped = (textwrap.wrap(text, _WIDTH - 2) for text in texts)
    return [f"  {line}" for lines in wrapped for line in lines] or ["  not stated"]


def _title(clause: Clause) -> str:
    return f"{clause.number} · {clause.asks}"


def _about(material: Material) -> str:
    return f"Release {material.record['release']['id']}, made on {material.made}."


FORMS = MappingProxyType({".html": _html, ".txt": _text})
"""How the page for auditors is written, by the ending of its name."""
