"""Methods that copy values from neighborhoods share how a table is prepared for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.laws.donors import (
    Draws,
    copy_from_donors,
    draw_donors,
    masked_columns,
    random_streams,
)
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.law import Law
from rwn_core.masking.lever import SHARE, Lever, LeverRange
from rwn_core.masking.method import Masked, Method, Prepared
from rwn_core.neighbors import (
    LARGEST_DENSE,
    Neighborhoods,
    Radii,
    Radius,
    check_radius_and_k,
    find_and_draw,
    neighbor_table,
)
from rwn_core.neighbors.candidates import Scheme
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.draw_request import DrawRequest
from rwn_core.neighbors.excluded import OutsideSource
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.neighbors.soft_neighborhoods import SoftSource
from rwn_core.neighbors.source import (
    NeighborSource,
    SearchSource,
    StoredSource,
    build_preview,
    shown_records,
    source_of_some,
    stored_source,
)
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

if TYPE_CHECKING:
    from rwn_core.neighbors.search import Sizes


EVERY_COLUMN = (
    "ε counts standard deviations of this file: one more column or one outlier changes every "
    "neighborhood, so state the scaling with the release."
)


def radius_lever(**words: Any) -> Lever:
    """Return the lever of a radius; its presets are multiples of the typical nearest distance."""
    return Lever(
        name="epsilon",
        title="Radius ε (standard deviations)",
        short="ε",
        unit="standard deviations",
        neutral=0.0,
        range=lambda _, ends: LeverRange(low=0.0, high=ends.epsilon, step=ends.step),
        presets={"Light": 0.6, "Standard": 1.2, "Strong": 2.4},
        position=lambda multiple, ends: ends.radius(multiple),
        **words,
    )


def nearest_lever(**words: Any) -> Lever:
    """Return the lever of the least number of neighbors."""
    return Lever(
        name="k",
        title="Minimum neighbors k",
        short="k",
        whole_number=True,
        neutral=1,
        range=lambda _, ends: LeverRange(low=1, high=ends.k, step=1),
        presets={"Light": 3, "Standard": 5, "Strong": 15},
        **words,
    )


def probability_lever(**words: Any) -> Lever:
    """Return the lever of the modification probability."""
    presets = {"Light": 0.5, "Standard": 1.0, "Strong": 1.0}
    return Lever(name="q", short="q", neutral=1.0, range=SHARE, presets=presets, **words)


def kept_values(q: float, what: str) -> str:
    """Say what a modification probability keeps as it was."""
    if q == 0:
        return "q = 0 masks nothing: the release is the original."
    if q == 1:
        return (
            "At q = 1 nobody keeps a unique own value, but the values are real values of near "
            "neighbors, and donors reveal the neighborhood."
        )
    return (
        f"At q = {q:g} every {what} with probability {1 - q:.2g} at least, also the extremes; kept "
        "values identify."
    )


class NeighborhoodMethod(Method, ABC):
    """A method that copies values from neighborhoods: what it decides, and what they share."""

    __slots__ = ()

    uses_weights: ClassVar[bool] = True
    uses_slices: ClassVar[bool] = True
    moves_missing: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"q": 0}),
        Keeps(what="support"),
    )

    @property
    @abstractmethod
    def ball(self) -> RadiusAndK:
        """Which others belong to a neighborhood."""

    def table_ball(self, microdata: Microdata) -> RadiusAndK:
        """The ball on a table, which may have a radius for each record."""
        return self.ball

    def masked_table(self, microdata: Microdata) -> Microdata:
        """A table with the slices that the method draws for: the table's own."""
        return microdata

    @property
    def scheme(self) -> Scheme:
        """The candidates for neighbors: all records."""
        return Scheme()

    def households(self, microdata: Microdata) -> Integers | None:
        """The household of each record, outside which its neighbors lie; None where anywhere."""
        return None

    @abstractmethod
    def metric(self, microdata: Microdata) -> Metric:
        """The method's distance, fitted on a table."""

    @abstractmethod
    def draw_probability(self, microdata: Microdata) -> Floats:
        """P(a donor is drawn for a cell of each released variable), shape (p,)."""

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method may change; see `Method.masked_names`."""
        drawn = zip(microdata.schema.released, self.draw_probability(microdata), strict=True)
        return tuple(variable.name for variable, probability in drawn if probability > 0)

    def retained_records(self, key: SecretKey, n: int, records: Integers) -> Booleans | None:
        """Which of some records stay as they are, shape (m,); None where cells decide alone."""
        return None

    @abstractmethod
    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> Law:
        """The exact law of a release."""

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
        """Find every record's neighborhood under this setting."""
        source = self._searched(microdata)
        drawing = None
        if source.needs_key and key is not None:
            drawing = DrawRequest(key=key, streams=(), q=np.empty(0))
        return source.find(self.table_ball(microdata), drawing, threads=threads, progress=progress)[
            0
        ]

    def prepare(
        self,
        microdata: Microdata,
        *,
        settings: Sequence[Any] = (),
        records: Integers | None = None,
        threads: int | None = None,
        budget: float | None = None,
    ) -> Prepared:
        """Make a table ready for releases; see `Method.prepare`."""
        masked_columns(microdata)  # refuse before the search, not after it
        self.check_levers(microdata)
        source: NeighborSource = self._searched(microdata)
        if isinstance(source, SoftSource):
            source = replace(source, some=records)
        elif settings and not source.needs_key:
            source = _stored(
                source,
                _widest([each.table_ball(microdata) for each in (self, *settings)]),
                records,
                threads,
                budget,
            )
        return self._prepared(self.masked_table(microdata), source)

    def preview(
        self,
        microdata: Microdata,
        *,
        most: int = LIVE_RECORDS,
        progress: Progress | None = None,
        cancel: Event | None = None,
    ) -> Prepared:
        """Make a table ready for a screen; see `Method.preview`."""
        masked_columns(microdata)
        searched = self._searched(microdata)
        if isinstance(searched, OutsideSource):
            ends = searched.store_for_sliders(progress)
            return self._prepared(self.masked_table(microdata), searched, ends)
        if searched.needs_key:
            return self._prepared(self.masked_table(microdata), searched)
        seed = int(microdata.fingerprint[:16], 16)  # the same records at other weights
        if isinstance(searched, SoftSource):
            if microdata.n > most:
                searched = replace(searched, some=shown_records(microdata.n, most, seed))
            searched.rank(self.ball, progress=progress)
            return self._prepared(self.masked_table(microdata), searched)
        done = build_preview(
            searched.points, most=most, seed=seed, progress=progress, cancel=cancel
        )
        return self._prepared(self.masked_table(microdata), done, done.slider_range)

    def _searched(self, microdata: Microdata) -> SearchSource | OutsideSource | SoftSource:
        """Return the source of a table's neighborhoods before any are stored."""
        points, households = self.points(microdata), self.households(microdata)
        if not self.ball.kernel.is_even:
            return SoftSource(points=points, households=households)
        if households is not None:
            return OutsideSource(points=points, households=households)
        return SearchSource(points=points, scheme=self.scheme)

    def _prepared(
        self, microdata: Microdata, source: NeighborSource, ends: SliderRange | None = None
    ) -> Prepared:
        state = FoundNeighbors(source=source, ends=ends)
        return Prepared(method=self, microdata=microdata, state=state)

    def check_levers(self, microdata: Microdata) -> None:
        """Refuse lever positions that a prepared table does not allow."""
        if not self.ball.kernel.is_even:
            return  # its weights refuse a cap that no table of this size allows
        ball = self.table_ball(microdata)
        check_radius_and_k(ball.k, ball.epsilon, microdata.n)

    def prepared_law(self, table: Prepared) -> Law | None:
        """Return the exact law before rounding; None if it depends on the key."""
        if table.state.source.needs_key:
            return None
        return self.law(
            table.microdata, table.state.neighborhoods(self.table_ball(table.microdata))
        )

    def drawn(
        self, table: Prepared, key: SecretKey, threads: int | None, progress: Progress | None
    ) -> Masked:
        """Return a release before rounding."""
        state: FoundNeighbors = table.state
        draws = Draws(key, state.records, random_streams(table.microdata))
        drawing = draws.drawing(self.draw_probability(table.microdata))
        neighborhoods, donors = state.found, None
        if neighborhoods is None:
            neighborhoods, donors = state.source.find(
                self.table_ball(table.microdata), drawing, threads=threads, progress=progress
            )
        if state.source.needs_key:
            law: Law | None = self.law(table.microdata, neighborhoods)
        else:
            state.found = neighborhoods  # before the law is asked for them
            law = table.exact_law
        if donors is None:
            donors = draw_donors(neighborhoods, draws, np.asarray(drawing.q), threads=threads)
        retained = self.retained_records(key, table.microdata.n, state.records)
        if retained is not None:
            donors = np.where(retained[:, None], state.records[:, None], donors)
        return Masked(masked=copy_from_donors(table.microdata, donors), donors=donors, law=law)

    def resampled(self, table: Prepared, rows: Integers) -> Prepared:
        """Return a bootstrap sample in which copies of a record are no neighbors."""
        sample, k = table.microdata.take(rows), self.ball.k
        apart = self.households(table.microdata) is not None  # copies are one household
        if not self.ball.kernel.is_even and not apart:
            points = table.state.source.points[rows]
            return self._prepared(sample, SoftSource(points=points, households=rows))
        if k is None or apart or not self.scheme.exact:
            return self.prepare(sample)
        far = table.state.ranked_for_samples(self.table_ball(table.microdata))
        source = StoredSource(points=far.points[rows], table=far.table.without_copies(rows))
        return self._prepared(sample, source)


