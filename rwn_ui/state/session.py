"""What one user has chosen, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.data.rounding import Steps, precision_words, share_of
from rwn_core.evaluation.analysis_plan import DayPass
from rwn_core.masking import Rounded
from rwn_core.measures.attacks.watch_list import WatchList
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting import ReleasedFile
from rwn_core.reporting.decision import Meeting
from rwn_core.reporting.scenario import Scenario, Search
from rwn_core.tuning import Run, Setting
from rwn_ui.background.job import Job
from rwn_ui.background.on_demand import Follower
from rwn_ui.background.preparation import Preparation
from rwn_ui.background.searching import searching
from rwn_ui.state.history import Choice, History
from rwn_ui.state.memo import Memo
from rwn_ui.state.prepared_table import Bench, Look
from rwn_ui.state.presets import preset_values

TOLD_WEIGHTS = 2  # in the words of a setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the organization tolerates; the marks on the tiles."""

    linkage: float = 0.05
    correlation: float = 0.08
    slope: float = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A setting put aside for comparison: its words and its readings, no data."""

    text: str
    values: dict[str, float]


@dataclass(slots=True, kw_only=True)
class Session:
    """One user's choices. Widgets edit them; results are derived."""

    name: str
    demo: str | None
    data: rwn.Microdata
    epsilon: float = 0.0
    k: int = 1
    q: float = 1.0
    precision: Steps = ()  # the step of each variable that is released rounded
    seed: int = 1
    variable: str = ""
    projector: bool = False
    policy: Policy = field(default_factory=Policy)
    pins: dict[str, Pin] = field(default_factory=dict)
    last_payload: dict[str, Any] | None = None
    job: Job | None = None
    run: Run | None = None
    search: Search | None = None
    seeker: Job | None = None
    planner: Job | None = None
    study: Job | None = None  # of the Utility page
    disclosure: Job | None = None  # of the Risk page
    trial: Job | None = None  # of the Compare page
    follower: Follower | None = None  # reads what no slider can wait for
    watched: WatchList = field(default_factory=WatchList)  # records and questions to follow
    views: dict[str, str] = field(default_factory=dict)  # measures on the axes of the map
    limits: dict[str, float] = field(default_factory=dict)  # what is tolerated, by measure
    day_pass: DayPass = field(default_factory=DayPass)  # the analyses that users will run
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    meetings: list[Meeting] = field(default_factory=list)
    made: tuple[rwn.Microdata, rwn.Release, ReleasedFile] | None = None  # the last download
    downloads: int = 0  # how many were asked for and have ended
    coming: Preparation | None = None  # a table, or other weights, that will be gone over to
    first: bool = False  # whether that is the table which the user came with
    notice: str = ""  # why the last one is not there
    slot: DeltaGenerator | None = None  # where a page tells how far a search is
    history: History = field(default_factory=History)
    generation: int = 0  # counts loaded tables; part of widget keys that belong to one table
    rewound: int = 0  # counts weights and steps that came from elsewhere than their table; likewise
    spots: Memo = field(default_factory=lambda: Memo(8))
    benches: Memo = field(default_factory=lambda: Memo(2))
    looks: Memo = field(default_factory=lambda: Memo(8))

    @property
    def params(self) -> rwn.RWN:
        """The current setting of the method."""
        return rwn.RWN(epsilon=self.epsilon, k=self.k, q=self.q)

    @property
    def masking(self) -> rwn.RWN | Rounded:
        """What makes the release: the parameters, with the rounding where there is any."""
        if not self.precision:
            return self.params
        return Rounded(params=self.params, precision=self.precision)

    @property
    def busy(self) -> bool:
        """Whether a job of this user is under way: one at a time."""
        for work in self._works:
            if isinstance(work, Job):
                work.poll()  # the page that follows it may be another one
        return any(work is not None and work.running for work in self._works)

    @property
    def _works(self) -> tuple[Job | Run | None, ...]:
        jobs = (self.job, self.seeker, self.planner, self.study, self.disclosure, self.trial)
        return (*jobs, self.run)

    @property
    def setting(self) -> Setting:
        """The current setting with its weights and precision, as plain data."""
        return Setting(params=self.params, precision=self.precision).resolved(self.data)

    def note(self) -> None:
        """Remember the current choice, so that it can be come back to."""
        self.history.note(
            Choice(
                epsilon=self.epsilon,
                k=self.k,
                q=self.q,
                weights=self.setting.weights,
                precision=self.precision,
            )
        )

    def take(self, choice: Choice) -> None:
        """Go over to a choice, from the history or elsewhere."""
        if self.coming is not None and self.coming.data.fingerprint == self.data.fingerprint:
            self.stay()  # an earlier choice is not to come after this one
        if choice.weights == self.setting.weights:
            self._choose(choice)
            return
        equal = {variable.name: 1.0 for variable in self.data.schema.released}
        data = self.data.with_weights(equal | dict(choice.weights))

        def then() -> None:
            self.data = data
            self.rewound += 1
            self._choose(choice)

        self._go_over(data, self.name, then)

    def _choose(self, choice: Choice) -> None:
        if choice.precision != self.precision:
            self.precision = choice.precision
            self.rewound += 1
        slider_range = self.bench().slider_range
        self.epsilon = min(choice.epsilon, slider_range.epsilon)
        self.k, self.q = min(choice.k, slider_range.k), choice.q

    @property
    def words(self) -> str:
        """The current setting in words, without anything of the data."""
        words = f"ε = {self.epsilon:g} · k = {self.k} · q = {self.q:g}"
        return " · ".join([words, *self._weighing, *([self._rounding] if self.precision else [])])

    @property
    def _weighing(self) -> list[str]:
        """The weights that are not 1; of many, how many they are."""
        own = [v for v in self.data.schema.released if v.weight != 1.0]
        if len(own) > TOLD_WEIGHTS:
            return [f"own weights of {len(own)} variables"]
        return [f"weight of {v.name} = {v.weight:g}" for v in own]

    @property
    def _rounding(self) -> str:
        share = share_of(self.data, self.precision)
        if share is None:
            return precision_words(self.precision)
        return f"numbers rounded to about {share:g} SD"

    def bench(self) -> Bench:
        """What is prepared once for the table and its weights."""
        return self.benches.once(_place(self.data), lambda: Bench.of(self.data))

    def _go_over(self, data: rwn.Microdata, name: str, then: Callable[[], None]) -> None:
        """Have a table's bench ready, then go over to it: at once, or from `arrive` later on."""
        if data.n > LARGEST_DENSE and _place(data) not in self.benches:
            self.stay()
            self.coming = Preparation.start(data, name, then)
            return
        self.benches.once(_place(data), lambda: Bench.of(data))
        then()

    def arrive(self) -> bool:
        """Go over to what was prepared, or keep the reason why not; whether anything changed."""
        coming = self.coming
        if coming is None or coming.running:
            return False
        self.coming, self.first = None, False
        if coming.bench is None:
            self.rewound += 1  # typed weights are not those in use
            self.notice = f"{coming.name}: {coming.refusal}"
            return True
        bench = coming.bench
        self.benches.once(_place(coming.data), lambda: bench)
        coming.then()
        return True

    def stay(self) -> None:
        """Give up what is being prepared."""
        self.notice = ""
        if self.coming is not None:
            self.coming.cancel()
            self.coming, self.first = None, False
            self.rewound += 1

    def reweigh(self, weights: Mapping[str, float]) -> bool:
        """Go over to other weights of some variables; whether the page is to be drawn anew."""
        data = self.data.with_weights(weights)
        if self.coming is not None and self.coming.data.schema == data.schema:
            return False

        def then() -> None:
            self.data = data

        self._go_over(data, self.name, then)
        return True

    def look(self) -> Look:
        """The release and the readings of the current setting."""
        bench = self.bench()
        key = (*_place(self.data), self.masking, self.seed)

        def make() -> Look:
            with searching(self.slot) as progress:
                return bench.look(self.masking, self.seed, progress)

        return self.looks.once(key, make)

    def load(self, data: rwn.Microdata, *, name: str, demo: str | None) -> None:
        """Take up another table: choices that belong to the old one start anew."""
        self.stay()
        self._go_over(data, name, lambda: self._begin(data, name, demo))

    def _begin(self, data: rwn.Microdata, name: str, demo: str | None) -> None:
        self.data, self.name, self.demo = data, name, demo
        self.pins, self.last_payload, self.precision, self.made = {}, None, (), None
        self.day_pass, self.views = DayPass(), {}
        for work in self._works:
            if work is not None:
                work.cancel()
        self.job = self.run = self.seeker = self.planner = self.study = None
        self.disclosure = self.trial = self.search = None
        if self.follower is not None:
            self.follower.cancel()
            self.follower = None
        self.watched = WatchList()
        self.history = History()
        self.generation += 1
        self.settle()

    def settle(self) -> None:
        """Bring the choices into the table's ranges, at the standard preset."""
        released = [variable.name for variable in self.data.schema.released]
        if self.variable not in released:
            question = self.data.schema.question
            self.variable = question.response if question else released[0]
        self.use_preset("Standard")

    def use_preset(self, preset: str) -> None:
        """Take a preset's epsilon, k and q, fitted to the table's distances."""
        self.epsilon, self.k, self.q = preset_values(preset, self.bench().slider_range)


def _place(data: rwn.Microdata) -> tuple[str, rwn.Schema]:
    """What a bench depends on."""
    return data.fingerprint, data.schema
