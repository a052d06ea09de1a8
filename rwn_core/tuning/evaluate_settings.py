"""Trying settings on a table: releases are drawn, measured and forgotten; only readings stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.certified_forecast import ROWS, forecast_certified
from rwn_core.masking import Masked, Prepared, family, lever_values
from rwn_core.measures import MEASURES, no_measure
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.memory import budget_bytes
from rwn_core.randomness import SecretKey
from rwn_core.tuning.point import Point, Setting, Spread, known_ends, released_share
from rwn_core.tuning.verdict import RAISED, RED_TEAM, attacked

CERTIFIED = "certified_linkage"  # proved of a release by its rows, of a setting by its law
SHARE_A_WORKER = 0.35  # of the free memory, for one worker's neighbor table


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(NamedParameters):
    """Hold the measures, releases and seed that every setting is read with.

    Attributes
    ----------
    measures : tuple of str
        Keys of the catalogue.
    releases : int
        Releases drawn at each setting, at least 1.
    seed : int
        Release r is drawn from the teaching seed ``seed + r``, the same at every setting, so
        that settings differ by their parameters and not by luck.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Plan(measures=("distance_linkage", "association_loss"), releases=8).releases
    8
    """

    measures: tuple[str, ...]
    releases: int = 8
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each part."""
        for key in self.measures:
            if key not in MEASURES:
                raise ParameterError(no_measure(key))
        if not self.measures:
            raise ParameterError("Choose at least one measure.")
        if isinstance(self.releases, bool) or not 1 <= self.releases <= 10_000:
            raise ParameterError("releases must be a whole number from 1 to 10,000.")
        SecretKey.from_seed(self.seed)

    @property
    def keys(self) -> list[SecretKey]:
        """The key of each release."""
        return [SecretKey.from_seed(self.seed + release) for release in range(self.releases)]


ATTACKED = 5  # releases of an answer that simple attacks are tried on


def with_red_team(plan: Plan) -> Plan:
    """The first few releases of a plan, with the measures that simple attacks may raise."""
    measures = tuple(key for key in RAISED if key in plan.measures)
    releases = min(ATTACKED, plan.releases)
    return replace(plan, measures=(*measures, RED_TEAM), releases=releases)


