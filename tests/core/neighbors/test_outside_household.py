"""Neighborhoods outside one's household, held against pairs of records looked at one by one."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets.mask_dataset import RunOptions, prepare_run
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.statistics.key_variables import only
from rwn_core.neighbors.find import check_outside
from tests.core.laws.cell_probability import probability
from tests.oracles.soft_weights import balanced_by_projections
from tests.properties.reference_rwn import points

SETTING = rwn.RWN(k=4, epsilon=0.5, outside_household=True)


def table(n, sizes=(1, 2, 3, 4)):
    """Whole numbers, so that there are ties; households of several sizes, two of them unknown."""
    rng = np.random.default_rng(n)
    household = np.repeat(np.arange(n), np.resize(sizes, n))[:n]
    texts = pd.Series([f"h{number}" for number in household], dtype="str")
    texts[[0, n - 1]] = None
    frame = pd.DataFrame(
        {"home": texts, "age": rng.integers(0, 30, n), "pay": household % 7 + rng.integers(0, 3, n)}
    )
    home = rwn.Variable(name="home", kind="categorical", role="household")
    numbers = (rwn.Variable(name=name, kind="count") for name in ("age", "pay"))
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=(home, *numbers)))


def reference(data, records, k, epsilon):
    """S_i of some records by looking at everybody who lives elsewhere."""
    frame = data.frame
    at = np.array(points([frame["age"].tolist(), frame["pay"].tolist()]))
    homes = [name if isinstance(name, str) else number for number, name in enumerate(frame["home"])]
    found = []
    for i in records:
        far = ((at - at[i]) ** 2).sum(axis=1).tolist()
        elsewhere = [j for j in range(data.n) if homes[j] != homes[i]]
        kth = sorted(far[j] for j in elsewhere)[k - 1]
        edge = max(epsilon**2, kth) * (1 + 1e-9)
        found.append(({j for j in elsewhere if far[j] <= edge}, sqrt(max(epsilon**2, kth))))
    return found


@pytest.mark.parametrize("n", [60, 2100], ids=["all pairs at once", "by a tree"])
def test_neighbors_are_those_who_live_elsewhere(n):
    data, records = table(n), range(0, n, n // 20)
    found = SETTING.neighborhoods(data)
    for i, (members, radius) in zip(records, reference(data, records, 4, 0.5), strict=True):
        assert set(found.members(i).tolist()) == members
        assert found.sizes[i] == len(members)
        assert found.radius[i] == pytest.approx(radius, rel=1e-9)


def test_the_law_and_the_releases_draw_from_them_alone():
    data = table(60)
    release, members = rwn.mask(data, SETTING, seed=3), reference(data, range(60), 4, 0.5)
    for i in range(60):
        inside = members[i][0]
        assert set(release.donors[i].tolist()) <= inside
        ages = data.frame["age"].to_numpy()[sorted(inside)]
        chance = probability(release.law, i, "age", int(ages[0]))
        assert chance == pytest.approx((ages == ages[0]).mean(), rel=1e-12)
    assert release.masked.names == ("age", "pay")


def test_a_screen_a_sweep_and_random_records_find_the_same():
    data = table(2100)
    wanted = rwn.mask(data, SETTING, seed=3).donors
    key = rwn.SecretKey.from_seed(3)
    assert (SETTING.preview(data).release(key).donors == wanted).all()
    wide = SETTING.prepare(data, settings=[rwn.RWN(k=9, epsilon=0.7, outside_household=True)])
    assert (wide.with_levers(k=4, epsilon=0.5).release(key).donors == wanted).all()
    some = np.arange(0, 2100, 7)
    few = SETTING.prepare(data, settings=[SETTING], records=some)
    assert (few.release(key).donors == wanted[some]).all()


def test_an_intruder_who_knows_one_key_finds_them_by_it():
    data = table(60)
    law = rwn.mask(data, SETTING, seed=3).law
    of_age = law.restricted_to(only(data, ["age"]))
    homes = data.frame["home"].tolist()
    for i in range(1, 59):
        assert homes[i] not in [homes[j] for j in of_age.neighborhoods.members(i)]
    with pytest.raises(NotApplicable, match="outside_household"):
        law.outside(data)


SOFT = rwn.SoftRWN(kernel="gaussian", outside_household=True, balance=1.0)


def homes_of(data):
    """A number for each home; records without one live alone."""
    names = data.frame["home"].tolist()
    return np.unique(
        [name if isinstance(name, str) else f"alone {i}" for i, name in enumerate(names)],
        return_inverse=True,
    )[1]


@pytest.mark.parametrize("setting", [SOFT, replace(SOFT, own=True, kernel="exponential")])
def test_a_soft_kernel_weighs_those_who_live_elsewhere(setting):
    data = table(60)
    homes, frame = homes_of(data), data.frame
    at = np.array(points([frame["age"].tolist(), frame["pay"].tolist()]))
    away = np.sqrt(((at[:, None] - at) ** 2).sum(axis=2))
    together = (homes[:, None] == homes) & ~np.eye(60, dtype=bool)
    others = np.where(together | np.eye(60, dtype=bool), np.inf, away)
    scales = np.sort(others, axis=1)[:, 9]
    scales = np.maximum(scales, 0.05 * np.median(scales[scales > 0]))
    far = away / np.sqrt(np.outer(scales, scales))
    kernel = np.exp(-(far**2) / 2) if setting.kernel == "gaussian" else np.exp(-far)
    allowed = ~together if setting.own else ~together & ~np.eye(60, dtype=bool)
    expected = balanced_by_projections(np.where(allowed, kernel, 0.0), 0.1, rounds=4_000)
    found = setting.prepare(data).law.probabilities.toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
    assert not found[together].any()
    anywhere = replace(setting, outside_household=False).prepare(data).law.probabilities.toarray()
    assert anywhere[together].sum() > 1  # the planted fault: households are not left out
    donors = rwn.mask(data, setting, seed=1).donors
    assert not together[np.arange(60)[:, None], donors].any()


def test_soft_donors_of_a_large_table_live_elsewhere():
    data = table(2100)
    found = SOFT.neighborhoods(data)
    homes, rows = homes_of(data), np.repeat(np.arange(2100), found.sizes)
    assert (homes[rows] != homes[found.table.records]).all()
    assert found.imbalance <= 1e-6


def test_k_may_be_as_many_as_the_largest_household_leaves() -> None:
    households = np.array([0, 0, 0, 1, 2, 3])
    for k in (None, 1, 3):
        check_outside(households, k)
    with pytest.raises(ParameterError, match="leaves 3 records"):
        check_outside(households, 4)
    with pytest.raises(ParameterError, match="leaves 0 records"):
        check_outside(np.zeros(6, np.int64), None)


def test_a_household_of_nearly_all_records_is_refused_or_not_balanced():
    frame = pd.DataFrame({"home": ["a"] * 30, "x": np.arange(30.0)})
    home = rwn.Variable(name="home", kind="categorical", role="household")
    schema = rwn.Schema(variables=(home, rwn.Variable(name="x", kind="continuous")))
    data = rwn.Microdata.from_frame(frame, schema)
    with pytest.raises(ParameterError, match="A household holds all that a record lists"):
        rwn.mask(data, SOFT, seed=1)
    frame.loc[20:, "home"] = [f"b{number}" for number in range(10)]
    data = rwn.Microdata.from_frame(frame, schema)
    with pytest.raises(ParameterError, match="cap must be at least 1/10"):
        rwn.mask(data, replace(SOFT, cap=0.05), seed=1)
    release = rwn.mask(data, replace(SOFT, cap=0.5), seed=1)  # 20 records take from 10
    remarks = release.params.remarks(data, release.law)
    assert any("balance is not reached" in text for text in remarks)


def test_copies_in_a_bootstrap_sample_are_no_soft_donors():
    data = table(60)
    rows = np.sort(np.random.default_rng(2).integers(0, 60, 60))
    for setting in (replace(SOFT, outside_household=False), SOFT):
        sample = setting.prepare(data).resampled(rows)
        weights = sample.law.probabilities.toarray()
        assert not weights[rows[:, None] == rows].any()
        np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-6)
    fault = replace(SOFT, outside_household=False).prepare(data.take(rows))
    assert fault.law.probabilities.toarray()[rows[:, None] == rows].sum() > 2


def test_what_cannot_be_followed_is_refused_by_name(tmp_path):
    data = table(60, sizes=(30,))
    with pytest.raises(ParameterError, match="leaves 31 records outside it; choose k"):
        rwn.mask(data, rwn.RWN(k=32, outside_household=True), seed=1)
    check_outside(np.array([0, 0, 1]), None)
    with pytest.raises(ParameterError, match="leaves 0 records"):
        check_outside(np.array([0, 0]), None)
    nobody = data.with_schema(data.schema.replace_variable("home", role="identifier"))
    with pytest.raises(ParameterError, match="the role household"):
        rwn.mask(nobody, SETTING, seed=1)
    with pytest.raises(ParameterError, match="needs neighbors to be exact"):
        rwn.RWN(k=2, neighbors="sample", m=9, outside_household=True)
    data.frame.to_parquet(tmp_path / "in.parquet")
    options = RunOptions(schema=data.schema)
    with pytest.raises(ParameterError, match="leave out outside_household"):
        prepare_run(tmp_path / "in.parquet", tmp_path / "out", SETTING, 1, options)
