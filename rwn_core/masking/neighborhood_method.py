"""Methods that copy values from neighborhoods share how a table is prepared for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import product_terms
from rwn_core.data.schema import Slices
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.data.units import number_units
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donors import (
    Draws,
    copy_from_donors,
    draw_donors,
    masked_columns,
    random_streams,
)
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever, LeverRange, family
from rwn_core.masking.method import Masked, Method, Prepared
from rwn_core.moved_names import MovedAttribute
from rwn_core.neighbors import (
    LARGEST_DENSE,
    Finder,
    Neighborhoods,
    NeighborTable,
    Radii,
    Radius,
    check_radius_and_k,
    neighbor_table,
)
from rwn_core.neighbors.candidates import Scheme
from rwn_core.neighbors.distance import Points
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import Encoding, Metric, Scale, Weights, shared_metric
from rwn_core.neighbors.record_draws import DrawRequest
from rwn_core.neighbors.rule import NeighborhoodRule
from rwn_core.neighbors.slider_range import STORED_PAIRS, SliderRange, find_slider_range
from rwn_core.parallel.threads import Progress, current_work, work
from rwn_core.randomness import SecretKey

if TYPE_CHECKING:
    from rwn_core.neighbors.search import Sizes


EVERY_COLUMN = (
    "ε counts standard deviations of this file: one more column or one outlier changes every "
    "neighborhood, so state the scaling with the release."
)

OF_BALANCE = (
    "Balance keeps means, spreads and shares right on average, and extremes survive more often: "
    "top-code or round first. On bodyfat 66 % of the extremes appear, instead of 15 to 39 % under "
    "the even kernel."
)

_AT_ENDS = {
    0: "q = 0 masks nothing: the release is the original.",
    1: "At q = 1 nobody keeps a unique own value, but the values are real values of near "
    "neighbors, and donors reveal the neighborhood.",
}


def radius_range(low: float, ends: SliderRange) -> LeverRange:
    """Return the range of a radius from a low end on."""
    return LeverRange(low=low, high=ends.epsilon, step=ends.step, most=ends.largest_epsilon)


def radius_lever(**words: object) -> Lever:
    """Return the lever of a radius; its presets are multiples of the typical nearest distance."""
    usual: dict[str, Any] = {
        "optional": True,
        "neutral": 0.0,
        "range": lambda _, ends: radius_range(0.0, ends),
        "presets": {"Light": 0.6, "Standard": 1.2, "Strong": 2.4},
    }
    return Lever(
        name="epsilon",
        title="Radius ε (standard deviations)",
        short="ε",
        unit="standard deviations",
        position=lambda multiple, ends: ends.radius(multiple),
        **(usual | words),
    )


def nearest_lever(*, help: str) -> Lever:
    """Return the lever of the least number of neighbors."""
    return Lever(
        name="k",
        title="Minimum neighbors k",
        whole_number=True,
        optional=True,
        neutral=1,
        range=lambda _, ends: LeverRange(low=1, high=ends.k, step=1, most=ends.largest_k),
        presets={"Light": 3, "Standard": 5, "Strong": 15},
        help=help,
    )


def probability_lever(*, title: str, help: str) -> Lever:
    """Return the lever of the modification probability."""
    presets = {"Light": 0.5, "Standard": 1.0, "Strong": 1.0}
    return Lever(name="q", title=title, neutral=1.0, presets=presets, help=help)


def balance_lever() -> Lever:
    """Return the lever of how equally often records give."""
    return Lever(
        name="balance",
        title="Balance",
        help="1: every record gives equally often. 0: no balance.",
        off=0.0,
        neutral=0.0,
    )


def kept_values(q: float, what: str) -> str:
    """Say what a modification probability keeps as it was."""
    if q in _AT_ENDS:
        return _AT_ENDS[int(q)]
    some = f"At q = {q:g} every {what} with probability {1 - q:.2g} at least, also the extremes; "
    return some + "kept values identify."


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
    # of the distance; fields of the methods that have them as parameters
    scale: Scale = "sd"
    encoding: Encoding = "dummies"
    weights: Weights = "schema"
    outside_household: bool = False  # whether neighbors lie outside the record's own household
    by_prediction: bool = False  # whether later slices are of records that are predicted alike
    order: tuple[str, ...] | str = ()  # variables with the first slices
    mixed: bool = False  # whether a later slice may hold an identifying variable
    terms: str = ""  # products and squares that predict, too

    neighborhoods = MovedAttribute("rwn_core.find_neighborhoods")

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
        # Shape: (n,).
        if not self.outside_household:
            return None
        name = microdata.schema.name_with_role(Role.HOUSEHOLD)
        if name is None:
            raise ParameterError(
                "outside_household needs to know the households; give the variable that numbers "
                "them the role household."
            )
        return microdata.cached(
            ("households", name), lambda: number_units(microdata.codes(name)[0])
        )

    def metric(self, microdata: Microdata) -> Metric:
        """The method's distance, fitted on a table."""
        return shared_metric(microdata, self.scale, self.encoding, self.weights)

    @abstractmethod
    def draw_probability(self, microdata: Microdata) -> Floats:
        """P(a donor is drawn for a cell of each released variable), shape (p,)."""

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method may change; see `Method.masked_names`."""
        drawn = zip(microdata.schema.released, self.draw_probability(microdata), strict=True)
        return tuple(variable.name for variable, probability in drawn if probability > 0)

    def retained_records(self, key: SecretKey, n: int, records: Integers) -> Booleans | None:
        """Which of some records keep their values, shape (m,); None where cells decide alone."""
        return None

    @abstractmethod
    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> Law:
        """The exact law of a release."""

    def rule(self, microdata: Microdata) -> NeighborhoodRule:
        """The rule by which neighborhoods are found on a table."""
        return NeighborhoodRule(
            metric=self.metric(microdata),
            ball=self.table_ball(microdata),
            scheme=self.scheme,
            households=self.households(microdata),
        )

    def points(self, microdata: Microdata) -> Points:
        """The records of a table as points of the method's distance, shape (n, d)."""
        return self.metric(microdata).coded(microdata)

    def prepare(
        self, microdata: Microdata, *, settings: Sequence[Any] = (), records: Integers | None = None
    ) -> Prepared:
        """Make a table ready for releases; see `Method.prepare`."""
        self.check(microdata)  # refuse before the search, not after it
        finder = self._finder(microdata)
        drawn = (
            None if self.by_prediction else records
        )  # later slices of all rows are drawn together
        kernel = self.ball.kernel
        if settings and kernel.has_edge and not finder.needs_key:
            widest = _widest([each.table_ball(microdata) for each in (self, *settings)])
            finder.store(widest, drawn if kernel.is_even else None)
        if not kernel.is_even:
            finder.shown = drawn
        return PreparedNeighbors(method=self, microdata=self.masked_table(microdata), finder=finder)

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
        finder = self._finder(microdata)
        if not finder.needs_key:
            seed = int(microdata.fingerprint[:16], 16)  # the same records at other weights
            with work(progress=progress, cancel=cancel):
                shown = microdata.n if self.by_prediction else most
                finder.store_for_sliders(self.ball.kernel, shown, seed)
        return PreparedNeighbors(method=self, microdata=self.masked_table(microdata), finder=finder)

    def _finder(self, microdata: Microdata) -> Finder:
        """Return the finder of a table's neighborhoods before any are stored."""
        groups = self.households(microdata)
        return Finder(points=self.points(microdata), scheme=self.scheme, groups=groups)

    def check(self, microdata: Microdata) -> None:
        """Refuse a table that the setting cannot mask; its weights refuse a cap of themselves."""
        masked_columns(microdata)
        ball = self.table_ball(microdata)
        if ball.kernel.has_edge:
            check_radius_and_k(ball.k, ball.epsilon, microdata.n)
        if self.by_prediction:
            from rwn_core.masking.chain import chain_order, check_prediction, check_slices

            order = chain_order(microdata, self.metric(microdata), self.order)
            check_slices(microdata, order)
            check_prediction(microdata, order, product_terms(self.terms), mixed=self.mixed)