class Trials:
    """A table made ready for many settings: neighbors ranked once for all that share a metric."""

    def __init__(self, microdata: Microdata, settings: Sequence[Setting], plan: Plan) -> None:
        # the settings are resolved; they say how far the neighbors are needed
        self.plan = plan
        self._microdata = microdata
        self._families = _families(settings)
        self._units: Hashable = None
        self._prepared: Prepared | None = None
        self._comparison: Comparison | None = None

    def run(
        self,
        setting: Setting,
        tick: Callable[[], None] | None = None,
        look: Callable[[Masked], None] | None = None,
    ) -> Point:
        """Draw the setting's releases, look at each and read the measures."""
        start = time.perf_counter()
        readings: list[dict[str, Reading | NotApplicable]] = []
        shown: list[float] = []
        drawn = [key for key in self.plan.measures if key != CERTIFIED]
        forecast: list[Reading | NotApplicable] = []
        try:
            if CERTIFIED in self.plan.measures:
                forecast = [self.certified(setting)]
            for release in self._releases(setting) if drawn else ():
                shown.append(released_share(self._microdata, release.masked))
                readings.append(self._read(release, drawn))
                if look is not None:
                    look(release)
                if tick is not None:
                    tick()
        except ParameterError as refusal:
            reason = NotApplicable(str(refusal))
            readings, forecast = [dict.fromkeys(drawn, reason)], [reason]
        spreads = {
            key: spread_over_releases(
                key, forecast if key == CERTIFIED else [each[key] for each in readings]
            )
            for key in self.plan.measures
        }
        seconds = time.perf_counter() - start
        return Point(setting=setting, spreads=spreads, shown=tuple(shown), seconds=seconds)

    def certified(self, setting: Setting, rows: int = ROWS) -> Reading | NotApplicable:
        """Forecast certified linkage: before a release it is the mean of a few draws by law."""
        law = self._enter(setting).law
        law = law if law is None else law.rounded(dict(setting.precision))
        try:
            value = float(np.mean(forecast_certified(law, rows=rows)))
        except NotApplicable as reason:
            return reason
        return Reading(value=value, baseline=1.0 / self._microdata.n, detail={})

    def first(
        self, setting: Setting, measures: Sequence[str]
    ) -> dict[str, Reading | NotApplicable]:
        """The readings of a setting's first release, with all that their charts draw."""
        release = next(self._releases(setting))
        return self._read(release, measures)

    def _enter(self, setting: Setting) -> Prepared:
        """Go over to a setting: neighbors are ranked anew for other weights or families only."""
        data = setting.applied_to(self._microdata)
        if self._comparison is None or self._comparison.original.schema != data.schema:
            self._comparison = Comparison(original=data, masked=data)
        if self._prepared is None or self._units != together(setting):
            self._prepared = None  # its memory goes before the next is made ready
            large = data.n > LARGEST_DENSE
            self._prepared = setting.params.prepare(
                data,
                settings=self._families.get(together(setting), ()),
                threads=1,
                budget=SHARE_A_WORKER * budget_bytes() if large else None,
            )
            self._units = together(setting)
        if self._prepared.microdata.schema.slices != data.schema.slices:
            self._prepared = self._prepared.with_slices(data.schema.slices)
        moved: Prepared = self._prepared.with_levers(**lever_values(setting.params))
        return moved

    def _releases(self, setting: Setting) -> Iterator[Masked]:
        prepared, precision = self._enter(setting), dict(setting.precision)
        for key in self.plan.keys:
            yield prepared.release(key, threads=1).rounded(precision)

    def _read(self, release: Masked, measures: Sequence[str]) -> dict[str, Reading | NotApplicable]:
        assert self._comparison is not None
        comparison = self._comparison.with_masked(release.masked, release.law)
        return dict(attacked({key: read_safely(key, comparison) for key in measures}))


def read_safely(key: str, comparison: Comparison, *, bare: bool = False) -> Reading | NotApplicable:
    """Read a measure; a fault of one measure must not end a sweep of all."""
    try:
        return MEASURES[key].read(comparison, bare=bare)
    except Exception as error:  # its text may hold a value: only its type is stated
        return NotApplicable(f"The measure failed ({type(error).__name__}); please report it.")


def spread_over_releases(key: str, readings: Sequence[Reading | NotApplicable]) -> Spread:
    """Return the spread of a measure's readings, one for each release."""
    reasons = [each.reason for each in readings if isinstance(each, NotApplicable)]
    if reasons:
        return Spread(measure=key, reason=reasons[0])
    answers = [each for each in readings if isinstance(each, Reading)]
    values = tuple(float(each.value) for each in answers)
    by = next((str(x.detail["attacked_by"]) for x in answers if "attacked_by" in x.detail), "")
    ends, baseline = known_ends(answers[0].detail), answers[0].baseline
    spread = Spread(measure=key, values=values, baseline=baseline, by=by, ends=ends)
    if all(each.detail.get("standing") != "at least" for each in answers):
        return spread
    upper = tuple(each.detail.get("at_most") for each in answers)
    known = () if None in upper else tuple(float(u) for u in upper if u is not None)
    return replace(spread, is_bound=True, upper=known)


def together(setting: Setting) -> Hashable:
    """Return the key of settings that share a prepared table."""
    return setting.weights, family(setting.params)


def by_family(settings: Sequence[Setting]) -> list[Setting]:
    """The settings with those that share their neighbors together, in the order of their first."""
    order: dict[Hashable, int] = {}
    for setting in settings:
        order.setdefault(together(setting), len(order))
    return sorted(settings, key=lambda setting: order[together(setting)])


def _families(settings: Sequence[Setting]) -> dict[Hashable, list[Any]]:
    """The parameters of all settings that share what is prepared."""
    families: dict[Hashable, list[Any]] = {}
    for setting in settings:
        families.setdefault(together(setting), []).append(setting.params)
    return families