class RadiusAndNearest(NeighborhoodMethod):
    """A method with the levers epsilon, k and q: how far they go, and where they start."""

    __slots__ = ()

    q: float  # modification probability

    def draw_probability(self, microdata: Microdata) -> Floats:
        """P(a cell of each released variable is modified), shape (p,)."""
        return np.where(masked_columns(microdata), float(self.q), 0.0)


@dataclass(kw_only=True, eq=False)
class FoundNeighbors:
    """Neighbors that settings of a family share, and the neighborhoods of one of them."""

    source: NeighborSource  # in the method's metric
    ends: SliderRange | None = None  # how far sliders go, if known
    found: Neighborhoods | None = None  # those of the setting, once they are found
    ranked: StoredSource | None = None

    @property
    def records(self) -> Integers:
        """The records that a release masks, ascending."""
        return self.source.records

    @property
    def about(self) -> SliderRange:
        """The ends of the sliders, from a sample of the distances."""
        if self.ends is None:
            self.ends = find_slider_range(self.source.points, STORED_PAIRS)
        return self.ends

    def neighborhoods(self, ball: RadiusAndK) -> Neighborhoods:
        """Return the neighborhoods of the setting, found the first time only."""
        if self.found is None:
            self.found, _ = self.source.find(ball)
        return self.found

    def with_levers(self, before: Any, after: Any) -> FoundNeighbors:
        """Return the state after a move of the levers."""
        same = before.ball == after.ball
        return replace(self, found=self.found if same else None, ranked=None)

    def on_table(self, microdata: Microdata) -> FoundNeighbors:
        """Return the state of a table with other slices; distances do not depend on them."""
        return replace(self)

    def known(self, table: Prepared) -> Sizes | None:
        """Return the sizes of the neighborhoods, if every record was searched for donors."""
        method, found = table.method, self.found
        apart = method.households(table.microdata) is not None
        small = table.microdata.n <= LARGEST_DENSE
        soft = not method.ball.kernel.is_even
        if found is None or small or apart or soft or not method.scheme.exact:
            return None
        from rwn_core.neighbors.search import known_sizes

        return known_sizes(found)

    def with_search_state(self, table: Prepared, known: Sizes) -> FoundNeighbors:
        """Return the state with neighborhoods of these sizes."""
        ball = table.method.table_ball(table.microdata)
        return replace(self, found=find_and_draw(self.source.points, ball, known=known)[0])

    def is_quick(self, table: Prepared) -> bool:
        """True if a release takes milliseconds."""
        small = len(self.source.points) <= LARGEST_DENSE
        return small or self.source.stores(table.method.table_ball(table.microdata))

    def ranked_for_samples(self, ball: RadiusAndK) -> StoredSource:
        """Return neighbors ranked so far that every bootstrap sample has k of them."""
        if self.ranked is None:
            points, k = self.source.points, ball.k or 0
            far = len(points) - 1 if len(points) <= LARGEST_DENSE else 3 * k + 20
            table = neighbor_table(points, k=min(far, len(points) - 1), epsilon=ball.epsilon)
            self.ranked = StoredSource(points=points, table=table)
        return self.ranked


def _stored(
    searched: NeighborSource,
    ball: RadiusAndK,
    records: Integers | None,
    threads: int | None,
    budget: float | None,
) -> NeighborSource:
    """Return the same source with the neighbors out to a ball stored, if they fit."""
    if records is not None and isinstance(searched, OutsideSource):
        return searched.of_some(records, ball, threads=threads)
    if records is not None:
        return source_of_some(searched.points, records, ball, threads=threads)
    if isinstance(searched, OutsideSource):
        searched.store(ball, threads=threads, budget=budget)
        return searched
    return stored_source(searched.points, ball, threads=threads, budget=budget)


def _widest(balls: Sequence[RadiusAndK]) -> RadiusAndK:
    """The ball that holds those of all settings of a family."""
    k = [each.k for each in balls if each.k is not None]
    radii = [each.epsilon for each in balls if each.epsilon is not None]
    single = [each for each in radii if isinstance(each, int | float)]
    radius: Radius | None = max(single, default=None)
    if len(single) < len(radii):
        radius = Radii(np.max([np.asarray(each) for each in radii], axis=0))
    return RadiusAndK(k=max(k, default=None), epsilon=radius, strict=balls[0].strict)
