"""Masking of any table: what holds, what is stable, and the reference in plain Python."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from rwn_core import NBRS2015, RWN, Microdata, Role, coordinates, find_neighborhoods, mask
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, weigh
from rwn_core.neighbors.table import complete_table
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey
from tests.core.laws.cell_probability import probability
from tests.core.neighbors.test_soft_kernel import hard_tables, matrix
from tests.lanes import some
from tests.oracles.exact_cells import exact_probability
from tests.properties import reference_rwn

EXAMPLES = settings(max_examples=40)

# A column is a list of small numbers (None where missing), written as one of these types.
TYPES = {
    "int64": lambda codes: pd.Series(codes, dtype="int64"),
    "float64": lambda codes: pd.Series(codes, dtype="float64") * 0.5,
    "float32": lambda codes: pd.Series(codes, dtype="float32"),
    "bool": lambda codes: pd.Series([code % 2 == 0 for code in codes], dtype="bool"),
    "category": lambda codes: _categories(codes, ordered=False),
    "ordered": lambda codes: _categories(codes, ordered=True),
    "datetime64": lambda codes: pd.Series(
        [pd.NaT if code is None else pd.Timestamp(2020, 1, 1 + code) for code in codes],
        dtype="datetime64[ns]",
    ),
    "string": lambda codes: pd.Series(_letters(codes), dtype="string"),
    "text": lambda codes: pd.Series(_letters(codes), dtype="str"),
    "Int64": lambda codes: pd.Series(codes, dtype="Int64"),
    "boolean": lambda codes: pd.Series(
        [None if code is None else code % 2 == 0 for code in codes], dtype="boolean"
    ),
}
WITHOUT_MISSING = {"int64", "bool"}


def _letters(codes: list[int | None]) -> list[str | None]:
    return [None if code is None else "abcdefghij"[code] for code in codes]


def _categories(codes: list[int | None], *, ordered: bool) -> pd.Series:
    levels = list("jihgfedcba") if ordered else list("abcdefghij")
    return pd.Series(pd.Categorical(_letters(codes), categories=levels, ordered=ordered))


@st.composite
def columns(draw: st.DrawFn, n: int, types: tuple[str, ...] = tuple(TYPES)) -> pd.Series:
    """One column of n values, at least two of them different, none or some missing."""
    type_ = draw(st.sampled_from(types))
    code: st.SearchStrategy[int | None] = st.integers(0, draw(st.sampled_from([1, 3, 9])))
    if type_ not in WITHOUT_MISSING and draw(st.booleans()):
        code = st.none() | code
    codes = draw(st.lists(code, min_size=n - 2, max_size=n - 2))
    return TYPES[type_]([0, 1, *codes])


@st.composite
def frames(draw: st.DrawFn, smallest: int = 3, largest: int = 30) -> pd.DataFrame:
    """A table of up to 30 records and 5 columns."""
    n = draw(st.integers(smallest, largest))
    names = list("uvwxy")[: draw(st.integers(1, 5))]
    return pd.DataFrame({name: draw(columns(n)) for name in names})


@st.composite
def settings_for(draw: st.DrawFn, n: int) -> dict[str, object]:
    """A k, an epsilon or both, for n records; no neighborhood is empty."""
    k = draw(st.integers(1, n - 1))
    epsilon = draw(st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))
    return {"k": k, "epsilon": epsilon}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Microdata, dict[str, object], float, int]:
    """A table, a rule (epsilon and k), a q and a seed."""
    frame = draw(frames())
    rule = draw(settings_for(len(frame)))
    q = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    return Microdata.from_frame(frame), rule, q, draw(st.integers(0, 1000))


def random_frame(number: int, largest: int = 32) -> pd.DataFrame:
    """Table `number` of a fixed series: numbers with ties, categories, missing values."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(2, largest + 1))
    frame = {}
    for place in range(int(rng.integers(1, 5))):
        name = f"c{place}"
        kind = rng.integers(0, 4)
        if kind == 0:
            column = rng.normal(size=n)
        elif kind == 1:
            column = rng.integers(0, 4, n).astype(float)
        else:
            column = rng.choice(["a", "b", "c"], n).astype(object)
        if kind in (1, 3) and n > 4:
            column[rng.choice(n, n // 5, replace=False)] = np.nan if kind == 1 else None
        frame[name] = column
    frame["last"] = np.arange(n) % max(2, n // 3)
    return pd.DataFrame(frame)


def with_variable(microdata: Microdata, name: str, **changes: object) -> Microdata:
    """The table with another field of one variable's schema."""
    return microdata.with_schema(microdata.schema.replace_variable(name, **changes))


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
    streams = random_streams(microdata)
    q = np.full(3, 0.6)
    assert sha256(mask(microdata, params, seed=7, threads=threads).donors) == expected
    key = SecretKey.from_seed(7)
    hashes = {
        sha256(drawn(neighborhoods, key, q, streams=streams, threads=threads, chunk=chunk))
        for chunk in (1000, 64, n, 701)
    }
    assert len(hashes) == 1
    if isinstance(params, RWN):
        assert hashes == {expected}


STABLE_POINTS = np.random.default_rng(6).normal(size=(400, 2))


STABLE_REACH = {"k": 8, "epsilon": 0.3}


@pytest.mark.parametrize("change", [{"k": 9}, {"k": 16}, {"epsilon": 0.4}, {"epsilon": 0.8}])
def test_growing_a_neighborhood_changes_as_few_donors_as_possible(change, key_base):
    """Each with probability 1 - |S|/|S'|: no way to draw uniformly from both can change fewer."""
    small = find_neighborhoods(STABLE_POINTS, **STABLE_REACH)
    large = find_neighborhoods(STABLE_POINTS, **{**STABLE_REACH, **change})
    assert (large.sizes >= small.sizes).all()
    grown = 1 - small.sizes / large.sizes
    releases = 60
    changed = np.zeros(400)
    for number in range(releases):
        key = SecretKey(hashlib.sha256(f"{key_base} {number}".encode()).digest())
        before = drawn(small, key, np.ones(4))
        after = drawn(large, key, np.ones(4))
        changed += (before != after).sum(axis=1)
    expected = releases * 4 * grown
    assert not changed[grown == 0].any()
    fresh = drawn(small, SecretKey.from_seed(1), np.ones(4))
    assert (before != fresh).mean() > 0.5, "the planted wrong way: another key"
    score = (changed.sum() - expected.sum()) / np.sqrt((expected * (1 - grown)).sum())
    assert 2 * stats.norm.sf(abs(score)) > ALPHA


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


TABLES, GROUPS = 160, 4


def plain_columns(frame: pd.DataFrame) -> list[list[object]]:
    """Columns as Python lists, None where missing."""
    return [[None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame]


@pytest.mark.parametrize("group", some((0, 1), range(GROUPS)))
def test_donors_equal_the_plain_loop(group, key_base):
    for number in range(group, TABLES, GROUPS):
        frame = random_frame(number)
        rng = np.random.default_rng((number, len(key_base)))
        k = int(rng.integers(1, len(frame)))
        epsilon = [None, 0.0, 0.7, 1.5, 3.0][number % 5]
        q = [1.0, 0.5, 0.9][number % 3]
        key = SecretKey(rng.bytes(32))
        release = mask(Microdata.from_frame(frame), RWN(k=k, epsilon=epsilon, q=q), seed=key)
        words = tuple(int(word) for word in key.words)
        expected = reference_rwn.donors(plain_columns(frame), k, epsilon, q, words)
        assert release.donors.tolist() == expected, (number, k, epsilon, q)
        reference_rwn.chacha20_words.cache_clear()


def test_the_plain_loop_knows_the_published_block():
    """RFC 8439, section 2.3.2: its counter 1 and nonce are record, stream and block here."""
    key = tuple(int.from_bytes(bytes(range(i, i + 4)), "little") for i in range(0, 32, 4))
    words = reference_rwn.chacha20_words(key, 0x09000000 * 2**32 + 1, 0x4A000000, 0)
    assert [words[0], words[15]] == [0xE4E7F110, 0x4E3C50A2]


SHAPES = ("gaussian", "exponential")
BANDWIDTHS = ("adaptive", "fixed", "absolute")


def kernel_numbers(number: int) -> Kernel:
    """Return one of many kernels; the tables of `hard_tables` repeat after five."""
    return Kernel(
        shape=SHAPES[number % 2],
        bandwidth=BANDWIDTHS[number // 2 % 3],
        width=(0.4, 1.0, 2.5)[number // 3 % 3],
        cap=(0.1, 0.3, 1.0)[number // 7 % 3],
        own=number // 4 % 2 == 1,
        balance=(1.0, 1.0, 0.5, 0.0)[number // 5 % 4],
    )


def test_rows_columns_the_cap_and_the_order_of_records():
    rng = np.random.default_rng(1)
    reached = 0
    for number, points in enumerate(hard_tables(200)):
        kernel = kernel_numbers(number)
        found = weigh(
            kernel, scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k))
        )
        weights = matrix(points, kernel)
        assert np.isfinite(weights).all()
        assert abs(weights.sum(axis=1) - 1).max() <= 1e-12
        assert weights.max() <= kernel.cap * (1 + 1e-12)
        assert weights.diagonal().any() == kernel.own
        drift = abs(weights.sum(axis=0) - 1).max()
        if kernel.balance == 1:
            assert drift == pytest.approx(found.error, abs=1e-12)
            reached += drift <= 1e-6
        order = rng.permutation(len(points))
        moved = matrix(points[order], kernel)
        near = 1e-9 if kernel.balance == 0 else 1e-4
        if not found.error > 1e-6:
            np.testing.assert_allclose(moved, weights[np.ix_(order, order)], rtol=0, atol=near)
    assert reached >= 99  # not that of heavy tails at 0.4 of their unit, which says so
    # planted faults: without balance, without a cap, with records in another order
    points = hard_tables(5)[1]
    free = matrix(points, Kernel(shape="gaussian", cap=1.0))
    assert abs(free.sum(axis=0) - 1).max() > 0.1
    assert free.max() > 0.9
    balanced = Kernel(shape="gaussian", balance=1.0)
    order = rng.permutation(len(points))
    assert abs(matrix(points[order], balanced) - matrix(points, balanced)).max() > 0.01
