"""The certificate bounds every attack; certified linkage."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.evaluation.audit import compare
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.masking.method import Masked
from rwn_core.measures.attacks import certificate
from rwn_core.measures.attacks.certificate import linkage_bounds, ratios_of_release
from rwn_core.measures.attacks.predicate import Condition, Predicate, answer
from rwn_core.measures.attacks.value_survival import appearance, count_distribution, expected_copies
from rwn_core.measures.risk.certified_linkage import log_likelihood
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.metric import shared_metric
from rwn_core.neighbors.soft_lists import list_neighbors, ranked_lists
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods, weigh
from rwn_core.neighbors.table import complete_table
from tests.check_values import check_values
from tests.core.measures.attacks.attribute_tables import number, released
from tests.holding import hold
from tests.oracles.whole_file_beliefs import whole_file_beliefs
from tests.tables import described as described_table

Array = NDArray[np.float64]

ENTRIES = check_values("kernel")


def kernel(width: float = 1.0, cap: float = 1.0, balance: float = 0.0) -> Kernel:
    some = {"width": width, "cap": cap, "balance": balance}
    return Kernel(shape="exponential", bandwidth="absolute", own=True, **some)


def weights_of(points: Array, kernel: Kernel) -> tuple[Array, Array]:
    """The weights of all pairs, and the logarithms of the rows' factors."""
    scaled = scale(kernel, ranked_lists(complete_table(points), kernel.bandwidth_k))
    table = scaled.table
    found = weigh(kernel, scaled)
    weights = np.zeros((table.n, table.n))
    weights[np.repeat(np.arange(table.n), np.diff(table.offsets)), table.records] = found.weights
    return weights, found.row


def distances(points: Array) -> Array:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def everyone(n: int) -> NDArray[np.int32]:
    return np.tile(np.arange(n, dtype=np.int32), (n, 1))


def by_law(slices: list[Array], near: NDArray[np.int32]) -> Array:
    """The ratios before anything is drawn: over all values that a slice may release."""
    return sum(certificate.ratios_of_release(np.log(each).T, near) for each in slices)


def a_priori(points: Array, factors: Array, width: float, slices: int, cap: float = 1.0) -> Array:
    """The ratios that distances and row factors alone bound."""
    kernel = Kernel(shape="exponential", bandwidth="absolute", width=width, cap=cap)
    return certificate.ratios_a_priori(
        factors[:, None] - factors, distances(points), kernel, slices
    )


def values_of(weights: Array, codes: NDArray[np.int64]) -> Array:
    """P(each record releases each value), shape (n, V)."""
    return weights @ np.eye(codes.max() + 1)[codes]


def test_CERT_1_six_records_and_two_slices() -> None:
    given = ENTRIES["CERT-1"]
    points = np.array(given["input"]["W"], dtype=np.float64)
    weights, factors = weights_of(points, kernel(2))
    codes = [np.unique(column, return_inverse=True)[1] for column in points.T]
    slices = [values_of(weights, each) for each in codes]
    donors = [np.array(given["input"][f"donors of column {j}"]) - 1 for j in (1, 2)]
    logs = sum(
        np.log(table[:, own[donor]]).T
        for table, own, donor in zip(slices, codes, donors, strict=True)
    )
    near = everyone(6)
    found = {
        "exact beliefs (rows of the release x records)": whole_file_beliefs(np.exp(logs)),
        "bound by release": certificate.linkage_bounds(
            logs, certificate.ratios_of_release(logs, near), near
        ),
        "bound by law": certificate.linkage_bounds(logs, by_law(slices, near), near),
        "bound a priori (distances and row factors)": certificate.linkage_bounds(
            logs, a_priori(points, factors, 2, 2), near
        ),
    }
    for name, expected in given["expected"].items():
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("slices", [1, 2])
def test_CERT_5_bodyfat(slices: int) -> None:
    expected = ENTRIES["CERT-5"]["expected"]
    data = rwn.load_demo("bodyfat")
    points = shared_metric(data, "sd", "dummies", "schema").coded(data)
    weights, factors = weights_of(points, kernel(4))
    n = data.n
    near = everyone(data.n)
    columns = np.array_split(data.frame.to_numpy(dtype=np.float64), slices, axis=1)
    codes = [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in columns]
    law = by_law([values_of(weights, each) for each in codes], near)
    far = a_priori(points, factors, 4, slices)
    for name, ratios in (("mean over i of sum_k M_ik (law)", law), ("the same a priori", far)):
        value = expected[f"{slices} slice(s): {name}"]
        assert np.exp(ratios).sum() / n == pytest.approx(value, rel=1e-4)


