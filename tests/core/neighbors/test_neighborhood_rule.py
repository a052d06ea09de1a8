"""A release's neighborhoods are found again in its own distance and by its own rule."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.statistics.key_variables import only
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import coordinates
from rwn_core.neighbors.rule import NeighborhoodRule

METRICS = {
    "usual": {},
    "range and matching": {"scale": "range", "encoding": "matching"},
    "discrete weights": {"weights": "discrete"},
}


def table(n: int = 90) -> Microdata:
    """Numbers on a grid, so that many pairs lie at exactly one distance, and a category."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "x": rng.integers(0, 6, n) * 1.0,
            "y": rng.integers(0, 4, n) * 1.0,
            "g": rng.choice(["u", "v", "w"], n),
        }
    )
    return Microdata.from_frame(frame).with_weights({"y": 0.6})


def own_neighborhoods(neighborhoods) -> list[set[int]]:
    """Every record's members and the record itself."""
    return [{i, *neighborhoods.members(i).tolist()} for i in range(neighborhoods.n)]


def found_outside(law, people: Microdata) -> list[set[int]]:
    """Everybody's members; each is as likely to be the donor."""
    shares = law.outside(people)[0]
    sizes = np.diff(shares.indptr)
    np.testing.assert_allclose(shares.data, np.repeat(1 / sizes[sizes > 0], sizes[sizes > 0]))
    return [set(one.tolist()) for one in np.split(shares.indices, shares.indptr[1:-1])]


