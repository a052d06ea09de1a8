"""Trying settings on a table: releases are drawn, measured and forgotten; only readings stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import RWN, Masked
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.mechanism.donors import Draws, column_streams, copy_from_donors, draw_donors
from rwn_core.neighbors import LARGEST_DENSE, NeighborTable, neighbor_table
from rwn_core.parallel.memory import budget_bytes
from rwn_core.randomness import SecretKey
from rwn_core.tuning.point import Point, Spread
from rwn_core.tuning.setting import Setting

DRAWS_BYTES = 256_000_000  # random numbers kept from one setting to the next
BYTES_A_CELL = 260  # about 24 uniform numbers and 17 steps of the record chain
SHARE_A_WORKER = 0.35  # of the free memory, for one worker's neighbor table

Space = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is done at every setting.

    Attributes
    ----------
    measures : tuple of str
        Keys of the catalogue.
    releases : int
        Releases drawn at each setting, at least 1.
    seed : int
        Release r is drawn from the teaching seed ``seed + r``, the same at every setting, so
        that settings differ by their parameters and not by luck.
    """

    measures: tuple[str, ...]
    releases: int = 8
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each part."""
        for key in self.measures:
            if key not in MEASURES:
                raise ParameterError(
                    f"There is no measure {key}; known are: {', '.join(MEASURES)}."
                )
        if not self.measures:
            raise ParameterError("Choose at least one measure.")
        if isinstance(self.releases, bool) or not 1 <= self.releases <= 10_000:
            raise ParameterError("releases must be a whole number from 1 to 10,000.")
        SecretKey.from_seed(self.seed)

    @property
    def keys(self) -> list[SecretKey]:
        """The key of each release."""
        return [SecretKey.from_seed(self.seed + release) for release in range(self.releases)]


class Trials:
    """A table made ready for many settings: neighbors ranked once for all that share a metric.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of Setting
        Resolved; they say how far the neighbors are needed.
    plan : Plan
    """

    def __init__(self, microdata: Microdata, settings: Sequence[Setting], plan: Plan) -> None:
        self.plan = plan
        self._microdata = microdata
        self._reach = _reach(settings)
        self._space: Space | None = None
        self._data = microdata
        self._table: NeighborTable | None = None
        self._comparison: Comparison | None = None
        self._draws: dict[str, Draws] = {}

    def run(self, setting: Setting, tick: Callable[[], None] | None = None) -> Point:
        """Draw the setting's releases and read the measures.

        Parameters
        ----------
        setting : Setting
        tick : callable, optional
            Called after each release.

        Returns
        -------
        Point
            A setting that the method refuses on this table has the refusal as its reason.
        """
        start = time.perf_counter()
        readings: list[dict[str, Reading | NotApplicable]] = []
        try:
            self._enter(setting)
            for release in self._releases(setting):
                readings.append(self._read(release))
                if tick is not None:
                    tick()
        except ParameterError as refusal:
            reason = NotApplicable(str(refusal))
            readings = [dict.fromkeys(self.plan.measures, reason)]
        spreads = {
            key: _spread(key, [each[key] for each in readings]) for key in self.plan.measures
        }
        return Point(setting=setting, spreads=spreads, seconds=time.perf_counter() - start)

    def _enter(self, setting: Setting) -> None:
        """Go over to the setting's metric, unless the last setting had the same."""
        space = _space(setting)
        if space == self._space:
            return
        weights = setting.weights
        if self._space is None or self._space[0] != weights:
            self._data = setting.weighted(self._microdata)
            self._comparison = Comparison(original=self._data, masked=self._data)
        self._space, self._table = space, None
        if _plain(setting.params):
            self._table = self._rank(setting.params, *self._reach[space])

    def _rank(self, params: RWN, k: int | None, epsilon: float | None) -> NeighborTable | None:
        """Every record's neighbors, as far as any setting needs; None where they do not fit."""
        points = params.points(self._data)
        most = self._data.n - 1
        budget = None if len(points) <= LARGEST_DENSE else SHARE_A_WORKER * budget_bytes()
        try:
            return neighbor_table(
                points,
                k=None if k is None else min(k, most),
                epsilon=epsilon,
                threads=1,
                budget=budget,
            )
        except ParameterError:
            return None

    def _releases(self, setting: Setting) -> Any:
        precision = dict(setting.precision)
        if self._table is None or not _plain(setting.params):
            for key in self.plan.keys:
                made = setting.params.apply(self._data, key, threads=1, progress=None)
                yield made.rounded(precision)
            return
        params = setting.params
        if params.k is not None and params.k >= self._data.n:
            raise ParameterError(f"k must be a whole number from 1 to {self._data.n - 1}.")
        neighborhoods = self._table.narrow(k=params.k, epsilon=params.epsilon)
        # one law for all releases: it keeps its tables
        law = params.law(self._data, neighborhoods).rounded(precision)
        for key in self.plan.keys:
            donors = draw_donors(neighborhoods, self._draws_of(key), law.q)
            masked = rounded(copy_from_donors(self._data, donors), precision)
            yield Masked(masked=masked, donors=donors, law=law)

    def _draws_of(self, key: SecretKey) -> Draws:
        kept = self._draws.get(key.identity)
        if kept is not None:
            return kept
        draws = Draws(key, np.arange(self._data.n), column_streams(self._data))
        needed = self._data.n * self._data.p * BYTES_A_CELL
        if (len(self._draws) + 1) * needed <= DRAWS_BYTES:
            self._draws[key.identity] = draws
        return draws

    def _read(self, release: Masked) -> dict[str, Reading | NotApplicable]:
        assert self._comparison is not None
        comparison = self._comparison.with_masked(release.masked, release.law)
        return {key: _safely(key, comparison) for key in self.plan.measures}


