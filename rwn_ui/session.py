"""What one user has chosen, and a bounded memory of what follows from it."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

import rwn_core as rwn
from rwn_core.meeting import Meeting
from rwn_core.neighborhoods import LARGEST_DENSE
from rwn_core.neighborhoods.machine_code import is_ready
from rwn_core.neighborhoods.reach import Reach
from rwn_core.scenario import Scenario, Search
from rwn_core.tuning import Run, Setting
from rwn_core.warm import warm
from rwn_ui.history import Choice, History
from rwn_ui.jobs import Job
from rwn_ui.results import Bench, Look
from rwn_ui.show import plain

_T = TypeVar("_T")
_PLACE = "rwn.session"
FIRST_DEMO = "bodyfat"


class Memo:
    """The latest results of one user; the oldest go first. Nothing is shared between users."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The kept result of this key, or a new one."""
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._kept[key] = make()
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        result: _T = self._kept[key]
        return result


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
    seed: int = 1
    variable: str = ""
    projector: bool = False
    policy: Policy = field(default_factory=Policy)
    pins: dict[str, Pin] = field(default_factory=dict)
    last_payload: dict[str, Any] | None = None
    job: Job | None = None
    run: Run | None = None
    search: Search | None = None
    forecasts: dict[str, float] = field(default_factory=dict)  # by the key of a setting
    seeker: Job | None = None
    study: Job | None = None  # of the Utility page
    disclosure: Job | None = None  # of the Risk page
    views: dict[str, str] = field(default_factory=dict)  # measures on the axes of the map
    limits: dict[str, float] = field(default_factory=dict)  # what is tolerated, by measure
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    meetings: list[Meeting] = field(default_factory=list)
    history: History = field(default_factory=History)
    generation: int = 0  # counts loaded tables; part of widget keys that belong to one table
    rewound: int = 0  # counts weights that came from elsewhere than their table; likewise
    spots: Memo = field(default_factory=lambda: Memo(2))
    benches: Memo = field(default_factory=lambda: Memo(2))
    looks: Memo = field(default_factory=lambda: Memo(8))

    @property
    def params(self) -> rwn.RWN:
        """The current setting of the method."""
        return rwn.RWN(epsilon=self.epsilon, k=self.k, q=self.q)

    @property
    def busy(self) -> bool:
        """Whether a job of this user is under way: one at a time."""
        works = (self.job, self.run, self.seeker, self.study, self.disclosure)
        return any(work is not None and work.running for work in works)

    @property
    def setting(self) -> Setting:
        """The current setting with its weights, as plain data."""
        return Setting(params=self.params).resolved(self.data)

    def note(self) -> None:
        """Remember the current choice, so that it can be come back to."""
        self.history.note(
            Choice(epsilon=self.epsilon, k=self.k, q=self.q, weights=self.setting.weights)
        )

    def take(self, choice: Choice) -> None:
        """Go over to a choice, from the history or elsewhere."""
        if choice.weights != self.setting.weights:
            plain = {variable.name: 1.0 for variable in self.data.schema.released}
            self.data = self.data.with_weights(plain | dict(choice.weights))
            self.rewound += 1
        reach = self.bench().reach
        self.epsilon = min(choice.epsilon, reach.epsilon)
        self.k, self.q = min(choice.k, reach.k), choice.q

    @property
    def words(self) -> str:
        """The current setting in words, without anything of the data."""
        return f"ε = {self.epsilon:g} · k = {self.k} · q = {self.q:g}"

    def bench(self) -> Bench:
        """What is prepared once for the table and its weights."""
        return self.benches.once((self.data.fingerprint, self.data.schema), self._prepare)

    def _prepare(self) -> Bench:
        with preparing(self.data) as progress:
            return Bench.of(self.data, progress)

    def look(self) -> Look:
        """The release and the readings of the current setting."""
        bench = self.bench()
        key = (self.data.fingerprint, self.data.schema, self.params, self.seed)
        return self.looks.once(key, lambda: bench.look(self.params, self.seed))

    def load(self, data: rwn.Microdata, *, name: str, demo: str | None) -> None:
        """Take up another table: choices that belong to the old one start anew."""
        with preparing(data) as progress:
            bench = Bench.of(data, progress)
        self.benches.once((data.fingerprint, data.schema), lambda: bench)
        self.data, self.name, self.demo = data, name, demo
        self.pins, self.last_payload = {}, None
        for work in (self.job, self.run, self.seeker, self.study, self.disclosure):
            if work is not None:
                work.cancel()
        self.job = self.run = self.seeker = self.study = None
        self.disclosure = self.search = None
        self.forecasts.clear()
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
        self.epsilon, self.k, self.q = preset_values(preset, self.bench().reach)


PRESETS = {"Light": (0.6, 3, 0.5), "Standard": (1.2, 5, 1.0), "Strong": (2.4, 15, 1.0)}


def preset_values(preset: str, reach: Reach) -> tuple[float, int, float]:
    """Epsilon as a multiple of the typical nearest distance, k and q."""
    radii, k, q = PRESETS[preset]
    epsilon = min(round(radii * reach.typical / reach.step) * reach.step, reach.epsilon)
    return round(epsilon, 10), min(k, reach.k), q


@contextmanager
def preparing(data: rwn.Microdata) -> Iterator[Callable[[float], None] | None]:
    """A progress bar while the neighbors of a large table are ranked; nothing for a small one."""
    if data.n <= LARGEST_DENSE:
        yield None
        return
    words = f"Ranking the neighbors of {data.n:,} records"
    bar = st.progress(0.0, text=words)
    try:
        if not is_ready():
            bar.progress(0.0, text="Compiling the search for this machine, once: half a minute")
            warm()
        yield lambda share: bar.progress(min(share, 1.0), text=words) and None
    finally:
        bar.empty()


def current() -> Session:
    """This user's session; a new one opens the file of the command line, or the first demo."""
    if _PLACE not in st.session_state:
        st.session_state[_PLACE] = _first()
    session: Session = st.session_state[_PLACE]
    return session


def _first() -> Session:
    given = os.environ.get("RWN_FILE")
    demo = st.query_params.get("demo", FIRST_DEMO)
    if given and "demo" not in st.query_params:
        try:
            return _session(rwn.read(Path(given)), name=Path(given).name, demo=None)
        except rwn.RWNError as refusal:  # moved or changed since the start
            st.toast(plain(str(refusal)))
    if demo not in rwn.DEMOS:
        st.toast(f"There is no demo of that name; {FIRST_DEMO} is shown.")
        demo = FIRST_DEMO
    return _session(rwn.load_demo(demo), name=demo, demo=demo)


def _session(data: rwn.Microdata, *, name: str, demo: str | None) -> Session:
    session = Session(name=name, demo=demo, data=data)
    session.settle()
    return session
