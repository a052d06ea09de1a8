"""STRATEGIES: the steps that mask a dataset, by its candidate rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rwn_core.datasets import (
    exact_donors,
    joined_index,
    partners,
    parts,
    sample_donors,
    soft_donors,
    spatial_parts,
)
from rwn_core.datasets.engine import Execute
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.staged_arrays import DEAL
from rwn_core.parallel.threads import Progress


class Follow:
    """Adds up what was done of the whole."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0.0

    def by(self, weight: float) -> Callable[[int], None]:
        """Return a progress callback; each task of the step has this weight."""

        def finished(count: int) -> None:
            self._done += weight * count
            if self._progress is not None:
                self._progress(min(1.0, self._done / self._total))

        return finished


class Strategy(NamedTuple):
    """Steps that mask the records after the survey.

    Attributes
    ----------
    weight : int
        Work on a range of records, where the survey of one is 1.
    mask : callable
        Does the steps; returns the tasks of the last one, which answer how many records have
        empty neighborhoods, and how many fall back to k.
    """

    weight: int
    mask: Callable[[Run, Execute, Follow], list[Task]]


def _exact(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """All records are candidates: leaf by leaf."""
    ranges = len(run.ranges(DEAL))
    spatial_parts.save_axes(run)
    execute(run.ranges(DEAL), follow.by(1))
    count = spatial_parts.count_leaves(run, ranges)
    share = ranges / count  # leaves are about as many as ranges
    indexing = run.numbered(spatial_parts.INDEX, count)
    execute([{**task, "ranges": ranges} for task in indexing], follow.by(1 * share))
    execute(run.numbered(joined_index.STEP, len(joined_index.JOINS)), follow.by(0))
    if not run.params.ball.kernel.is_even:
        execute(run.numbered(soft_donors.LIST, count), follow.by(4 * share))
        execute(run.numbered(soft_donors.STATE, 1), follow.by(0))
        masking = run.numbered(soft_donors.STEP, count)
        execute(masking, follow.by(share))
        return masking
    masking = run.numbered(exact_donors.STEP, count)
    execute(masking, follow.by(5 * share))
    return masking


def _sample(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """Method 1: range by range."""
    masking = run.ranges(sample_donors.STEP)
    execute(masking, follow.by(4))
    return masking


def _pairs(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """Method 2: pairs first, then range by range."""
    execute(run.ranges(DEAL), follow.by(1))
    execute(partners.slices(run), follow.by(1))
    execute(run.ranges(partners.REPEATED), follow.by(1))
    partners.merge_repeated(run)
    masking = run.ranges(partners.STEP)
    execute(masking, follow.by(4))
    return masking


def _partition(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """Method 3: part by part."""
    ranges = len(run.ranges(DEAL))
    execute(run.numbered(parts.BOUNDS, 1), follow.by(0))
    execute(run.ranges(DEAL), follow.by(1))
    tasks = run.numbered(parts.STEP, run.leaves)
    masking = [{**task, "ranges": ranges} for task in tasks]
    execute(masking, follow.by(4 * ranges / run.leaves))
    return masking


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "exact": Strategy(7, _exact),
        "sample": Strategy(4, _sample),
        "pairs": Strategy(7, _pairs),
        "partition": Strategy(5, _partition),
    }
)
