"""The page for auditors: what was asked, masked, attacked and decided, on one printed page.

It may say what the internal record says and the fixed words of questions and measures. A value of
few records, a path, a key or the number of a record is refused by its kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from rwn_core.data.derived import listed
from rwn_core.data.microdata import Microdata
from rwn_core.data.record_noun import spoken_of
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES, measures_of
from rwn_core.reporting import leak_check as public
from rwn_core.reporting.context import QUESTIONS
from rwn_core.reporting.facts import FACTS, Audience, Content, Fact, Material, Table
from rwn_core.reporting.facts.fact import pairs
from rwn_core.reporting.leak_check import file_texts, leaves
from rwn_core.reporting.page import page
from rwn_core.reporting.public_words import vocabulary
from rwn_core.reporting.release_record import require_original
from rwn_core.tuning.verdict import RED_TEAM

MARK = "CONFIDENTIAL: FOR AUDITORS. IT HOLDS RISKS AND PARAMETERS, AND NO VALUE OF A RECORD"
OFFICER = (
    "purpose",
    "recipient",
    "controller",
    "legal_basis",
    "special_categories",
    "impact_assessment",
    "retention",
    "anonymity",
)
"""What a data protection officer asks first, by the fields of the context."""
_TITLES = (
    ("officer", "For the data protection officer"),
    ("tables", "Tables: variables and how they were masked"),
    ("attacks", "Attacks: what was tried, and what it found"),
    ("limits", "Limits: what was tolerated, and what was measured"),
    ("decided", "Decision"),
)
_ATTACKS = ("attack", "result")
_DECIDED = ("what", "decided")
_WORST = 2  # of the worst cases: the mean, and the most exposed people
_VARIABLES = ("role", "technique", "variables", "values changed")
_PAGE = "page for auditors"
_OTHER = "a number that the internal record does not have"
_UNBOUNDED = (
    "No limit bounds these numbers of this page, and the verdict does not use them, because the "
    "policy states none: {titles}."
)
_NO_NUMBER = (
    "For {titles} WP216 asks, and names no number that may be tolerated: state a limit where one "
    "is meant."
)
_ASKED_FOR = ("singling_out", "linkability", "inference")  # by WP216
_STATED = ("context", "decision", "approval")  # in the words of the steward
_SHAPES = ("{:.4g}", "{:.3g}", "{:.0f}", "{:.1f}", "{:,.1f}", "{:,.0f}")


def auditors_file(material: Material, original: Microdata) -> bytes:
    """Write the page for auditors, once the leak check has passed."""
    require_original(material.record, original)
    content = unchecked_page(replace(material, evidence={}))
    # what the record says in words of the steward is held against rare values
    parts = material.record.items()
    record = {name: part for name, part in parts if name not in ("source", *_STATED)}
    stated = [material.name, *_texts({name: part for name, part in parts if name in _STATED})]
    known = _fixed_words(material, record)
    few = public.named(public.rare_values(original), known)
    numbers = set(chain.from_iterable(map(public.TOKEN.findall, known)))
    numbers |= public.unlike(public.TOKEN.findall(" … ".join(stated)), few)
    numbers |= _written_numbers(record)
    for text in file_texts(content, ".html"):
        if public.RECORD.search(text):
            raise public.refusal("the number of a record", _PAGE)
        public.check_text(text, material, numbers, few, lambda *_: _OTHER, _PAGE)
    return content


def _fixed_words(material: Material, record: Mapping[str, Any]) -> list[str]:
    """Return what every page for auditors may say, words about the method, and given names."""
    method = material.method
    setting = material.setting
    known = [*vocabulary(), *(each.title for each in FACTS), *_texts(record)]
    known += [title for _, title in _TITLES]
    for question in QUESTIONS:
        known += [question.title, question.question]
    for each in MEASURES.values():
        known += [each.title, each.at_least, each.question, each.source]
    known += [*method_words(method).values(), material.does, method.title, setting.words]
    known += [material.made, material.context.review, *setting.params.cautions()]
    known += [f"{each}-anonymity" for each in material.reading("k_anonymity").get("limits", ())]
    return [*known, *(spoken_of(words, material.noun) for words in known)]


def _written_numbers(record: Mapping[str, Any]) -> set[str]:
    """Return the numbers of a record, and counts among its rows, as reports may write them."""
    numeric = [each for each in leaves(record) if isinstance(each, int | float)]
    values = {each for each in numeric if not isinstance(each, bool)}
    n = record["table"]["records"]
    written = set[str]()
    for value in values:
        for shape in _SHAPES:
            written |= {shape.format(abs(value)), shape.format(100 * abs(value))}
        if isinstance(value, int):
            written.add(f"{100 * abs(value) / n:.1f}")
    return written


def unanswered(material: Material) -> list[str]:
    """Return what only the steward or a meeting can say, and did not."""
    left = [each.question for each in QUESTIONS if not getattr(material.context, each.name)]
    if any(not limit.get("source") for limit in material.record.get("limit", ())):
        left.append("Where does each limit come from?")
    if "approval" not in material.record:
        left.append("Who answers for the release?")
    if "decision" not in material.record:
        left.append("What did a meeting decide?")
    return left


def unbounded_words(material: Material) -> tuple[str, ...]:
    """Say which numbers of the page no limit of the policy bounds, and why."""
    shown = (
        *measures_of("guesses"),
        *measures_of("attacks"),
        *measures_of("worst cases")[:_WORST],
    )
    limits = {limit["measure"] for limit in material.record.get("limit", ())}
    free = [
        key
        for key in dict.fromkeys(shown)
        if key not in limits and key != RED_TEAM and "value" in material.reading(key)
    ]
    if not free:
        return ()
    titles = [str(material.reading(key).get("title", MEASURES[key].title)) for key in free]
    said = [_UNBOUNDED.format(titles="; ".join(titles))]
    asked = [MEASURES[key].title.casefold() for key in _ASKED_FOR if key in free]
    if asked:
        said.append(_NO_NUMBER.format(titles=listed(asked)))
    return tuple(said)


def unchecked_page(material: Material) -> bytes:
    """Write the page without the leak check."""
    made = {each.key: each.make(material) for each in FACTS if each.make is not None}
    tables = {key: content.table.rows for key, content in made.items() if content.table}
    attacks = [*tables["attacks"], *(row[:2] for row in tables["worst"][:_WORST])]
    attacks += [(row[0], row[2]) for row in tables["guesses"]]
    steps = [*tables.get("decision", ()), *tables.get("approval", ())]
    decided = tuple(row for row in steps if row[1] not in ("", "–"))
    said = {
        "officer": Content(table=pairs(_answers(material))),
        "tables": Content(
            lines=(*made["data"].lines, *made["treated"].lines[1:3], *made["parameters"].lines),
            table=Table(columns=_VARIABLES, rows=_treatments(material, tables["data"])),
        ),
        "attacks": Content(table=Table(columns=_ATTACKS, rows=tuple(dict.fromkeys(attacks)))),
        "limits": replace(
            made["limits"], lines=(*made["limits"].lines, *unbounded_words(material))
        ),
        "decided": Content(
            lines=(*made["decision"].lines, *made["approval"].lines, *made["file"].lines),
            table=Table(columns=_DECIDED, rows=decided) if decided else None,
        ),
    }
    facts = [
        Fact(key=key, title=title, audience=Audience.INTERNAL, content=said[key])
        for key, title in _TITLES
    ]
    words = f"Release {material.record['release']['id']}, made on {material.made}."
    return page(material.name, MARK, words, facts, "minutes")


def _answers(material: Material) -> dict[str, str]:
    """Return the answers of the context: those for the officer first, others where given."""
    about = material.context
    questions = {each.name: each for each in QUESTIONS}
    first = [questions[name] for name in OFFICER if name in questions]
    answered = [each for each in QUESTIONS if getattr(about, each.name)]
    return {each.title: about.stated(each.name) for each in dict.fromkeys([*first, *answered])}


def _treatments(
    material: Material, variables: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return a row for the variables of each role and treatment."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, _, role, _, technique, *_ in variables:
        groups[role, technique].append(name)
    rows = []
    for (role, technique), names in groups.items():
        changed = [material.changed.get(name, 0.0) for name in names]
        ends = dict.fromkeys((f"{min(changed):.1%}", f"{max(changed):.1%}"))
        rows.append((role, technique, ", ".join(names), " to ".join(ends)))
    return tuple(rows)


def _texts(node: object) -> list[str]:
    return [each for each in leaves(node) if isinstance(each, str)]
