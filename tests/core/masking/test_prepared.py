"""A table made ready: what settings share, what is kept, and what is worked out anew."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.ends import shuffled_donors
from rwn_core.masking import (
    METHODS,
    NBRS2015,
    RWN,
    AdditiveNoise,
    LocalSuppression,
    Microaggregation,
    RandomSample,
    RandomSwapping,
    Rounded,
    RowCopy,
    mask,
    unrounded,
)
from rwn_core.masking.neighborhood_method import _widest
from rwn_core.masking.row_copy import TOGETHER, together
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.randomness import SecretKey, uniforms

KEY = SecretKey.from_seed(3)


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(20, 2)).round(3), columns=["x", "y"])
    return Microdata.from_frame(frame.assign(n=rng.integers(0, 50, 20), g=list("abcd") * 5))


@pytest.mark.parametrize("name", ["prepare", "preview"])
def test_settings_share_what_no_lever_changes(data: Microdata, name: str) -> None:
    made = getattr(RWN(k=3), name)(data)
    assert made.masks_all_records
    assert made.is_quick
    assert made.records.tolist() == list(range(20))
    first = made.law
    assert made.law is first
    same, other = made.with_levers(q=0.5), made.with_levers(k=4)
    assert same.law.neighborhoods is made.law.neighborhoods
    assert other.law.neighborhoods is not made.law.neighborhoods
    assert (same.law.modification("x"), other.params.k) == (0.5, 4)
    ranges = made.ranges
    assert made.with_levers(k=5).about is made.about
    assert ranges["k"].high == 19
    grouped = made.with_slices((("x", "y"),))
    assert grouped.law.neighborhoods is made.law.neighborhoods
    assert grouped.law.units() == [("x", "y"), ("n",), ("g",)]
    with pytest.raises(ParameterError, match="k must be a whole number from 1 to 19"):
        made.with_levers(k=20)


def test_a_release_keeps_the_neighborhoods_that_it_has_found(data: Microdata) -> None:
    made = RWN(k=3).prepare(data)
    release = made.release(KEY)
    assert release.law is made.law
    assert made.found is made.law.neighborhoods
    assert made.release(KEY).masked.frame.equals(release.masked.frame)
    random = RWN(k=3, neighbors="sample", m=6).prepare(data)
    assert random.law is None
    one, two = (random.release(SecretKey.from_seed(seed)) for seed in (1, 2))
    assert one.law.probabilities.nnz == 60
    assert (one.law.probabilities != two.law.probabilities).nnz > 0
    shown = RWN(k=3, neighbors="sample", m=6).preview(data).release(SecretKey.from_seed(1))
    assert shown.donors.tolist() == one.donors.tolist()
    stored = RWN(k=3).prepare(data, settings=[RWN(k=5)])
    assert stored.release(KEY).donors.tolist() == release.donors.tolist()
    assert (
        stored.with_levers(k=5).release(KEY).donors.tolist()
        == made.with_levers(k=5).release(KEY).donors.tolist()
    )
    assert random.law is None


def test_the_widest_ball_holds_those_of_all_settings() -> None:
    def widest(*settings: RWN | NBRS2015) -> RadiusAndK:
        return _widest([each.ball for each in settings])

    assert widest(RWN(k=3), RWN(k=7, epsilon=1.0), RWN(epsilon=2.5)) == RadiusAndK(k=7, epsilon=2.5)
    assert widest(RWN(k=3)) == RadiusAndK(k=3, epsilon=None)
    strict = RadiusAndK(k=None, epsilon=2, strict=True)
    assert widest(NBRS2015(epsilon=0.5), NBRS2015(epsilon=2)) == strict
    radii = [RWN(k=1, epsilon=np.ones(4)), RWN(k=2, epsilon=np.ones(4))]
    assert widest(*radii) == RadiusAndK(k=2, epsilon=radii[0].epsilon)


def test_in_a_bootstrap_sample_nobody_has_a_copy_for_a_neighbor(data: Microdata) -> None:
    rows = np.sort(np.r_[np.arange(10), np.arange(10)])
    for params in (RWN(k=4), RWN(k=2, epsilon=0.5)):
        sample = params.prepare(data).resampled(rows)
        assert sample.microdata.frame["x"].tolist() == data.frame["x"].iloc[rows].tolist()
        members = sample.law.probabilities.tocoo()
        assert (rows[members.row] != rows[members.col]).all()
        assert sample.law.neighborhoods.sizes.min() >= params.k
    # where there is no k, or who is near depends on the key, the sample is a table like any other
    for params in (NBRS2015(epsilon=9.0), RWN(k=2, neighbors="sample", m=9)):
        found = params.prepare(data).resampled(rows).release(KEY)
        again = params.prepare(data.take(rows)).release(KEY)
        assert found.donors.tolist() == again.donors.tolist()


def test_methods_without_neighborhoods_work_out_once_what_levers_leave(data: Microdata) -> None:
    made, calls = Microaggregation(k=2).prepare(data), []
    assert [made.cached("key", lambda: calls.append(1) or 5) for _ in range(3)] == [5, 5, 5]
    moved = made.with_levers(k=3)
    assert moved.cached("key", lambda: 6) == 5
    assert (len(calls), moved.params.k, moved.microdata is data) == (1, 3, True)
    assert made.with_slices(data.schema.slices).cached("key", lambda: 6) == 6
    assert (made.masks_all_records, made.is_quick, made.records.tolist()) == (
        True,
        True,
        list(range(20)),
    )
    assert made.law is made.law
    seen: list[float] = []
    assert made.params.preview(data).release(KEY, progress=seen.append).donors is None
    assert seen == [1.0]
    for lever in ({"k": 21}, {"k": 0}):
        with pytest.raises(ParameterError, match="k must be"):
            made.with_levers(**lever)
    sample = made.resampled(np.arange(6))
    assert (sample.microdata.n, sample.params) == (6, made.params)
    fixed = LocalSuppression(k=2).prepare(data)
    assert fixed.release(KEY).masked is fixed.release(SecretKey.from_seed(4)).masked


def test_rounding_goes_with_everything_that_is_made(data: Microdata) -> None:
    plain, params = (
        AdditiveNoise(size=0.5),
        Rounded(params=AdditiveNoise(size=0.5), precision={"x": 2}),
    )
    for name in ("method", "title", "levers", "strength"):
        assert getattr(params, name) == getattr(plain, name)
    assert not params.has_forecast
    assert params.precision == (("x", 2.0),)
    assert params.remarks(data, None) == plain.remarks(data, None)
    assert params.cautions() == plain.cautions()
    assert unrounded(params) == (plain, {"x": 2.0})
    assert unrounded(plain) == (plain, {})
    expected = plain.prepare(data).release(KEY).rounded({"x": 2.0}).masked.frame
    assert not (expected["x"] % 2).any()
    made = params.prepare(data, settings=[params])
    slices = data.schema.slices
    for one in (made, params.preview(data), made.with_levers(size=0.5), made.with_slices(slices)):
        assert one.release(KEY).masked.frame.equals(expected)
        assert one.law.precision == {"x": 2.0}
        assert one.params == params
        assert one.ranges == plain.prepare(data).ranges
    assert made.with_levers(size=2.0).params.params == AdditiveNoise(size=2.0)
    assert made.resampled(np.arange(5)).precision == (("x", 2.0),)
    with pytest.raises(AttributeError):
        _ = made.nothing_of_this_name
    for begin in ("prepare", "preview"):
        with pytest.raises(ParameterError, match="Only numbers can be rounded; g is no numeric"):
            getattr(Rounded(params=plain, precision={"g": 1}), begin)(data)
    work = plain.prepare(data).release(KEY)
    assert work.rounded({}) is work
    swap = METHODS["rank_swapping"]().prepare(data).release(KEY).rounded({"x": 2.0})
    assert (swap.law, (swap.masked.frame["x"] % 2).any()) == (None, False)
    assert Rounded(params=METHODS["rank_swapping"](), precision={"x": 2}).prepare(data).law is None


def test_donors_of_a_table_without_relations(data: Microdata) -> None:
    found = shuffled_donors(data, KEY)
    for stream in range(len(data.names)):
        order = np.argsort(uniforms(KEY, np.arange(20), stream)[0], kind="stable")
        assert found[:, stream].tolist() == order.tolist()
    np.testing.assert_array_equal(shuffled_donors(data, KEY), found)
    grouped = shuffled_donors(data.with_slices((("x", "y"),)), KEY)
    np.testing.assert_array_equal(grouped[:, 0], grouped[:, 1])


def test_whole_rows_share_a_donor_but_for_what_is_not_masked(data: Microdata) -> None:
    shown = data.with_schema(data.schema.replace_variable("g", masked=False, group="mine"))
    whole = together(shown)
    assert [v.group for v in whole.schema.released] == [TOGETHER] * 3 + [None]
    law = RowCopy(k=3, q=0.5).prepare(shown).law
    assert law.units() == [("x", "y", "n"), ("g",)]
    assert law.q.tolist() == [0.5, 0.5, 0.5, 0.0]
    assert RowCopy(k=3).preview(shown).law.units() == law.units()
    assert law.neighborhoods.sizes.tolist() == [3] * 20
    assert (law.rule.ball.k, law.rule.ball.epsilon) == (3, 0.0)


def test_a_release_says_how_it_was_made_and_drops_lost_rows_only_of_a_sample(
    data: Microdata,
) -> None:
    release = mask(data, RandomSample(left_out=0.25), seed=5, precision={"x": 0.5})
    assert release.method == "sampling"
    assert release.params == RandomSample(left_out=0.25)
    assert release.precision == (("x", 0.5),)
    kept = release.masked.frame["g"].notna().to_numpy()
    assert release.published("original").frame["y"].tolist() == data.frame["y"][kept].tolist()
    order = release.order[kept[release.order]]
    assert release.published().frame["y"].tolist() == data.frame["y"].iloc[order].tolist()
    lost = mask(data, NBRS2015(epsilon=1e-9), seed=5)
    assert lost.masked.frame.isna().to_numpy().all()
    assert lost.published().n == 20
    own = mask(data, Rounded(params=RandomSwapping(variables="n"), precision={"n": 9}), seed=5,
               precision={"x": 0.5})  # fmt: skip
    assert own.precision == (("n", 9.0), ("x", 0.5))
    assert own.params == RandomSwapping(variables="n")
    again = mask(data, RandomSample(left_out=0.25), seed=SecretKey.from_seed(5))
    assert again.masked.frame["y"].equals(release.masked.frame["y"])
    fresh = [mask(data, RandomSwapping(variables="n", share=1.0)) for _ in range(2)]
    assert (fresh[0].order != fresh[1].order).any()
    with pytest.raises(ParameterError, match="order must be one of: shuffled, original"):
        release.published("sorted")  # type: ignore[arg-type]