def middle_distance(data: Microdata, options: dict) -> float:
    """A distance that some pairs of records have exactly."""
    params = RWN(k=1, **options)
    points = params.points(data)
    pairs = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    return float(np.sort(pairs[pairs > 0])[pairs.size // 4])


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_a_record_posed_as_an_outsider_has_its_own_neighborhood(options):
    data = table()
    epsilon = middle_distance(data, options)
    release = mask(data, RWN(epsilon=epsilon, k=1, **options), seed=1)
    expected = own_neighborhoods(release.law.neighborhoods)
    assert found_outside(release.law, data) == expected
    if options:
        usual = mask(data, RWN(epsilon=epsilon, k=1), seed=1).law
        assert found_outside(usual, data) != expected


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_it_is_itself_one_of_its_k_nearest(options):
    data = table()
    law = mask(data, RWN(k=6, **options), seed=1).law
    among_others = find_neighborhoods(RWN(k=5, **options).points(data), k=5)
    assert found_outside(law, data) == own_neighborhoods(among_others)


def test_the_open_ball_of_2015_has_nobody_at_its_edge():
    data = table()
    epsilon = middle_distance(data, {})
    law = mask(data, NBRS2015(epsilon=epsilon), seed=1).law
    expected = own_neighborhoods(
        find_neighborhoods(coordinates(data), epsilon=epsilon, strict=True)
    )
    assert found_outside(law, data) == expected
    closed = mask(data, RWN(epsilon=epsilon, k=1), seed=1).law
    assert found_outside(closed, data) != expected


@pytest.mark.parametrize("rounding", [{}, {"x": 4.0}])
def test_an_outsider_may_have_nobody_and_rounding_changes_nothing(rounding):
    data = table()
    far = data.frame.iloc[:2].assign(x=[500.0, 2.0])
    people = Microdata(far, data.schema)
    law = mask(data, NBRS2015(epsilon=0.8), precision=rounding, seed=1).law
    alone, at_home = found_outside(law, people)
    assert alone == set()
    reference = mask(data, NBRS2015(epsilon=0.8), seed=1).law
    assert at_home == found_outside(reference, people)[1] != set()


@pytest.mark.parametrize("options", METRICS.values(), ids=METRICS)
def test_who_has_the_keys_only_finds_neighborhoods_in_the_distance_of_the_release(options):
    data, keys = table(), ["x", "g"]
    law = mask(data, RWN(epsilon=0.7, k=4, **options), seed=1).law
    guess = law.restricted_to(only(law.original, keys))
    params = RWN(k=1, **options)
    axes = [axis.variable.name in keys for axis in params.metric(data).axes]
    expected = find_neighborhoods(params.points(data)[:, axes], k=4, epsilon=0.7)
    assert guess.neighborhoods.sizes.tolist() == expected.sizes.tolist()
    assert [v.name for v in guess.original.schema.released] == keys
    assert guess.q.tolist() == [1.0, 1.0]


def test_who_has_the_keys_only_knows_that_the_ball_is_open():
    data = only(table(), ["x", "g"])
    epsilon = middle_distance(data, {})
    law = mask(data, NBRS2015(epsilon=epsilon, q=0.5), seed=1).law
    guess = law.restricted_to(data)
    assert guess.neighborhoods.sizes.tolist() == law.neighborhoods.sizes.tolist()
    assert [weight for weight, _ in guess.components()] == [0.5, 0.5]
    closed = find_neighborhoods(coordinates(data), epsilon=epsilon)
    assert closed.sizes.tolist() != law.neighborhoods.sizes.tolist()


def test_a_rule_has_records_at_its_radius_unless_it_is_strict() -> None:
    data = table()
    epsilon, metric = middle_distance(data, {}), RWN(k=1).metric(data)
    for strict in ({}, {"strict": False}, {"strict": True}):
        ball = RadiusAndK(k=None, epsilon=epsilon, **strict)
        found = NeighborhoodRule(metric=metric, ball=ball).find(data)
        expected = find_neighborhoods(coordinates(data), epsilon=epsilon, **strict)
        assert found.sizes.tolist() == expected.sizes.tolist()


def test_variables_without_a_weight_make_no_neighborhoods():
    data = table().with_weights({"y": 0.0})
    law = mask(data, RWN(k=3), seed=1).law
    with pytest.raises(ParameterError, match="has a weight"):
        law.restricted_to(only(data, ["y"]))


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (RWN(epsilon=np.full(90, 0.9), k=1), "radius for each record"),
        (RWN(k=2, neighbors="sample", m=30), "random candidates"),
        (RWN(k=2, neighbors="pairs", m=30), "random candidates"),
    ],
)
def test_some_rules_say_nothing_of_people_outside(params, reason):
    data = table()
    with pytest.raises(NotApplicable, match=reason):
        mask(data, params, seed=1).law.outside(data)


@pytest.mark.parametrize(("k", "epsilon"), [(4, 0.0), (4, 1.0), (1, 1.3), (9, 0.7)])
def test_added_people_change_neighborhoods_as_in_a_table_of_one_more(k: int, epsilon: float):
    data, people = table(50), table(90).take(np.arange(50, 90))
    law = mask(data, RWN(k=k, epsilon=epsilon), seed=1).law
    enlarged = law.rule.joins(people, data, law.neighborhoods)
    own, added = (law.rule.metric.points(each) for each in (data, people))
    displaced = [set(row.tolist()) for row in np.split(enlarged.leaving.indices, _ends(enlarged))]
    seen = 0
    for number, person in enumerate(added):
        found = find_neighborhoods(np.vstack([own, person]), k=k, epsilon=epsilon)
        nearer = ((own - person) ** 2).sum(axis=1) < law.neighborhoods.radius**2 * (1 - 1e-9)
        for record in range(data.n):
            before = set(law.neighborhoods.members(record).tolist())
            after = set(found.members(record).tolist())
            share = 1 / len(after) if data.n in after else 0.0
            assert enlarged.shares[number, record] == pytest.approx(share)
            gone = before - after
            assert gone == (displaced[record] if nearer[record] else set())
            seen += len(gone)
    assert (seen > 0) == (k in (4, 9))


def _ends(enlarged) -> np.ndarray:
    return enlarged.leaving.indptr[1:-1]
