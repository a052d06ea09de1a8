"""The lesson on choosing a setting: its answer over releases, and its readings."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.lessons import choose as lesson
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.randomness import SecretKey

POLICY = rwn.Policy()
APART, ALONE, ROWS = lesson.SLICES


def curve(slices: str) -> list[tuple[float, rwn.tuning.Verdict]]:
    ready = rwn.RWN(epsilon=8.0, k=lesson.K).preview(lesson.table(slices))
    found = lesson.read(ready, POLICY.measures, lesson.EPSILONS)
    return [
        (each[UTILITY].value, POLICY.judge({key: each[key] for key in POLICY.measures}))
        for each in found
    ]


@pytest.fixture(scope="module")
def curves():
    return {slices: curve(slices) for slices in lesson.SLICES}


def test_only_body_fat_apart_keeps_all_limits(curves) -> None:
    kept = {name: [verdict.kept for _, verdict in each] for name, each in curves.items()}
    assert kept == {APART: [False] * 6 + [True] * 3, ALONE: [False] * 9, ROWS: [False] * 9}
    assert curves[APART][7][0] == pytest.approx(0.16, abs=0.005)


def test_whole_rows_link_few_records_and_break_two_other_limits_at_any_radius(curves) -> None:
    assert max(loss for loss, _ in curves[ROWS]) < 0.1
    for _, verdict in curves[ROWS][5:]:
        assert verdict.broken == ("attribute_gain", "true_matches")
        assert verdict.values["true_matches"] > 0.5  # "body fat of more than half of the men"


def test_a_reading_is_that_of_the_audit() -> None:
    data, setting = lesson.table(APART), rwn.RWN(epsilon=4.0, k=lesson.K)
    measures = ["bayes_linkage", UTILITY]
    audit = rwn.audit(data, rwn.mask(data, setting, seed=lesson.SEED), measures=measures)
    (found,) = lesson.read(setting.prepare(data), measures, [4.0])
    values = [found[key].value for key in measures]
    np.testing.assert_allclose(values, [audit[key].value for key in measures])


def test_the_answer_holds_for_other_releases_of_its_setting() -> None:
    prepared = rwn.RWN(epsilon=7.0, k=lesson.K).preview(lesson.table(APART))
    comparison, kept = None, []
    for seed in range(101, 109):
        made = prepared.release(SecretKey.from_seed(seed))
        comparison = comparison or compare(prepared.microdata, made.masked)
        judged = comparison.with_masked(made.masked, made.law)
        readings = {key: MEASURES[key].compute(judged) for key in POLICY.measures}
        kept.append(POLICY.judge(readings).kept)
    assert all(kept)
