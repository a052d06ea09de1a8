"""The page for auditors: facts of a release under the clauses of standards, as HTML.

It may say what the internal record says and the fixed words of clauses, questions and measures. A
value of few records, a path, a key or the number of a record is refused by its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain, toml_document
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES
from rwn_core.reporting import leak_check as public
from rwn_core.reporting.context import QUESTIONS
from rwn_core.reporting.facts import FACTS, Audience, Content, Fact, Material, Table
from rwn_core.reporting.facts.public_words import vocabulary
from rwn_core.reporting.leak_check import file_texts, leaves
from rwn_core.reporting.page import page
from rwn_core.reporting.release_record import require_original

MARK = "CONFIDENTIAL: FOR AUDITORS. IT HOLDS RISKS AND PARAMETERS, AND NO VALUE OF A RECORD"
_EMPTY = frozenset(
    {
        "",
        "–",
        "not stated",
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

_PAGE, _OTHER = "page for auditors", "a number that the internal record does not have"
_STATED = ("context", "decision", "approval")  # in the words of the steward
_SHAPES = ("{:.4g}", "{:.3g}", "{:.0f}", "{:.1f}", "{:,.1f}", "{:,.0f}")
_TEXT = Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8")


def auditors_file(material: Material, original: Microdata) -> bytes:
    """Write the page for auditors, once the leak check has passed."""
    require_original(material.record, original)
    content = unchecked_page(replace(material, evidence={}))
    # Refuse a page for auditors that holds more than the record and fixed words.
    rare = public.rare_values(original)
    parts = material.record.items()
    record = {name: part for name, part in parts if name not in ("source", *_STATED)}
    # the words that every page for auditors may say, those about the method, and given names
    method, setting = material.method, material.setting
    known = [*vocabulary(), *(each.title for each in FACTS), *_texts(record)]
    for chapter in CHAPTERS:
        known += [chapter.title, chapter.source]
        known += [text for clause in chapter.clauses for text in (clause.number, clause.asks)]
    known += [text for each in QUESTIONS for text in (each.title, each.question)]
    for each in MEASURES.values():
        known += [each.title, each.at_least, each.question, each.source]
    known += [*method_words(method).values(), material.does, method.title, setting.words]
    known += [material.made, material.context.review, *setting.params.cautions()]
    known += [f"{each}-anonymity" for each in material.reading("k_anonymity").get("limits", ())]
    stated = [material.name, *_texts({name: part for name, part in parts if name in _STATED})]
    numbers = {token for text in known for token in public.TOKEN.findall(text)}
    numbers |= {token for text in stated for token in public.TOKEN.findall(text)
                if not public.of_either_sign(token) & rare}  # fmt: skip
    # Every way in which a report writes numbers of a record, and counts among n.
    numeric = (each for each in leaves(record) if isinstance(each, int | float))
    values = {each for each in numeric if not isinstance(each, bool)}
    n = record["table"]["records"]
    scaled = [scale * abs(value) for value in values for scale in (1, 100)]
    shares = [100 * abs(value) / n for value in values if isinstance(value, int)]
    numbers |= {shape.format(value) for value in scaled for shape in _SHAPES} | {
        f"{share:.1f}" for share in shares
    }
    said = set[Any]().union(*map(public.phrases, known))
    for text in file_texts(content, ".html"):
        if public.RECORD.search(text):
            raise public.refusal("the number of a record", _PAGE)
        public.check_text(text, material, numbers, rare - said, lambda *_: _OTHER, _PAGE)
    return content


def answered_clauses(material: Material) -> list[tuple[Chapter, Clause, bool]]:
    """Return each clause with its chapter, and whether every part of its answer says something."""
    sections = _sections(material)
    return [(chapter, clause, said) for chapter, clause, _, said in sections if clause is not None]


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
                        rows = () if content.table is None else content.table.rows
                        said = [set(row[1:]) for row in rows if row[0] not in _OPTIONAL]
                        answered &= bool(said) and all(
                            row - _EMPTY and "not stated" not in row for row in said
                        )
                        if content.table is not None and key in shown:
                            lines.append(f"See the table under {shown[key]}.")
                        elif content.table is not None:
                            table, shown[key] = content.table, f"{chapter.title}, {clause.number}"
                    else:
                        named = _named_rows(content.table, part)
                        lines += [
                            f"{name}{'' if name.endswith('?') else ':'} {answer}"
                            for name, answer in named
                        ]
                        answered &= bool(named) and all(answer not in _EMPTY for _, answer in named)
            yield chapter, clause, *(Content(lines=tuple(lines), table=table), answered)


def _named_rows(table: Table | None, name: str) -> list[tuple[str, str]]:
    if table is None:
        return []
    # a table of attacks has the question between the attack and its answer
    answer = 2 if table.columns[1] == "question" else 1
    return [(row[0], row[answer]) for row in table.rows if row[0] in _ROWS.get(name, {name})]


def unchecked_page(material: Material) -> bytes:
    """Write the page without the leak check."""
    facts = []
    for chapter, clause, content, _ in _sections(material):
        title = f"Chapter: {chapter.title}"
        if clause is not None:
            title = f"{clause.number} · {clause.asks}"
        key = "-".join(re.findall("[a-z]+", f"{chapter.title} {title}".casefold()))
        facts.append(Fact(key=key, title=title, audience=Audience.INTERNAL, content=content))
    about = f"Release {material.record['release']['id']}, made on {material.made}."
    return page(material.name, MARK, about, facts)


def _texts(node: Any) -> list[str]:
    return [each for each in leaves(node) if isinstance(each, str)]


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
