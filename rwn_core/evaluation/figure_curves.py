"""Computes figures 1 to 9 of the 2022 paper for any table and method, over a lever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.plain import toml_document
from rwn_core.errors import NotApplicable
from rwn_core.masking import LeverRange, Prepared
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.nearness import NEIGHBORHOOD_SIZE
from rwn_core.measures.utility.regressions import FittedSlopes
from rwn_core.measures.utility.relations import CORRELATION, Components
from rwn_core.randomness import SecretKey

BOX = ("lower whisker", "lower quartile", "median", "upper quartile", "upper whisker")
Values = dict[str, float]


def _terms(what: str, part: str) -> Callable[[Reading[FittedSlopes], str], Values]:
    def read(reading: Reading[FittedSlopes], side: str) -> Values:
        found = reading.detail
        names = ["intercept", *found.terms[1:]]
        values = getattr(found, f"{part}_{side}")
        return {f"{what} {name}": float(v) for name, v in zip(names, values, strict=True)}

    return read


def _largest(name: str, power: int) -> Callable[[Reading[Any], str], Values]:
    return lambda reading, side: {name: float(getattr(reading.detail, f"max_{side}")) ** power}


def _nearest(reading: Reading, side: str) -> Values:
    found = np.asarray(getattr(reading.detail, side), dtype=np.float64)
    found = found[np.isfinite(found)]
    q1, median, q3 = np.quantile(found, (0.25, 0.5, 0.75))
    reach = 1.5 * (q3 - q1)
    low = found[found >= q1 - reach].min()
    high = found[found <= q3 + reach].max()
    named = zip(BOX, (low, q1, median, q3, high), strict=True)
    return {f"nearest distance, {name}": float(cut) for name, cut in named}


def _components(reading: Reading[Components], side: str) -> Values:
    shares, five = (getattr(reading.detail, f"{part}_{side}") for part in ("share", "cumulative5"))
    return {"first component": float(shares[0]), "five components": five}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """The definition of a figure of section 8."""

    # title, sees, paper: title, what to look for, and what the paper's table shows there
    title: str
    sees: str
    paper: str
    measure: str  # key in MEASURES; its chart shows one release where there are no curves
    axis: str = ""  # name of the vertical axis of the curves
    # returns the values by name from a reading and "original" or "released"; None where the figure
    # has no curves
    read: Callable[[Reading[Any], str], Values] | None = None


_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_READ: Mapping[int, Callable[[Reading[Any], str], Values]] = MappingProxyType(
    {
        4: _terms("coefficient", "coefficient"),
        5: _terms("se", "se"),
        6: _largest("max cook", 1),
        7: _largest("max squared mahalanobis", 2),
        8: _nearest,
        9: _components,
    }
)
PAPER_FIGURES: Mapping[int, PaperFigure] = MappingProxyType(
    {
        number: PaperFigure(**about, read=_READ.get(number))
        for number, about in enumerate(toml_document(_TEXT, "list of figures")["figure"], start=1)
    }
)
"""By the figure's number in the paper."""

CURVES = tuple(number for number, figure in PAPER_FIGURES.items() if figure.read)
"""Numbers of the figures with curves."""


EPSILONS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
FINE = 25  # positions of a curve on screen: seven joined by lines hide where it bends
_TENTHS = 5.0, 95.0  # 9 of 10 releases lie between these percentiles
_LEAST = 20  # releases of which one lies beyond each end


class Over(NamedTuple):
    """A lever of a method and its positions."""

    lever: str
    at: tuple[float, ...]  # ascending


OVER_EPSILON = Over("epsilon", EPSILONS)
"""Radii of the paper's figures on body fat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCurves:
    """The curves of a figure."""

    # title, axis, lever: title, and names of the vertical and the horizontal axis
    title: str
    axis: str
    lever: str
    at: Floats  # shape (m,): positions of the lever, ascending
    original: Mapping[str, float]  # value of the unmasked table, by the curve's name
    values: Mapping[str, Floats]  # shape (m, releases): value of each release
    # for each position the number, from 1, of the record that most often has the maximum, and its
    # share of the releases; empty where no record has the value
    records: tuple[tuple[int, float], ...] = field(default=(), repr=False)
    # number of the record with the maximum in the unmasked table; 0 for none
    original_record: int = 0
    # positions at which a release has no such value, each with the reason
    left_out: tuple[tuple[float, str], ...] = ()

    @property
    def releases(self) -> int:
        """Number of releases at each position."""
        return int(next(iter(self.values.values())).shape[1])

    def mean(self, name: str) -> Floats:
        """Return the mean over releases at each position, shape (m,)."""
        return np.asarray(self.values[name].mean(axis=1), dtype=np.float64)

    def band(self, name: str) -> Floats | None:
        """Return the ends of 9 of 10 releases at each position, shape (2, m); None for fewer."""
        if self.releases < _LEAST:
            return None
        return np.asarray(np.percentile(self.values[name], _TENTHS, axis=1), dtype=np.float64)

    def parts(self) -> tuple[FigureCurves, ...]:
        """Return the figure's pictures: an intercept has a separate scale."""
        first, *others = self.values
        if not others or not first.endswith(" intercept"):
            return (self,)
        titles = (self.title, f"{self.title.partition(':')[0]}: intercept")
        made = []
        for names, title in zip((others, [first]), titles, strict=True):
            original = {name: self.original[name] for name in names}
            values = {name: self.values[name] for name in names}
            made.append(replace(self, title=title, original=original, values=values))
        return tuple(made)