def release_of(rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Array]]:
    """Log-likelihoods of the rows of a small random release, and the ratios by each way."""
    points = rng.normal(size=(n, 3))
    if rng.random() < 0.3:
        points[1] = points[0]
    if rng.random() < 0.2:
        points = np.round(points)
    width = float(rng.choice([0.7, 1.5, 4.0]))
    slices = int(rng.integers(1, 4))
    cap, balance = ((1.0, 0.0), (1.0, 1.0), (0.4, 0.0), (0.4, 1.0))[rng.integers(4)]
    weights, factors = weights_of(points, kernel(width, cap, balance))
    columns = np.array_split(points, slices, axis=1)
    codes = [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in columns]
    tables = [values_of(weights, each) for each in codes]
    total = weights.cumsum(axis=1)
    logs = np.zeros((n, n))
    for own, table in zip(codes, tables, strict=True):
        donor = (total < rng.random(n)[:, None]).sum(axis=1).clip(max=n - 1)
        logs += np.log(table[:, own[donor]]).T
    return logs, {
        "release": certificate.ratios_of_release(logs, everyone(n)),
        "law": by_law(tables, everyone(n)),
        "a priori": a_priori(points, factors, width, slices, cap),
    }


@pytest.mark.parametrize(("n", "releases"), [(4, 300), (6, 400), (8, 30)])
def test_CERT_4_no_belief_is_above_a_bound(n: int, releases: int) -> None:
    """Nor does the best rule of all, which takes the likeliest record, link more than certified."""
    rng = np.random.default_rng(n)
    near = everyone(n)
    below = 0
    gained = []
    fewer = np.stack([[i, (i + 1) % n, (i + 3) % n] for i in range(n)]).astype(np.int32)
    for _ in range(releases):
        logs, ratios = release_of(rng, n)
        exact = whole_file_beliefs(np.exp(logs))
        for each in ratios.values():
            bounds = certificate.linkage_bounds(logs, each, near)
            assert (exact <= bounds + 1e-12).all()
            share = certificate.certified_share(bounds)
            largest = bounds.max(axis=1).mean()
            assert exact.max(axis=1).mean() <= share + 1e-12
            assert share <= largest + 1e-12
            below += share < largest - 1e-9
            gained.append(1 - share)
        part = np.take_along_axis(ratios["release"], fewer, axis=1)
        assert (exact <= certificate.linkage_bounds(logs, part, fewer) + 1e-12).all()
    assert np.mean(gained) > 0.05  # the bounds say something
    assert below or n == 4


def test_a_record_that_may_have_every_row_has_one() -> None:
    """By hand: the first record's bounds are 1 in all of four rows, the others' are .3."""
    bounds = np.full((4, 4), 0.3)
    bounds[:, 0] = 1.0
    assert certificate.certified_share(bounds) == pytest.approx(0.3 + 1 / 4)
    # twins of a kind have a row each, and rows that are alike count as often
    assert certificate.certified_share(bounds[:, :2], np.array([1, 3])) == pytest.approx(
        0.3 + 1 / 4
    )
    assert certificate.certified_share(bounds[:1], None, np.array([4])) == pytest.approx(
        0.3 + 1 / 4
    )
    # of several records that are counted each adds its row
    bounds[:, 1] = 0.9
    assert certificate.certified_share(bounds) == pytest.approx(0.3 + 2 / 4)
    assert certificate.certified_share(np.full((4, 4), 0.25)) == 0.25
    # of two rows of four a record is all of one
    bounds[:, 1] = 0.3
    assert certificate.certified_share(bounds[:2], share=0.5) == pytest.approx(0.3 + 1 / 2)


