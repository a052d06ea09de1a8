"""The tasks of a run, each done once, and STRATEGIES: the steps that mask a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rwn_core.datasets import (
    exact_donors,
    release_order,
    sample_donors,
    soft_donors,
    spatial_parts,
    survey,
)
from rwn_core.datasets.dataset_statistics import counted
from rwn_core.datasets.run import Execute, Run, Task
from rwn_core.datasets.spatial_parts import INDEX, principal_axes
from rwn_core.datasets.staged_arrays import DEAL, load, save
from rwn_core.parallel.threads import Progress

STEPS: Mapping[str, Callable[[Run, Task], dict[str, Any]]] = {
    survey.STEP: survey.survey_rows,
    sample_donors.STEP: sample_donors.mask_rows,
    DEAL: spatial_parts.deal_records,
    spatial_parts.INDEX: spatial_parts.index_leaf,
    spatial_parts.STEP: spatial_parts.join_leaves,
    exact_donors.STEP: exact_donors.mask_leaf,
    soft_donors.LIST: soft_donors.list_leaf,
    soft_donors.STATE: soft_donors.weigh_all,
    soft_donors.STEP: soft_donors.mask_leaf,
    release_order.STEP: release_order.order_file,
}


def perform(run: Run, task: Task) -> dict[str, Any]:
    """Do a task, unless it is done."""
    step, number = task["step"], task["number"]
    answer = run.stage.answer(step, number)
    if answer is None:
        answer = STEPS[step](run, task)
        run.stage.finish(step, number, answer)
    return answer


class Follow:
    """Adds up what was done of the whole."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._advance = counted(total, progress)

    def by(self, weight: float) -> Callable[[int], None]:
        """Return a progress callback; each task of the step has this weight."""
        return lambda count: self._advance(weight * count)


class Strategy(NamedTuple):
    """Steps that mask the records after the survey."""

    weight: int  # work on a range of records, where the survey of one is 1
    # does the steps; returns the tasks of the last one, which answer how many records have empty
    # neighborhoods, and how many fall back to k
    mask: Callable[[Run, Execute, Follow], list[Task]]


def _exact(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """All records are candidates: leaf by leaf."""
    ranges = len(run.ranges(DEAL))
    # Keep the axes that planes lie across: made once, so that all tasks agree.
    save(run, DEAL, "axes", principal_axes(run.survey_result.points))
    execute(run.ranges(DEAL), follow.by(1))
    # Add up the records of each leaf, and put corners together; how many leaves there are.
    corners = [load(run, DEAL, f"{number:06d}-corners") for number in range(ranges)]
    low, high = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
    save(run, INDEX, "corners", np.stack([low, high]))
    ends = [load(run, DEAL, f"{number:06d}-ends") for number in range(ranges)]
    counts = np.sum([np.diff(each) for each in ends], axis=0)
    save(run, INDEX, "counts", counts)
    count = len(counts)
    share = ranges / count  # leaves are about as many as ranges
    indexing = run.numbered(spatial_parts.INDEX, count)
    execute([{**task, "ranges": ranges} for task in indexing], follow.by(1 * share))
    execute(run.numbered(spatial_parts.STEP, len(spatial_parts.JOINS)), follow.by(0))
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


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "exact": Strategy(7, _exact),
        "sample": Strategy(4, _sample),
    }
)
