"""Clauses that auditors hold a release against, each with the facts that answer it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """State one clause and the parts of facts that answer it."""

    # number, asks: as a standard numbers it, and what it asks for in a few words
    number: str
    asks: str
    # the key of a fact, then what is quoted of it: "lines", "table", or the first cells of its rows
    # (a field of the context, a key of a measure, or the cell itself)
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Hold the clauses of one standard."""

    # title, source: the standard, and what of it was read
    title: str
    source: str
    clauses: tuple[Clause, ...]


def _clause(number: str, asks: str, *parts: tuple[str, ...]) -> Clause:
    return Clause(number=number, asks=asks, parts=parts)


def _context(*names: str) -> tuple[str, ...]:
    return ("context", *names)


_TECHNIQUES = ("techniques", "table")
_LIMITS = ("limits", "table")
_TEST = _context("intruder_test")

ISO_27559 = Chapter(
    title="ISO/IEC 27559:2022",
    source="By its list of clauses; the text of the standard was not read.",
    clauses=(
        _clause("6.2.2", "security and privacy practices", _context("controls", "access")),
        _clause("6.2.3", "motives to identify", _context("motives")),
        _clause("6.2.3", "capacity to identify", _context("capacity")),
        _clause("6.3", "transparency", _context("people")),
        _clause("6.3", "impact: harms", _context("harms")),
        _clause("7.2", "data principals", _context("people"), ("data", "lines")),
        _clause("7.2", "data types", ("data", "table")),
        _clause("7.2", "attribute types", _TECHNIQUES),
        _clause("7.2", "dataset properties", ("data", "lines"), ("file", "lines")),
        _clause("7.3", "attack modelling", ("scenarios", "table")),
        _clause("7.3.2", "maximum or average", ("worst", "linked_over_half", "bayes_linkage")),
        _clause("7.3.3", "population or sample", ("worst", "membership"), ("data", "lines")),
        _clause("7.3.4", "privacy models", ("anonymity", "lines", "table")),
        _clause("8.2.2", "quantifying identifiability", _LIMITS),
        _clause("8.2.3", "adversarial testing", ("attacks", "table"), _TEST),
        _clause("8.3.1", "mitigation: the criteria", ("limits", "lines")),
        _clause("8.3.2", "mitigation: the environment", _context("access", "controls")),
        _clause("8.3.3", "mitigation: the data", ("treated", "lines"), ("parameters", "lines")),
        _clause("8.3.4", "assessing again", ("limits", "lines"), ("approval", "table")),
        _clause("9.2", "roles", ("approval", "table"), _context("decided_by")),
        _clause("9.2", "principles", ("decision", "lines", "table")),
        _clause(
            "9.2",
            "managing a disclosure",
            ("file", "lines"),
            ("hashes", "released file (SHA-256)", "randomness"),
        ),
        _clause("9.2", "communicating", ("use", "lines"), ("errors", "lines")),
        _clause("9.3", "monitoring", _context("monitoring", "review")),
        _clause("9.4", "incidents", _context("incident_plan", "contact")),
        _clause("Annex B", "uniques and groups", ("anonymity", "lines"), ("expected", "lines")),
    ),
)
CLINICAL_DATA = Chapter(
    title="EMA policy 0070 and Health Canada PRCI",
    source="By the headings of their joint report, which were read in a summary. The limit of .09 "
    "is taken as a maximum over records: a mean of .09 may hide a person who is found for certain.",
    clauses=(
        _clause("1", "identifiers and technique, by variable", _TECHNIQUES),
        _clause("2", "adversaries and plausible attacks", ("scenarios", "table"),
                _context("motives", "capacity")),
        _clause("3", "threshold and its source", _LIMITS, ("risk", "lines")),
        _clause("4", "initial risk, of the unmasked file", ("risk", "table")),
        _clause("5", "residual risk", ("risk", "table"), ("limits", "lines")),
        _clause("6", "technique and its parameters", ("parameters", "lines", "table")),
        _clause("7", "data utility", ("loss", "lines", "table")),
        _clause("8", "context of the publication", _context("access", "recipient", "purpose")),
    ),
)  # fmt: skip
ICO = Chapter(
    title="ICO guidance on anonymisation, 2025",
    source="By its criteria as summaries name them. The tests of this program are no human test.",
    clauses=(
        _clause("1", "singling out", ("guesses", "singling_out")),
        _clause("2", "linkability", ("guesses", "linkability")),
        _clause("3", "inference", ("guesses", "inference", "attribute_inference")),
        _clause("4", "motivated-intruder test, recorded", _TEST),
        _clause("5", "means reasonably likely to be used", _context("capacity")),
        _clause("6", "in whose hands", _context("recipient", "access", "controls")),
        _clause("7", "review", ("review", "lines")),
    ),
)
TEHDAS2 = Chapter(
    title="TEHDAS2 D7.2: minimisation",
    source="By the five dimensions that its abstract names.",
    clauses=(
        _clause("who", "people and records", _context("people", "recipient"), ("data", "lines")),
        _clause("what", "variables dropped, coarsened, kept, and why", _TECHNIQUES),
        _clause("when", "until when", _context("review")),
        _clause("where", "where it is used", _context("access", "controls")),
        _clause("how", "how it is processed", ("treated", "lines")),
    ),
)
NIST_188 = Chapter(
    title="NIST SP 800-188",
    source="By the terms of its abstract.",
    clauses=(
        _clause("1", "goals of the release", _context("purpose", "people")),
        _clause("2", "data-sharing model", _context("access", "recipient")),
        _clause("3", "disclosure review board", ("decision", "lines", "table")),
        _clause("4", "measurable performance levels", _LIMITS),
        _clause("5", "re-identification studies", ("attacks", "table"), _TEST),
    ),
)
SATRE = Chapter(
    title="SATRE 1.0, statement 3.3.09",
    source="By the list of its statements: the record of a disclosure check of what leaves a "
    "trusted environment. The release record holds the same facts as JSON.",
    clauses=(
        _clause("criteria", "what was checked", ("limits", "lines"), ("attacks", "table")),
        _clause("thresholds", "each with its source", _LIMITS, ("risk", "lines")),
        _clause("outcome", "what each check gave", ("risk", "table")),
        _clause("decision", "who decided, and when", ("approval", "table"), _context("decided_by")),
        _clause("versions", "program and file", ("versions", "table"), ("file", "lines")),
    ),
)
CHAPTERS = (ISO_27559, CLINICAL_DATA, ICO, TEHDAS2, NIST_188, SATRE)
"""All chapters of the page for auditors, in order."""
