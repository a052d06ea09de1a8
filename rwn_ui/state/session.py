"""Choices of one user, with Undo and Redo."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import rwn_core as rwn
from rwn_core.data.rounding import Steps, precision_words, rounded_share, steps_by_name
from rwn_core.data.schema import Slices, slices_words
from rwn_core.data.use import Use
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.masking import (
    SHORT_NAMES,
    Method,
    Prepared,
    Rounded,
    at_levers,
    family,
    fixed_options,
    lever_values,
    option_words,
)
from rwn_core.masking.lever import neutral_levers
from rwn_core.reporting.context import Context
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Setting
from rwn_core.tuning.point import setting_name
from rwn_ui.state.work import User


@dataclass(slots=True)
class History:
    """All settings; those after the present one were undone."""

    settings: list[Setting] = field(default_factory=list)
    present: int = -1

    def note(self, setting: Setting) -> None:
        """Take in the present setting; a new one takes the place of those that were undone."""
        if self.settings and self.settings[self.present] == setting:
            return
        del self.settings[self.present + 1 :]
        self.settings.append(setting)
        self.present = len(self.settings) - 1

    def has(self, step: int) -> bool:
        """True if there is a setting this number of steps away: -1 is the one before."""
        return 0 <= self.present + step < len(self.settings)

    def go(self, step: int) -> Setting:
        """Move by a number of steps: -1 undoes, 1 redoes."""
        self.present += step
        return self.settings[self.present]


NAMED_WEIGHTS = 2  # in the words of a setting
DESCRIBED_ANEW = "The table was described in another way since; keep the setting once more."
KEPT = ""
"""In place of a preset's name: levers stay where they are."""
Options = tuple[tuple[str, Any], ...]
Derived = tuple[Any, dict[str, Any], Hashable, Options]


@dataclass(slots=True, kw_only=True)
class ReleaseForm:
    """The fields of the Release page: of the table, and across tables."""

    checked: tuple[tuple[str, ...], ...] = ()  # the description that the user confirmed
    decision: str = ""  # hash of the one to carry out
    reason: str = ""
    title: str = ""
    by: str = ""
    folder: str = ""
    ledger: str = ""

    def clear(self) -> None:
        """Forget what belongs to the table that is left."""
        self.checked = ()
        self.decision = ""
        self.reason = ""
        self.title = ""


@dataclass(slots=True, kw_only=True)
class TableNotes:
    """The scenarios and decisions of one table, and the context of its releases."""

    scenarios: dict[str, Scenario] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    context: Context = field(default_factory=Context)


def with_steps(params: Any, steps: Steps) -> Any:
    """Return a method's parameters with its rounding, if there is any."""
    return Rounded(params=params, precision=steps) if steps else params


def first_setting(method: str = "rwn", options: Mapping[str, Any] | None = None) -> Any:
    """A setting of a method with these options that any table takes."""
    kind = rwn.METHODS[method]
    return kind(**(options or {}), **neutral_levers(kind))