def even_positions(
    ends: LeverRange, low: float, high: float, count: int = len(EPSILONS)
) -> tuple[float, ...]:
    """Return up to `count` even positions of a lever from `low` to `high`, each one of its steps.

    >>> even_positions(LeverRange(low=0, high=8.2, step=0.1), 0, 6)
    (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    """
    even = np.linspace(low, high, count) - ends.low
    steps = np.unique(np.round(even / ends.step)) * ends.step + ends.low
    return tuple(float(round(min(x, ends.high), 10)) for x in steps)


def figure_curves(
    number: int,
    prepared: Prepared,
    *,
    releases: int,
    over: Over = OVER_EPSILON,
    seed: int = 1,
    after: Callable[[FigureCurves], bool | None] = lambda _: None,
) -> FigureCurves:
    """Compute the curves of a figure of section 8, one of `CURVES`, from releases of a table."""
    # Releases of one number share their draws over the positions. `after` is called with the curves
    # so far after a release at each position; True ends there. NotApplicable is raised if the
    # measure does not apply to the table, or to a release at every position.
    figure = PAPER_FIGURES[number]
    assert figure.read is not None
    at = over.at
    start = _unperturbed(prepared)
    compute = MEASURES[figure.measure].compute
    itself = compute(start)
    drawn = _Drawn(at)
    settings = {x: prepared.with_levers(**{over.lever: x}) for x in at}
    titles = {each.name: each.title for each in prepared.method.levers}

    def curves() -> FigureCurves:
        return FigureCurves(
            title=f"Figure {number}: {figure.title}",
            axis=figure.axis,
            lever=titles[over.lever],
            at=np.array(drawn.read, dtype=np.float64),
            original=original,
            values=drawn.values(original),
            records=drawn.records_with_most(),
            original_record=_record(prepared, itself, "argmax_original"),
            left_out=drawn.left_out,
        )

    original = figure.read(itself, "original")
    for one in range(releases):
        key = SecretKey.from_seed(seed + one)
        for x in drawn.read:
            try:
                reading = compute(start.with_masked(settings[x].release(key).masked))
            except NotApplicable as reason:
                drawn.reasons[x] = reason.reason
                continue
            drawn.rows[x].append(figure.read(reading, "released"))
            record = _record(prepared, reading, "argmax_released")
            if record:
                drawn.largest[x][record] += 1
        if not drawn.read:
            raise NotApplicable(drawn.reasons[at[0]])
        if after(curves()):
            break
    return curves()


class _Drawn:
    """The releases of a figure that are drawn so far, by position."""

    def __init__(self, at: Sequence[float]) -> None:
        self.at = at
        self.rows: dict[float, list[Values]] = {x: [] for x in at}
        self.largest: dict[float, Counter[int]] = {x: Counter() for x in at}
        self.reasons: dict[float, str] = {}  # why nothing is read at a position

    @property
    def read(self) -> list[float]:
        """The positions at which the measure applies."""
        return [x for x in self.at if x not in self.reasons]

    @property
    def left_out(self) -> tuple[tuple[float, str], ...]:
        """The other positions, each with the reason."""
        return tuple((x, self.reasons[x]) for x in self.at if x in self.reasons)

    def values(self, names: Iterable[str]) -> dict[str, Floats]:
        """Return the values of each curve, shape (positions, releases)."""
        return {name: np.array(self._rows_of(name)) for name in names}

    def _rows_of(self, name: str) -> list[list[float]]:
        """Return the values of a curve at each position, release by release."""
        rows = []
        for x in self.read:
            rows.append([values[name] for values in self.rows[x]])
        return rows

    def records_with_most(self) -> tuple[tuple[int, float], ...]:
        """Return for each position the record that most often has the maximum, and its share."""
        counted = [self.largest[x] for x in self.read]
        pairs = [(each.most_common(1), each.total()) for each in counted]
        return tuple((most[0][0], most[0][1] / total) for most, total in pairs if most)


def _unperturbed(prepared: Prepared) -> Comparison:
    data = prepared.microdata
    if prepared.masks_all_records:
        return Comparison(original=data, masked=data)
    return Comparison.of_some(data, prepared.records)


def _record(prepared: Prepared, reading: Reading, which: str) -> int:
    """Return the number, from 1, of the record with the maximum; 0 for none."""
    index = getattr(reading.detail, which, None)
    return 0 if index is None else int(prepared.records[int(index)]) + 1


def neighborhood_reading(setting: Prepared) -> Reading:
    """Return what figure 1 draws of a setting; NotApplicable without neighborhoods."""
    start = _unperturbed(setting)
    return NEIGHBORHOOD_SIZE.compute(start.with_masked(start.masked, setting.law))


def correlation_reading(setting: Prepared, key: SecretKey) -> Reading:
    """Return what figures 2 and 3 draw of one release; NotApplicable below two numbers."""
    return CORRELATION.compute(_unperturbed(setting).with_masked(setting.release(key).masked))


def figure_pictures(number: int, curves: FigureCurves) -> tuple[tuple[str, FigureCurves], ...]:
    """Return the pictures of a figure with curves: charts by their key, and what each draws."""
    chart = "figure_boxes" if number == 8 else "figure_curves"
    return tuple((chart, each) for each in curves.parts())
