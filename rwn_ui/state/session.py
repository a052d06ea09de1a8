"""Choices of one user, with Undo and Redo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import rwn_core as rwn
from rwn_core.charts import Marks
from rwn_core.data.rounding import Steps, precision_words, rounded_share
from rwn_core.data.schema import Slices, slices_words
from rwn_core.evaluation.forecast.statistic import CHANGE, Statistic
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.masking import SHORT_NAMES, Method, Prepared, Rounded, option_words
from rwn_core.reporting.context import Context
from rwn_core.reporting.scenario import Decision, SavedSearch, Scenario
from rwn_core.tuning import Setting
from rwn_core.tuning.verdict import Verdict

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One setting as the sliders, the weights, the release precision and the slices have it."""

    method: str = "rwn"
    # positions of the sliders; None for a lever that is not used
    levers: tuple[tuple[str, float | None], ...]
    # parameters of the method that no slider moves, where they are not its defaults
    options: tuple[tuple[str, Any], ...] = ()
    weights: Weights  # those that are not 1
    precision: Steps = ()
    slices: Slices = ()  # which variables travel together


@dataclass(slots=True)
class History:
    """All choices; those after the present one were undone."""

    choices: list[Choice] = field(default_factory=list)
    present: int = -1

    def note(self, choice: Choice) -> None:
        """Take in the present choice; a new one takes the place of those that were undone."""
        if self.choices and self.choices[self.present] == choice:
            return
        del self.choices[self.present + 1 :]
        self.choices.append(choice)
        self.present = len(self.choices) - 1

    @property
    def can_undo(self) -> bool:
        """True if there is an earlier choice."""
        return self.present > 0

    @property
    def can_redo(self) -> bool:
        """True if there is an undone choice."""
        return self.present + 1 < len(self.choices)

    def undo(self) -> Choice:
        """Go back by one."""
        self.present -= 1
        return self.choices[self.present]

    def redo(self) -> Choice:
        """Go forward by one."""
        self.present += 1
        return self.choices[self.present]


