"""What holds for every table, setting and key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import assume, given
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from tests.core.laws.cell_probability import probability
from tests.oracles.exact_cells import exact_probability
from tests.properties.tables import EXAMPLES, cases, frames, with_variable


def same_values(one: pd.Series, two: pd.Series) -> np.ndarray:
    """Where two columns hold the same; missing is the same as missing."""
    both_missing = one.isna() & two.isna()
    return ((one == two).fillna(False) | both_missing).to_numpy(dtype=bool)


@EXAMPLES
@given(cases(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]))
def test_raising_q_only_adds_modified_cells(case, other):
    microdata, rule, q, seed = case
    low, high = sorted([q, other])
    fewer = mask(microdata, RWN(**rule, q=low), seed=seed).donors
    more = mask(microdata, RWN(**rule, q=high), seed=seed).donors
    own = np.arange(microdata.n)[:, None]
    modified = fewer != own
    np.testing.assert_array_equal(more[modified], fewer[modified])


@EXAMPLES
@given(cases())
def test_values_are_those_of_donors_in_the_neighborhood_and_types_survive(case):
    """So every one of them exists in its column, and columns never mix."""
    microdata, rule, q, seed = case
    release = mask(microdata, RWN(**rule, q=q), seed=seed)
    neighborhoods = find_neighborhoods(coordinates(microdata), **rule)
    for record in range(microdata.n):
        members = set(neighborhoods.members(record).tolist())
        assert record not in members
        assert set(release.donors[record].tolist()) <= (members if q == 1 else members | {record})
    for place, name in enumerate(microdata.names):
        given_ = microdata.frame[name].iloc[release.donors[:, place]].reset_index(drop=True)
        assert same_values(release.masked.frame[name], given_).all()
    pd.testing.assert_series_equal(release.masked.frame.dtypes, microdata.frame.dtypes)
    assert release.masked.schema == microdata.schema


@EXAMPLES
@given(frames(), st.integers(0, 99), st.sampled_from([RWN(k=2), NBRS2015(epsilon=1.0)]))
def test_the_callers_frame_never_changes(frame, seed, params):
    before = frame.copy(deep=True)
    release = mask(Microdata.from_frame(frame), params, seed=seed)
    pd.testing.assert_frame_equal(frame, before)
    released = release.masked.frame
    released.iloc[0, 0] = released.iloc[1, 0]  # nor through what comes out
    pd.testing.assert_frame_equal(frame, before)


@EXAMPLES
@given(cases())
def test_a_variable_that_is_not_masked_stays(case):
    microdata, rule, _, seed = case
    first, *others = microdata.names
    assume(others)
    kept = with_variable(microdata, first, masked=False)
    release = mask(kept, RWN(**rule, q=1.0), seed=seed)
    pd.testing.assert_series_equal(release.masked.frame[first], microdata.frame[first])
    whole = mask(microdata, RWN(**rule, q=1.0), seed=seed).donors
    np.testing.assert_array_equal(release.donors[:, 1:], whole[:, 1:])


@EXAMPLES
@given(cases(), st.sampled_from(["csv", "parquet"]))
def test_an_identifier_is_in_no_release(case, form):
    microdata, rule, q, seed = case
    frame = microdata.frame
    frame.insert(0, "person", [f"person-{number:04d}" for number in range(microdata.n)])
    with_names = with_variable(Microdata.from_frame(frame), "person", role=Role.IDENTIFIER)
    release = mask(with_names, RWN(**rule, q=q), seed=seed)
    assert release.masked.names == microdata.names
    content = release.to_bytes(form)
    assert b"person" not in content
    unchanged = mask(microdata, RWN(**rule, q=q), seed=seed)
    assert content == unchanged.to_bytes(form)  # it changes nothing else either


@EXAMPLES
@given(cases())
def test_variables_of_a_group_take_one_donor(case):
    microdata, rule, q, seed = case
    assume(microdata.p >= 2)
    first, *_, last = microdata.names
    grouped = with_variable(with_variable(microdata, first, group="g"), last, group="g")
    donors = mask(grouped, RWN(**rule, q=q), seed=seed).donors
    np.testing.assert_array_equal(donors[:, 0], donors[:, -1])
    unchanged = mask(microdata, RWN(**rule, q=q), seed=seed).donors
    np.testing.assert_array_equal(donors[:, :-1], unchanged[:, :-1])


@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_permuting_rows_permutes_neighborhoods_and_the_law(case, random):
    microdata, rule, _, _ = case
    order = np.array(random.sample(range(microdata.n), microdata.n))
    moved = Microdata.from_frame(microdata.frame.iloc[order], microdata.schema)
    unchanged = find_neighborhoods(coordinates(microdata), **rule)
    permuted = find_neighborhoods(coordinates(moved), **rule)
    for new, old in enumerate(order):
        expected = set(unchanged.members(old).tolist())
        assert set(order[permuted.members(new)].tolist()) == expected


@EXAMPLES
@given(cases())
def test_the_law_is_a_distribution_that_allows_what_happened(case):
    microdata, rule, q, seed = case
    release = mask(microdata, RWN(**rule, q=q), seed=seed)
    for name in microdata.names:
        table, values = release.law.table(name)
        np.testing.assert_allclose(np.asarray(table.sum(axis=1)).ravel(), 1.0, rtol=1e-12)
        for record in range(microdata.n):
            shares = [exact_probability(release.law, record, name, value) for value in values]
            assert sum(shares) == 1
            released = release.masked
            if name in released.numeric_names and not np.isnan(released.values(name)[record]):
                assert probability(release.law, record, name, released.values(name)[record]) > 0


def test_the_published_order_is_secret_and_the_rows_are_whole():
    frame = pd.DataFrame({"x": np.arange(50), "y": np.arange(50) * 2})
    release = mask(Microdata.from_frame(frame), RWN(k=3, q=0.0), seed=7)
    shuffled, original = release.published().frame, release.published("original").frame
    pd.testing.assert_frame_equal(original, frame)
    assert not shuffled["x"].equals(frame["x"])
    assert (shuffled["y"] == 2 * shuffled["x"]).all()
    assert sorted(shuffled["x"]) == list(range(50))


@EXAMPLES
@given(cases())
def test_2015_modifies_whole_records(case):
    microdata, rule, q, seed = case
    params = NBRS2015(epsilon=rule["epsilon"] or 0.7, q=q)
    release = mask(microdata, params, seed=seed)
    own = np.arange(microdata.n)[:, None]
    modified = release.donors != own
    assert (modified.all(axis=1) | ~modified.any(axis=1)).all()
    assert modified[:, 0].sum() == int(microdata.n * q)
    lost = release.donors < 0
    assert (lost.all(axis=1) | ~lost.any(axis=1)).all()
    assert (release.masked.frame.isna().to_numpy() >= lost).all()
    every_one = mask(microdata, replace(params, q=1.0), seed=seed).donors
    np.testing.assert_array_equal(release.donors[modified], every_one[modified])
