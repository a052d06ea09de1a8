"""People with several rows, attacked as if they were outside of the file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, RWN, AdditiveNoise, Comparison
from rwn_core.evaluation.control_group import control_group
from rwn_core.masking import Method
from rwn_core.measures.attacks.attribute_guesses import AttributeAttack
from rwn_core.measures.attacks.left_out_people import PeopleLeftOut
from tests import tables
from tests.contracts.test_several_rows import visits
from tests.contracts.test_units import COINS, compared, in_rows, value, with_an_outlier


def test_all_rows_of_a_person_leave_together() -> None:
    """Where one row of the far person leaves, the others still show the level of all of them."""
    data = with_an_outlier()
    right = []
    for each in (data, in_rows(data)):
        comparison = compared(each, AdditiveNoise(size=0.01))
        people = np.arange(data.n)
        assert comparison.law is not None
        tried = AttributeAttack(comparison, comparison.law)
        (inside,) = tried.on_people(people)
        ((outside,),) = PeopleLeftOut(tried, people).successes()
        assert {"tree", "nearest"} < set(outside.each)
        assert all(inside.each[key][-1] == pytest.approx(1.0) for key in ("tree", "nearest"))
        right.append([rates[-1] for key, rates in outside.each.items() if key != "majority"])
    assert max(right[0]) == 0.0
    assert min(right[1]) == pytest.approx(1.0)  # planted: of rows, one of which leaves


@pytest.mark.parametrize("q", [0.0, 0.5])
def test_equal_rows_of_one_person_gain_what_one_row_does(q: float) -> None:
    """Unmasked to the digit; of slices that each row draws anew, more rows disclose more."""
    overall, gains = [], []
    for rows in (1, 4):
        frame = visits(rows).frame.drop(columns="visit")
        frame = frame.assign(ill=np.where(np.repeat(COINS, rows), "yes", "no"))
        keys = dict.fromkeys(("age", "town", "sex"), "key")
        data = tables.described(frame, **keys, ill="confidential", who="person")
        comparison = compared(data.with_weights({"ill": 0.0}), RWN(k=3, q=q))
        gains.append(value(comparison, "attribute_gain"))
        detail = MEASURES["attribute_gain"].read(comparison, bare=True).detail
        overall.append(detail.gains[0]["overall"])
    assert gains[1] >= gains[0] - 0.05  # rows of a person are evidence of a name's precision
    if q == 0.0:
        assert overall[1] == pytest.approx(overall[0], abs=1e-9)
        assert overall[0] > 0.2


@pytest.mark.parametrize("rows", [1, 4])
def test_what_people_outside_follow_too_is_no_gain(rows: int) -> None:
    """All rows of a household predict its secret, of one outside the file as of one inside."""
    draw = np.random.default_rng(1)
    count = 800
    who = np.repeat(np.arange(count // rows), rows)

    def gain_of(slope: float, params: Method) -> float:
        ill = draw.integers(0, 2, count // rows)[who]
        keys = draw.normal(size=(count, 3)) + slope * (ill - 0.5)[:, None] * [1.0, 0.6, 0.3]
        frame = pd.DataFrame(keys.round(2), columns=["a", "b", "c"])
        frame = frame.assign(ill=np.where(ill == 1, "yes", "no"), who=[f"p{n}" for n in who])
        roles = {**dict.fromkeys("abc", "key"), "ill": "confidential"}
        if rows > 1:
            data = tables.described(frame, **roles, who="person")
        else:
            data = tables.described(frame.drop(columns="who"), **roles)
        group = control_group(Comparison(original=data, masked=data), params, seed=3)
        return MEASURES["attribute_gain"].read(group).value

    assert gain_of(1.0, RWN(k=40)) < 0.2
    assert gain_of(0.0, RWN(k=3, q=0.5)) > 0.2  # planted: nothing predicts it but the own rows
