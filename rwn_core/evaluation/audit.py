"""Every measure on one comparison; variables that a release was to mask and left as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.summary import Plotted, Summary
from rwn_core.errors import InputError, NotApplicable, ParameterError
from rwn_core.evaluation.attack_list import Answers, read_attack
from rwn_core.masking import Method, Release
from rwn_core.masking.method import unrounded
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Measure, Reading, sharing_ends
from rwn_core.measures.risk.worst_linkage import BAYES_LINKAGE
from rwn_core.parallel.threads import one_blas_thread, steps, work


class ReadSoFar(NamedTuple):
    """The numbers of the measures read so far, without their records."""

    # by measure its value, and what that is where it is no worst case
    values: dict[str, tuple[float, str]]
    now: str  # key of the measure that is read now

    @property
    def title_now(self) -> str:
        """The title of that measure, which a display of progress shows."""
        return MEASURES[self.now].title


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Plotted):
    """The readings by measure key; a measure without an answer holds its reason.

    Attributes
    ----------
    readings : dict of str to Reading or NotApplicable

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> masked = rwn.mask(data, rwn.RWN(k=5), seed=7)
    >>> list(rwn.audit(data, masked, measures=["correlation", "cells_changed"]).frame()["measure"])
    ['correlation', 'cells_changed']
    """

    readings: Answers

    def _summary(self) -> Summary:
        columns = ("measure", "title", "side", "value", "baseline")
        rows = []
        for row in self.records():
            words = MEASURES[row["measure"]].words
            value = row["not_applicable"] or words(row["value"])
            baseline = "" if row["baseline"] is None else words(row["baseline"])
            rows.append((*(row[name] for name in columns[:3]), value, baseline))
        return Summary(title=f"Audit({len(rows)} measures)", columns=columns, rows=rows)

    def __getitem__(self, key: str) -> Reading[Any] | NotApplicable:
        """One measure's reading, or the reason why there is none."""
        if key not in self.readings:
            known = MEASURES[key].key  # which refuses what is no measure
            raise ParameterError(f"This audit did not read {known}; name it in measures.")
        return self.readings[key]

    def __iter__(self) -> Iterator[str]:
        """The measure keys, in the catalogue's order."""
        return iter(self.readings)

    def records(self) -> list[dict[str, Any]]:
        """A plain row for each measure: numbers, or the reason."""
        rows = []
        for key, reading in self.readings.items():
            measure = MEASURES[key]
            numbers = ("used", "total", "value", "baseline")
            detail: Any = getattr(reading, "detail", None)
            bound = detail is not None and detail.standing == "at least"
            row: dict[str, Any] = {"measure": key, "title": measure.reading_title(reading)}
            row |= {name: getattr(measure, name) for name in ("side", "better", "unit")}
            row |= {name: getattr(reading, name, None) for name in numbers}
            row["at_most"] = detail.at_most if bound else None
            row["not_applicable"] = getattr(reading, "reason", None)
            rows.append(row | {"caveat": getattr(detail, "caveat", None) or None})
        return rows

    def frame(self) -> pd.DataFrame:
        """The same rows as a pandas frame."""
        return pd.DataFrame(self.records())


def compare(
    original: Microdata,
    masked: Release | Microdata,
    *,
    holdout: Microdata | None = None,
    question: Question | None = None,
    sampling: Sampling | None = None,
    key_sets: Sequence[Sequence[str]] = (),
) -> Comparison:
    """Compare an original with its release or any row-aligned masked table."""
    law = None
    if isinstance(masked, Release):
        law, masked = masked.law, masked.masked
    expected = tuple(variable.name for variable in original.schema.released)
    if masked.names != expected:
        gone = ", ".join(name for name in expected if name not in masked.names)
        more = f" If no release has {gone}: drop it from the original, too." if gone else ""
        raise InputError(
            "The masked table does not have the original's variables in the original's order; "
            f"it must have: {', '.join(expected)}.{more}"
        )
    if masked.n != original.n:
        raise InputError(
            f"The masked table has {masked.n:,} records and the original {original.n:,}; compare "
            "tables with the same records in the same order."
        )
    comparison = Comparison(
        original=original,
        masked=masked,
        law=law,
        holdout=holdout,
        question=question,
        sampling=sampling or Sampling.of_schema(original),
    )
    return comparison.with_key_sets(key_sets)


@takes_tables
def audit(  # noqa: PLR0913 - what is not needed is given by its name
    original: Microdata,
    masked: Release | Microdata,
    *,
    measures: Sequence[str] | None = None,
    holdout: Microdata | None = None,
    question: Question | None = None,
    response: str | None = None,
    predictors: str | Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Read measures on an original and its release.

    Parameters
    ----------
    original : Microdata
    masked : Release or Microdata
        Row-aligned with the original; from this program or any other.
    measures : sequence of str, optional
        Keys; all by default.
    holdout : Microdata, optional
        Records that were never masked, for prediction.
    question : Question, optional
        The regression to keep; the schema's by default.
    response : str, optional
        The same by the names of its variables: the response,
    predictors : str or sequence of str
        and what explains it; all other numbers if left out.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, if it has one, is called before
        each measure is read, with the numbers so far and `title_now`, the measure's title.

    Returns
    -------
    Audit

    Raises
    ------
    InputError, ParameterError

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7)
    >>> rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"].value
    1.0
    """
    if question is not None and response is not None:
        raise ParameterError("question and response both state the regression; give one of them.")
    question = (
        original.schema.asking(response, predictors).question if question is None else question
    )
    comparison = compare(original, masked, holdout=holdout, question=question)
    return read_all(comparison, measures, progress=progress)


def known_measures(keys: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys, all by default; refuse one that names no measure."""
    return tuple(MEASURES[key].key for key in (MEASURES if keys is None else keys))


