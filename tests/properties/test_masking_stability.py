"""What may not matter to a release: a larger neighborhood, units, weights, threads and chunks."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey
from tests.properties.tables import EXAMPLES, cases, columns, with_variable

ALPHA = 1e-6


def sha256(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def drawn(neighborhoods, key, q, *, streams=range(4), threads=None, chunk=10**6):
    """The donors of all records, drawn for so many records at a time."""
    parts = [
        Draws(key, np.arange(first, min(first + chunk, neighborhoods.n)), streams)
        for first in range(0, neighborhoods.n, chunk)
    ]
    with work(threads=threads):
        return np.vstack([draw_donors(neighborhoods, part, q) for part in parts])


@pytest.mark.parametrize("params", [RWN(k=5, epsilon=1.0, q=0.6), NBRS2015(epsilon=1.0, q=0.6)])
@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_and_threads_give_the_same_donors(params, threads):
    rng = np.random.default_rng(4)
    n = 2100  # the tree engine, too
    frame = pd.DataFrame(rng.integers(0, 9, (n, 3)), columns=list("xyz"))
    microdata = Microdata.from_frame(frame)
    expected = sha256(mask(microdata, params, seed=7).donors)
    neighborhoods = find_neighborhoods(coordinates(microdata), k=5, epsilon=1.0)
    streams, q = random_streams(microdata), np.full(3, 0.6)
    assert sha256(mask(microdata, params, seed=7, threads=threads).donors) == expected
    key = SecretKey.from_seed(7)
    hashes = {
        sha256(drawn(neighborhoods, key, q, streams=streams, threads=threads, chunk=chunk))
        for chunk in (1000, 64, n, 701)
    }
    assert len(hashes) == 1
    if isinstance(params, RWN):
        assert hashes == {expected}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("params", [RWN(k=5, q=0.6), NBRS2015(epsilon=1.0)])
def test_a_seed_decides_the_bytes(params, form):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(list("abc"), 80)})
    microdata = Microdata.from_frame(frame)
    first, again, other, fresh, fresher = (
        mask(microdata, params, seed=seed).to_bytes(form) for seed in (7, 7, 8, None, None)
    )
    assert first == again
    assert len({first, other, fresh, fresher}) == 4


STABLE_POINTS = np.random.default_rng(6).normal(size=(400, 2))


STABLE_REACH = {"k": 8, "epsilon": 0.3}


@pytest.mark.parametrize("change", [{"k": 9}, {"k": 16}, {"epsilon": 0.4}, {"epsilon": 0.8}])
def test_growing_a_neighborhood_changes_as_few_donors_as_possible(change, key_base):
    """Each with probability 1 - |S|/|S'|: no way to draw uniformly from both can change fewer."""
    small = find_neighborhoods(STABLE_POINTS, **STABLE_REACH)
    large = find_neighborhoods(STABLE_POINTS, **{**STABLE_REACH, **change})
    assert (large.sizes >= small.sizes).all()
    grown, releases = 1 - small.sizes / large.sizes, 60
    changed = np.zeros(400)
    for number in range(releases):
        key = SecretKey(hashlib.sha256(f"{key_base} {number}".encode()).digest())
        before = drawn(small, key, np.ones(4))
        after = drawn(large, key, np.ones(4))
        changed += (before != after).sum(axis=1)
    expected = releases * 4 * grown
    assert not changed[grown == 0].any()
    score = (changed.sum() - expected.sum()) / np.sqrt((expected * (1 - grown)).sum())
    assert 2 * stats.norm.sf(abs(score)) > ALPHA


def test_fresh_draws_would_change_nearly_all_donors():
    """The planted wrong way: without one key for both, the test above would fail."""
    neighborhoods = find_neighborhoods(STABLE_POINTS, **STABLE_REACH)
    before, after = (drawn(neighborhoods, SecretKey.from_seed(seed), np.ones(4)) for seed in (1, 2))
    assert (before != after).mean() > 0.5


@EXAMPLES
@given(cases(), st.sampled_from([0.5, 2.0]))
def test_unit_and_origin_of_a_number_do_not_matter(case, factor):
    microdata, rule, q, seed = case
    numeric = [name for name in microdata.names if microdata.frame[name].dtype == "float64"]
    assume(numeric)
    frame = microdata.frame
    frame[numeric[0]] = frame[numeric[0]] * factor + 16.0
    moved = Microdata.from_frame(frame, microdata.schema)
    unchanged = mask(microdata, RWN(**rule, q=q), seed=seed).donors
    np.testing.assert_array_equal(mask(moved, RWN(**rule, q=q), seed=seed).donors, unchanged)


@EXAMPLES
@given(cases(), st.data())
def test_a_variable_of_weight_0_does_not_steer_the_donors_of_others(case, data):
    microdata, rule, q, seed = case
    extra = data.draw(columns(microdata.n))
    frame = microdata.frame
    frame["extra"] = extra
    wide = with_variable(Microdata.from_frame(frame), "extra", weight=0.0)
    unchanged = mask(microdata, RWN(**rule, q=q), seed=seed).donors
    np.testing.assert_array_equal(mask(wide, RWN(**rule, q=q), seed=seed).donors[:, :-1], unchanged)
