"""Methods that copy values from neighborhoods share how a table is prepared for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donors import (
    masked_columns,
)
from rwn_core.laws.law import Law
from rwn_core.laws.stored_draws import StoredDraws
from rwn_core.masking.from_neighborhoods import PreparedNeighborhoods
from rwn_core.masking.lever import LeverRange
from rwn_core.neighbors import Neighborhoods, check_radius_and_k
from rwn_core.neighbors.candidates.scheme import Scheme
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.outside_household import OutsideSource
from rwn_core.neighbors.points import Points
from rwn_core.neighbors.preview import Preview, begin_preview, build_preview
from rwn_core.neighbors.slider_range import SliderRange
from rwn_core.neighbors.source import (
    Ball,
    NeighborSource,
    SearchSource,
    source_of_some,
    stored_source,
)
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey


class NeighborhoodMethod(ABC):
    """A method that copies values from neighborhoods: what it decides, and what they share."""

    __slots__ = ()

    uses_weights: ClassVar[bool] = True
    uses_slices: ClassVar[bool] = True
    releases_true_rows: ClassVar[bool] = False
    moves_missing: ClassVar[bool] = True
    spares_variables: ClassVar[bool] = False

    @property
    @abstractmethod
    def ball(self) -> Ball:
        """Which others belong to a neighborhood."""

    def table_of(self, microdata: Microdata) -> Microdata:
        """A table with the slices that the method draws for: the table's own."""
        return microdata

    @property
    def scheme(self) -> Scheme:
        """Who may be a neighbor: everybody."""
        return Scheme()

    def households(self, microdata: Microdata) -> NDArray[np.int64] | None:
        """The household of each record, outside which its neighbors lie; None where anywhere."""
        return None

    @abstractmethod
    def metric(self, microdata: Microdata) -> Metric:
        """The method's distance, fitted on a table."""

    @abstractmethod
    def draw_probability(self, microdata: Microdata) -> NDArray[np.float64]:
        """P(a donor is drawn for a cell of each released variable), shape (p,)."""

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method may change; see `Method.masked_names`."""
        drawn = zip(microdata.schema.released, self.draw_probability(microdata), strict=True)
        return tuple(variable.name for variable, probability in drawn if probability > 0)

    def kept(self, key: SecretKey, n: int, records: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Which of some records stay as they are, shape (m,); None where cells decide alone."""
        return None

    @abstractmethod
    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> Law:
        """The exact law of a release."""

    @abstractmethod
    def ranges_on(self, slider_range: SliderRange) -> Mapping[str, LeverRange]:
        """How far each lever goes."""

    @abstractmethod
    def presets_on(self, slider_range: SliderRange) -> Mapping[str, Mapping[str, float]]:
        """Starting points, fitted to a table's distances."""

    def points(self, microdata: Microdata) -> Points:
        """The records of a table as points of the method's distance, shape (n, d)."""
        return self.metric(microdata).coded(microdata)

    def neighborhoods(
        self,
        microdata: Microdata,
        key: SecretKey | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Neighborhoods:
        """Find every record's neighborhood under this setting.

        Parameters
        ----------
        microdata : Microdata
        key : SecretKey, optional
            That of the release; needed unless everybody may be a neighbor.
        threads : int, optional
        progress : callable, optional

        Returns
        -------
        Neighborhoods

        Raises
        ------
        ParameterError
        """
        source = self._searched(microdata)
        drawing = None
        if source.needs_key and key is not None:
            drawing = Drawing(key=key, streams=(), q=np.empty(0))
        return source.find(self.ball, drawing, threads=threads, progress=progress)[0]

    def prepare(
        self,
        microdata: Microdata,
        *,
        settings: Sequence[Any] = (),
        records: NDArray[np.int64] | None = None,
        threads: int | None = None,
        budget: float | None = None,
    ) -> PreparedNeighborhoods:
        """Make a table ready for releases; see `Method.prepare`."""
        masked_columns(microdata)  # refuse before the search, not after it
        check_radius_and_k(self.ball.k, self.ball.epsilon, microdata.n)
        source: NeighborSource = self._searched(microdata)
        if settings and not source.needs_key:
            source = _stored(source, _widest([self, *settings]), records, threads, budget)
        draws = StoredDraws(microdata, source.records, many=bool(settings))
        return PreparedNeighborhoods(self, microdata, source, draws=draws)

    def begin_preview(
        self,
        microdata: Microdata,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
    ) -> PreparedNeighborhoods | None:
        """Make some records ready for a first picture; see `Method.begin_preview`."""
        if not self.scheme.exact or self.households(microdata) is not None:
            return None
        masked_columns(microdata)
        begun = begin_preview(self.points(microdata), progress=progress, cancel=cancel)
        return None if begun is None else self._shown(microdata, begun)

    def preview(
        self,
        microdata: Microdata,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
        begun: Any = None,
    ) -> PreparedNeighborhoods:
        """Make a table ready for a screen; see `Method.preview`."""
        masked_columns(microdata)
        if begun is not None:
            source: Preview = begun.source
            done = build_preview(source.points, progress=progress, cancel=cancel, begun=source)
            return self._shown(microdata, done)
        searched = self._searched(microdata)
        if isinstance(searched, OutsideSource):
            ends = searched.store_for_sliders(progress)
            table = self.table_of(microdata)
            return PreparedNeighborhoods(self, table, searched, slider_range=ends)
        if searched.needs_key:
            return PreparedNeighborhoods(self, self.table_of(microdata), searched)
        done = build_preview(searched.points, progress=progress, cancel=cancel)
        return self._shown(microdata, done)

    def _searched(self, microdata: Microdata) -> SearchSource | OutsideSource:
        """Where the neighborhoods of a table come from, before any are stored."""
        points, households = self.points(microdata), self.households(microdata)
        if households is not None:
            return OutsideSource(points=points, households=households)
        return SearchSource(points=points, scheme=self.scheme)

    def _shown(self, microdata: Microdata, preview: Preview) -> PreparedNeighborhoods:
        table, ends = self.table_of(microdata), preview.slider_range
        return PreparedNeighborhoods(self, table, preview, slider_range=ends)


def _stored(
    searched: NeighborSource,
    ball: Ball,
    records: NDArray[np.int64] | None,
    threads: int | None,
    budget: float | None,
) -> NeighborSource:
    """The same source with the neighbors out to a ball at hand, where they fit."""
    if records is not None and isinstance(searched, OutsideSource):
        return searched.of_some(records, ball, threads=threads)
    if records is not None:
        return source_of_some(searched.points, records, ball, threads=threads)
    if isinstance(searched, OutsideSource):
        searched.store(ball, threads=threads, budget=budget)
        return searched
    return stored_source(searched.points, ball, threads=threads, budget=budget)


def _widest(settings: Sequence[Any]) -> Ball:
    """The ball that holds those of all settings of a family."""
    k = [each.ball.k for each in settings if each.ball.k is not None]
    radii = [each.ball.epsilon for each in settings if each.ball.epsilon is not None]
    alike = all(isinstance(radius, int | float) for radius in radii)
    radius = max(radii, default=None) if alike else radii[0]  # one family has one set of radii
    return Ball(k=max(k, default=None), epsilon=radius, strict=settings[0].ball.strict)
