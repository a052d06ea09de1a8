"""Readings of a measure at two ends: the unmasked file, and a file without any relation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import Protocol

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import copy_from_donors
from rwn_core.laws.ends import shuffled_donors, unmasked
from rwn_core.measures.comparison import Comparison
from rwn_core.randomness import SecretKey

UNMASKED, UNRELATED = "unmasked", "unrelated"
"""Names of the two values in the detail of a reading."""
SHUFFLES = 3  # files whose columns are shuffled, whose mean counts
SHUFFLED = 6_000  # their records together, where there is more than one: chance evens out


class _Read(Protocol):
    """Part of a reading that the ends use."""

    @property
    def value(self) -> float:
        """The number that stands for the measure."""

    @property
    def baseline(self) -> float | None:
        """An ignorant guess's, where the measure has one."""


Compute = Callable[[Comparison], _Read]


def ends(comparison: Comparison, measure: str, compute: Compute) -> dict[str, float]:
    """Return the readings of an unmasked and of an independently shuffled file, cached."""
    # neither end depends on the release's slices or weights; a missing end has no reading, and a
    # measure that reads the same on both files has no "unrelated"
    about = comparison.cached_for_original(
        "as described for both ends", lambda: _plain(comparison.original)
    )
    known = (comparison.key_sets, comparison.halves)
    given = (*known, comparison.question, comparison.sampling, comparison.holdout)
    # every description of these values shares what is remembered of them
    return about.cached(
        ("ends", measure, about.schema, *given), lambda: _read(comparison, about, compute)
    )


def _plain(original: Microdata) -> Microdata:
    """Return the table without slices and weights."""
    variables = tuple(replace(v, weight=1.0, group=None) for v in original.schema.variables)
    return original.with_schema(replace(original.schema, variables=variables))


def _read(comparison: Comparison, original: Microdata, compute: Compute) -> dict[str, float]:
    # comparisons of their own: what they remember goes with them
    start = Comparison(
        original=original,
        masked=original,
        holdout=comparison.holdout,
        question=comparison.question,
        sampling=comparison.sampling,
    )
    start.key_sets, start.halves = comparison.key_sets, comparison.halves
    start.file, start.records = comparison.file, comparison.records
    found: dict[str, float] = {}
    baseline = None
    try:
        reading = compute(start.with_masked(*unmasked(original)))
        found[UNMASKED], baseline = float(reading.value), reading.baseline
    except NotApplicable:
        pass  # such a limit is judged without this end
    count = max(1, min(SHUFFLES, SHUFFLED // max(original.n, 1)))
    shuffles = (shuffled_donors(original, SecretKey.from_seed(seed)) for seed in range(count))
    try:
        files = (start.with_masked(copy_from_donors(original, donors)) for donors in shuffles)
        unrelated: float | None = fmean(float(compute(file).value) for file in files)
    except NotApplicable:
        unrelated = baseline
    if unrelated is not None and unrelated != found.get(UNMASKED):
        found[UNRELATED] = float(unrelated)
    return found
