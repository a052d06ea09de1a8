"""Fresh releases of one setting, reduced one by one: readings, and bands of what pictures show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Plotted, Summary
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import compare, known_measures
from rwn_core.laws.donors import released_schema
from rwn_core.masking import Masked, Method
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Bounds, Detail, Reading
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.parallel.threads import Progress, steps, work
from rwn_core.randomness import SecretKey


def draws(
    microdata: Microdata,
    params: Method,
    repeats: int,
    seed: int | None,
    progress: Progress | None = None,
    *,
    resampled: bool = False,
) -> Iterator[Masked]:
    """Yield releases of one setting under different keys; the neighbors are searched once."""
    # with `resampled` each release is that of a bootstrap sample of the records
    prepared = params.prepare(microdata)
    samples = np.random.default_rng(seed)
    with work(progress=progress):
        for number in steps(range(repeats)):
            setting = prepared
            if resampled:
                setting = prepared.resampled(np.sort(samples.integers(0, microdata.n, microdata.n)))
            key = SecretKey.fresh() if seed is None else SecretKey.from_seed(seed + number)
            yield setting.release(key)


def released_only(microdata: Microdata) -> Microdata:
    """The original as a release would show it: without direct identifiers."""
    names = [variable.name for variable in microdata.schema.released]
    return Microdata(microdata.frame[names], released_schema(microdata.schema))


def unmasked(microdata: Microdata) -> Comparison:
    """Compare a table with itself, to be compared with releases of it in turn."""
    return compare(microdata, released_only(microdata))


LARGEST_PART = 10_000  # numbers of one part of a detail: correlations of 100 variables


def release_interval(key: str, values: ArrayLike) -> tuple[float, float] | None:
    """Find where one more draw of a measure falls, within the measure's bounds."""
    if np.size(values) < 2:
        return None
    low, high = prediction_interval(values, MEASURES[key].bounds)
    return float(low), float(high)


