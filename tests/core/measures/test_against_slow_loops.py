"""Rewritten loops of the audit against slow ones, on missing, constant, rare and single values."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, RWN, Comparison, Microdata, load_demo, mask
from rwn_core.evaluation.audit import compare as compared
from rwn_core.measures.attacks import worst_case
from rwn_core.measures.attacks.guessing import Closest, canonical_sample
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.attacks.predicate import GRID, _corners
from rwn_core.measures.attacks.red_team import matching
from rwn_core.measures.attacks.red_team.files import _mean_ranks
from rwn_core.measures.attacks.red_team.nearest import _distances
from rwn_core.measures.attacks.true_match import UniqueRecords
from rwn_core.measures.measure import UNMASKED, UNRELATED
from rwn_core.measures.risk import ordinary_linkage
from rwn_core.measures.risk.guesses import coincidences
from rwn_core.measures.risk.membership import _once, fingerprints, own_values
from rwn_core.measures.risk.population_risk import LARGEST, scores
from rwn_core.neighbors.record_draws import uniforms_of_columns
from rwn_core.neighbors.table import LARGEST_DENSE
from rwn_core.randomness import SecretKey, uniforms

NAN = np.nan
ODD_COLUMNS = [
    [1.0, 2.0, 2.0, NAN, 5.0, 5.25, -1.0],
    [3.0] * 7,
    [NAN] * 7,
    [0.0, -0.0, 1e-150, 1e150, -1e150, 7.0, 7.0],
    [NAN, NAN, NAN, 4.0, NAN, NAN, NAN],
]


def near(values, shown):
    return ordinary_linkage._near(ordinary_linkage._Compared.of(values), shown)


@pytest.mark.parametrize("column", ODD_COLUMNS)
def test_ranges_of_numbers_agree_as_differences_do(column):
    values = np.array(column)
    shown = np.array([*column, 2.1, 4.75, 1e149, 1e200])
    found = near(values, shown).of_rows(slice(None))
    apart = np.abs(shown[:, np.newaxis] - values)
    np.testing.assert_array_equal(found, apart <= ordinary_linkage._tolerance(values))


def test_ranges_hold_at_the_edge_of_agreement():
    """A difference that is the tolerance, or beyond it by the last bit, is judged alike."""
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(size=400), 2)
    reach = ordinary_linkage._tolerance(values)
    shown = np.concatenate((values + reach, values - reach, np.nextafter(values + reach, 9)))
    found = near(values, shown).of_rows(slice(0, len(shown)))
    np.testing.assert_array_equal(found, np.abs(shown[:, np.newaxis] - values) <= reach)
    assert found.any(axis=1).sum() > 300


def test_more_values_than_a_short_number_holds_agree_alike():
    values = np.arange(70_000.0)
    shown = np.array([0.0, 65_533.5, 65_535.0, 69_999.0, NAN])
    found = near(values, shown).of_rows(slice(None))
    apart = np.abs(shown[:, np.newaxis] - values)
    np.testing.assert_array_equal(found, apart <= ordinary_linkage._tolerance(values))


@pytest.mark.parametrize("column", ODD_COLUMNS)
def test_mean_ranks_are_those_of_pandas(column):
    np.testing.assert_array_equal(_mean_ranks(np.array(column)), pd.Series(column).rank())


def test_a_sample_of_people_is_in_the_order_of_dense_ranks():
    frame = pd.DataFrame({str(j): column for j, column in enumerate(ODD_COLUMNS)})
    frame["text"] = ["b", None, "a", "b", "a", "a", "b"]
    frame["day"] = pd.to_datetime(["2020-01-02", "2020-01-01", None, *["2020-01-01"] * 4])
    frame["whole"] = pd.array([3, None, 1, 1, 2, 2, 2], dtype="Int64")
    table = Microdata(frame, Microdata.from_frame(frame.ffill().bfill().fillna(0.0)).schema)
    dense = frame.apply(lambda column: column.rank(method="dense", na_option="top"))
    expected = np.lexsort(dense.to_numpy(dtype=np.float64).T[::-1])
    assert canonical_sample(table).tolist() == expected.tolist()
    assert canonical_sample(table.take(np.array([4]))).tolist() == [0]


def is_alone(cells, units, record, chosen):
    same = (cells[:, chosen] == cells[record, chosen]).all(axis=1)
    return len(np.unique(units[same])) == 1


def minimal_uniques(cells, units, record):
    """Return the sets that single a record out and hold no smaller one that does."""
    found = []
    for size in range(1, min(LARGEST, cells.shape[1]) + 1):
        for chosen in combinations(range(cells.shape[1]), size):
            smaller = any(set(part) <= set(chosen) for part in found)
            if not smaller and is_alone(cells, units, record, list(chosen)):
                found.append(chosen)
    return found


def slow_suda(cells, units):
    """Return the score and the smallest minimal unique of each record, set by set."""
    m = cells.shape[1]
    total, smallest = [], []
    for record in range(len(cells)):
        sizes = list(map(len, minimal_uniques(cells, units, record)))
        total.append(sum(weight_of(size, m) for size in sizes))
        smallest.append(min(sizes, default=0))
    return total, smallest


def weight_of(size, m):
    """Return what a minimal unique of a size adds to the score, of m variables."""
    return np.prod([max(m - i, 1) for i in range(size, LARGEST + 1)])


@pytest.mark.parametrize(("n", "levels"), [(60, 3), (60, 30), (1, 2), (2, 1)])
def test_special_uniques_are_those_of_a_slow_search(n, levels):
    rng = np.random.default_rng(n + levels)
    cells = rng.integers(-1, levels, size=(n, 4))
    cells[:, 3] = 0
    for units in (None, rng.integers(0, max(1, n // 2), size=n)):
        found = scores(cells, units)
        whose = np.arange(n) if units is None else units
        for mine, slow in zip(found[:2], slow_suda(cells, whose), strict=True):
            np.testing.assert_array_equal(mine, slow)


def slow_uniques(codes, units):
    """Return run, first record and code of each value that only one unit has."""
    found = []
    for place, run in enumerate(codes):
        for code in np.unique(run[run >= 0]):
            having = np.flatnonzero(run == code)
            if len(np.unique(units[having])) == 1:
                found.append((place, int(having[0]), int(code)))
    return found


@pytest.mark.parametrize("large", [0, 2**61])
@pytest.mark.parametrize("by_unit", [False, True])
def test_sample_uniques_are_those_of_a_count(large, by_unit):
    """Codes that leave no room for the number of a record are found alike."""
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, 40, 50), 100 + large + rng.integers(0, 40, 50)])
    codes[rng.random(codes.shape) < 0.1] = -1
    units = rng.integers(0, 20, 50)
    unique = UniqueRecords(codes, 5, units if by_unit else None)
    expected = slow_uniques(codes, units if by_unit else np.arange(50))
    runs, first, values = zip(*expected, strict=True)
    assert unique.which.tolist() == [5 + run for run in runs]
    assert unique.person.tolist() == list(first)
    asked = np.stack([np.array([3, -1, 39, 200]), np.array([103, 139, -1, 7]) + large])
    wanted = np.nonzero(np.isin(asked, values))[1]
    assert unique.find(asked).row.tolist() == wanted.tolist()


def test_nothing_is_found_where_every_value_is_missing():
    nobody = UniqueRecords(np.full((1, 3), -1), 0, None)
    assert not len(nobody.find(np.array([[3, -1]])).row)


def test_distances_of_the_nearest_attack_are_those_of_differences():
    rng = np.random.default_rng(5)
    some, others = rng.normal(size=(30, 3)), rng.normal(size=(70_000, 3))
    found = np.concatenate([part for _, part in _distances(some, others)])
    slow = np.stack([((others - point) ** 2).sum(axis=1) for point in some])
    np.testing.assert_allclose(found, slow, atol=1e-9)


@pytest.fixture(scope="module")
def release() -> Comparison:
    data = load_demo("bodyfat")
    return compared(data, mask(data, RWN(epsilon=2.0, k=5), seed=7))


@pytest.mark.parametrize("keys", [None, ("age", "height")])
def test_links_row_by_row_are_the_same_before_and_after_the_worst_case(release, keys):
    for known in (False, True):
        comparison = release.with_masked(release.masked, release.law)
        if known:
            worst_case.worst_case(comparison, keys)
        found = worst_case.links_row_by_row(comparison, keys)
        alone = link(release.required_law(), release.masked, keys)
        for part in ("rows", "best", "truth", "first"):
            np.testing.assert_array_equal(getattr(found, part), getattr(alone, part))


def test_own_values_are_the_same_whichever_measure_is_read_first(release):
    values = []
    for order in (("membership", "differential_privacy"), ("differential_privacy", "membership")):
        comparison = release.with_masked(release.masked, release.law)
        values.append({key: MEASURES[key].read(comparison, bare=True).value for key in order})
    assert values[0] == values[1]
    appears, own = fingerprints(release.required_law())
    assert values[0]["membership"] == appears[own > 0].mean()


def test_the_ends_of_the_red_team_assign_no_rows_and_its_reading_does(release, monkeypatch):
    assigned = []
    attack = matching._assigned
    monkeypatch.setattr(matching, "_assigned", lambda *of: assigned.append(of[2]) or attack(*of))
    reading = MEASURES["red_team"].read(release.with_masked(release.masked, release.law))
    assert assigned == ["all variables", "the keys"]
    assert reading.ends[UNMASKED] == 1.0
    assert 0 < reading.ends[UNRELATED] < 0.03


def test_variables_whose_values_all_differ_appear_as_each_alone():
    numbers = np.random.default_rng(3)
    frame = pd.DataFrame(numbers.normal(size=(80, 4)), columns=list("wxyz"))
    frame["z"] = frame["z"].round(0)
    data = Microdata.from_frame(frame)
    release = mask(data, RWN(k=6, q=0.4), seed=1)
    find = _once(compared(data, release), release.law, None)
    for name in "wxyz":
        alone = own_values(release.law, None, (name,))
        for found, expected in zip(find((name,)), alone, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_corners_with_one_record_are_those_of_a_slow_count(missing):
    numbers = np.random.default_rng(5)
    values = np.round(numbers.normal(size=(60, 2)), 1)
    values[numbers.random(values.shape) < missing] = np.nan
    data = Microdata.from_frame(pd.DataFrame(values, columns=["x", "y"]))
    expected = [slow_corner(values, *up) for up in product((True, False), repeat=2)]
    found = []
    for predicate, record in _corners(data, "x", "y", {}):
        x, y = predicate.conditions
        found.append((x.value, y.value, record))
    assert found == [each for each in expected if each]
    assert len(found) > 2


def slow_corner(values, *upward):
    """Return both cuts and the record of the corner in the middle that holds one; or nothing."""
    known = values[~np.isnan(values).any(axis=1)]
    cuts = [np.unique(np.quantile(column, GRID)) for column in known.T]
    corner = ()
    widest = 0
    for limits in product(*cuts):
        x, y = map(beyond, values.T, limits, upward)
        spread = min(x.sum(), y.sum())
        if (x & y).sum() == 1 and spread > widest:
            widest = spread
            corner = (*limits, int(np.flatnonzero(x & y)[0]))
    return corner


def beyond(column, limit, upward):
    return column >= limit if upward else column <= limit


@pytest.mark.parametrize("gone", [[], [0, 3], range(0, 30, 2)])
def test_two_parts_coincide_as_in_a_slow_count(gone):
    numbers = np.random.default_rng(6)
    frame = pd.DataFrame(numbers.integers(0, 4, size=(30, 4)).astype(float), columns=list("wxyz"))
    data = Microdata.from_frame(frame)
    shown = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    shown.loc[list(gone), ["w", "x"]] = np.nan
    comparison = Comparison(original=data, masked=Microdata(shown, data.schema))
    parts = Closest(comparison, ("w", "x")), Closest(comparison, ("y", "z"))
    expected = []
    for person in range(30):
        nearest = []
        for part in parts:
            ties = part.ties(part.people(data))[person]
            nearest.append(set(part.rows[ties].tolist()))
        expected.append(len(nearest[0] & nearest[1]) / (len(nearest[0]) * len(nearest[1])))
    np.testing.assert_allclose(coincidences(parts, data), expected)


@pytest.mark.parametrize("n", [40, LARGEST_DENSE + 1])
def test_random_numbers_of_all_columns_are_those_of_each(n):
    key = SecretKey.from_seed(3)
    streams = (0, 1, 1, 5)
    found = uniforms_of_columns(key, n, streams)
    for numbers, stream in zip(found, streams, strict=True):
        np.testing.assert_array_equal(numbers, uniforms(key, np.arange(n), stream)[0])
