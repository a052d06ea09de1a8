"""The lesson on disclosure: its attack by hand, and its sentences by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import disclosure as lesson
from rwn_core.randomness import SecretKey

DATA = lesson.table()
RELEASES = 150


def released(seed: int = 1, *, person: str = "Anna", **levers) -> lesson.DisclosedPerson:
    setting = rwn.RWN(**{"epsilon": 0.0, "k": 1, "q": 1.0} | levers)
    made = setting.prepare(DATA).release(SecretKey.from_seed(seed))
    return lesson.disclosure(made, DATA, person=person)


def means(person: str = "Anna", **levers) -> tuple[float, float, float, float]:
    """Mean shares over releases: all linked, all incomes; and the person's."""
    found = [released(seed, person=person, **levers) for seed in range(1, RELEASES + 1)]
    each = [
        (one.linked, one.learned, one.own == one.nearest, one.close(one.nearest)) for one in found
    ]
    return tuple(np.mean(each, axis=0).tolist())


def test_the_unmasked_file_gives_everything_away() -> None:
    for person in lesson.PERSONS:
        found = released(person=person, q=0.0)
        assert (found.linked, found.learned) == (1.0, 1.0)
        assert found.person == person.partition(",")[0] != ""
        assert found.own == found.nearest
        np.testing.assert_array_equal(found.rows[found.own, :2], found.known)
        assert found.close(found.own)


def test_shares_are_those_of_a_loop() -> None:
    made = rwn.RWN(epsilon=0.0, k=3).prepare(DATA).release(SecretKey.from_seed(1))
    before, after = DATA.matrix(lesson.NAMES), made.masked.matrix(lesson.NAMES)
    spread = before[:, :2].std(axis=0, ddof=1)
    linked = learned = 0.0
    for i in range(lesson.N):
        apart = [float((((row - before[i, :2]) / spread) ** 2).sum()) for row in after[:, :2]]
        best = [j for j in range(lesson.N) if apart[j] <= min(apart) * (1 + 1e-9) + 1e-15]
        linked += (i in best) / len(best)
        near = [abs(after[j, 2] - before[i, 2]) <= 0.1 * before[i, 2] for j in best]
        learned += sum(near) / len(best)
    found = released(k=3)
    assert found.linked == pytest.approx(linked / lesson.N)
    assert found.learned == pytest.approx(learned / lesson.N)


def test_incomes_are_learned_without_the_right_row_at_q_1_and_k_1() -> None:
    linked, learned, own, close = means(k=1)
    assert linked == pytest.approx(0.10, abs=0.02)  # "about 1 person in 10"
    assert learned > 0.5  # "more than half of the incomes"
    assert (own, close) == (0.0, 1.0)  # "Anna's row is never found, and her income always is"