class CellMethod(NeighborhoodMethod):
    """A method that draws, with probability q, a donor of each cell or of each slice."""

    __slots__ = ()

    q: float  # modification probability

    @property
    def ball(self) -> RadiusAndK:
        """Which others belong to a neighborhood, by the method's radius and k."""
        setting: Any = self
        return RadiusAndK(k=setting.k, epsilon=setting.epsilon)

    def draw_probability(self, microdata: Microdata) -> Floats:
        """P(a cell of each released variable is modified), shape (p,)."""
        return np.where(masked_columns(microdata), float(self.q), 0.0)

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> CellLaw:
        """The exact law of this setting on this table."""
        refuse_empty(int((neighborhoods.sizes == 0).sum()))
        q = self.draw_probability(microdata)
        return CellLaw(microdata, neighborhoods, q, rule=self.rule(microdata))

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return a remark on weights by the table's size."""
        if self.weights != "discrete":
            return []
        shares = self.metric(microdata).shares(microdata)
        words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        return [f"shares of the squared distance: {words}"]


def refuse_empty(records: int) -> None:
    """Refuse a setting under which some records have no donor."""
    if records:
        number = "One record has" if records == 1 else f"{records:,} records have"
        raise ParameterError(
            f"{number} no other record within epsilon; give k (at least 1) as well, or a larger "
            "epsilon."
        )


