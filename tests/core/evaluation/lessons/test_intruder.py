"""The intruder's lesson, held against Bayes' rule written out."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import intruder as lesson
from rwn_core.randomness import SecretKey


@pytest.fixture(scope="module")
def table():
    data = rwn.load_demo("bodyfat")
    return rwn.RWN(epsilon=0.0, k=5).prepare(data)


def test_keys_are_known_first_and_the_secret_last() -> None:
    names = lesson.known_order(rwn.load_demo("bodyfat"))
    assert names[:3] == ("age", "weight", "height")
    assert names[-1] == "siri"
    assert len(names) == 15


def test_belief_is_bayes_rule_over_everybody_s_neighborhood(table) -> None:
    made = table.release(SecretKey.from_seed(lesson.SEED))
    found = lesson.intruder(made, row=3, known=2)
    frame, neighbors = table.microdata.frame, made.law.neighborhoods
    released = made.masked.frame.iloc[found.source]
    chance = np.ones(241)
    for i in range(241):
        donors = neighbors.members(i)
        for name in ("age", "weight"):
            chance[i] *= (frame[name].to_numpy()[donors] == released[name]).mean()
    belief = chance / chance.sum()
    assert found.known == ("age", "weight")
    assert found.candidates == (belief > 0).sum()
    assert found.baseline == 1 / 241
    np.testing.assert_allclose(found.belief, belief[found.records])
    np.testing.assert_allclose(found.belief, np.sort(belief)[::-1][: len(found.belief)])
    assert found.of_source == pytest.approx(belief[found.source])
    assert found.of_source > 0


def test_more_known_helps_the_intruder_and_a_larger_k_does_not(table) -> None:
    def success(k: int, known: int) -> float:
        made = table.with_levers(k=k).release(SecretKey.from_seed(lesson.SEED))
        return lesson.intruder(made, row=0, known=known).success

    assert 1 / 241 < success(5, 1) < success(5, 3) < success(5, 15)
    assert success(40, 3) < success(15, 3) < success(5, 3)
