"""Finding V1: two releases of nearly the same people, subtracted by what their methods keep."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.masking import METHODS
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.attacks.red_team.subtraction import Subtracted, Subtrahend, subtract

SETTINGS: dict[str, dict[str, Any]] = {
    "random_swapping": {"share": 0.9, "variables": ("a", "b", "c", "g")},
    "microaggregation": {"k": 30},
    "rwn": {"k": 5},
    "record_swapping": {"share": 1.0, "within": "g", "variables": "a,b"},
    "k_pram": {"k": 10, "draw_from": "permute"},
    "nbrs2015": {"epsilon": 2.0},
    "row_copy": {"k": 5},
}


def people(n: int = 301, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    covariance = 0.6 * np.eye(3) + 0.4
    frame = pd.DataFrame(rng.multivariate_normal(np.zeros(3), covariance, n), columns=list("abc"))
    return frame.round(4).assign(g=rng.choice(["n", "s", "w"], n, p=[0.5, 0.3, 0.2]))


def released(frame: pd.DataFrame, method: str) -> Subtrahend:
    data = Microdata.from_frame(frame)
    setting = SETTINGS.get(method, neutral_levers(METHODS[method]))
    release = rwn.mask(data, METHODS[method](**setting))
    return Subtrahend(
        frame=release.published().frame,
        keeps=release.params.invariants(data),
        precision={},
    )


def without_one(method: str, other: str = "") -> Subtracted:
    frame = people()
    return subtract(released(frame, method), released(frame.drop(index=7), other or method), (1, 0))


@pytest.mark.parametrize("method", ["rank_swapping", "random_swapping", "data_shuffling"])
def test_values_that_are_kept_give_a_record_away(method: str) -> None:
    found = without_one(method)
    assert set(found.exact) == set("abcg")


@pytest.mark.parametrize("method", ["microaggregation", "recoding", "local_suppression"])
def test_totals_and_what_is_not_random_give_a_record_away(method: str) -> None:
    found = without_one(method)
    assert set(found.exact) == set("abcg")


def test_totals_are_exactly_the_persons_number() -> None:
    frame = people()
    one, two = (released(each, "microaggregation") for each in (frame, frame.drop(index=7)))
    for name in "abc":
        difference = one.frame[name].sum() - two.frame[name].sum()
        assert difference == pytest.approx(frame.loc[7, name], abs=1e-9)


@pytest.mark.parametrize("method", ["rwn", "nbrs2015", "row_copy", "cart_synthesis", "sampling"])
def test_support_alone_reads_nobody(method: str) -> None:
    found = without_one(method)
    assert not found.read
    assert found.shown < 0.05  # a value that only one file shows may be anybody's


def test_rows_that_a_file_nearly_repeats_are_read_whatever_the_method_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one neighbor each, rows are copied without chance."""
    monkeypatch.setitem(SETTINGS, "row_copy", {"k": 1})
    assert set(without_one("row_copy").read) == set("abcg")


def test_another_method_is_subtracted_by_what_both_keep() -> None:
    assert set(without_one("microaggregation", "rank_swapping").exact) >= set("abc")
    assert set(without_one("rank_swapping", "data_shuffling").exact) >= set("abc")
    shown = without_one("row_copy", "rank_swapping")  # a value shown is lacked by all who stay
    assert set(shown.read) in (set(), set("abcg"))
    assert not without_one("rwn", "microaggregation").read


@pytest.mark.parametrize("method", ["rank_swapping", "microaggregation", "recoding"])
def test_a_correction_and_an_addition_are_read(method: str) -> None:
    frame, corrected = people(), people()
    corrected.loc[7, "a"] += 3.0
    assert "a" in subtract(released(frame, method), released(corrected, method), (1, 1)).exact
    found = subtract(released(frame.drop(index=7), method), released(frame, method), (0, 1))
    assert set(found.exact) == set("abcg")


@pytest.mark.parametrize("method", ["rank_swapping", "microaggregation", "recoding"])
def test_a_tenth_of_the_people_hides_each(method: str) -> None:
    """Turnover of thirty people each way; a planted null against false alarms."""
    frame, later = people(), people(seed=5)
    later.iloc[30:] = frame.iloc[30:]
    assert not subtract(released(frame, method), released(later, method), (30, 30)).read


def test_strangers_are_not_subtracted() -> None:
    one, two = released(people(), "rank_swapping"), released(people(seed=9), "rank_swapping")
    assert not subtract(one, two, None).read


def test_people_who_are_not_known_to_be_common_are_seen_in_the_files() -> None:
    frame = people()
    some = frame.drop(index=7)[["a", "b"]]
    one, two = (released(each, "rank_swapping") for each in (frame, some))
    assert set(subtract(one, two, None).exact) == {"a", "b"}


CHANGES = {"withdrawn": (1, 0), "added": (0, 1), "corrected": (1, 1)}


def read_by_hand(one: pd.DataFrame, two: pd.DataFrame, person: pd.Series) -> set[str]:
    """The columns of a person that plain subtraction gives: totals, values, and equal rows.

    The three levels of g may agree with a person's by luck, so they count only in a row.
    """
    read = set[str]()
    for name in "abc":
        left, right = Counter(one[name]), Counter(two[name])
        for more in (left - right, right - left):
            if list(more.elements()) == [person[name]]:
                read.add(name)
        if abs(abs(one[name].sum() - two[name].sum()) - abs(person[name])) < 1e-7:
            read.add(name)
    rows = [Counter(map(tuple, each.to_numpy())) for each in (one, two)]
    changed = [*(rows[0] - rows[1]).elements(), *(rows[1] - rows[0]).elements()]
    return read | set(one if len(changed) < 10 and tuple(person) in changed else ())


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("method", METHODS)
def test_where_no_reading_is_found_plain_subtraction_reads_nothing(
    method: str, change: str
) -> None:
    frame, other = people(), people()
    if change == "corrected":
        other.loc[7, ["a", "b", "c"]] += [2.5, -1.5, 3.25]
    else:
        other = frame.drop(index=7)
    pair = (other, frame) if change == "added" else (frame, other)
    one, two = (released(each, method) for each in pair)
    found = subtract(one, two, CHANGES[change])
    assert read_by_hand(one.frame, two.frame, frame.loc[7]) <= set(found.read)
    if not found.read:  # of a correction g is as it was
        assert not set(one.keeps.values) - set("g" if change == "corrected" else "")
        assert not one.keeps.totals
        assert not one.keeps.fixed
