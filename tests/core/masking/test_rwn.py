"""RWN, its weights and soft kernels; which variables; many releases of one table."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import rwn_core as rwn
from rwn_core import Microdata, NotApplicable, ParameterError
from rwn_core.io.parse import parse
from rwn_core.laws.donors import Draws, draw_donors, shuffled_donors
from rwn_core.masking import NBRS2015, PRAM, RWN, RandomSwapping, Rounded, SoftRWN, mask, unrounded
from rwn_core.masking.neighborhood_method import _widest
from rwn_core.masking.release import formula_names
from rwn_core.masking.row_copy import TOGETHER, together
from rwn_core.masking.second_reading import second_reading
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.metric import Metric, coordinates
from rwn_core.neighbors.table import complete_table
from rwn_core.randomness import SecretKey, uniforms
from tests import tables
from tests.check_values import check_values
from tests.oracles.exact_cells import exact_probability
from tests.oracles.expected_moments import expected_moments


@pytest.fixture(scope="module")
def people() -> Microdata:
    return tables.table("people")


def test_a_release_does_not_show_its_secrets():
    shown = repr(tables.release("people", RWN(k=3), seed=7))
    assert "donors" not in shown
    assert "order" not in shown
    assert "north" not in shown


def test_q_of_each_variable(people):
    assert RWN(k=1, q=0.3).draw_probability(people).tolist() == [0.3] * 4
    schema = people.schema.replace_variable("town", masked=False)
    drawn = RWN(k=1, q=0.3).draw_probability(people.with_schema(schema))
    assert drawn.tolist() == [0.3, 0.3, 0.0, 0.3]
    law = mask(people.with_schema(schema), RWN(k=3, q=0.3), seed=7).law
    assert (law.modification("age"), law.modification("town")) == (0.3, 0.0)
    own = people.frame["town"].iloc[0]
    assert exact_probability(law, 0, "town", own) == 1


def test_variables_of_a_group_vary_together(people):
    """The expected covariance counts the common donor; without it, it would be far off."""
    frame = people.frame[["age", "weight"]].assign(total=lambda t: t["age"] + t["weight"])
    schema = Microdata.from_frame(frame).schema
    for name in ("age", "total"):
        schema = schema.replace_variable(name, group="g")
    grouped = Microdata.from_frame(frame, schema)
    params = RWN(k=8, q=0.4)
    expected = expected_moments(mask(grouped, params, seed=0).law).covariances
    names = list(expected.columns)
    prepared = params.prepare(grouped)
    releases = [prepared.release(SecretKey.from_seed(seed)).masked for seed in range(300)]
    drawn = np.array([each.matrix(names) for each in releases])
    found = np.array([np.cov(table, rowvar=False) for table in drawn])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) < 5 * error).all(axis=None)
    alone = expected_moments(mask(Microdata.from_frame(frame), params, seed=0).law).covariances
    pair = (names.index("age"), names.index("total"))
    assert abs(found.mean(axis=0)[pair] - alone.loc["age", "total"]) > 10 * error[pair]


def test_shares_are_those_of_all_pairs():
    data = tables.table("cloud", 60)
    points = coordinates(data)
    squared = np.square(points[:, None] - points[None]).sum(axis=(0, 1))
    shares = Metric.fit(data).shares(data)
    assert list(shares) == ["x", "y", "n", "g"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["x"] == pytest.approx(squared[0] / squared.sum())
    assert shares["g"] == pytest.approx(squared[3:].sum() / squared.sum())


Array = NDArray[np.float64]
LEAST = 1e-6  # a correct draw is refuted so seldom


def test_SOFT_8_even_weights_are_the_record_chain_bit_for_bit():
    rng = np.random.default_rng(1)
    table = complete_table(rng.normal(size=(40, 2)))
    even = table.cut(k=39, epsilon=None)
    soft = replace(even, k=None, shares=np.full(len(table.records), 1 / 39))
    q = np.array([1.0, 0.5, 0.0])
    for seed in range(5):
        draws = Draws(SecretKey.from_seed(seed), np.arange(40), (0, 1, 2))
        np.testing.assert_array_equal(draw_donors(soft, draws, q), draw_donors(even, draws, q))


def test_SOFT_6_a_reach_and_a_rank_within_it_are_the_weights():
    entry = check_values("kernel")["SOFT-6"]
    weights = np.array(entry["input"]["weights by rank"])
    layers = np.array(entry["expected"]["layer probabilities (size 1..4)"])
    within = np.array([[1 / s if t <= s else 0 for t in range(1, 5)] for s in range(1, 5)])
    np.testing.assert_allclose(layers @ within, weights, atol=1e-12)
    table = complete_table(np.array([[0.0], [1.0], [2.1], [4.4], [9.3]]))
    soft = replace(table.cut(k=4, epsilon=None), k=None, shares=np.tile(weights, 5))
    records = np.zeros(20_000, dtype=np.int64)
    draws = Draws(SecretKey.from_seed(2), records[:1], tuple(range(20_000)))
    donors = draw_donors(soft, draws, np.ones(20_000))[0]
    found = np.bincount(donors, minlength=5)[1:] / 20_000
    np.testing.assert_allclose(found, weights, atol=4 * np.sqrt(0.24 / 20_000))


def test_simulated_releases_follow_the_weights():
    law = SoftRWN(kernel="gaussian", width=0.3).prepare(tables.table("skewed")).law
    generator = np.random.default_rng(3)
    found = np.zeros((50, 50))
    for _ in range(500):
        np.add.at(found, (np.arange(50), simulated_donors(law, generator)[:, 0]), 1)
    # chi-square over the donors of each record, rare ones taken together
    total, freedom = 0.0, 0
    for row, mean in zip(found, (law.probabilities.toarray() * 500), strict=True):
        often = mean >= 5
        seen = np.append(row[often], row[~often].sum())
        awaited = np.append(mean[often], mean[~often].sum())
        seen = seen[awaited > 0]
        awaited = awaited[awaited > 0]
        total += ((seen - awaited) ** 2 / awaited).sum()
        freedom += len(awaited) - 1
    assert float(chi2.sf(total, freedom)) > LEAST


def test_what_is_not_derived_is_refused_with_the_reason():
    prepared = SoftRWN(kernel="gaussian").prepare(tables.table("skewed"))
    with pytest.raises(NotApplicable, match="one more record changes all weights"):
        prepared.law.outside(tables.table("skewed"))
    with pytest.raises(ParameterError, match="cap must be at least 1/49"):
        SoftRWN(kernel="gaussian", cap=0.01).prepare(tables.table("skewed")).release(
            SecretKey.from_seed(1)
        )


FORMER: dict[str, tuple[dict[str, Any], Any]] = {
    "written with defaults": (
        {"q": 0.9, "scale": "sd", "neighbors": "exact", "fresh": False, "kernel": "gaussian",
         "width": 0.5, "bandwidth": "adaptive", "own": False, "balance": 1.0},
        SoftRWN(q=0.9, width=0.5, balance=1.0),
    ),
    "what differs alone": ({"kernel": "exponential", "own": True},
                           SoftRWN(kernel="exponential", own=True)),
    "even": ({"k": 5, "kernel": "even", "bandwidth": "adaptive", "own": False, "balance": 0.0},
             RWN(k=5)),
    "with what is left out": ({"k": None, "epsilon": None, "m": None, "kernel": "gaussian"},
                              SoftRWN()),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMER)
def test_a_setting_that_was_written_as_rwn_with_a_kernel_is_read(name):
    written, now = FORMER[name]
    assert rwn.Setting.of("rwn", written).params == now
    plain = {"method": "rwn", "parameters": written, "weights": {}}
    assert rwn.Setting.from_dict(plain).params == now


KNOWN_BYTES = {
    "written with defaults": "eaccef7e66010254",
    "what differs alone": "e2d7a4ebdaad7fa7",
    "even": "1ae3e8e6b8c86042",
    "with what is left out": "00d149f354559594",
}


def test_a_file_of_a_kernel_has_the_bytes_that_it_had():
    """The releases of the demo table that earlier versions made of RWN with these kernels."""
    data = rwn.load_demo("bodyfat")
    found = {}
    for name, made in FORMER.items():
        release = rwn.mask(data, made[1], seed=7)
        found[name] = hashlib.sha256(release.to_bytes("csv")).hexdigest()[:16]
    assert found == KNOWN_BYTES


def test_what_is_done_to_the_probabilities_of_a_law_changes_no_release():
    data = rwn.load_demo("bodyfat")
    prepared = rwn.SoftRWN(kernel="gaussian", balance=1.0).prepare(data)
    before = prepared.release(SecretKey.from_seed(3))
    shares = before.law.probabilities
    shares.sort_indices()  # as scipy does within max and others
    shares.data[:] = 0.0
    after = prepared.release(SecretKey.from_seed(3))
    assert after.masked.fingerprint == before.masked.fingerprint
    assert after.law.probabilities.sum() == pytest.approx(data.n)


@pytest.fixture(scope="module")
def data() -> Microdata:
    frame = pd.DataFrame(
        {
            "g": list("abba"),
            "s": pd.Categorical(list("llmm"), ["l", "m"], ordered=True),
            "n": [1, 2, 2, 5],
            "x": [0.5, 1.5, 2.5, 4.5],
        }
    )
    return Microdata.from_frame(frame)


def changed(data: Microdata, method: Any) -> list[str]:
    """The variables that the law may change."""
    law = method.prepare(data).law
    return [name for name in data.names if law.modification(name) > 0]


def test_categories_come_first_then_counts_then_all(data):
    numbers, real = (Microdata.from_frame(data.frame[each]) for each in (["n", "x"], ["x"]))
    assert changed(data, PRAM()) == ["g", "s"]
    assert changed(data, PRAM(within="g")) == ["s"]
    assert PRAM(within="g,s").masked_names(data) == ("n",)
    assert changed(data, PRAM(variables="n,x")) == ["n", "x"]
    assert changed(numbers, PRAM()) == ["n"]
    assert changed(data, RandomSwapping(share=1)) == ["g", "s"]
    assert changed(numbers, RandomSwapping(share=1)) == ["n", "x"]
    assert changed(real, RandomSwapping(share=1)) == ["x"]
    shown = data.with_schema(data.schema.replace_variable("g", masked=False))
    assert changed(shown, PRAM()) == ["s"]
    assert rwn.RankSwapping(p=1.0).masked_names(data) == ("s", "n", "x")


def test_so_many_of_a_block_are_selected_unharmed_by_rounding():
    blocks = np.repeat([0, 1, 2, -1], [10, 5, 1, 3])
    counts = {
        share: rwn.RecordSwapping(share=share).selected(blocks).tolist()
        for share in (0.0, 0.1, 0.3, 0.61, 1.0)
    }
    assert counts == {
        0.0: [0, 0, 0], 0.1: [1, 1, 1], 0.3: [3, 2, 1], 0.61: [7, 4, 1], 1.0: [10, 5, 1],
    }  # fmt: skip


def test_a_matrix_under_strata_is_that_of_one_stratum(data):
    with pytest.raises(ParameterError, match="each stratum has its own matrix; take one of them"):
        PRAM(within="g").matrix(data, "s")
    half = PRAM(change=0.5, invariant=False).matrix(data, "s")
    assert half.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    part = PRAM(change=0.5, within="g", invariant=False).prepare(data).law
    with_one = part.table("s")[0].toarray()
    assert with_one.tolist() == [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-x(", "=a"])
def test_names_that_a_spreadsheet_would_run_get_an_apostrophe(name):
    """Finding T12: a header is text for a spreadsheet, as values are."""
    content = f'"{name}",b\n' + "".join(f"{i}.50,{i % 3}\n" for i in range(30))
    data = parse("t.csv", content.encode())
    assert data.names == (name, "b")
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    for key in ("csv", "tsv"):
        header, first = release.to_bytes(key).decode().splitlines()[:2]
        assert header.lstrip('"').startswith("'" + name[:1])
        assert first.partition("," if key == "csv" else "\t")[0].endswith(".50"), (
            "its decimals stay"
        )
    assert parse("t.parquet", release.to_bytes("parquet")).names == (name, "b")
    assert second_reading(release, release.to_bytes("csv"), "csv").checked == (name, "b")
    for harmless in ("a=b", "-", "x", "-5a", "'=1"):
        assert formula_names([harmless], "csv") == (["-5a"] if harmless == "-5a" else [])


KEY = SecretKey.from_seed(3)


@pytest.fixture(scope="module")
def data_prepared() -> Microdata:
    return tables.table("cloud", 20)


@pytest.mark.parametrize("name", ["prepare", "preview"])
def test_settings_share_what_no_lever_changes(data_prepared, name):
    made = getattr(RWN(k=3), name)(data_prepared)
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


def test_a_release_keeps_the_neighborhoods_that_it_has_found(data_prepared):
    made = RWN(k=3).prepare(data_prepared)
    release = made.release(KEY)
    assert release.law is made.law
    assert made.found is made.law.neighborhoods
    assert made.release(KEY).masked.frame.equals(release.masked.frame)
    random = RWN(k=3, neighbors="sample", m=6).prepare(data_prepared)
    assert random.law is None
    one, two = (random.release(SecretKey.from_seed(seed)) for seed in (1, 2))
    assert one.law.probabilities.nnz == 60
    assert (one.law.probabilities != two.law.probabilities).nnz > 0
    shown = RWN(k=3, neighbors="sample", m=6).preview(data_prepared).release(SecretKey.from_seed(1))
    assert shown.donors.tolist() == one.donors.tolist()
    stored = RWN(k=3).prepare(data_prepared, settings=[RWN(k=5)])
    assert stored.release(KEY).donors.tolist() == release.donors.tolist()
    two, one = (each.with_levers(k=5).release(KEY).donors.tolist() for each in (stored, made))
    assert two == one
    assert random.law is None


def test_the_widest_ball_holds_those_of_all_settings():
    def widest(*settings: RWN | NBRS2015) -> RadiusAndK:
        return _widest([each.ball for each in settings])

    assert widest(RWN(k=3), RWN(k=7, epsilon=1.0), RWN(epsilon=2.5)) == RadiusAndK(k=7, epsilon=2.5)
    assert widest(RWN(k=3)) == RadiusAndK(k=3, epsilon=None)
    strict = RadiusAndK(k=None, epsilon=2, strict=True)
    assert widest(NBRS2015(epsilon=0.5), NBRS2015(epsilon=2)) == strict
    radii = [RWN(k=1, epsilon=np.ones(4)), RWN(k=2, epsilon=np.ones(4))]
    assert widest(*radii) == RadiusAndK(k=2, epsilon=radii[0].epsilon)


def test_in_a_bootstrap_sample_nobody_has_a_copy_for_a_neighbor(data_prepared):
    rows = np.sort(np.r_[np.arange(10), np.arange(10)])
    for params in (RWN(k=4), RWN(k=2, epsilon=0.5)):
        sample = params.prepare(data_prepared).resampled(rows)
        assert sample.microdata.frame["x"].tolist() == data_prepared.frame["x"].iloc[rows].tolist()
        members = sample.law.probabilities.tocoo()
        assert (rows[members.row] != rows[members.col]).all()
        assert sample.law.neighborhoods.sizes.min() >= params.k
    # where there is no k, or who is near depends on the key, the sample is a table like any other
    for params in (NBRS2015(epsilon=9.0), RWN(k=2, neighbors="sample", m=9)):
        found = params.prepare(data_prepared).resampled(rows).release(KEY)
        again = params.prepare(data_prepared.take(rows)).release(KEY)
        assert found.donors.tolist() == again.donors.tolist()


def test_methods_without_neighborhoods_work_out_once_what_levers_leave(data_prepared):
    made = rwn.Microaggregation(k=2).prepare(data_prepared)
    calls = []
    assert [made.cached("key", lambda: calls.append(1) or 5) for _ in range(3)] == [5, 5, 5]
    moved = made.with_levers(k=3)
    assert moved.cached("key", lambda: 6) == 5
    assert (len(calls), moved.params.k, moved.microdata is data_prepared) == (1, 3, True)
    assert made.with_slices(data_prepared.schema.slices).cached("key", lambda: 6) == 6
    assert (made.masks_all_records, made.is_quick) == (True, True)
    assert made.records.tolist() == list(range(20))
    assert made.law is made.law
    seen: list[float] = []
    assert made.params.preview(data_prepared).release(KEY, progress=seen.append).donors is None
    assert seen == [1.0]
    for lever in ({"k": 21}, {"k": 0}):
        with pytest.raises(ParameterError, match="k must be"):
            made.with_levers(**lever)
    sample = made.resampled(np.arange(6))
    assert (sample.microdata.n, sample.params) == (6, made.params)
    fixed = rwn.LocalSuppression(k=2).prepare(data_prepared)
    assert fixed.release(KEY).masked is fixed.release(SecretKey.from_seed(4)).masked


PLAIN = rwn.AdditiveNoise(size=0.5)
ROUNDED = Rounded(params=PLAIN, precision={"x": 2})


def test_a_rounded_setting_is_its_own_setting_in_all_else(data_prepared):
    for name in ("method", "title", "levers", "strength"):
        assert getattr(ROUNDED, name) == getattr(PLAIN, name)
    assert ROUNDED.precision == (("x", 2.0),)
    assert ROUNDED.remarks(data_prepared, None) == PLAIN.remarks(data_prepared, None)
    assert ROUNDED.cautions() == PLAIN.cautions()
    assert unrounded(ROUNDED) == (PLAIN, {"x": 2.0})
    assert unrounded(PLAIN) == (PLAIN, {})


def test_rounding_goes_with_everything_that_is_made(data_prepared):
    prepared = PLAIN.prepare(data_prepared)
    expected = prepared.release(KEY).rounded({"x": 2.0}).masked.frame
    assert not (expected["x"] % 2).any()
    made = ROUNDED.prepare(data_prepared, settings=[ROUNDED])
    slices = data_prepared.schema.slices
    for one in (
        made,
        ROUNDED.preview(data_prepared),
        made.with_levers(size=0.5),
        made.with_slices(slices),
    ):
        assert one.release(KEY).masked.frame.equals(expected)
        assert one.law.precision == {"x": 2.0}
        assert one.params == ROUNDED
        assert one.ranges == prepared.ranges
    assert made.with_levers(size=2.0).params.params == rwn.AdditiveNoise(size=2.0)
    assert made.resampled(np.arange(5)).precision == (("x", 2.0),)
    with pytest.raises(AttributeError):
        _ = made.nothing_of_this_name


@pytest.mark.parametrize("begin", ["prepare", "preview"])
def test_a_category_is_not_rounded(data_prepared, begin):
    with pytest.raises(ParameterError, match="Only numbers can be rounded; g is no numeric"):
        getattr(Rounded(params=PLAIN, precision={"g": 1}), begin)(data_prepared)


def test_no_steps_round_nothing(data_prepared):
    work = PLAIN.prepare(data_prepared).release(KEY)
    assert work.rounded({}) is work


def test_a_release_without_a_law_is_rounded_too(data_prepared):
    swap = rwn.RankSwapping().prepare(data_prepared).release(KEY).rounded({"x": 2.0})
    assert (swap.law, (swap.masked.frame["x"] % 2).any()) == (None, False)
    both = Rounded(params=rwn.RankSwapping(), precision={"x": 2})
    assert both.prepare(data_prepared).law is None


def test_donors_of_a_table_without_relations(data_prepared):
    found = shuffled_donors(data_prepared, KEY)
    for stream in range(len(data_prepared.names)):
        order = np.argsort(uniforms(KEY, np.arange(20), stream)[0], kind="stable")
        assert found[:, stream].tolist() == order.tolist()
    np.testing.assert_array_equal(shuffled_donors(data_prepared, KEY), found)
    grouped = shuffled_donors(data_prepared.with_slices((("x", "y"),)), KEY)
    np.testing.assert_array_equal(grouped[:, 0], grouped[:, 1])


def test_whole_rows_share_a_donor_but_for_what_is_not_masked(data_prepared):
    shown = data_prepared.with_schema(
        data_prepared.schema.replace_variable("g", masked=False, group="mine")
    )
    whole = together(shown)
    assert [v.group for v in whole.schema.released] == [TOGETHER] * 3 + [None]
    law = rwn.RowCopy(k=3, q=0.5).prepare(shown).law
    assert law.units() == [("x", "y", "n"), ("g",)]
    assert law.q.tolist() == [0.5, 0.5, 0.5, 0.0]
    assert rwn.RowCopy(k=3).preview(shown).law.units() == law.units()
    assert law.neighborhoods.sizes.tolist() == [3] * 20
    assert (law.rule.ball.k, law.rule.ball.epsilon) == (3, 0.0)


def test_a_release_says_how_it_was_made_and_drops_lost_rows_only_of_a_sample(data_prepared):
    release = mask(data_prepared, rwn.RandomSample(left_out=0.25), seed=5, precision={"x": 0.5})
    assert release.method == "sampling"
    assert release.params == rwn.RandomSample(left_out=0.25)
    assert release.precision == (("x", 0.5),)
    kept = release.masked.frame["g"].notna().to_numpy()
    assert (
        release.published("original").frame["y"].tolist() == data_prepared.frame["y"][kept].tolist()
    )
    order = release.order[kept[release.order]]
    assert release.published().frame["y"].tolist() == data_prepared.frame["y"].iloc[order].tolist()
    lost = mask(data_prepared, NBRS2015(epsilon=1e-9), seed=5)
    assert lost.masked.frame.isna().to_numpy().all()
    assert lost.published().n == 20
    swapped = Rounded(params=RandomSwapping(variables="n"), precision={"n": 9})
    own = mask(data_prepared, swapped, seed=5, precision={"x": 0.5})
    assert own.precision == (("n", 9.0), ("x", 0.5))
    assert own.params == RandomSwapping(variables="n")
    again = mask(data_prepared, rwn.RandomSample(left_out=0.25), seed=SecretKey.from_seed(5))
    assert again.masked.frame["y"].equals(release.masked.frame["y"])
    fresh = [mask(data_prepared, RandomSwapping(variables="n", share=1.0)) for _ in range(2)]
    assert (fresh[0].order != fresh[1].order).any()
    with pytest.raises(ParameterError, match="order must be one of: shuffled, original"):
        release.published("sorted")  # type: ignore[arg-type]
