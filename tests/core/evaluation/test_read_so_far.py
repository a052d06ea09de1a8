"""Judging a release tells each reading before the next begins, as numbers without their records."""

from __future__ import annotations

from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.evaluation.audit import audit
from rwn_core.evaluation.disclosure import disclose_release
from rwn_core.evaluation.read_so_far import ReadSoFar
from rwn_core.reporting.judged_release import FurtherDraws, judge_release

KEYS = ("bayes_linkage", "certified_linkage", "true_matches", "suda")


class Reports:
    """Takes reports and answers."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.read: list[ReadSoFar] = []

    def __call__(self, share: float) -> None:
        """Take in the share done."""
        self.shares.append(share)

    def found(self, read: ReadSoFar) -> None:
        """Take in what was read."""
        self.read.append(read)


def small() -> rwn.Microdata:
    return rwn.load_demo("bodyfat").take(np.arange(60))


def test_what_is_told_are_the_readings_of_the_end() -> None:
    data, reports = small(), Reports()
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=3), seed=1)
    readings = audit(data, release, measures=KEYS, progress=reports).readings
    assert [each.now for each in reports.read] == list(KEYS)
    for number, each in enumerate(reports.read):
        answered = [key for key in KEYS[:number] if readings[key].__class__ is rwn.Reading]
        assert list(each.values) == answered, "a limit without an answer is not told as one"
        assert all(each.values[key][0] == readings[key].value for key in answered)
    assert "certified_linkage" not in reports.read[-1].values


def test_a_release_tells_the_limits_first_and_nothing_of_a_record() -> None:
    data, reports = small(), Reports()
    policy = rwn.Policy()
    params, draws = rwn.RWN(epsilon=2.0, k=3), FurtherDraws(further=1)
    judge_release(data, params, "csv", policy, draws=draws, progress=reports)
    assert tuple(each.now for each in reports.read[: len(policy.limits)]) == policy.measures
    assert reports.shares == sorted(reports.shares)
    plain: list[Any] = [part for each in reports.read for part in each.values.values()]
    assert plain
    assert all(isinstance(value, float) and isinstance(words, str) for value, words in plain)


def test_the_risk_of_a_release_tells_the_worst_case_on_its_way() -> None:
    reports = Reports()
    found = disclose_release(small(), rwn.RWN(epsilon=2.0, k=3), seed=1, progress=reports)
    assert reports.read[-1].values["bayes_linkage"][0] == found.readings["bayes_linkage"].value
    assert reports.shares == sorted(reports.shares)
