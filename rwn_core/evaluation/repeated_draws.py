"""One setting drawn many times: what belongs to the setting, and what to the draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Plotted, Summary
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.prediction_bands import Band, Gathering, release_interval
from rwn_core.laws.donors import released_schema
from rwn_core.laws.law import Law
from rwn_core.masking import Method
from rwn_core.measures import MEASURES, no_measure
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import LEVEL
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ensemble(Plotted):
    """Hold the readings of one setting over R releases with different keys, and no record.

    Attributes
    ----------
    repeats : int
        R.
    values : mapping of str to ndarray of float64, shape (r,)
        Of every measure with an answer; r is at most R.
    baselines : mapping of str to float or None
    bands : mapping of str to mapping of str to Band
        Of the measures with a picture, where the parts of the detail fall; see
        `rwn_core.evaluation.prediction_bands`.
    reasons : mapping of str to str
        Why a measure had no answer, in the first draw that had none.
    """

    repeats: int
    values: Mapping[str, Floats]
    baselines: Mapping[str, float | None]
    bands: Mapping[str, Mapping[str, Band]]
    reasons: Mapping[str, str]

    def _summary(self) -> Summary:
        keys = (*self.values, *(key for key in self.reasons if key not in self.values))
        return Summary(
            title=f"Ensemble({self.repeats} releases, {len(keys)} measures)",
            columns=("measure", "median", "9 of 10 releases"),
            rows=[self._shown(key) for key in keys],
        )

    def _shown(self, key: str) -> tuple[str, ...]:
        reading, words = self.reading(key), MEASURES[key].words
        if isinstance(reading, NotApplicable):
            return key, reading.reason, ""
        ends = reading.interval
        return key, words(reading.value), f"{words(ends[0])} to {words(ends[1])}" if ends else ""

    def median(self, key: str) -> float:
        """The middle of a measure's values."""
        return float(np.median(self.values[key]))

    def interval(self, key: str, level: float = LEVEL) -> tuple[float, float] | None:
        """Return the interval of one more draw of this setting, with coverage `level`.

        For any distribution where enough draws had an answer (19 for 0.9), from fewer as for
        normal values; None where fewer than two had one.
        """
        return release_interval(key, self.values[key], level)

    def reading(self, key: str) -> Reading | NotApplicable:
        """A measure's median and interval, or why no draw had an answer."""
        if key not in self.values:
            return NotApplicable(self.reasons[key])
        return Reading(
            value=self.median(key),
            baseline=self.baselines[key],
            interval=self.interval(key),
            detail={"values": self.values[key], "repeats": self.repeats},
        )

    def frame(self) -> pd.DataFrame:
        """A row for each measure: median, interval, and in how many draws it had an answer."""
        rows = []
        for key in [*self.values, *(k for k in self.reasons if k not in self.values)]:
            reading = self.reading(key)
            ends = reading.interval if isinstance(reading, Reading) else None
            low, high = (None, None) if ends is None else ends
            rows.append(
                {
                    "measure": key,
                    "median": reading.value if isinstance(reading, Reading) else None,
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
    >>> drawn = ensemble(data, rwn.RWN(k=5), repeats=3, measures=["correlation"], seed=1)
    >>> len(drawn.values["correlation"])
    3
    """
    if repeats < 2:
        raise ParameterError("repeats must be a whole number of at least 2.")
    keys = tuple(MEASURES) if measures is None else tuple(measures)
    unknown = [key for key in keys if key not in MEASURES]
    if unknown:
        raise ParameterError(no_measure(unknown[0]))
    comparison = compare(microdata, released_only(microdata))
    values: dict[str, list[float]] = {}
    baselines: dict[str, float | None] = {}
    gathered: dict[str, Gathering] = {}
    reasons: dict[str, str] = {}
    for masked, law in releases(microdata, params, repeats, seed, progress):
        this = comparison.with_masked(masked, law)
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


def released_only(microdata: Microdata) -> Microdata:
    """The original as a release would show it: without direct identifiers."""
    names = [variable.name for variable in microdata.schema.released]
    return Microdata(microdata.frame[names], released_schema(microdata.schema))


def releases(
    microdata: Microdata,
    params: Method,
    repeats: int,
    seed: int | None,
    progress: Progress | None = None,
) -> Iterator[tuple[Microdata, Law | None]]:
    """Yield releases of one setting under different keys; the neighbors are searched once."""
    keys = (
        SecretKey.fresh() if seed is None else SecretKey.from_seed(seed + number)
        for number in range(repeats)
    )
    prepared = params.prepare(microdata)
    for number, key in enumerate(keys, start=1):
        work = prepared.release(key)
        yield work.masked, work.law
        if progress is not None:
            progress(number / repeats)
