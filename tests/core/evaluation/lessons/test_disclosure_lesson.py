"""The lesson on disclosure: its attack by hand, and its sentences by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import disclosure as lesson
from rwn_core.randomness import SecretKey

DATA = lesson.table()


def found(person: str = "Anna", **levers) -> lesson.DisclosedPerson:
    setting = rwn.RWN(**{"epsilon": 0.0, "k": 1, "q": 1.0} | levers)
    return lesson.disclosure(setting.prepare(DATA), DATA, person=person)


def test_the_unmasked_file_gives_everything_away() -> None:
    for person in lesson.PERSONS:
        seen = found(person, q=0.0)
        assert (seen.linked, seen.learned) == (1.0, 1.0)
        assert seen.person == person.partition(",")[0] != ""
        assert seen.own == seen.nearest
        np.testing.assert_array_equal(seen.rows[seen.own, :2], seen.known)
        assert seen.close(seen.own)


def test_shares_are_the_means_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson, "DRAWS", 3)
    before = DATA.matrix(lesson.NAMES)
    spread = before[:, :2].std(axis=0, ddof=1)
    linked = learned = 0.0
    for seed in (1, 2, 3):
        made = rwn.RWN(epsilon=0.0, k=3).prepare(DATA).release(SecretKey.from_seed(seed))
        after = made.masked.matrix(lesson.NAMES)
        for i in range(lesson.N):
            apart = [float((((row - before[i, :2]) / spread) ** 2).sum()) for row in after[:, :2]]
            best = [j for j in range(lesson.N) if apart[j] <= min(apart) * (1 + 1e-9) + 1e-15]
            linked += (i in best) / len(best)
            near = [abs(after[j, 2] - before[i, 2]) <= 0.1 * before[i, 2] for j in best]
            learned += sum(near) / len(best)
    seen = found(k=3)
    assert seen.linked == pytest.approx(linked / lesson.N / 3)
    assert seen.learned == pytest.approx(learned / lesson.N / 3)


def test_one_draw_more_or_less_moves_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    first = found(k=1)
    monkeypatch.setattr(lesson, "DRAWS", 300)
    more = found(k=1)
    assert first.linked == pytest.approx(more.linked, abs=0.015)
    assert first.learned == pytest.approx(more.learned, abs=0.015)
    np.testing.assert_array_equal(first.rows, more.rows)  # the shown release is the first one


def test_anna_s_row_is_never_found_and_her_income_always_is() -> None:
    shown = []
    for seed in range(1, 101):
        made = rwn.RWN(epsilon=0.0, k=1).prepare(DATA).release(SecretKey.from_seed(seed))
        after, anna = made.masked.matrix(lesson.NAMES), lesson.PERSONS["Anna"]
        before = DATA.matrix(lesson.NAMES)
        spread = before[:, :2].std(axis=0, ddof=1)
        apart = (((after[:, :2] - before[anna, :2]) / spread) ** 2).sum(axis=1)
        row = int(apart.argmin())
        shown.append((row == anna, abs(after[row, 2] - before[anna, 2]) <= 0.1 * before[anna, 2]))
    assert np.mean(shown, axis=0).tolist() == [0.0, 1.0]
