"""Releases of methods that copy values from neighborhoods: found once, drawn at will."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.slices import Slices
from rwn_core.laws.donors import (
    copy_from_donors,
    draw_donors,
)
from rwn_core.laws.law import Law
from rwn_core.laws.stored_draws import StoredDraws
from rwn_core.masking.lever import LeverRange, at_levers, family
from rwn_core.masking.method import Masked, Prepared
from rwn_core.neighbors import LARGEST_DENSE, Neighborhoods, check_radius_and_k, neighbor_table
from rwn_core.neighbors.resampled_table import without_clones
from rwn_core.neighbors.slider_range import SliderRange, slider_range_of
from rwn_core.neighbors.source import (
    NeighborSource,
    StoredSource,
)
from rwn_core.parallel.threads import Progress, Watch, thread_count
from rwn_core.randomness import SecretKey

if TYPE_CHECKING:
    from rwn_core.neighbors.recalled import Sizes

_LARGEST_PAIRS = 12_000_000  # neighbors out to the end of a slider, where none are stored


class PreparedNeighborhoods:
    """A table, a setting, and a source of neighborhoods that it shares with other settings.

    Parameters
    ----------
    params : NeighborhoodMethod
    microdata : Microdata
    source : NeighborSource
        In the method's metric.
    slider_range : SliderRange, optional
        How far sliders go, if known.
    draws : StoredDraws, optional
        Random numbers that settings share.
    """

    def __init__(
        self,
        params: Any,
        microdata: Microdata,
        source: NeighborSource,
        *,
        slider_range: SliderRange | None = None,
        draws: StoredDraws | None = None,
    ) -> None:
        self.params, self.microdata, self.source = params, microdata, source
        self._slider_range = slider_range
        self._draws = StoredDraws(microdata, source.records) if draws is None else draws
        self._neighborhoods: Neighborhoods | None = None
        self._law: Law | None = None

    @property
    def records(self) -> NDArray[np.int64]:
        """The records that a release masks; see `Prepared`."""
        return self.source.records

    @property
    def masks_all_records(self) -> bool:
        """Whether a release masks all records; see `Prepared`."""
        return len(self.records) == self.microdata.n

    @cached_property
    def slider_range(self) -> SliderRange:
        """How far sliders go, from a sample of the distances."""
        return self._slider_range or slider_range_of(self.source.points, _LARGEST_PAIRS)

    @property
    def ranges(self) -> Mapping[str, LeverRange]:
        """How far each lever goes; see `Prepared`."""
        ranges: Mapping[str, LeverRange] = self.params.ranges_on(self.slider_range)
        return ranges

    @property
    def presets(self) -> Mapping[str, Mapping[str, float]]:
        """Starting points; see `Prepared`."""
        presets: Mapping[str, Mapping[str, float]] = self.params.presets_on(self.slider_range)
        return presets

    @property
    def neighborhoods(self) -> Neighborhoods:
        """The neighborhoods of this setting, found when they are first asked for.

        Raises
        ------
        ParameterError
            They depend on the key.
        """
        if self._neighborhoods is None:
            self._neighborhoods, _ = self.source.find(self.params.ball)
        return self._neighborhoods

    @property
    def law(self) -> Law | None:
        """The exact law, where it does not depend on the key; see `Prepared`."""
        if self.source.needs_key:
            return None
        if self._law is None:
            self._law = self.params.law(self.microdata, self.neighborhoods)
        return self._law

    @property
    def expectations(self) -> None:
        """None: neighborhoods make a law; see `Prepared`."""
        return None

    @property
    def known(self) -> Sizes | None:
        """The sizes of its neighborhoods, where everybody may be a neighbor; see `Prepared`."""
        apart = self.params.households(self.microdata) is not None
        found, n = self._neighborhoods, self.microdata.n
        if found is None or n <= LARGEST_DENSE or apart or not self.params.scheme.exact:
            return None
        from rwn_core.neighbors.recalled import sizes_of

        return sizes_of(found)

    def recalling(self, known: Sizes) -> Self:
        """The same setting with neighborhoods of these sizes; see `Prepared`."""
        from rwn_core.neighbors.recalled import recalled

        made = self._with(self.params, self.microdata, self._draws)
        watch = Watch(threads=thread_count())
        made._neighborhoods = recalled(self.source.points, self.params.ball, known, watch)
        return made

    @property
    def is_quick(self) -> bool:
        """Whether a release takes milliseconds; see `Prepared`."""
        return len(self.source.points) <= LARGEST_DENSE or self.source.stores(self.params.ball)

    def is_quick_for(self, key: SecretKey) -> bool:
        """Whether a release of this key takes milliseconds; see `Prepared`."""
        drawing = self._draws.of(key).drawing(self.params.draw_probability(self.microdata))
        return self.is_quick or self.source.stores(self.params.ball, drawing)

    def with_levers(self, **levers: Any) -> Self:
        """The same table at another position of the levers; see `Prepared`."""
        params = at_levers(self.params, levers)
        assert family(params) == family(self.params)
        check_radius_and_k(params.ball.k, params.ball.epsilon, self.microdata.n)
        moved = self._with(params, self.microdata, self._draws)
        if params.ball == self.params.ball:
            moved._neighborhoods = self._neighborhoods
        return moved

    def with_slices(self, slices: Slices) -> Self:
        """The same neighborhoods under other slices; see `Prepared`."""
        microdata = self.params.table_of(self.microdata.with_slices(slices))
        made = self._with(self.params, microdata, self._draws.of_table(microdata))
        made._neighborhoods = self._neighborhoods
        return made

    def _with(self, params: Any, microdata: Microdata, draws: StoredDraws) -> Self:
        """Another setting of the same records: source and ends of the sliders are shared."""
        made = type(self)(
            params, microdata, self.source, slider_range=self._slider_range, draws=draws
        )
        if "slider_range" in self.__dict__:
            made.__dict__["slider_range"] = self.slider_range
        return made

    def release(
        self, key: SecretKey, *, threads: int | None = None, progress: Progress | None = None
    ) -> Masked:
        """Draw a release; see `Prepared`."""
        draws = self._draws.of(key)
        drawing = draws.drawing(self.params.draw_probability(self.microdata))
        neighborhoods, donors = self._neighborhoods, None
        if neighborhoods is None:
            neighborhoods, donors = self.source.find(
                self.params.ball, drawing, threads=threads, progress=progress
            )
        law = self._law or self.params.law(self.microdata, neighborhoods)
        if not self.source.needs_key:
            self._neighborhoods, self._law = neighborhoods, law
        if donors is None:
            donors = draw_donors(neighborhoods, draws, np.asarray(drawing.q), threads=threads)
        kept = self.params.kept(key, self.microdata.n, self.records)
        if kept is not None:
            donors = np.where(kept[:, None], self.records[:, None], donors)
        return Masked(masked=copy_from_donors(self.microdata, donors), donors=donors, law=law)

    def resampled(self, rows: NDArray[np.int64]) -> Prepared:
        """A bootstrap sample without clones for neighbors; see `Prepared`."""
        sample, k = self.microdata.take(rows), self.params.ball.k
        apart = self.params.households(self.microdata) is not None  # clones are one household
        if k is None or apart or not self.params.scheme.exact:
            again: Prepared = self.params.prepare(sample)
            return again
        table = without_clones(self._far.table, rows)
        source = StoredSource(points=self.source.points[rows], table=table)
        return PreparedNeighborhoods(self.params, sample, source)

    @cached_property
    def _far(self) -> StoredSource:
        """Neighbors ranked so far that every bootstrap sample has k of them."""
        ball, points = self.params.ball, self.source.points
        far = len(points) - 1 if len(points) <= LARGEST_DENSE else 3 * ball.k + 20
        table = neighbor_table(points, k=min(far, len(points) - 1), epsilon=ball.epsilon)
        return StoredSource(points=points, table=table)
