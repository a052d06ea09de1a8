"""The smallest width that keeps a limit on certified linkage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, SoftRWN
from rwn_core.measures.measure import Detail, Reading
from rwn_core.tuning import Goal, Limit, Plan, Policy, Setting, evaluate, goal_seek
from rwn_core.tuning.goal_seek import STEP, is_of_width, seek_width
from tests.core.evaluation.test_draws import normal, soft

PLAN = Plan(measures=("certified_linkage", "association_loss"), releases=2)


def goal(at_most: float) -> Goal:
    limit = Limit(measure="certified_linkage", at_most=at_most)
    return Goal(keep=Policy(limits=(limit,)), best="association_loss")


def settings(*widths: float) -> list[Setting]:
    return [Setting(params=soft(width)) for width in widths]


def read(data: Microdata, width: float) -> float:
    (setting,) = settings(width)
    point = evaluate(data, setting, range(1, 9), ("certified_linkage",))
    value = point.median("certified_linkage")
    assert value is not None
    return value


def test_it_is_the_smallest_width_that_keeps_the_limit() -> None:
    data = normal(100)
    answer = seek_width(data, settings(0.5, 6.0), goal(0.1), plan=PLAN)
    assert answer.kept
    width = answer.point.setting.params.width
    assert read(data, width) <= 0.1 < read(data, width - STEP)
    assert answer.tried <= 9
    assert answer.point.shown == (1.0, 1.0)
    for key in ("attribute_gain", "true_matches", "bayes_linkage"):
        assert len(answer.point.spreads[key].values) <= 1
    assert "Of the relations across slices" not in answer.sentence  # there are none


def test_a_width_found_by_some_rows_of_a_large_table_is_confirmed_by_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rows that search are made to say too little: the answer goes on to larger widths."""
    data = normal(2100)
    asked: list[tuple[float, int]] = []

    def certified(tables: object, setting: Setting, rows: int = 1000) -> Reading:
        width = float(setting.params.width)
        asked.append((width, rows))
        value = 0.1 / width * (1.0 if rows == 2100 else 0.8)
        return Reading(value=value, baseline=0.0, detail=Detail())

    monkeypatch.setattr(goal_seek, "certified", certified)
    monkeypatch.setattr(goal_seek, "_with_others", lambda tables, found, goal, plan: (found, ""))
    answer = seek_width(data, settings(0.5, 4.0), goal(0.1), plan=PLAN)
    assert answer.reached
    assert answer.point.setting.params.width == 1.0
    assert [width for width, rows in asked if rows == 2100] == pytest.approx(
        [0.8, 0.85, 0.9, 0.95, 1]
    )


def test_on_a_small_file_independent_slices_would_serve_as_well() -> None:
    """Sixty records with strong relations: at 3 % hardly any of them are left."""
    draw = np.random.default_rng(1)
    one = draw.normal(size=60)
    frame = pd.DataFrame({name: one + 0.3 * draw.normal(size=60) for name in "abcd"})
    data = Microdata.from_frame(frame).with_slices((("a", "b"), ("c", "d")))
    strict = seek_width(data, settings(1.0, 25.0), goal(0.03), plan=PLAN)
    assert strict.reached
    assert "would serve as well" in strict.sentence
    # the counterexample: where most relations are left nothing of the kind is said
    mild = seek_width(data, settings(0.1, 25.0), goal(0.97), plan=PLAN)
    assert mild.reached
    assert "Of the relations across slices" in mild.sentence
    assert "would serve as well" not in mild.sentence


def test_only_widths_of_one_kernel_are_searched_so() -> None:
    assert is_of_width(goal(0.1), settings(0.5, 2.0))
    assert not is_of_width(goal(0.1), settings(0.5))
    assert not is_of_width(goal(0.1), [*settings(0.5), Setting(params=soft(1.0, cap=0.5))])
    assert not is_of_width(goal(0.1), [Setting(params=RWN(k=3)), Setting(params=RWN(k=5))])
    both = (
        Limit(measure="certified_linkage", at_most=0.1),
        Limit(measure="true_matches", at_most=1),
    )
    other = Goal(keep=Policy(limits=both), best="association_loss")
    assert not is_of_width(other, settings(0.5, 2.0))


def test_a_kernel_that_certifies_nothing_is_refused() -> None:
    near = [
        Setting(params=SoftRWN(kernel="exponential", width=width, bandwidth="absolute", cap=1.0))
        for width in (0.5, 2.0)
    ]
    with pytest.raises(ParameterError, match="own = true"):
        seek_width(normal(40), near, goal(0.1), plan=PLAN)