@dataclass(slots=True, kw_only=True)
class Session:
    """One user's choices. Widgets edit them; what is derived from them is in `user`.

    A `Visit` holds it in `st.session_state`, for a reload too.
    """

    name: str
    demo: str | None
    data: rwn.Microdata
    user: User = field(default_factory=User, repr=False, compare=False)
    path: str = ""  # of a file that was opened by its path on this machine
    setting: Setting = field(init=False)  # its weights and slices are those of `data`
    _known: Derived = field(default=(None, {}, None, ()), repr=False)
    adopted: Any = None  # what the recommended start was looked up for
    started: tuple[Setting, int] | None = None  # what the pages began with by themselves
    seed: int = 1
    variable: str = ""
    projector: bool = False
    policy: rwn.Policy = field(default_factory=rwn.Policy)  # one, for every page
    compared: tuple[str, ...] = ()  # scenarios that Tune holds the present setting against
    watched: tuple[int, ...] = ()  # records to follow, counted from 0
    views: dict[str, str] = field(default_factory=dict)  # measures on the axes of the map
    analysis_plan: AnalysisPlan = field(default_factory=AnalysisPlan)
    notes_by_table: dict[str, TableNotes] = field(default_factory=dict)  # by fingerprint
    release: ReleaseForm = field(default_factory=ReleaseForm)
    second_variable: str = ""  # shown together with the first; see `pair`
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
    # rounding that answers asked for, by fingerprint: it stands in every setting of the table
    asked_steps: dict[str, dict[str, float]] = field(default_factory=dict)
    own_slices: Slices = field(init=False)  # those that the table came with
    own_use: Use | None = field(init=False)  # likewise what it is for, where that was stated

    def __post_init__(self) -> None:
        """Take the slices of the table's schema."""
        self.setting = Setting(params=first_setting()).resolved(self.data)
        self.own_slices = self.slices
        self.own_use = self.data.schema.use

    def key(self, name: str) -> str:
        """The key of a widget that belongs to the present table: PAGE.NAME with its number."""
        page, _, what = name.partition(".")
        return f"{page}.{self.table_version}.{what}"

    @property
    def params(self) -> Any:
        """The parameters of the method."""
        return self.setting.params

    @property
    def method(self) -> str:
        """Key of the method."""
        return str(self.setting.params.method)

    @property
    def of_rwn(self) -> bool:
        """True if the method is RWN, as published or with soft neighborhoods."""
        return self.method in (rwn.RWN.method, rwn.SoftRWN.method)

    @property
    def levers(self) -> dict[str, Any]:
        """Positions of the sliders."""
        return (self._known if self._known[0] is self.setting.params else self._derive())[1]

    @property
    def family(self) -> Hashable:
        """Key of all settings that differ from this one in positions of sliders only."""
        return (self._known if self._known[0] is self.setting.params else self._derive())[2]

    def _derive(self) -> Derived:
        """Note what a move of a slider asks for often."""
        params = self.setting.params
        options = tuple(fixed_options(params).items())
        self._known = params, lever_values(params), family(params), options
        return self._known

    @property
    def options(self) -> Options:
        """Parameters of the method that no slider moves, where they are not its defaults."""
        return (self._known if self._known[0] is self.setting.params else self._derive())[3]

    @property
    def precision(self) -> Steps:
        """The step of each variable that is released rounded."""
        return self.setting.precision

    @property
    def masking(self) -> Any:
        """The method's parameters, with the rounding if there is any."""
        return with_steps(self.setting.params, self.setting.precision)

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
    def pair(self) -> tuple[str, str]:
        """The current variable and a second one; equal if the table has one variable."""
        names = [variable.name for variable in self.data.schema.released]
        question = self.data.schema.question
        wanted = (self.second_variable, *(question.predictors if question else ()), *names)
        others = (name for name in wanted if name in names and name != self.variable)
        return self.variable, next(others, names[0])

    def state_use(self, use: Use | None) -> None:
        """Take over what the table is for; its first regression is the question of every page.

        None is the use that the table came with. Nothing is prepared anew: neither distances nor
        neighbors depend on it.
        """
        schema = self.data.schema.used_for(self.own_use if use is None else use)
        if use is not None and use.regressions:
            response, *predictors = use.regressions[0].names
            asked = rwn.Question(response=response, predictors=tuple(predictors))
            schema = replace(schema, question=asked)
        self.data = self.data.with_schema(schema)

    def set(
        self, setting: Setting, prepared: Prepared | None = None, *levers: str | Mapping[str, Any]
    ) -> None:
        """Go over to a setting; within the ranges of the table, where it is made ready for it.

        A lever stands where the first of `levers` says: positions, the name of a preset, or KEPT
        for the present ones; where the setting says if none are given. A lever of which nothing
        is said is at its low end.
        """
        before = self.setting
        setting = self.as_answered(setting)
        params = setting.params
        if prepared is not None and (levers or params != before.params):
            named = {**prepared.presets, KEPT: self.levers}
            said = [named[each] if isinstance(each, str) else each for each in levers]
            said = said or [lever_values(params)]
            positions = {
                name: next((each[name] for each in said if each.get(name) is not None), ends.low)
                for name, ends in prepared.ranges.items()
            }
            clipped = {name: prepared.ranges[name].reach(x) for name, x in positions.items()}
            params = at_levers(params, clipped)
        if (setting.weights, setting.slices) != (before.weights, before.slices):
            self.data = setting.applied_to(self.data)
        self.edit_version += setting.precision != before.precision
        self.setting = replace(setting, params=params)
        if self.curve_axis not in self.levers:
            self.curve_axis = params.strength

    def as_answered(self, setting: Setting) -> Setting:
        """Return a setting with the rounding that answers asked for of unmasked variables."""
        asked = self.asked_steps.get(self.data.fingerprint, {})
        masked = {variable.name for variable in self.data.schema.released if variable.masked}
        unmasked = {*self.data.numeric_names} - masked
        steps = {name: step for name, step in asked.items() if name in unmasked}
        if not steps:
            return setting
        return replace(setting, precision=steps_by_name(steps | dict(setting.precision)))

    def round_as_asked(self, before: str, after: str, steps: Mapping[str, float]) -> None:
        """Take over the rounding of answers; they may have given the table another fingerprint."""
        asked = self.asked_steps.get(before, {}) | dict(steps)
        if asked:
            self.asked_steps[after] = asked

    def keep_asked_steps(self, steps: Steps) -> None:
        """Forget the rounding of answers that a later choice of steps has left out."""
        asked = self.asked_steps.get(self.data.fingerprint, {})
        for name in asked.keys() - dict(steps).keys():
            del asked[name]

    def move(self, **levers: float) -> None:
        """Move some levers."""
        self.setting = replace(self.setting, params=at_levers(self.params, levers))

    def record_undo(self) -> None:
        """Keep the current setting for an undo."""
        self.history.note(self.setting)

    @property
    def words(self) -> str:
        """The current setting in words, without anything of the data."""
        method = rwn.METHODS[self.method]
        parts = [] if self.method == "rwn" else [str(method.title)]
        parts += [f"{SHORT_NAMES[name]} = {value:g}" for name, value in self.levers.items()]
        called = ((SHORT_NAMES.get(name, name), value) for name, value in self.options)
        parts += [f"{name} = {option_words(value)}" for name, value in called]
        # of many weights that are not 1, how many they are
        own = [v for v in self.data.schema.released if v.weight != 1.0 and method.uses_weights]
        each = [f"weight of {v.name} = {v.weight:g}" for v in own]
        parts += [f"own weights of {len(own)} variables"] if len(own) > NAMED_WEIGHTS else each
        if self.precision:
            share = rounded_share(self.data, self.precision)
            steps = f"numbers rounded to about {share or 0:g} SD"
            parts.append(precision_words(self.precision) if share is None else steps)
        shown = self.slices if method.uses_slices else ()
        return " · ".join([*parts, *([slices_words(shown, short=True)] if shown else [])])

    @property
    def name_of_setting(self) -> str:
        """The current setting by its short name and its levers."""
        masked = [each.name for each in self.data.schema.released if each.masked]
        sign = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # a line ends between levers only
        levers = (f"{SHORT_NAMES[name]}{sign}{value:g}" for name, value in self.levers.items())
        return " · ".join([setting_name(self.setting, masked), *levers])

    @property
    def is_untouched(self) -> bool:
        """True if the setting is the one that the table began with by itself."""
        return self.started == (self.setting, len(self.history.settings))

    def begin(self, prepared: Prepared, setting: Setting | None = None) -> None:
        """Begin a table at the standard preset, or at a setting that was looked for before."""
        self.clamp(prepared)
        if setting is not None:
            self.set(setting.resolved(self.data))
        self.history = History()
        self.record_undo()
        self.adopted = None
        self.started = (self.setting, 1)

    def load_table(
        self,
        data: rwn.Microdata,
        name: str,
        demo: str | None,
        params: Method,
        prepared: Prepared,
        start: Setting | None = None,
    ) -> None:
        """Load another table: choices that belong to the old one are reset."""
        self.data = data
        self.name = name
        self.demo = demo
        self.path = ""
        self.own_slices = self.slices
        self.own_use = data.schema.use
        self.setting = Setting(params=params).resolved(data)
        self.compared = ()
        self.analysis_plan = AnalysisPlan()
        self.views = {}
        self.watched = ()
        self.second_variable = ""
        self.release.clear()
        self.table_version += 1
        self.grid_version += 1
        self.begin(prepared, start)

    def take_description(self, data: rwn.Microdata, prepared: Prepared, *, by_grid: bool) -> None:
        """Describe the same records in another way: every choice stays that still has a meaning."""
        before, untouched, self.data = self.data, self.is_untouched, data
        names = {variable.name for variable in data.schema.released}
        if names != {variable.name for variable in before.schema.released}:
            self.analysis_plan = AnalysisPlan()
            self.watched = ()
            self.history = History()
        if self.variable not in names:
            self.variable = data.schema.released[0].name
        for name, each in self.scenarios.items():
            limits = each.readings.keys() & self.policy.measures
            kept = {key: read for key, read in each.readings.items() if key not in limits}
            unread = {**each.unread, **dict.fromkeys(limits, DESCRIBED_ANEW)}
            self.scenarios[name] = replace(each, readings=kept, unread=unread)
        self.own_slices = self.slices
        self.release.checked = ()
        self.table_version += 1
        self.grid_version += not by_grid
        steps = tuple(each for each in self.precision if each[0] in data.numeric_names)
        self.setting = Setting(params=self.params, precision=steps).resolved(data)
        if untouched and self.method == "rwn":  # a range may have changed, and with it the preset
            self.begin(prepared)
            return
        self.set(self.setting, prepared, KEPT)
        if untouched:
            self.record_undo()
            self.started = self.setting, len(self.history.settings)

    def clamp(self, prepared: Prepared) -> None:
        """Bring the choices into the table's ranges, at the standard preset."""
        released = [variable.name for variable in self.data.schema.released]
        if self.variable not in released:
            question = self.data.schema.question
            self.variable = question.response if question else released[0]
        self.set(self.setting, prepared, "Standard", KEPT)
