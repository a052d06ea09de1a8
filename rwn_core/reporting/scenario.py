"""Scenarios and decisions as files: a setting with its name and search; what a meeting chose.

A scenario holds no data. A decision is frozen by a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from rwn_core.data.plain import read_plain, toml_document, toml_text
from rwn_core.data.schema import Slices, as_slices
from rwn_core.data.use import Use
from rwn_core.errors import InputError, ParameterError
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.tuning import Grid, Plan, Policy, Setting

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMAT = "rwn scenario 1"
_OWN = "own"  # in place of slices: the groups of the table


def in_file(record: DataclassInstance | type[DataclassInstance]) -> dict[str, Any]:
    """Write a record as plain data, by the names that its fields have in a file."""
    names = {each.name: each.metadata.get("in_file", each.name) for each in fields(record)}
    return {named: _plain(getattr(record, name)) for name, named in names.items()}


def _plain(value: object) -> Any:
    for way in ("to_dict", "to_records"):
        if hasattr(value, way):
            return getattr(value, way)()
    if is_dataclass(value):
        return {name: part for name, part in in_file(value).items() if part != ""}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, StrEnum) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """The sweep of a scenario: which settings, and what is done at each."""

    grid: Grid
    plan: Plan

    @classmethod
    def of(  # noqa: PLR0913 - the fields of a file
        cls,
        measures: tuple[str, ...],
        axes: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
        method: str | tuple[str, ...] = "rwn",
        weights: tuple[Mapping[str, float], ...] = ({},),
        precision: tuple[Mapping[str, float], ...] = ({},),
        slices: tuple[str | Slices, ...] = (_OWN,),
        releases: int | None = None,
        seed: int | None = None,
    ) -> SavedSearch:
        """Return the sweep that a file describes."""
        own = tuple(None if each == _OWN else as_slices(each) for each in slices)
        grid = Grid(axes=axes, method=method, weights=weights, precision=precision, slices=own)
        given = {"releases": releases, "seed": seed}
        plan = {name: value for name, value in given.items() if value is not None}
        return cls(grid=grid, plan=Plan(measures=measures, **plan))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what is usual."""
        methods = self.grid.methods
        slices = tuple(_OWN if each is None else each for each in self.grid.slices)
        several = {"weights": self.grid.weights, "precision": self.grid.precision}
        known = in_file(self.plan) | {
            "method": methods[0] if len(methods) == 1 else methods,
            "axes": {name: tuple(values) for name, values in self.grid.axes.items()},
        }
        for name, given in {**several, "slices": slices}.items():
            if any(each not in ({}, _OWN) for each in given):
                known[name] = tuple(given)
        plain: dict[str, Any] = _plain(known)
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A proposal for a table.

    Attributes
    ----------
    name, note : str
        Free text of its authors.
    table : str
        Fingerprint of the table it was made for; empty if it is meant for any.
    setting : Setting, optional
    seed : int
        Of the trial on screen: a teaching seed, and no secret.
    search : SavedSearch, optional
    policy : Policy, optional
        The limits that it was made under; None where it says nothing of them.
    readings : mapping of str to mapping
        Of the setting, by measure key: median, and low and high where one more release falls 9
        times in 10, of how many releases.
    unread : mapping of str to str
        Measures that have no reading, and why.
    analysis_plan : AnalysisPlan
        The analyses that users will run, with how far their answers may move.
    use : Use, optional
        What the file is for, where it was stated.
    """

    file_format: ClassVar[str] = FORMAT
    name: str = ""
    note: str = ""
    table: str = ""
    seed: int = 1
    setting: Setting | None = None
    search: SavedSearch | None = field(default=None, metadata={"in_file": "sweep"})
    policy: Policy | None = field(default=None, metadata={"in_file": "limit"})
    readings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    analysis_plan: AnalysisPlan = field(default_factory=AnalysisPlan)
    use: Use | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        document = {"format": FORMAT, **in_file(self)}
        return {name: value for name, value in document.items() if value not in (None, "", {}, [])}

    def to_toml(self) -> str:
        """The file's text; the same for the same scenario."""
        return toml_text(self.to_dict(), ordered=True)

    @classmethod
    def from_toml(cls, text: str) -> Scenario:
        """Read what `to_toml` or a person wrote.

        Raises
        ------
        InputError
            The file is no scenario.
        ParameterError
            A method, a parameter or a measure is unknown, or a value is refused.
        """
        return cls.from_dict(read_toml(text, "scenario", FORMAT))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """Read what `to_dict` made."""
        scenario: Scenario = read_plain(cls, document, "scenario")
        return scenario


def plan_in(text: str) -> AnalysisPlan:
    """Read the analyses of a file: a scenario, or analyses alone."""
    if "[[analysis]]" in text and "format" not in text:
        return AnalysisPlan.from_toml(text)
    plan = Scenario.from_toml(text).analysis_plan
    if not plan.analyses:
        raise InputError("The scenario has no analysis plan; register analyses and save it again.")
    return plan


def read_toml(text: str, what: str, format: str) -> dict[str, Any]:
    """Read a file of this program."""
    document = toml_document(text, f"{what} file")
    if document.get("format") != format:
        raise InputError(f'The file is no {what} of this program: it must say format = "{format}".')
    return document


DECISION_FORMAT = "rwn decision 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A record of a review meeting's scenarios and decision; it is internal.

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
    line : Policy, optional
        The limits that the meeting stated before it saw a candidate's numbers.
    """

    file_format: ClassVar[str] = DECISION_FORMAT
    chosen: str = ""
    reason: str = ""
    participants: tuple[str, ...] = ()
    date: str = ""
    watched: tuple[str, ...] = ()
    verdict: str = ""
    accepted_by: str = ""
    dissent: str = ""
    policy: Policy | None = field(default=None, metadata={"in_file": "limit"})
    line: Policy | None = None
    scenarios: tuple[Scenario, ...] = field(default=(), metadata={"in_file": "scenario"})

    def __post_init__(self) -> None:
        """A decision needs a scenario that was there."""
        if self.chosen and self.chosen not in [each.name for each in self.scenarios]:
            raise ParameterError("The decision must name one of the meeting's scenarios, or none.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        document = {"format": DECISION_FORMAT, **in_file(self)}
        # left out where they are empty: an earlier record keeps its hash
        optional = ("verdict", "accepted_by", "dissent", "limit", "line")
        return {n: v for n, v in document.items() if v not in (None, "") or n not in optional}

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
            cls, thawed(text, "decision record", DECISION_FORMAT), "decision record"
        )
        return decision


def decisions_in(folder: Path) -> list[Decision]:
    """Read the frozen decisions of a folder, the latest first; other files are left out."""
    found = []
    for file in sorted(folder.glob("*.toml")):
        with suppress(OSError, UnicodeDecodeError, InputError, ParameterError):
            found.append(Decision.thaw(file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda decision: decision.date, reverse=True)


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
    frozen = f'format = "{DECISION_FORMAT}"' in text.splitlines()
    return Decision.thaw(text) if frozen else Scenario.from_toml(text)