class Gathering:
    """The bands of one measure, draw by draw: only what a picture shows is kept of each."""

    def __init__(self, key: str) -> None:  # of the measure
        self._measure = MEASURES[key]
        self._bounds: dict[str, Bounds] = {}
        self._draws: dict[str, list[Floats]] = defaultdict(list)
        self._frames: dict[str, list[NDArray[Any]]] = defaultdict(list)

    def add(self, reading: Reading[Any]) -> None:
        """Take in one draw."""
        # name, numbers, what they belong to, and their bounds
        parts = [
            (name, getattr(reading.detail, name, reading.value), np.empty(0), bounds)
            for name, bounds in self._measure.bands.items()
        ]
        parts += self._measure.bands_of(reading) if self._measure.bands_of else ()
        for name, values, frame, self._bounds[name] in parts:
            if np.size(values) <= LARGEST_PART:
                self._draws[name].append(np.asarray(values, dtype=np.float64))
                self._frames[name].append(frame)

    def bands(self) -> dict[str, Band]:
        """The bands by part of the detail; a part that is not of one kind in all draws has none."""
        return {
            name: Band.from_draws(draws, bounds=self._bounds[name])
            for name, draws in self._draws.items()
            if len(draws) > 1 and self._are_alike(name)
        }

    def _are_alike(self, name: str) -> bool:
        """True if all draws of a part of the detail are of the same shape and the same things."""
        draws = self._draws[name]
        frames = self._frames[name]
        shapes_are_alike = all(each.shape == draws[0].shape for each in draws)
        return shapes_are_alike and all(np.array_equal(each, frames[0]) for each in frames)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ensemble(Plotted):
    """The readings of one setting over R releases with different keys, and no record.

    Attributes
    ----------
    repeats : int
        R.
    values : mapping of str to ndarray of float64, shape (r,)
        Of every measure with an answer; r is at most R.
    baselines : mapping of str to float or None
    bands : mapping of str to mapping of str to Band
        Of the measures with a picture, where the parts of the detail fall; see
        `Band`.
    reasons : mapping of str to str
        Why a measure had no answer, in the first draw that had none.
    """

    repeats: int
    values: Mapping[str, Floats]
    baselines: Mapping[str, float | None]
    bands: Mapping[str, Mapping[str, Band]]
    reasons: Mapping[str, str]

    def _summary(self) -> Summary:
        rows = []
        for key in self._keys:
            reading = self.reading(key)
            words = MEASURES[key].words
            if isinstance(reading, NotApplicable):
                rows.append((key, reading.reason, ""))
                continue
            ends = " to ".join(map(words, reading.interval or ()))
            rows.append((key, words(reading.value), ends))
        return Summary(
            title=f"Ensemble({self.repeats} releases, {len(rows)} measures)",
            columns=("measure", "median", "9 of 10 releases"),
            rows=rows,
        )

    @property
    def _keys(self) -> Iterable[str]:
        """All measures, those with an answer first."""
        return dict.fromkeys((*self.values, *self.reasons))

    def median(self, key: str) -> float:
        """The middle of a measure's values."""
        return float(np.median(self.values[key]))

    def interval(self, key: str) -> tuple[float, float] | None:
        """Return the interval of 9 of 10 further draws of this setting.

        For any distribution where enough draws had an answer (19), from fewer as for normal
        values; None where fewer than two had one.
        """
        return release_interval(key, self.values[key])

    def reading(self, key: str) -> Reading | NotApplicable:
        """A measure's median and interval, or why no draw had an answer."""
        if key not in self.values:
            return NotApplicable(self.reasons[key])
        return Reading(
            value=self.median(key),
            baseline=self.baselines[key],
            interval=self.interval(key),
            detail=Detail(),
        )

    def frame(self) -> pd.DataFrame:
        """A row for each measure: median, interval, and in how many draws it had an answer."""
        rows = []
        for key in self._keys:
            reading = self.reading(key)
            known = reading if isinstance(reading, Reading) else None
            low, high = (known and known.interval) or (None, None)
            rows.append(
                {
                    "measure": key,
                    "median": known and known.value,
                    "low": low,
                    "high": high,
                    "draws": len(self.values.get(key, ())),
                    "not_applicable": self.reasons.get(key),
                }
            )
        return pd.DataFrame(rows)


@takes_tables
def ensemble(
    microdata: Microdata,
    params: Method,
    *,
    repeats: int = 25,
    measures: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Ensemble:
    """Draw one setting many times and read the measures on each release.

    Parameters
    ----------
    microdata : Microdata
    params : Method
    repeats : int
        At least 2.
    measures : sequence of str, optional
        Keys; all by default. A regression is the schema's question.
    seed : int, optional
        The draws have the keys of seed, seed + 1, ...: repeatable, and no secret. Fresh keys if
        it is left out.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    Ensemble

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> drawn = ensemble(data, rwn.RWN(k=5), repeats=3, measures=["quantiles"], seed=1)
    >>> len(drawn.values["quantiles"])
    3
    """
    if repeats < 2:
        raise ParameterError("repeats must be a whole number of at least 2.")
    keys = known_measures(measures)
    comparison = unmasked(microdata)
    values: dict[str, list[float]] = {}
    baselines: dict[str, float | None] = {}
    gathered: dict[str, Gathering] = {}
    reasons: dict[str, str] = {}
    for release in draws(microdata, params, repeats, seed, progress):
        this = comparison.with_masked(release.masked, release.law)
        for key in keys:
            answer = MEASURES[key].read(this, bare=True)
            if isinstance(answer, Reading):
                values.setdefault(key, []).append(answer.value)
                baselines.setdefault(key, answer.baseline)
                gathered.setdefault(key, Gathering(key)).add(answer)
            else:
                reasons.setdefault(key, answer.reason)
    return Ensemble(
        repeats=repeats,
        values={key: np.array(answer) for key, answer in values.items()},
        baselines=baselines,
        bands={key: made for key, each in gathered.items() if (made := each.bands())},
        reasons=reasons,
    )