def _safely(key: str, comparison: Comparison) -> Reading | NotApplicable:
    """A reading; a fault of one measure must not end a sweep of all."""
    try:
        return MEASURES[key].read(comparison)
    except Exception as error:  # its text may hold a value: only its type is told
        return NotApplicable(f"The measure failed ({type(error).__name__}); please report it.")


def _spread(key: str, readings: Sequence[Reading | NotApplicable]) -> Spread:
    reasons = [each.reason for each in readings if isinstance(each, NotApplicable)]
    if reasons:
        return Spread(measure=key, reason=reasons[0])
    found = [each for each in readings if isinstance(each, Reading)]
    values = tuple(float(each.value) for each in found)
    return Spread(measure=key, values=values, baseline=found[0].baseline)


def _plain(params: Any) -> bool:
    """Whether a ranked table of all neighbors answers for these parameters."""
    settled = {"epsilon", "k", "q", "scale", "encoding", "weights"}
    if not isinstance(params, RWN) or not isinstance(params.epsilon, int | float | None):
        return False
    return all(
        getattr(params, field.name) == field.default
        for field in fields(params)
        if field.name not in settled
    )


def _space(setting: Setting) -> Space:
    """What must be equal for two settings to share their neighbors."""
    params = setting.params
    if not _plain(params):
        return (setting.weights, setting.method)
    return (setting.weights, "rwn", params.metric_choices)


def by_space(settings: Sequence[Setting]) -> list[Setting]:
    """The settings with those of one metric together, in the order of their first."""
    order: dict[Space, int] = {}
    for setting in settings:
        order.setdefault(_space(setting), len(order))
    return sorted(settings, key=lambda setting: order[_space(setting)])


def _reach(settings: Sequence[Setting]) -> dict[Space, tuple[int | None, float | None]]:
    """The largest k and epsilon in each metric."""
    reach: dict[Space, tuple[int | None, float | None]] = {}
    for setting in settings:
        if _plain(setting.params):
            k, epsilon = reach.get(_space(setting), (None, None))
            reach[_space(setting)] = (
                _larger(k, setting.params.k),
                _larger(epsilon, setting.params.epsilon),
            )
    return reach


def _larger(one: Any, two: Any) -> Any:
    return max((value for value in (one, two) if value is not None), default=None)