def read_all(
    comparison: Comparison,
    measures: Sequence[str] | None = None,
    *,
    control: Comparison | None = None,
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Read measures on a given comparison; guessing attacks are compared with a control group."""
    readings: dict[str, Reading[Any] | NotApplicable] = {}
    numbers: dict[str, tuple[float, str]] = {}
    read = Measure.read if control is None else partial(read_attack, control=control)
    with work(progress=progress) as door, sharing_ends(), one_blas_thread():
        for key in steps(known_measures(measures)):
            door.found(ReadSoFar(values=dict(numbers), now=key))
            readings[key] = found = read(MEASURES[key], comparison)
            if isinstance(found, Reading):
                numbers[key] = found.value, found.detail.standing
    return Audit(readings=readings)


def require_possible(comparison: Comparison) -> None:
    """Refuse a masked table that its law cannot have made: its worst case would look small."""
    reading = BAYES_LINKAGE.read(comparison)
    if isinstance(reading, Reading) and reading.detail.truth.min() <= 0:
        raise InputError(
            "MASKED cannot have been made of ORIGINAL in this order at this setting; give its own "
            "record or parameters, and rows in the original order."
        )


def comparable(data: Microdata, masked: Microdata) -> tuple[Microdata, Microdata, list[str]]:
    """Return both tables without variables that only one of them holds, and notes on them."""
    released = {variable.name for variable in masked.schema.released}
    own = [variable.name for variable in data.schema.released]
    lost = [name for name in own if name in masked.names and name not in released]
    more = [name for name in masked.names if name in released and name not in own]
    all_are_lost = len(lost) == len(own)
    some_are_unknown = not set(own) <= set(masked.names)
    if all_are_lost or some_are_unknown or not (lost or more):
        return data, masked, []
    notes = []
    if lost:
        notes += [f"in MASKED: {notice}" for notice in masked.notices]
        notes.append(f"not compared, because MASKED has no such values: {', '.join(lost)}.")
    if more:
        notes.append(f"not compared, because ORIGINAL is read without: {', '.join(more)}.")
    remaining = [name for name in own if name not in lost]
    variables = tuple(v for v in masked.schema.variables if v.name in remaining)
    schema = replace(masked.schema.releasing(remaining), variables=variables)
    other = Microdata.from_frame(masked.frame[list(schema.names)], schema)
    return data.with_schema(data.schema.releasing(remaining)), other, notes


WEAKLY_MASKED = 0.1  # of what a donor from anywhere in the table would change


def change_from_anywhere(microdata: Microdata) -> dict[str, float]:
    """Return for each masked variable how often the value of a random record is another one."""
    result = {}
    for variable in microdata.schema.released:
        if variable.masked:
            counts = microdata.frame[variable.name].value_counts(dropna=False).to_numpy()
            result[variable.name] = float(1 - np.sum((counts / counts.sum()) ** 2))
    return result


def weakly_masked(microdata: Microdata, params: Method, shares: Mapping[str, float]) -> list[str]:
    """Return the variables that the setting should mask but left almost unchanged."""
    least = WEAKLY_MASKED * float(getattr(unrounded(params)[0], "q", 1.0))
    anywhere = change_from_anywhere(microdata)
    names = params.masked_names(microdata)
    return [name for name in names if shares.get(name, 1.0) < least * anywhere.get(name, 0.0)]


def untouched(microdata: Microdata, params: Method, shares: Mapping[str, float]) -> list[str]:
    """Return the variables that the setting was to mask and of which no cell changed."""
    if unrounded(params)[0].spares_variables:
        return []
    anywhere = change_from_anywhere(microdata)  # 0 of a constant: it has no other value to show
    names = [name for name in params.masked_names(microdata) if anywhere.get(name, 0) > 0]
    return [name for name in names if shares.get(name) == 0]


def untouched_words(names: Sequence[str]) -> str:
    """Say that variables were to be masked and were not, and what to do."""
    one = len(names) == 1
    return (
        f"{', '.join(names)} {'is' if one else 'are'} masked at this setting, but no cell changed: "
        f"the file shows only true values. Choose a stronger setting, or state that "
        f"{'it is' if one else 'they are'} not masked"
    )


def changed_shares(changed: Mapping[str, Any]) -> dict[str, float]:
    """Return the changed share of each variable from the detail of `cells_changed`."""
    return {
        str(name): float(share)
        for name, share in zip(changed.get("names", ()), changed.get("share", ()), strict=True)
    }
