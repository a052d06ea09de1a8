"""The solutions of the exercises in docs/how-to/teach-90-minutes.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.evaluation.lessons import disclosure, intruder, theorem
from rwn_core.evaluation.lessons.densities import points_of

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "teach-90-minutes.md"
KEY = rwn.SecretKey.from_seed(1)


def solution(letter: str) -> str:
    solutions = PAGE.read_text(encoding="utf-8").partition("## Solutions")[2]
    return re.split(r"\n- |\n\n", solutions.partition(f"**{letter}.**")[2])[0]


def test_a_people_linked_and_incomes_learned() -> None:
    data = disclosure.table()
    found = disclosure.disclosure(rwn.RWN(epsilon=0.0, k=1).prepare(data), data, person="Anna")
    stated = [int(share) / 100 for share in re.findall(r"(\d+) %", solution("A"))]
    assert stated == [round(found.linked, 2), round(found.learned, 2)]


def test_b_correlations_above_the_original_and_below_0_4() -> None:
    prepared = rwn.RWN(epsilon=0.3, k=1).preview(points_of("normal", 300))
    low, high = (float(each) for each in re.findall(r"ε = (\d\.\d)", solution("B")))
    before, after = theorem.theorem(prepared.with_levers(epsilon=low)).correlation
    assert before < after < before + 0.05
    for epsilon in (high, 2.2, 3.0):
        assert theorem.theorem(prepared.with_levers(epsilon=epsilon)).correlation[1] < 0.4
    assert theorem.theorem(prepared.with_levers(epsilon=high - 0.1)).correlation[1] > 0.4


@pytest.mark.parametrize(("place", "known"), [(0, 1), (1, 3), (2, 15)])
def test_c_possible_originals(place: int, known: int) -> None:
    made = rwn.RWN(epsilon=0.0, k=5).prepare(rwn.load_demo("bodyfat")).release(KEY)
    stated = [int(count) for count in re.findall(r"\d+", solution("C"))]
    assert intruder.intruder(made, row=4, known=known).candidates == stated[place]