NAMED_WEIGHTS = 2  # in the words of a setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """Aims for utility: marks on tiles, binding for no release."""

    relations: float = 0.2
    slope: float = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A setting put aside for comparison: its words, readings and marks on charts, no data.

    `bounds` has what limits judge, `pending` names what was not known yet of the release
    of `params` and `seed`, which `about` is the key of.
    """

    text: str
    values: dict[str, float]
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)  # limits without a number, and why
    pending: tuple[str, ...] = ()
    params: Method | None = None
    seed: int = 0
    about: tuple[Any, ...] = ()
    marks: dict[str, Marks] = field(default_factory=dict)  # on the charts, by key

    def judged(self, policy: rwn.Policy) -> Verdict | None:
        """Verdict of a policy; None while readings are pending."""
        return None if self.pending else policy.judge(self.stated, self.unread)

    def read_anew(self, table: tuple[Any, ...], limits: tuple[str, ...]) -> Pin:
        """Return the pin of a table described in another way: its limits are pending."""
        return replace(
            self,
            values={key: value for key, value in self.values.items() if key not in limits},
            bounds={},
            pending=limits,
            about=(*table, *self.about[len(table) :]),
        )

    @property
    def stated(self) -> dict[str, dict[str, float]]:
        """Values that a policy judges."""
        return {key: {"median": value} for key, value in self.values.items()} | self.bounds


@dataclass(slots=True, kw_only=True)
class ReleaseForm:
    """Fields of the Release page: of the table, and across tables."""

    checked: tuple[tuple[str, ...], ...] = ()  # the description that the user confirmed
    decision: str = ""  # hash of the one to carry out
    reason: str = ""
    title: str = ""
    by: str = ""
    folder: str = ""
    ledger: str = ""
    claims: bool = True  # whether the claim table joins the files for users

    def clear(self) -> None:
        """Forget what belongs to a table that is given up."""
        self.checked, self.decision, self.reason, self.title = (), "", "", ""
        self.claims = True


@dataclass(slots=True, kw_only=True)
class TableNotes:
    """Scenarios and decisions of one table, and the context of its releases."""

    scenarios: dict[str, Scenario] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    context: Context = field(default_factory=Context)


@dataclass(slots=True, kw_only=True)
class Session:
    """One user's choices, and nothing else. Widgets edit them; results are derived."""

    name: str
    demo: str | None
    data: rwn.Microdata
    path: str = ""  # of a file that was opened by its path on this machine
    method: str = "rwn"
    levers: dict[str, float] = field(default_factory=dict)  # the sliders' positions
    options: tuple[tuple[str, Any], ...] = ()  # of the method, where not its defaults
    adopted: tuple[Any, Any, Setting] | None = None  # the recommended start that was looked at
    _made: tuple[Any, Any] = field(default=(None, None), repr=False)  # its parameters
    precision: Steps = ()  # the step of each variable that is released rounded
    seed: int = 1
    variable: str = ""
    projector: bool = False
    policy: rwn.Policy = field(default_factory=rwn.Policy)  # one, for every page
    aims: Aims = field(default_factory=Aims)
    pins: dict[str, Pin] = field(default_factory=dict)
    search: SavedSearch | None = None  # the sweep that was asked for last
    watched: tuple[int, ...] = ()  # records to follow, counted from 0
    views: dict[str, str] = field(default_factory=dict)  # measures on the axes of the map
    analysis_plan: AnalysisPlan = field(default_factory=AnalysisPlan)
    notes_by_table: dict[str, TableNotes] = field(default_factory=dict)  # by fingerprint
    release: ReleaseForm = field(default_factory=ReleaseForm)
    second_variable: str = ""  # shown together with the first; see `pair`
    statistic: Statistic = CHANGE  # of the expected curve
    curve_axis: str = "epsilon"
    lesson: str = ""  # open on the Learn page
    lessons: dict[str, dict[str, Any]] = field(default_factory=dict)  # their controls, by lesson
    link: tuple[int, str, dict[str, str]] | None = None  # of a table that is not here, and when
    figure: int = 4  # open on the Paper page
    history: History = field(default_factory=History)
    table_version: int = 0  # counts loaded tables and descriptions; part of their widget keys
    grid_version: int = 0  # counts those that the grid of variables has not made itself
    edit_version: int = (
        0  # counts weights and steps that came from elsewhere than their table; likewise
    )
    own_slices: Slices = field(init=False)  # those that the table came with

    def __post_init__(self) -> None:
        """Remember what the table's own schema says."""
        self.own_slices = self.slices

    def key(self, name: str) -> str:
        """The key of a widget that belongs to the present table: PAGE.NAME with its number."""
        page, _, what = name.partition(".")
        return f"{page}.{self.table_version}.{what}"

    @property
    def params(self) -> Any:
        """The current setting of the method."""
        asked = (self.method, self.options, tuple(self.levers.items()))
        if self._made[0] != asked:  # a move of a slider asks often
            made = rwn.METHODS[self.method](**dict(self.options), **self.levers)
            self._made = asked, made
        return self._made[1]

    @property
    def masking(self) -> Any:
        """The method's parameters, with the rounding if there is any."""
        if not self.precision:
            return self.params
        return Rounded(params=self.params, precision=self.precision)

    def drafts(self, table: str = "") -> TableNotes:
        """The scenarios and decisions of a table by its fingerprint, of the present one without."""
        return self.notes_by_table.setdefault(table or self.data.fingerprint, TableNotes())

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenarios of the present table, by name."""
        return self.drafts().scenarios

    @property
    def decisions(self) -> list[Decision]:
        """The decisions on the present table."""
        return self.drafts().decisions

    @property
    def slices(self) -> Slices:
        """Which variables travel together; the table's schema has them."""
        return self.data.schema.slices

    @property
    def setting(self) -> Setting:
        """The current setting with its weights, precision and slices, as plain data."""
        return Setting(params=self.params, precision=self.precision).resolved(self.data)

    @property
    def pair(self) -> tuple[str, str]:
        """The current variable and a second one; equal if the table has one variable."""
        names = [variable.name for variable in self.data.schema.released]
        question = self.data.schema.question
        wanted = (self.second_variable, *(question.predictors if question else ()), *names)
        others = (name for name in wanted if name in names and name != self.variable)
        return self.variable, next(others, names[0])

    def record_undo(self) -> None:
        """Remember the current choice, so that it can be come back to."""
        self.history.note(
            Choice(
                method=self.method,
                levers=tuple(self.levers.items()),
                options=self.options,
                weights=self.setting.weights,
                precision=self.precision,
                slices=self.slices,
            )
        )

    def restore(self, choice: Choice, prepared: Prepared) -> None:
        """Take over a choice of these weights, as far as the sliders go."""
        if choice.precision != self.precision:
            self.precision = choice.precision
            self.edit_version += 1
        asked = dict(choice.levers)
        self.method, self.options = choice.method, choice.options
        self.levers = {
            name: ends.low if (value := asked.get(name)) is None else ends.clip(value)
            for name, ends in prepared.ranges.items()
        }
        self._use_known_axis()

    def use_method(
        self, method: str, options: tuple[tuple[str, Any], ...], prepared: Prepared
    ) -> None:
        """Go over to a method with some options; a lever that both have stays where it is."""
        retained = {name: value for name, value in self.levers.items() if name in prepared.ranges}
        levers = self._with_preset("Standard", prepared) | retained
        self.method, self.options = method, options
        self.levers = {name: prepared.ranges[name].clip(value) for name, value in levers.items()}
        self._use_known_axis()

    def _use_known_axis(self) -> None:
        if self.curve_axis not in self.levers:
            self.curve_axis = self.params.strength

    @property
    def words(self) -> str:
        """The current setting in words, without anything of the data."""
        method = rwn.METHODS[self.method]
        parts = [] if self.method == "rwn" else [str(method.title)]
        parts += [f"{SHORT_NAMES[name]} = {value:g}" for name, value in self.levers.items()]
        parts += [f"{name} = {option_words(value)}" for name, value in self.options]
        parts += self._weighing if method.uses_weights else []
        parts += [self._rounding] if self.precision else []
        shown = self.slices if method.uses_slices else ()
        return " · ".join([*parts, *([slices_words(shown, short=True)] * bool(shown))])

    @property
    def _weighing(self) -> list[str]:
        """The weights that are not 1; of many, how many they are."""
        own = [v for v in self.data.schema.released if v.weight != 1.0]
        if len(own) > NAMED_WEIGHTS:
            return [f"own weights of {len(own)} variables"]
        return [f"weight of {v.name} = {v.weight:g}" for v in own]

    @property
    def _rounding(self) -> str:
        share = rounded_share(self.data, self.precision)
        if share is None:
            return precision_words(self.precision)
        return f"numbers rounded to about {share:g} SD"

    def load_table(
        self, data: rwn.Microdata, name: str, demo: str | None, prepared: Prepared
    ) -> None:
        """Take up another table: choices that belong to the old one start anew."""
        self.data, self.name, self.demo, self.path = data, name, demo, ""
        self.own_slices = self.slices
        self.pins, self.precision, self.search = {}, (), None
        self.analysis_plan, self.views, self.watched = AnalysisPlan(), {}, ()
        self.second_variable, self.statistic = "", CHANGE
        self.history = History()
        self.release.clear()
        self.table_version += 1
        self.grid_version += 1
        self.clamp(prepared)

    def take_description(self, data: rwn.Microdata, prepared: Prepared, *, by_grid: bool) -> None:
        """Describe the same records in another way: every choice stays that still has a meaning."""
        before, self.data = self.data, data
        names = {variable.name for variable in data.schema.released}
        if names != {variable.name for variable in before.schema.released}:
            self.analysis_plan, self.watched, self.history = AnalysisPlan(), (), History()
            self.precision = tuple((name, step) for name, step in self.precision if name in names)
        if self.variable not in names:
            self.variable = data.schema.released[0].name
        about = (data.fingerprint, data.schema)
        self.pins = {
            name: pin.read_anew(about, self.policy.measures) for name, pin in self.pins.items()
        }
        self.own_slices = self.slices
        self.release.checked = ()
        self.table_version += 1
        self.grid_version += not by_grid
        self.levers = {n: ends.clip(self.levers[n]) for n, ends in prepared.ranges.items()}

    def clamp(self, prepared: Prepared) -> None:
        """Bring the choices into the table's ranges, at the standard preset."""
        released = [variable.name for variable in self.data.schema.released]
        if self.variable not in released:
            question = self.data.schema.question
            self.variable = question.response if question else released[0]
        self.use_preset("Standard", prepared)
        self._use_known_axis()

    def use_preset(
        self,
        preset: str,
        prepared: Prepared,
        by_policy: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        """Take a preset's positions of the levers: by the policy where they are known."""
        known = (by_policy or {}).get(preset, {})
        self.levers = self._with_preset(preset, prepared) | dict(known)

    def _with_preset(self, preset: str, prepared: Prepared) -> dict[str, float]:
        """A preset's positions; a lever without one stays where it is."""
        chosen = prepared.presets[preset]
        return {
            name: chosen[name] if name in chosen else self.levers.get(name, ends.low)
            for name, ends in prepared.ranges.items()
        }
