"""A scenario: a setting with its name, its note and its search, as a file that holds no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rwn_core.data.toml import toml_document, toml_text
from rwn_core.errors import InputError, ParameterError
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.tuning import Grid, Plan, Policy, Setting

FORMAT = "rwn scenario 1"
_FIELDS = {
    "format",
    "name",
    "note",
    "table",
    "seed",
    "setting",
    "sweep",
    "limit",
    "readings",
    "unread",
    "analysis_plan",
    "watch",
}
_SETTING = {"method", "parameters", "weights", "precision", "slices"}
_SWEEP = {"method", "axes", "weights", "precision", "slices", "measures", "releases", "seed"}
_OWN = "own"  # in place of slices: the groups of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The sweep of a scenario: which settings, and what is done at each."""

    grid: Grid
    plan: Plan


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
    search : Search, optional
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

    name: str = ""
    note: str = ""
    table: str = ""
    setting: Setting | None = None
    seed: int = 1
    search: Search | None = None
    policy: Policy | None = None
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
            "sweep": None if self.search is None else _search_to_dict(self.search),
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
        _refuse_unknown(document, _FIELDS, "scenario")
        try:
            return cls(
                name=str(document.get("name", "")),
                note=str(document.get("note", "")),
                table=str(document.get("table", "")),
                setting=_setting(document["setting"]) if "setting" in document else None,
                seed=int(document.get("seed", 1)),
                search=_search(document["sweep"]) if "sweep" in document else None,
                policy=Policy.from_records(document["limit"]) if "limit" in document else None,
                readings={
                    key: {name: float(v) for name, v in each.items()}
                    for key, each in document.get("readings", {}).items()
                },
                unread={key: str(why) for key, why in document.get("unread", {}).items()},
                analysis_plan=AnalysisPlan.from_records(document.get("analysis_plan", [])),
                watch=tuple(dict(each) for each in document.get("watch", [])),
            )
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            if isinstance(error, InputError | ParameterError):
                raise
            raise InputError(
                "A field of the scenario has a value of the wrong kind; compare it with a "
                "scenario that the Compare page saves."
            ) from None


def plan_in(text: str) -> AnalysisPlan:
    """Read the analyses of a file: a scenario, or analyses alone."""
    if "[[analysis]]" in text and "format" not in text:
        return AnalysisPlan.from_toml(text)
    plan = Scenario.from_toml(text).analysis_plan
    if not plan.analyses:
        raise InputError("The scenario has no analysis plan; register analyses and save it again.")
    return plan


def _refuse_unknown(document: Mapping[str, Any], known: set[str], what: str) -> None:
    """Refuse fields that are not read: they would be ignored silently."""
    unknown = sorted(set(document) - known)
    if unknown:
        raise InputError(
            f"The {what} has the unknown field {unknown[0]}; known are: {', '.join(sorted(known))}."
        )


def _setting(parsed: Mapping[str, Any]) -> Setting:
    _refuse_unknown(parsed, _SETTING, "scenario's setting")
    return Setting.of(
        parsed.get("method", "rwn"),
        parsed.get("parameters", {}),
        parsed.get("weights", {}),
        parsed.get("precision", {}),
        parsed.get("slices"),
    )


def _search(parsed: Mapping[str, Any]) -> Search:
    _refuse_unknown(parsed, _SWEEP, "scenario's sweep")
    method = parsed.get("method", "rwn")
    grid = Grid(
        axes={name: tuple(values) for name, values in parsed.get("axes", {}).items()},
        method=method if isinstance(method, str) else tuple(method),
        weights=tuple(parsed.get("weights", ({},))),
        precision=tuple(parsed.get("precision", ({},))),
        slices=tuple(None if each == _OWN else each for each in parsed.get("slices", (_OWN,))),
    )
    given = {name: parsed[name] for name in ("releases", "seed") if name in parsed}
    return Search(grid=grid, plan=Plan(measures=tuple(parsed["measures"]), **given))


def _search_to_dict(search: Search) -> dict[str, Any]:
    methods = search.grid.methods
    parsed: dict[str, Any] = {
        "method": methods[0] if len(methods) == 1 else list(methods),
        "measures": list(search.plan.measures),
        "releases": search.plan.releases,
        "seed": search.plan.seed,
        "axes": {name: list(values) for name, values in search.grid.axes.items()},
    }
    if any(search.grid.weights):
        parsed["weights"] = [dict(each) for each in search.grid.weights]
    if any(search.grid.precision):
        parsed["precision"] = [dict(each) for each in search.grid.precision]
    if any(each is not None for each in search.grid.slices):
        parsed["slices"] = [
            _OWN if each is None else [list(names) for names in each] for each in search.grid.slices
        ]
    return parsed


def read_toml(text: str, what: str, format: str) -> dict[str, Any]:
    """Read a file of this program."""
    document = toml_document(text, f"{what} file")
    if document.get("format") != format:
        raise InputError(f'The file is no {what} of this program: it must say format = "{format}".')
    return document
