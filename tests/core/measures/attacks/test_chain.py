"""Finding A4: merges over two releases name what neither names alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.measures.attacks.red_team.chain import Chained, chain
from rwn_core.measures.statistics.intervals import naming_score

ROLES = {"a": "key", "b": "key", "c": "other", "s": "confidential"}


def four_normals(seed: int, n: int = 800) -> rwn.Microdata:
    rng = np.random.default_rng(seed)
    covariance = 0.7 * np.eye(4) + 0.3
    drawn = rng.multivariate_normal(np.zeros(4), covariance, size=n) * 10 + 50
    return with_roles(pd.DataFrame(drawn.round(2), columns=list("abcs")), ROLES)


def with_roles(frame: pd.DataFrame, roles: dict[str, str]) -> rwn.Microdata:
    guessed = rwn.Microdata.from_frame(frame).schema.variables
    variables = tuple(replace(v, role=rwn.Role(roles[v.name])) for v in guessed)
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=variables))


def by_hand(
    original: pd.DataFrame, one: pd.DataFrame, two: pd.DataFrame
) -> tuple[dict[int, float], int]:
    """From b to c by the second release, c to s by the first, in plain dictionaries."""

    def agreed(frame: pd.DataFrame, left: str, right: str) -> dict[float, float]:
        found: dict[float, set[float]] = {}
        for x, y in zip(frame[left], frame[right], strict=True):
            found.setdefault(x, set()).add(y)
        return {x: ys.pop() for x, ys in found.items() if len(ys) == 1}

    first, second = agreed(two, "b", "c"), agreed(one, "c", "s")
    named = {
        person: second[first[b]]
        for person, b in enumerate(original["b"])
        if b in first and first[b] in second
    }
    exact = sum(original["s"].iloc[person] == value for person, value in named.items())
    return named, exact


@pytest.mark.parametrize(("seed", "k"), [(0, 250), (7, 60)])
def test_two_slicings_of_one_table_name_a_quarter_exactly(seed: int, k: int) -> None:
    table = four_normals(seed)
    params = rwn.RWN(epsilon=0, k=k, q=1)
    one = rwn.mask(table.with_slices([["a", "b"], ["c", "s"]]), params).published().frame
    two = rwn.mask(table.with_slices([["b", "c"]]), params).published().frame
    slices = [["a", "b"], ["c", "s"]], [["b", "c"], ["a"], ["s"]]
    found = chain(table.frame, [(one, slices[0]), (two, slices[1])], ["a", "b"], ["s"])
    best = found[0]
    assert best.path == ((1, ("b", "c")), (0, ("c", "s")))
    named, exact = by_hand(table.frame, one, two)
    assert (best.named, best.exact) == (len(named), exact)
    assert best.exact > 0.22 * table.n
    assert best.named > 0.28 * table.n
    assert best.right / best.named > 0.7
    assert best.score > 0.05
    for alone, given in zip((one, two), slices, strict=True):
        assert max((f.score for f in chain(table.frame, [(alone, given)], ["a", "b"], ["s"])),
                   default=0.0) < 0.02  # fmt: skip


def test_rows_cut_off_from_their_owners_give_nothing() -> None:
    """A planted null: 60 tables whose slices join values of different people at random."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.integers(0, 1000, (150, 4)), columns=list("abcs"))
        broken = [frame.apply(rng.permutation) for _ in range(2)]
        pieces = [["a", "b"], ["c", "s"]], [["b", "c"]]
        found = chain(frame, list(zip(broken, pieces, strict=True)), ["a", "b"], ["s"])
        alarms += any(each.score > 0.05 for each in found)
    assert alarms == 0


HAND = pd.DataFrame({
    "a": [1.0, 2.0, 3.0, 4.0, 5.0],
    "c": ["u", "v", "w", "x", "x"],
    "s": ["ill", "well", "well", "well", "well"],
})  # fmt: skip


def test_counts_of_five_people_by_hand() -> None:
    one = HAND.iloc[[2, 0, 1, 4, 3]]  # c and s of one person
    two = HAND.iloc[[1, 0, 3, 2]]  # a and c; nobody looks like the fifth
    found = chain(HAND, [(one, [["c", "s"]]), (two, [["a", "c"]])], ["a"], ["s"])
    ill, well = (next(f for f in found if f.level == level) for level in ("ill", "well"))
    assert (ill.right, ill.named, ill.people, ill.base) == (1, 1, 1, 0.2)
    assert (well.right, well.named, well.people, well.base) == (3, 3, 4, 0.8)
    assert ill.score == naming_score(1, 1, 1, 0.2)
    assert ill.path == ((1, ("a", "c")), (0, ("c", "s")))


def test_rows_that_disagree_name_nobody() -> None:
    one = pd.concat([HAND, HAND.iloc[[0]].assign(s="well")])  # "u" is ill, and well
    found = chain(HAND, [(one, [["c", "s"]]), (HAND, [["a", "c"]])], ["a"], ["s"])
    assert [f.named for f in found if f.level == "ill"] == [0]


def test_known_values_are_rounded_as_the_release_is() -> None:
    tens = (np.arange(200.0) / 10).round() * 10
    frame = pd.DataFrame({"a": np.arange(200.0), "s": tens * 7 + 1})
    rounded = frame.assign(a=tens).drop_duplicates()
    best = chain(frame, [(rounded, [["a", "s"]])], ["a"], ["s"])[0]
    assert best.named == 200
    assert best.exact >= 190  # halves may be rounded the other way


def key(each: Chained) -> tuple[object, ...]:
    return each.path, each.right, each.named, each.exact


def test_missing_values_find_nobody() -> None:
    lost = HAND.astype(object).where(HAND["c"] != "u", None)
    found = chain(HAND, [(lost, [["c", "s"]]), (HAND, [["a", "c"]])], ["a"], ["s"])
    assert not any(f.named for f in found if f.level == "ill")
