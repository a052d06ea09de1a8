"""Does one task of a run: once, however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rwn_core.datasets import (
    exact_donors,
    joined_index,
    partners,
    parts,
    release_order,
    sample_donors,
    soft_donors,
    spatial_parts,
    staged_arrays,
    survey,
)
from rwn_core.datasets.run import Run, Task

STEPS: Mapping[str, Callable[[Run, Task], dict[str, Any]]] = {
    survey.STEP: survey.survey_rows,
    sample_donors.STEP: sample_donors.mask_rows,
    parts.BOUNDS: parts.find_bounds,
    staged_arrays.DEAL: spatial_parts.deal_records,
    spatial_parts.INDEX: spatial_parts.index_leaf,
    joined_index.STEP: joined_index.join_leaves,
    exact_donors.STEP: exact_donors.mask_leaf,
    soft_donors.LIST: soft_donors.list_leaf,
    soft_donors.STATE: soft_donors.weigh_all,
    soft_donors.STEP: soft_donors.mask_leaf,
    parts.STEP: parts.mask_part,
    partners.PAIR: partners.draw_pairs,
    partners.REPEATED: partners.find_repeated,
    partners.STEP: partners.mask_partners,
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
