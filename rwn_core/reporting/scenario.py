"""A scenario: a setting with its name, its note and its search, as a file that holds no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from rwn_core.data.plain import read_plain, toml_document, toml_text
from rwn_core.data.schema import Slices, as_slices
from rwn_core.errors import InputError
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.tuning import Grid, Plan, Policy, Setting

FORMAT = "rwn scenario 1"
_OWN = "own"  # in place of slices: the groups of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """The sweep of a scenario: which settings, and what is done at each."""

    grid: Grid
    plan: Plan

    @classmethod
    def of(  # words: public name  # noqa: PLR0913 - the fields of a file
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
        parsed: dict[str, Any] = {
            "method": methods[0] if len(methods) == 1 else list(methods),
            "measures": list(self.plan.measures),
            "releases": self.plan.releases,
            "seed": self.plan.seed,
            "axes": {name: list(values) for name, values in self.grid.axes.items()},
        }
        if any(self.grid.weights):
            parsed["weights"] = [dict(each) for each in self.grid.weights]
        if any(self.grid.precision):
            parsed["precision"] = [dict(each) for each in self.grid.precision]
        if any(each is not None for each in self.grid.slices):
            parsed["slices"] = [
                _OWN if each is None else [list(names) for names in each]
                for each in self.grid.slices
            ]
        return parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Hold a proposal for a table.

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
    watch : tuple of mapping
        Questions that an earlier version followed; nothing reads them, and a frozen decision that
        has them keeps its hash.
    """

    file_format: ClassVar[str] = FORMAT
    name: str = ""
    note: str = ""
    table: str = ""
    setting: Setting | None = None
    seed: int = 1
    search: SavedSearch | None = field(default=None, metadata={"in_file": "sweep"})
    policy: Policy | None = field(default=None, metadata={"in_file": "limit"})
    readings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    analysis_plan: AnalysisPlan = field(default_factory=AnalysisPlan)
    watch: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "name": self.name,
            "note": self.note,
            "table": self.table,
            "seed": self.seed,
            "setting": None if self.setting is None else self.setting.to_dict(),
            "sweep": None if self.search is None else self.search.to_dict(),
            "limit": [] if self.policy is None else self.policy.to_records(),
            "readings": {key: dict(each) for key, each in self.readings.items()},
            "unread": dict(self.unread),
            "analysis_plan": self.analysis_plan.to_records(),
            "watch": [dict(each) for each in self.watch],
        }
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