def test_ratios_that_are_too_large_are_found_out() -> None:
    """The planted fault: without the minimum over rows the bounds fail."""
    rng = np.random.default_rng(9)
    near = everyone(5)
    above = 0
    for _ in range(60):
        logs, _ = release_of(rng, 5)
        bounds = certificate.linkage_bounds(logs, np.zeros((5, 5)), near)
        above += int((whole_file_beliefs(np.exp(logs)) > bounds + 1e-9).any())
    assert above > 20


def test_CERT_6_a_law_with_zeros_certifies_nothing() -> None:
    data = rwn.load_demo("bodyfat")
    zeros = rwn.mask(data, rwn.SoftRWN(own=False), seed=1)
    read = rwn.audit(data, zeros, measures=["certified_linkage"])["certified_linkage"]
    assert "nothing is certified" in read.reason
    with pytest.raises(ValueError, match="among those near it"):
        certificate.linkage_bounds(
            np.zeros((2, 2)), np.zeros((2, 1)), np.array([[1], [0]], dtype=np.int32)
        )


def table_of(points: Array, chosen: Kernel) -> AllDonors:
    return AllDonors.of_points(points, chosen).neighborhoods().table


def points_of(rng: np.random.Generator, n: int) -> Array:
    points = rng.normal(size=(n, 3))
    points[1] = points[0]
    points[2, 0] = 6.0
    points[:, 2] = points[:, 2] > 0.8
    return points