@dataclass(kw_only=True, eq=False)
class PreparedNeighbors(Prepared):
    """A table with the neighbors that settings of a family share."""

    method: NeighborhoodMethod
    finder: Finder = field(repr=False)  # in the method's metric
    # the neighborhoods of the setting, once they are found
    found: Neighborhoods | None = field(default=None, repr=False)

    @property
    def records(self) -> Integers:
        """The records that a release masks, ascending, shape (m,)."""
        return self.finder.records

    @cached_property
    def ball(self) -> RadiusAndK:
        """Which others belong to a neighborhood, and how likely each is to give."""
        return self.method.table_ball(self.microdata)

    @property
    def about(self) -> SliderRange:
        """The ends of the sliders, from a sample of the distances."""
        if self.finder.slider_range is None:
            self.finder.slider_range = find_slider_range(self.finder.points, STORED_PAIRS)
        return self.finder.slider_range

    @cached_property
    def exact_law(self) -> Law | None:
        """The law of releases before they are rounded; None where it depends on the key."""
        if self.finder.needs_key:
            return None
        if self.found is None:
            with current_work().quiet():  # it is asked for in the midst of other work
                self.found, _ = self.finder.find(self.ball)
        return None if self.method.by_prediction else self.method.law(self.microdata, self.found)

    @property
    def known(self) -> Sizes | None:
        """The sizes of the neighborhoods, if every record was searched for donors."""
        finder = self.finder
        even = self.ball.kernel.is_even
        searched = len(finder.points) > LARGEST_DENSE and finder.groups is None
        if self.found is None or not searched or finder.needs_key or not even:
            return None
        from rwn_core.neighbors.search import known_sizes

        return known_sizes(self.found)

    def with_search_state(self, known: Any) -> PreparedNeighbors:
        """Return the same setting with neighborhoods of sizes that another process has found."""
        return replace(self, found=self.finder.find(self.ball, known=known)[0])

    @property
    def is_quick(self) -> bool:
        """True if a release takes milliseconds, False if a search comes first."""
        return len(self.finder.points) <= LARGEST_DENSE or self.finder.stores(self.ball)

    def with_setting(self, method: Any) -> PreparedNeighbors:
        """Return the same table at a setting with other levers."""
        assert family(method) == family(self.method)
        method.check(self.microdata)
        same = method.ball == self.method.ball
        return replace(self, method=method, found=self.found if same else None)

    def with_slices(self, slices: Slices) -> PreparedNeighbors:
        """Return the same table with other slices, of which no distance depends."""
        microdata = self.method.masked_table(self.microdata.with_slices(slices))
        return replace(self, microdata=microdata)

    def drawn(self, key: SecretKey) -> Masked:
        """Draw a release before rounding."""
        method, microdata = self.method, self.microdata
        if method.by_prediction:
            from rwn_core.masking.chain import draw_chain

            return draw_chain(self, key, dict(self.precision))
        q = method.draw_probability(microdata)
        streams = random_streams(microdata)
        # find the neighborhoods, and in the same pass donors where members are not stored
        neighborhoods = self.found
        donors = None
        if neighborhoods is None:
            drawing = DrawRequest(key=key, streams=streams, q=q)
            neighborhoods, donors = self.finder.find(self.ball, drawing)
        if self.finder.needs_key:
            law: Law | None = method.law(microdata, neighborhoods)
        else:
            self.found = neighborhoods  # before the law is asked for them
            law = self.exact_law
        if law is not None and law.tied is not None:
            donors = law.tied.drawn(self.records, law.tied.numbers(key, self.records))
        elif donors is None:
            donors = draw_donors(neighborhoods, Draws(key, self.records, streams), q)
        retained = method.retained_records(key, microdata.n, self.records)
        if retained is not None:
            donors = np.where(retained[:, None], self.records[:, None], donors)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=law)

    def resampled(self, rows: Integers) -> Prepared:
        """Return a bootstrap sample in which copies of a record are no neighbors."""
        ball = self.ball
        even = self.ball.kernel.is_even
        apart = self.finder.groups is not None  # copies are one household
        if apart or self.finder.needs_key or (even and ball.k is None):
            return super().resampled(rows)
        finder = Finder(points=self.finder.points[rows], groups=None if even else rows)
        if even:
            finder.table = self._ranked.without_copies(rows)
        sample = self.microdata.take(rows)
        return replace(self, microdata=sample, finder=finder, found=None, made={})

    @cached_property
    def _ranked(self) -> NeighborTable:
        """The neighbors ranked so far that every bootstrap sample has k of them."""
        points = self.finder.points
        k = self.ball.k or 0
        far = len(points) - 1 if len(points) <= LARGEST_DENSE else 3 * k + 20
        return neighbor_table(points, k=min(far, len(points) - 1), epsilon=self.ball.epsilon)


def _widest(balls: Sequence[RadiusAndK]) -> RadiusAndK:
    """The ball that holds those of all settings of a family."""
    k = [each.k for each in balls if each.k is not None]
    radii = [each.epsilon for each in balls if each.epsilon is not None]
    single = [each for each in radii if isinstance(each, int | float)]
    radius: Radius | None = max(single, default=None)
    if len(single) < len(radii):
        radius = Radii(np.max([np.asarray(each) for each in radii], axis=0))
    return RadiusAndK(k=max(k, default=None), epsilon=radius, strict=balls[0].strict)
