"""Neighborhoods outside one's household, held against pairs of records looked at one by one."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets.prepare_run import RunOptions, prepare_run
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.statistics.key_variables import only
from tests.core.laws.cell_probability import probability
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


def test_what_cannot_be_followed_is_refused_by_name(tmp_path):
    data = table(60, sizes=(30,))
    with pytest.raises(ParameterError, match="leaves 31 records outside it; choose k"):
        rwn.mask(data, rwn.RWN(k=32, outside_household=True), seed=1)
    nobody = data.with_schema(data.schema.replace_variable("home", role="identifier"))
    with pytest.raises(ParameterError, match="the role household"):
        rwn.mask(nobody, SETTING, seed=1)
    with pytest.raises(ParameterError, match="needs neighbors to be exact"):
        rwn.RWN(k=2, neighbors="sample", m=9, outside_household=True)
    data.frame.to_parquet(tmp_path / "in.parquet")
    options = RunOptions(schema=data.schema)
    with pytest.raises(ParameterError, match="leave out outside_household"):
        prepare_run(tmp_path / "in.parquet", tmp_path / "out", SETTING, 1, options)
