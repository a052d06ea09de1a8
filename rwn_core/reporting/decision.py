"""A decision as a file: scenarios, the watch list, what was chosen and why; frozen by a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rwn_core.data.plain import read_plain, toml_text
from rwn_core.errors import InputError, ParameterError
from rwn_core.reporting.scenario import Scenario, read_toml
from rwn_core.tuning import Policy

FORMAT = "rwn decision 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Record of a review meeting's scenarios and decision; it is internal.

    Attributes
    ----------
    scenarios : tuple of Scenario
    chosen : str
        Name of the scenario that was chosen; empty if none was.
    reason : str
    participants : tuple of str
    date : str
        As ISO 8601, such as 2026-03-31.
    watched : tuple of str
        What people wanted to keep an eye on, in their words.
    verdict : str
        Sentence of the policy on the chosen scenario at that time.
    accepted_by : str
        Person responsible for limits that it does not keep.
    dissent : str
        Votes, or what some of the participants disagree with.
    policy : Policy, optional
        The limits that the meeting judged by.
    """

    file_format: ClassVar[str] = FORMAT
    scenarios: tuple[Scenario, ...] = field(default=(), metadata={"in_file": "scenario"})
    chosen: str = ""
    reason: str = ""
    participants: tuple[str, ...] = ()
    date: str = ""
    watched: tuple[str, ...] = ()
    verdict: str = ""
    accepted_by: str = ""
    dissent: str = ""
    policy: Policy | None = field(default=None, metadata={"in_file": "limit"})

    def __post_init__(self) -> None:
        """A decision needs a scenario that was there."""
        if self.chosen and self.chosen not in [each.name for each in self.scenarios]:
            raise ParameterError("The decision must name one of the meeting's scenarios, or none.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "chosen": self.chosen,
            "reason": self.reason,
            "participants": list(self.participants),
            "date": self.date,
            "watched": list(self.watched),
            # left out where they are empty: an earlier record keeps its hash
            **({"verdict": self.verdict} if self.verdict else {}),
            **({"accepted_by": self.accepted_by} if self.accepted_by else {}),
            **({"dissent": self.dissent} if self.dissent else {}),
            **({"limit": self.policy.to_records()} if self.policy else {}),
            "scenario": [each.to_dict() for each in self.scenarios],
        }

    @property
    def limits(self) -> Policy | None:
        """The limits of the meeting; those of its scenarios in a record without them."""
        return self.policy or next((s.policy for s in self.scenarios if s.policy), None)

    @property
    def table(self) -> str:
        """Fingerprint of the table that it is about; empty where its scenarios name none."""
        return next((each.table for each in self.scenarios if each.table), "")

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical text: another word anywhere gives another hash."""
        return _hash(self.to_dict())

    def frozen(self) -> str:
        """The record as TOML, with its hash in the last line."""
        return frozen_text(self.to_dict())

    @classmethod
    def thaw(cls, text: str) -> Decision:
        """Read a frozen record."""
        decision: Decision = read_plain(
            cls, thawed(text, "decision record", FORMAT), "decision record"
        )
        return decision


def frozen_text(document: Mapping[str, Any]) -> str:
    """Plain data as TOML, with its hash in the last line."""
    # a comment, so that the hash is not part of what it is a hash of
    return (
        f"{toml_text(document, ordered=True)}\n# SHA-256 of the record above: {_hash(document)}\n"
    )


def thawed(text: str, what: str, format: str) -> dict[str, Any]:
    """Read what `frozen_text` wrote."""
    document = read_toml(text, what, format)
    if text.strip().rpartition(" ")[2] != _hash(document):
        raise InputError(f"The {what} was changed after it was frozen: its hash is another one.")
    return document


def _hash(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(toml_text(document, ordered=True).encode("utf-8")).hexdigest()


def scenario_or_decision(text: str) -> Scenario | Decision:
    """Read a scenario file or a frozen decision, whichever the text is."""
    frozen = f'format = "{FORMAT}"' in text.splitlines()
    return Decision.thaw(text) if frozen else Scenario.from_toml(text)
