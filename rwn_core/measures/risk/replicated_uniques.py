"""Replicated uniques: key values of one person only that appear in the release."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.key_variables import (
    cell_codes,
    classes,
    key_cells,
    key_names,
)


def copies(own: Integers, released: Integers) -> Integers:
    """Return how many released rows equal each record, shape (n,); missing is a value."""
    numbered = classes(np.concatenate((own, released)))
    shown = np.bincount(numbered[len(own) :], minlength=int(numbered.max()) + 1)
    return np.asarray(shown[numbered[: len(own)]], dtype=np.int64)


def by_chance(own: Integers, released: Integers) -> float:
    """Return the share of some records that appear in a release with shuffled columns."""
    counts = np.column_stack(
        [
            np.bincount(theirs + 1, minlength=int(mine.max()) + 2)[mine + 1]
            for mine, theirs in zip(own.T, released.T, strict=True)
        ]
    )
    rarest, n = counts.min(axis=1), len(released)
    # each row with a record's rarest value has its other values with this probability
    others = np.prod(counts / n, axis=1) * n / np.maximum(rarest, 1)
    return float((1 - (1 - np.minimum(others, 1.0)) ** rarest).mean())


def compute(comparison: Comparison) -> Reading:
    """Return the share of sample uniques with key values that appear in the release."""
    original, keys = comparison.original, key_names(comparison)
    rows = released_rows(original, comparison.masked)
    own, released = key_cells(comparison, keys)
    alone = np.flatnonzero(copies(own, own) == 1)
    if comparison.masked.n == original.n:
        alone = np.intersect1d(alone, rows)  # a left-out record dilutes nothing
    if not alone.size:
        raise NotApplicable("No record is alone with its key values in the original.")
    shown = copies(own[alone], released[rows])
    cells, full_rows = cell_codes(comparison, tuple(v.name for v in original.schema.released))
    detail = {
        "names": list(keys),
        "uniques": len(alone),
        "appear": int((shown > 0).sum()),
        "replicated": int((shown == 1).sum()),
        "whole_rows": int((copies(cells[alone], full_rows[rows]) > 0).sum()),
        "records": alone[shown > 0],
    }
    value = float((shown > 0).mean())
    return Reading(value=value, baseline=by_chance(own[alone], released[rows]), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many sample uniques appear, by key values and by whole row."""
    detail = reading.detail
    return (
        f"{detail['appear']:,} of {detail['uniques']:,} records that are alone with their key "
        f"values in the original find exactly these in the release ({percent(reading.value)}; "
        f"{percent(reading.baseline or 0)} if each column were shuffled). {detail['replicated']:,} "
        f"are alone there, too, and {detail['whole_rows']:,} find their whole row. Such a row need "
        "not have been made of that person, but it looks so."
    )


MEASURE = Measure(
    key="replicated_uniques",
    title="Replicated uniques",
    side="risk",
    unit="share of the original's uniques",
    question="How many records that are alone with their key values find exactly these values in "
    "the release?",
    sentence=sentence,
    source="Nowok, Raab and Dibben 2016, synthpop's replicated.uniques: its count is of those that "
    "are alone in the release, too, and its percentage of the released rows; here a second copy "
    "in the release hides nobody",
    compute=compute,
    of_released=True,
)