def by_all_pairs(
    points: Array, chosen: Kernel, codes: list[NDArray[np.int64]], rows: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Log-likelihoods of rows for records, and bounds a priori, by full matrices."""
    far = distances(points)
    weights = np.exp(-far / chosen.width)
    for _ in range(200):  # weights above the cap are cut and the others raised
        weights = np.minimum(weights / weights.sum(axis=1, keepdims=True), chosen.cap)
    free = np.where(weights < chosen.cap * (1 - 1e-9), weights, 0)
    place = free.argmax(axis=1)
    each = np.arange(len(points))
    factors = np.log(free[each, place]) + far[each, place] / chosen.width
    logs = sum(
        np.log(weights @ np.eye(own.max() + 1)[own])[:, shown].T
        for own, shown in zip(codes, rows.T, strict=True)
    )
    ratios = a_priori(points, factors, chosen.width, len(codes), chosen.cap)
    return np.asarray(logs), certificate.linkage_bounds(
        np.asarray(logs), ratios, everyone(len(points))
    )


def codes_of(points: Array) -> list[NDArray[np.int64]]:
    parts = (points[:, :1], points[:, 1:])
    return [np.unique(each, axis=0, return_inverse=True)[1].ravel() for each in parts]


@pytest.mark.parametrize("cap", [1.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_exact_beliefs_and_are_those_of_all_pairs(seed: int, cap: float) -> None:
    rng = np.random.default_rng(seed)
    points = points_of(rng, 6)
    chosen = kernel(float(rng.choice([0.7, 2.0, 5.0])), cap)
    codes = codes_of(points)
    rows = np.stack([own[rng.integers(0, 6, 6)] for own in codes], axis=1)
    logs, expected = by_all_pairs(points, chosen, codes, rows)
    table = table_of(points, chosen)
    found = certificate.Exchange.from_table(table, codes).bounds(list(rows.T))
    bounds = found.bounds[found.rows][:, table.places.number]
    assert (whole_file_beliefs(np.exp(logs)) <= bounds).all()
    assert (bounds >= expected * (1 - 1e-9)).all()
    np.testing.assert_allclose(bounds, expected, rtol=2e-4, atol=1e-7)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    points = points_of(rng, 50)
    codes = codes_of(points)
    rows = [own[rng.permutation(50)] for own in codes]
    whole = certificate.Exchange.from_table(table_of(points, kernel()), codes).bounds(rows)
    monkeypatch.setattr(certificate, "BLOCK", 7)
    monkeypatch.setattr("rwn_core.neighbors.all_donors.BLOCK_WEIGHTS", 120)
    parts = certificate.Exchange.from_table(table_of(points, kernel()), codes).bounds(rows)
    np.testing.assert_allclose(parts.bounds, whole.bounds, rtol=1e-5)
    assert (parts.rows == whole.rows).all()


def test_what_numbers_and_memory_cannot_hold(monkeypatch) -> None:
    """Two records so far apart that the likelihood of one beside the other is below any number."""
    points = np.array([[0.0], [0.0], [300.0], [300.0]])
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])]
    table = table_of(points, kernel(width=2.0))
    found = certificate.Exchange.from_table(table, codes).bounds([np.array([0]), np.array([0])])
    bounds = found.bounds[0, table.places.number]
    assert bounds == pytest.approx([0.5, 0.5, 1, 1], rel=1e-3)  # single precision says 1
    points = np.array([[0.0], [1.0], [5000.0]])
    codes = [np.arange(3), np.arange(3)]
    with pytest.raises(rwn.NotApplicable, match="larger width"):
        certificate.Exchange.from_table(table_of(points, kernel()), codes)
    monkeypatch.setenv("RWN_MEMORY", "0.0000001")
    with pytest.raises(rwn.NotApplicable, match="memory"):
        certificate.Exchange.from_table(table_of(points, kernel(width=4.0)), codes)


MAXIMUM = 11.0
SHARES = pytest.mark.parametrize(("q", "key"), [(0.5, "q_half"), (1.0, "q_one")])


@SHARES
def test_EXT_1_and_3_survival_and_copies_of_the_maximum(e1_law, check_values, q, key):
    table, values = e1_law(q).table("x")
    place = values.index(MAXIMUM)
    survival, _, copies = check_values["EXT-1"][key]
    assert appearance(table)[place] == pytest.approx(number(survival))
    assert expected_copies(table)[place] == pytest.approx(number(copies))
    chances = table[:, [place]].toarray().ravel()
    expected = [number(p) for p in check_values["EXT-3"][key]]
    found = count_distribution(chances)
    np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-14)
    assert np.abs(found[len(expected) :]).max(initial=0) < 1e-14


def test_EXT_4_delta_of_differential_privacy(e1_law, e1, check_values):
    law = e1_law(0.5)
    table, values = law.table("x")
    assert appearance(table)[values.index(MAXIMUM)] == pytest.approx(check_values["EXT-4"])
    reading = rwn.MEASURES["differential_privacy"].compute(
        rwn.Comparison(original=e1, masked=e1, law=law)
    )
    assert reading.value >= check_values["EXT-4"]
    assert "not differentially private" in reading.detail.statement


@SHARES
def test_ATT_6_membership(e1_law, check_values, q, key):
    appears, own = fingerprints(e1_law(q))
    np.testing.assert_allclose(appears, check_values["ATT-6"][key], atol=1e-6)
    assert own.tolist() == [0, 1, 1, 0, 1, 1]


def test_QRY_1_the_lone_member(e1_law, check_values):
    expected = check_values["QRY-1"]
    asked = {"x": 10.0, "y": 1.0}.items()
    conditions = (Condition(name=name, sign="at least", value=value) for name, value in asked)
    predicate = Predicate(conditions=tuple(conditions))
    law = e1_law(0.5)
    np.testing.assert_allclose(predicate.chances(law), [number(p) for p in expected["p"]])
    counts, alone = answer(law, predicate)
    np.testing.assert_allclose(counts, [number(p) for p in expected["count_dist"]])
    assert alone[5] == pytest.approx(number(expected["exactly_one_and_target"]))
    assert counts[1] == pytest.approx(alone.sum())


def test_count_distribution_by_enumeration(e1_law):
    chances = np.array([0.2, 0.9, 1.0, 0.0, 0.5])
    slow = np.zeros(6)
    for outcome in product((0, 1), repeat=5):
        slow[sum(outcome)] += np.prod(np.where(outcome, chances, 1 - chances))
    np.testing.assert_allclose(count_distribution(chances), slow, atol=1e-14)
    short = count_distribution(chances, largest=2)
    np.testing.assert_allclose(short, [slow[0], slow[1], slow[2:].sum()], atol=1e-14)
    for least, alone in ((11.0, 1.0), (0.0, 0.0)):  # chances of exactly 1 divide by no zero
        asked = Predicate(conditions=(Condition(name="x", sign="at least", value=least),))
        shown = answer(e1_law(0.0), asked)[1]
        assert np.isfinite(shown).all()
        assert shown[5] == alone


def test_membership_speaks_of_those_who_have_a_value_of_their_own() -> None:
    """Two of forty: their mean, not diluted by the 38 whom no value betrays."""
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20), "y": np.tile([0.0, 1.0], 20)})
    frame.loc[[3, 30], "x"] = [7.0, 9.0]
    measure = rwn.MEASURES["membership"]
    params = rwn.RWN(epsilon=0.5, k=5, q=0.5)
    release = released(rwn.Microdata.from_frame(frame), params)
    found = measure.compute(release)
    appears, own = fingerprints(release.law)
    assert np.flatnonzero(own).tolist() == [3, 30]
    assert found.value == pytest.approx(appears[[3, 30]].mean())
    assert found.value >= 0.5  # over everybody: 0.03
    assert measure.sentence(found, 40).startswith("2 of 40 records have a value that nobody else")
    nobody = rwn.Microdata.from_frame(frame.drop(index=[3, 30]).reset_index(drop=True))
    empty = measure.compute(released(nobody, params))
    assert empty.value == 0.0
    assert measure.sentence(empty, 38).startswith("Nobody has a value")


MEASURE = rwn.MEASURES["certified_linkage"]
SOFT = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", width=4.0, cap=1.0, own=True)


def compared(data: rwn.Microdata, params: Any = SOFT, seed: int = 1) -> rwn.Comparison:
    return released(data, params, seed)


def read(comparison: rwn.Comparison) -> rwn.Reading:
    found = MEASURE.read(comparison)
    assert isinstance(found, rwn.Reading), found
    return found


def refused(comparison: rwn.Comparison) -> str:
    found = MEASURE.read(comparison)
    assert isinstance(found, rwn.NotApplicable)
    assert found.reason.count(". ") == 0
    assert found.reason.endswith(".")
    return found.reason


def normal(n: int = 60, seed: int = 0, **more: Any) -> rwn.Microdata:
    values = np.random.default_rng(seed).normal(size=(n, 3))
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=["a", "b", "c"]).assign(**more))


def described(data: rwn.Microdata, **variables: Mapping[str, Any]) -> rwn.Microdata:
    schema = data.schema
    for name, values in variables.items():
        schema = schema.replace_variable(name, **values)
    return data.with_schema(schema)


def in_blocks(data: rwn.Microdata, params: rwn.RWN = SOFT, seed: int = 1) -> rwn.Comparison:
    """The release of a small table with the law of a large one: no pair is stored."""
    found = AllDonors.of_points(params.points(data), params.ball.kernel).neighborhoods()
    law = CellLaw(data, found, np.full(len(data.schema.released), params.q))
    return rwn.Comparison(original=data, masked=rwn.mask(data, params, seed=seed).masked, law=law)


def exact(comparison: rwn.Comparison) -> NDArray[np.float64]:
    return whole_file_beliefs(np.exp(log_likelihood(comparison)))


def test_two_records_by_hand() -> None:
    """Two variables, each sqrt(2) sd apart: d = 2 and 1 / (1 + exp(-4 d / h)) at h = 4."""
    data = rwn.Microdata.from_frame(pd.DataFrame({"a": [0.0, 1.0], "b": [5.0, 7.0]}))
    law = rwn.mask(data, SOFT, seed=1).law
    found = read(rwn.Comparison(original=data, masked=data, law=law))
    assert found.value == pytest.approx(1 / (1 + math.exp(-2.0)), rel=1e-8)
    assert found.baseline == 0.5


def test_CERT_1_the_rows_of_six_records() -> None:
    given = ENTRIES["CERT-1"]
    points = np.array(given["input"]["W"], dtype=np.float64)
    kernel = Kernel(shape="exponential", width=2, bandwidth="absolute", cap=1.0, own=True)
    data = rwn.Microdata.from_frame(pd.DataFrame(points, columns=["a", "b"]))
    donors = [np.array(given["input"][f"donors of column {j}"]) - 1 for j in (1, 2)]
    shown = {name: points[donor, j] for j, (name, donor) in enumerate(zip("ab", donors))}  # noqa: B905
    masked = rwn.Microdata.from_frame(pd.DataFrame(shown), data.schema)
    lists = scale(kernel, list_neighbors(points, kernel.bandwidth_k))
    law = CellLaw(data, soft_neighborhoods(kernel, lists), np.ones(2))
    found = read(rwn.Comparison(original=data, masked=masked, law=law))
    bounds = np.array(given["expected"]["bound by release"]).max(axis=1)
    np.testing.assert_allclose(found.detail.bounds, bounds, rtol=0, atol=1e-7)
    assert found.value == pytest.approx(bounds.mean(), abs=1e-7)


def test_CERT_4_no_exact_belief_is_above_the_bound() -> None:
    """Tables with a rare level, an outlier and a clone, by all pairs and in blocks."""
    for seed in range(8):
        frame = normal(6, seed, g=["x"] * 5 + ["rare"]).frame.drop(columns="c")
        frame.loc[4, "a"] = 9.0
        frame.loc[1] = frame.loc[0]
        kernel = ("exponential", "gaussian")[seed % 2]
        balance = float(seed % 3 == 0)
        params = rwn.SoftRWN(kernel=kernel, cap=0.5, own=True, balance=balance)
        comparison = compared(rwn.Microdata.from_frame(frame), params, seed)
        assert (exact(comparison).max(axis=1) <= read(comparison).detail.bounds + 1e-12).all()
        data = normal(6, seed, g=["x"] * 5 + ["rare"])
        parts = in_blocks(data, SOFT, seed)
        small = compared(data, SOFT, seed)
        bounds = read(parts).detail.bounds
        assert (exact(small).max(axis=1) <= bounds).all()
        # the ratios of one release are at least those that hold for every release
        assert (bounds >= read(small).detail.bounds * (1 - 1e-6)).all()
        assert exact(small).max(axis=1).mean() <= read(parts).value


def test_CERT_3_records_of_one_household_are_no_cover() -> None:
    data = described(normal(7, h=[1, 1, 1, 2, 3, 4, 5]), h={"role": rwn.Role.HOUSEHOLD})
    members = np.array([[1, 1, 1, 0, 0, 0, 0], *np.eye(7)[3:].tolist()])
    for seed in range(8):
        comparison = compared(data, SOFT, seed)
        found = read(comparison)
        assert found.detail.unit == "h"
        assert found.baseline == 0.2
        assert ((exact(comparison) @ members.T).max(axis=1) <= found.detail.bounds + 1e-12).all()


def test_CERT_6_a_law_with_zeros_no_law_one_slice_and_lists_are_refused() -> None:
    data = normal()
    assert "even kernel" in refused(compared(data, rwn.RWN(k=5)))
    for params in (rwn.SoftRWN(kernel="exponential"), rwn.SoftRWN(kernel="gaussian", cap=1.0)):
        assert "own = false" in refused(compared(data, params))
    assert "law" in refused(rwn.Comparison(original=data, masked=data))
    one = {name: {"group": "all"} for name in "abc"}
    assert "one slice" in refused(compared(described(data, **one)))
    # a constant variable of its own is no second slice
    constant = described(normal(k=[1.0] * 60), **one)
    assert "one slice" in refused(compared(constant))
    listed = rwn.SoftRWN(kernel="exponential", own=True)
    assert "Above 2,000" in refused(compared(normal(2001), listed))


def test_the_unmasked_file_is_no_release_of_the_law() -> None:
    data = normal()
    changed = data.frame.assign(a=data.frame["a"] + 0.5)
    law = rwn.mask(data, SOFT, seed=1).law
    other = rwn.Microdata.from_frame(changed, data.schema)
    refused(rwn.Comparison(original=data, masked=other, law=law))
    # its own values are possible, and are bounded as such
    itself = read(rwn.Comparison(original=data, masked=data, law=law))
    assert itself.value >= read(compared(data)).value


def test_a_second_release_ends_the_bound_of_the_first() -> None:
    """The belief of both is above the bound of one somewhere, and below that of the product."""
    above = 0
    everyone = np.tile(np.arange(6, dtype=np.int32), (6, 1))
    for seed in range(10):
        data = normal(6, seed)
        one, other = compared(data, SOFT, seed), compared(data, SOFT, seed + 100)
        both = log_likelihood(one) + log_likelihood(other)
        beliefs = whole_file_beliefs(np.exp(both))
        above += int((beliefs.max(axis=1) > read(one).detail.bounds).any())
        together = linkage_bounds(both, ratios_of_release(both, everyone), everyone)
        assert (beliefs <= together + 1e-12).all()
    assert above


def test_random_rows_of_a_large_table_estimate_the_bound() -> None:
    """What a screen shows: the whole original covers the rows that are drawn."""
    rng = np.random.default_rng(3)
    data = rwn.Microdata.from_frame(pd.DataFrame(rng.normal(size=(2300, 2)), columns=["a", "b"]))
    shown = SOFT.preview(data, most=400)
    release = shown.release(rwn.SecretKey.from_seed(1))
    some = rwn.Comparison.of_some(data, shown.records).with_masked(release.masked, release.law)
    found, whole = read(some), read(compared(data))
    assert found.value == pytest.approx(whole.value, rel=0.15)
    assert found.detail.bounds == pytest.approx(whole.detail.bounds[shown.records], rel=1e-5)
    assert found.baseline == whole.baseline == 1 / 2300
    assert (found.detail.sampled, whole.detail.sampled) == (400, None)


@pytest.mark.parametrize("way", [compared, in_blocks])
def test_an_outlier_is_named_with_a_bound_near_one_and_units_change_nothing(
    way: Callable[..., rwn.Comparison],
) -> None:
    data = normal(g=["x"] * 59 + ["rare"])
    other = rwn.Microdata.from_frame(data.frame.assign(a=data.frame["a"] * 1e6), data.schema)
    assert read(way(other)).value == pytest.approx(read(way(data)).value, rel=1e-3)
    frame = data.frame.copy()
    frame.loc[17, ["a", "b", "c"]] = 40.0
    found = read(way(rwn.Microdata.from_frame(frame), replace(SOFT, width=2.0)))
    assert found.detail.largest > 0.9
    assert found.detail.bounds.argmax() == 17
    assert found.value < found.detail.largest


SETTINGS = {
    "balanced": rwn.SoftRWN(kernel="gaussian", balance=1.0, width=0.3),
    "exponential with own": rwn.SoftRWN(kernel="exponential", own=True, width=0.3, q=0.9),
}


@cache
def everybody() -> rwn.Microdata:
    """Numbers and categories, some missing, in two slices; households and sampling weights."""
    rng = np.random.default_rng(3)
    n = 110
    income = rng.lognormal(size=n).round(2)
    wealth = np.where(rng.random(n) < 0.1, np.nan, (3 * income + rng.normal(size=n)).round(1))
    homes = [f"h{number // 2}" for number in range(n)]
    sex = np.where(rng.random(n) < 0.5, "m", "f")
    frame = pd.DataFrame({"home": homes, "weight": rng.integers(1, 4, n) * 1.0})
    frame["age"] = rng.integers(20, 70, n)
    frame["sex"] = sex
    frame["income"], frame["wealth"] = income, wealth
    frame["ill"] = np.where(rng.random(n) < 0.2, "yes", "no")
    frame["job"] = rng.choice(["a", "b", "c", None], n)
    roles = {"home": "household", "weight": "sampling weight", "age": "key", "sex": "key"}
    roles |= {"income": "confidential", "ill": "confidential"}
    data = described_table(frame, [("age", "sex"), ("income", "wealth")], **roles)
    question = rwn.Question(response="income", predictors=("age", "sex"))
    return data.with_schema(replace(data.schema, question=question))


def table() -> rwn.Microdata:
    return everybody().take(np.arange(80))


@cache
def audited(params: rwn.RWN) -> rwn.Comparison:
    release = params.prepare(table()).release(rwn.SecretKey.from_seed(1))
    steps = given_steps(table(), 0.1)
    holdout = everybody().take(range(80, 110))
    made = compare(table(), rounded(release.masked, steps), holdout=holdout)
    return made.with_masked(made.masked, release.law.rounded(steps))


OUTSIDE = replace(SETTINGS["balanced"], outside_household=True)


@pytest.mark.usefixtures("small_forests")
@pytest.mark.parametrize("params", [SETTINGS["exponential with own"], OUTSIDE])
def test_every_measure_is_read_or_says_why_not(params: rwn.RWN) -> None:
    """Whatever an even kernel has, a soft one has, of a release that is rounded."""

    def rule(key: str) -> None:
        soft, even = (
            rwn.MEASURES[key].read(audited(each), bare=True) for each in (params, rwn.RWN(k=8))
        )
        if isinstance(soft, rwn.Reading):
            assert np.isfinite(soft.value)
        else:
            assert len(soft.reason.split()) >= 5
            assert not isinstance(even, rwn.Reading)

    hold(rule, rwn.MEASURES)
    if params == OUTSIDE:
        certified = rwn.MEASURES["certified_linkage"].read(audited(params))
        assert "Members of a household give each other no values" in str(certified)


# ------------------------------------------------------------ laws against releases


@cache
def drawn(name: str) -> list[Masked]:
    prepared = SETTINGS[name].prepare(table())
    return [prepared.release(rwn.SecretKey.from_seed(seed)) for seed in range(400)]


@cache
def law_of(params: rwn.RWN) -> Law:
    return params.prepare(table()).law


def scored(differences: Array) -> float:
    """Return the mean of what should be 0 on average, in standard errors."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() / max(error, 1e-12))


def place(name: str) -> int:
    """Return the position of a released variable."""
    return [variable.name for variable in table().schema.released].index(name)


def membership(releases: list[Masked], law: Law) -> float:
    """Return the same of the households, and of the records, with a value of their own."""
    home = table().frame["home"].to_numpy()
    scores = []
    for unit, appears, own in (
        (home, *fingerprints(law, np.unique(home, return_inverse=True)[1])),
        (np.arange(80), *fingerprints(law)),
    ):
        alone = {}
        for names in (["age", "sex"], ["income", "wealth"]):
            groups = table().frame.assign(unit=unit).groupby(names, dropna=False)["unit"]
            alone[place(names[0])] = groups.transform("nunique").to_numpy() == 1
        named = np.isin(unit, unit[np.logical_or.reduce(list(alone.values()))])
        np.testing.assert_array_equal(np.array(own) > 0, named)
        seen = []
        for each in releases:
            shown = np.zeros(80, dtype=bool)
            for at, some in alone.items():
                donors = each.donors[:, at]
                shown |= np.isin(unit, unit[donors[some[donors]]])
            seen.append(shown.sum())
        scores.append(scored(np.array(seen) - np.sum(appears)))
    return max(scores, key=abs)


def misclassification(releases: list[Masked], law: Law) -> float:
    comparison = rwn.Comparison(original=table(), masked=releases[0].masked, law=law)
    said = rwn.MEASURES["misclassification"].compute(comparison).detail
    home = comparison.units[:, None] == comparison.units  # any row of the household is right
    keys = list(map(tuple, table().frame[["age", "sex"]].to_numpy()))
    same = np.array([[one == other for other in keys] for one in keys])
    differences = []
    for each in releases:
        shows = same[:, each.donors[:, place("age")]]  # [t, r]: row r has the keys of record t
        right = (shows & home).sum(axis=1)
        differences.append((right - np.array(said.truth) * shows.sum(axis=1)).sum())
    return scored(np.array(differences))


CHECKS = (membership, misclassification)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_the_law_says_happens_in_400_releases(check, name: str) -> None:
    assert abs(check(drawn(name), law_of(SETTINGS[name]))) < 4


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_law_of_another_setting_is_refuted(check: Callable[[list[Masked], Law], float]) -> None:
    """Planted faults: the law of an even kernel, and of own donors left out."""
    name = "exponential with own"
    even = rwn.RWN(k=8, q=0.9)
    others = [even, replace(SETTINGS[name], own=False), replace(SETTINGS[name], width=1.5)]
    assert max(abs(check(drawn(name), law_of(other))) for other in others) > 4
