"""The context of a release: recipient, purpose, access, intruders, harms, and its author."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from rwn_core.data.plain import read_plain, toml_document
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import InputError, ParameterError

ACCESS = ("public", "on request", "safe setting")
LONGEST_ANSWER = 1_000  # letters of an answer
LONGEST_CONTACT = 200  # letters of a contact, which stands in every public file


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuestion:
    """One question about the context."""

    name: str  # the field of `Context`
    title: str  # a few words for tables
    question: str  # as a form asks it
    public: bool = False  # whether the answer stands in public files


_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
QUESTIONS: tuple[ContextQuestion, ...] = read_plain(
    tuple[ContextQuestion, ...],
    toml_document(_TEXT, "list of questions")["question"],
    "list of questions",
)
"""Everything that is asked about a release's context, in the order of forms and reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(NamedParameters):
    """The context of a release; what is empty was not stated.

    The fields are the answers to `QUESTIONS`: one line of at most 1,000 letters
    each, or 200 of `contact`; `access` is one of `ACCESS`, and `review` a day as ISO 8601.

    Raises
    ------
    ParameterError
        A field is of the wrong kind, too long, or no access or day that there is.

    Examples
    --------
    >>> Context(purpose="Teaching", access="on request").stated("purpose")
    'Teaching'
    """

    recipient: str = ""
    purpose: str = ""
    controller: str = ""
    legal_basis: str = ""
    special_categories: str = ""
    impact_assessment: str = ""
    retention: str = ""
    anonymity: str = ""
    access: str = ""
    people: str = ""
    controls: str = ""
    motives: str = ""
    capacity: str = ""
    harms: str = ""
    monitoring: str = ""
    incident_plan: str = ""
    contact: str = ""
    review: str = ""
    decided_by: str = ""
    intruder_test: str = ""

    def __post_init__(self) -> None:
        """Check each answer."""
        for asked in QUESTIONS:
            longest = LONGEST_CONTACT if asked.name == "contact" else LONGEST_ANSWER
            text: Any = getattr(self, asked.name)
            if not isinstance(text, str) or len(text) > longest or not text.isprintable():
                raise ParameterError(
                    f"The {asked.title} must be one line of at most {longest:,} letters; shorten "
                    "it."
                )
            object.__setattr__(self, asked.name, text.strip())
        if self.access not in ("", *ACCESS):
            raise ParameterError(f"The access must be one of: {', '.join(ACCESS)}; choose one.")
        try:
            date.fromisoformat(self.review or "2030-01-31")
        except ValueError:
            raise ParameterError(
                "The review day must be a date such as 2030-01-31; correct it."
            ) from None

    def stated(self, name: str) -> str:
        """Return the answer to a question; "not stated" where there is none."""
        return str(getattr(self, name)) or "not stated"

    @property
    def missing(self) -> tuple[str, ...]:
        """The titles of the questions without an answer."""
        return tuple(each.title for each in QUESTIONS if not getattr(self, each.name))

    @property
    def public(self) -> dict[str, str]:
        """The answers that may stand in public files, by field."""
        return {each.name: getattr(self, each.name) for each in QUESTIONS if each.public}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what was not stated."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Context:
        """Read what `to_dict` made, or a table that a person wrote."""
        context: Context = read_plain(cls, document, "context")
        return context


def context_in(text: str) -> tuple[Context, str]:
    """Read the context of a file: a project, or a file with the table [context] alone."""
    document = toml_document(text, "project file")
    if "context" not in document:
        raise InputError(
            "The project has no context; answer the questions of the Release page and save it "
            "again, or write a table [context]."
        )
    return Context.from_dict(document["context"]), str(document.get("table", ""))


def with_context(record: Mapping[str, Any], context: Context, **answers: str) -> dict[str, Any]:
    """Return a record with this context, in which answers that are not empty replace others."""
    given: dict[str, Any] = {name: answer for name, answer in answers.items() if answer}
    return {**record, "context": replace(context, **given).to_dict()}
