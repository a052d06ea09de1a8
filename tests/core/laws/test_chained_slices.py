"""Chained slices: their draw and law against published values and a slow enumeration."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import joint_codes
from rwn_core.data.rounding import rounded
from rwn_core.evaluation.control_group import attribute_difference
from rwn_core.laws.chained_slices import Chain, ChainLaw, draw_later
from rwn_core.measures.attacks.certificate import certified_share, linkage_bounds
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.neighbors.metric import shared_metric
from tests.check_values import check_values
from tests.oracles.chained_rows import row_law
from tests.tables import described, frame

VALUES = check_values("chained")
RECORDS = np.array(VALUES["CHAIN-1"]["input"]["values"], dtype=np.float64)
WEIGHTS = np.array(VALUES["CHAIN-1"]["input"]["weights_slice_1"])
THREE = [[0], [1], [2]]
BALANCED_DRAWS = [158, 202, 69, 33, 207, 140, 80, 223, 184, 113, 18, 178, 201, 142, 14, 81, 59, 83]
PLAIN_DRAWS = [122, 177, 69, 213, 192, 19, 84, 73, 127, 113, 220, 40, 163, 142, 157, 20, 87, 189]


def numbers(values, columns):
    return np.unique(values[:, columns], axis=0, return_inverse=True)[1].ravel()


def chain(values, later, *, balanced=False, written=None):
    center, scale = values.mean(axis=0), values.std(axis=0, ddof=1)
    points = ((values if written is None else written) - center) / scale
    return Chain(points=np.asfortranarray(points), later=later, balanced=balanced)


def law_of_program(values, slices, first, later, written=None):
    """Return P(each row) of a source, by the weights that the program draws from."""
    shown = values if written is None else written
    contents = [numbers(shown, each) for each in slices]
    law = Counter()
    histories = [((donor,), chance) for donor, chance in enumerate(first) if chance]
    for _ in slices[1:]:
        longer = []
        for donors, chance in histories:
            now = chain(values, later, written=written)
            for columns, own, donor in zip(slices, contents, donors, strict=False):
                now.shown.append((list(columns), own, np.full(len(values), donor)))
            found = now.next_slice(["x"])
            for entry in range(found.table.offsets[1]):
                donor, weight = int(found.table.records[entry]), found.shares[entry]
                longer.append(((*donors, donor), chance * weight))
        histories = longer
    for donors, chance in histories:
        row = [tuple(shown[donor, each]) for donor, each in zip(donors, slices, strict=True)]
        law[tuple(row)] += chance
    return law


def test_donors_of_a_second_slice_chain_2():
    for each in VALUES["CHAIN-2"]["expected"]["lists"]:
        shown = chain(RECORDS, 2)
        donor = int(np.flatnonzero(RECORDS[:, 0] == each["slice_1"])[0])
        shown.shown.append(([0], numbers(RECORDS, [0]), np.full(6, donor)))
        found = shown.next_slice(["b"])
        assert sorted(found.members(0) + 1) == each["donors"]
        assert not {*found.members(0) + 1} & {*each["holders"]}


def test_balanced_weights_of_a_second_slice_chain_3():
    about = VALUES["CHAIN-3"]
    shown = chain(RECORDS, 3, balanced=True)
    shown.shown.append(
        ([0], numbers(RECORDS, [0]), np.array(about["input"]["donors_of_slice_1"]) - 1)
    )
    found = shown.next_slice(["b"])
    weights = found.probabilities().toarray()
    np.testing.assert_allclose(weights, about["expected"]["weights"], atol=1e-7)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=0), 1, atol=1e-7)
    assert found.imbalance <= 1e-7


@pytest.mark.parametrize("law", [law_of_program, row_law])
def test_law_of_a_row_chain_1(law):
    sources = [law(RECORDS, THREE, each, 2) for each in WEIGHTS]
    about = VALUES["CHAIN-1"]["expected"]
    for each in about["rows"]:
        row = tuple((value,) for value in each["row"])
        found = [source.get(row, 0.0) for source in sources]
        np.testing.assert_allclose(found, each["by_source"], atol=1e-10)
        first = [
            sum(w for w, x in zip(chances, RECORDS[:, 0], strict=True) if x == each["row"][0])
            for chances in WEIGHTS
        ]
        np.testing.assert_allclose(first, each["slice_1"], atol=1e-10)
        shown = np.array(first) > 0
        without = np.array(found)[shown] / np.array(first)[shown]
        np.testing.assert_allclose(without, each["without_source"], atol=1e-10)
    possible = {row for source in sources for row, chance in source.items() if chance > 0}
    assert len(possible) == about["possible_rows"]


def test_certificate_of_a_chain_is_that_of_its_first_slice_chain_4():
    about = VALUES["CHAIN-4"]
    chances = np.array(about["input"]["chances_of_slice_1"])
    expected = about["expected"]
    ratios = (chances[:, None, :] / chances[None, :, :]).min(axis=2)
    np.testing.assert_allclose(ratios, expected["M"], atol=1e-10)
    logs = np.log(chances[:, np.array(about["input"]["released_from"]) - 1]).T
    near = np.tile(np.arange(5, dtype=np.int32), (5, 1))
    bounds = linkage_bounds(logs, np.log(ratios), near)
    np.testing.assert_allclose(bounds, expected["bounds"], atol=1e-8)
    assert bounds.max(axis=1).mean() == pytest.approx(expected["certified"], abs=1e-8)
    assert certified_share(bounds) <= expected["certified"] + 1e-8


def small_tables(count, seed=5):
    """Yield tables of six with ties in the first slice, and chances of its donors."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        columns = draw.integers(0, 3, 6), draw.integers(0, 4, 6), draw.normal(size=6).round(1)
        values = np.column_stack(columns).astype(np.float64)
        if (values.std(axis=0) > 0).all():
            yield values, draw.dirichlet(np.ones(6), 6)


def unlike(sources, values, slice_, chances):
    """Return the largest difference over sources of what follows after the first slice."""
    firsts = [Counter() for _ in sources]
    for first, each in zip(firsts, chances, strict=True):
        for record, chance in enumerate(each):
            first[tuple(values[record, slice_])] += chance
    worst = 0.0
    for row in {row for source in sources for row in source}:
        ratios = [
            source.get(row, 0.0) / first[row[0]]
            for source, first in zip(sources, firsts, strict=True)
            if first.get(row[0], 0.0) > 0
        ]
        worst = max(worst, max(ratios) - min(ratios))
    return worst


def largest_difference():
    found = []
    for values, chances in small_tables(12):
        sources = [law_of_program(values, THREE, each, 2) for each in chances]
        found.append(unlike(sources, values, [0], chances))
    return max(found)


def test_what_follows_the_first_slice_is_free_of_the_source(monkeypatch):
    assert largest_difference() < 1e-12
    # planted fault: the donor that was drawn is left out, not all that have its values
    monkeypatch.setattr(
        Chain, "_holds",
        lambda self, rows, records: np.any([d[rows] == records for _, _, d in self.shown], axis=0),
    )  # fmt: skip
    assert largest_difference() > 0.05


def test_program_and_enumeration_have_the_same_rows():
    for values, chances in small_tables(50):
        slow, own = (law(values, THREE, chances[0], 2) for law in (row_law, law_of_program))
        assert slow.keys() == own.keys()
        assert max(abs(own[row] - chance) for row, chance in slow.items()) < 1e-12


def test_rounding_after_the_draw_tells_of_the_source():
    values = RECORDS.copy()
    values[:, 0] = [1.0, 1.4, 2.1, 3.4, 4.0, 6.0]
    written = values.copy()
    written[:, 0] = np.round(values[:, 0] / 2) * 2

    def as_written(source):
        law = Counter()
        for row, chance in source.items():
            law[((float(np.round(row[0][0] / 2) * 2),), *row[1:])] += chance
        return law

    before = [law_of_program(values, THREE, each, 2, written) for each in WEIGHTS]
    after = [as_written(law_of_program(values, THREE, each, 2)) for each in WEIGHTS]
    assert unlike(before, written, [0], WEIGHTS) < 1e-12
    assert unlike(after, written, [0], WEIGHTS) > 0.03


def survey(n=60):
    names = ["age", "height", "income", "sport"]
    return described(frame("following", n)[names], [["age", "height"]])


CHAINED = rwn.SoftRWN(chain=True, own=True, later=5, order=("age", "sport", "income"))


def test_draws_follow_the_weights():
    values = RECORDS
    shown = chain(values, 3, balanced=True)
    shown.shown.append(([0], numbers(values, [0]), np.array([3, 1, 4, 4, 6, 2]) - 1))
    found = shown.next_slice(["b"])
    weights = found.probabilities().toarray()
    counts = np.zeros((6, 6))
    for seed in range(2500):
        counts[np.arange(6), draw_later(found, rwn.SecretKey.from_seed(seed), 1)] += 1

    def statistic(expected):
        some = expected > 1e-3
        return ((counts - 2500 * expected)[some] ** 2 / (2500 * expected)[some]).sum()

    degrees = (weights > 1e-3).sum() - 6
    assert statistic(weights) < degrees + 4 * np.sqrt(2 * degrees)
    even = np.where(weights > 1e-3, 1.0, 0.0)
    assert statistic(even / even.sum(axis=1, keepdims=True)) > 2 * degrees


@pytest.mark.parametrize("balanced", [True, False])
def test_every_row_has_its_law(balanced):
    data = survey()
    release = rwn.mask(data, replace(CHAINED, later_balance=balanced), seed=1)
    assert isinstance(release.law, ChainLaw)
    assert release.law.telling() == [("age", "height")]
    for name in ("income", "sport"):
        table, values = release.law.table(name)
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
        code = [values.index(each) for each in release.masked.array(name)]
        assert (np.asarray(table[np.arange(60), code]) > 0).all()
    # the donors of a slice are one, and none shows what the row shows already
    donors = release.donors
    assert (donors[:, 0] == donors[:, 1]).all()
    contents = joint_codes(data, ("age", "height"))
    few = np.bincount(contents)[contents[donors[:, 0]]] <= 5
    assert (contents[donors[:, 2]] != contents[donors[:, 0]])[few].all()
    # and an intruder with all variables has the first slice for evidence, and no more
    rows = np.arange(60)
    first = posteriors(release.law.source, release.masked, rows).toarray()
    for names in (None, ["age", "income"], ["sport"]):
        own = posteriors(release.law, release.masked, rows, names).toarray()
        np.testing.assert_allclose(own, first, atol=1e-12)
    part = posteriors(release.law, release.masked, rows, ["age"]).toarray()
    assert abs(part - first).max() > 0.01


def test_a_chain_is_drawn_near_to_rounded_values():
    data, steps = survey(), {"age": 10.0, "income": 50.0}
    release = rwn.mask(data, CHAINED, precision=steps, seed=1)
    written = rounded(data, steps)
    again = CHAINED.prepare(data).release(rwn.SecretKey.from_seed(1)).rounded(steps)
    assert again.masked.fingerprint == release.masked.fingerprint
    np.testing.assert_array_equal(again.donors, release.donors)
    # by hand: the second slice given the first
    metric, unit = shared_metric(data), ("age", "height")
    own = Chain(points=metric.points(written), later=5, balanced=True)
    shown = metric.variable_columns(unit), joint_codes(written, unit), release.donors[:, 0]
    own.shown.append(shown)
    given = draw_later(own.next_slice(["sport"]), rwn.SecretKey.from_seed(1), 3)
    np.testing.assert_array_equal(given, release.donors[:, 3])
    plain = rwn.mask(data, CHAINED, seed=1)
    assert (plain.donors[:, 3] != release.donors[:, 3]).any()
    with pytest.raises(rwn.NotApplicable, match="cannot be rounded afterwards"):
        plain.law.rounded(steps)


def test_equal_keys_give_equal_bytes():
    data = rwn.load_demo("bodyfat")
    keys = [each.name for each in data.schema.released][1:4]
    data = data.with_slices([keys])
    setting = rwn.SoftRWN(chain=True, balance=1.0, order=(keys[0],))

    def digest(**options):
        donors = rwn.mask(data, setting, seed=11, **options).donors
        return hashlib.sha256(donors.astype("<i8").tobytes()).hexdigest()

    assert digest(threads=1) == digest(threads=2)
    ready = rwn.SoftRWN(chain=True, order=(keys[0],)).preview(data)
    moved = ready.with_levers(balance=1.0).release(rwn.SecretKey.from_seed(11))
    assert hashlib.sha256(moved.donors.astype("<i8").tobytes()).hexdigest() == digest()


def test_published_draws_stay():
    """Donors of a later slice for one key: released values are copied from them."""
    data = rwn.load_demo("bodyfat")
    names = [each.name for each in data.schema.released if each.name != "siri"]
    data = data.with_slices([names])
    for balanced, first in ((True, BALANCED_DRAWS), (False, PLAIN_DRAWS)):
        setting = rwn.SoftRWN(chain=True, balance=1.0 * balanced, later_balance=balanced)
        donors = rwn.mask(data, setting, seed=5).donors[:, data.names.index("siri")]
        assert donors[: len(first)].tolist() == first


@pytest.mark.parametrize("balanced", [True, False])
def test_a_tree_finds_the_nearest_of_all_pairs(monkeypatch, balanced):
    # a first slice of which one record is given often, so that many of its rows are left out
    cloud = frame("cloud", 150).assign(x=lambda f: f["x"].round(1), y=lambda f: f["y"].round(1))
    data = described(cloud, [["x", "y"]])
    metric, donors = shared_metric(data), np.random.default_rng(1).integers(0, 150, 150)
    donors[:60] = 7
    found = []
    for largest in (10_000, 10):
        monkeypatch.setattr("rwn_core.laws.chained_slices.LARGEST_DENSE", largest)
        monkeypatch.setattr("rwn_core.laws.chained_slices.LISTED", 1_000)  # all, as in a table
        own = Chain(points=metric.coded(data), later=5, balanced=balanced)
        for names, given, following in ((("x", "y"), donors, "n"), (("n",), donors[::-1], "g")):
            shown = metric.variable_columns(names), joint_codes(data, names), given.copy()
            own.shown.append(shown)
            found.append(own.next_slice([following]))
    for dense, searched in zip(found[:2], found[2:], strict=True):
        np.testing.assert_array_equal(dense.table.offsets, searched.table.offsets)
        np.testing.assert_array_equal(dense.table.records, searched.table.records)
        np.testing.assert_array_equal(dense.shares, searched.shares)


def test_balanced_later_slices_have_an_end(monkeypatch):
    monkeypatch.setattr("rwn_core.masking.chain.MOST_BALANCED", 50)
    with pytest.raises(rwn.ParameterError, match="balanced for up to 50 records"):
        rwn.mask(survey(), CHAINED, seed=1)
    assert rwn.mask(survey(), replace(CHAINED, later_balance=False), seed=1).masked.n == 60


def test_the_order_of_the_records_does_not_matter():
    data = survey()
    order = np.random.default_rng(1).permutation(data.n)
    for balanced in (True, False):
        found = []
        for table, places in ((data, np.arange(60)), (data.take(order), np.argsort(order))):
            metric = shared_metric(table)
            own = Chain(points=metric.points(table), later=5, balanced=balanced)
            donor = np.roll(np.arange(60), 1)  # of the records in the first order
            donor = donor if table is data else np.argsort(order)[donor[order]]
            own.shown.append(([0, 1], joint_codes(table, ("age", "height")), donor))
            weights = own.next_slice(["sport"]).probabilities().toarray()
            found.append(weights[places][:, places])
        np.testing.assert_allclose(*found, atol=1e-7)


def test_members_of_a_holders_household_are_left_out():
    values = RECORDS
    own = chain(values, 2)
    own.groups = np.array([0, 1, 1, 2, 3, 4])
    own.shown.append(([0], numbers(values, [0]), np.full(6, 2)))
    assert sorted(own.next_slice(["b"]).members(0)) == [0, 3]


def test_a_later_slice_with_a_secret_and_keys_is_drawn_when_asked_and_names_it():
    data = rwn.load_demo("bodyfat")
    keys = ["age", "weight", "height"]
    others = [each for each in data.names if each not in (*keys, "siri")]
    data = data.with_slices([others, [*keys, "siri"]])
    about = {"kernel": "exponential", "bandwidth": "absolute", "cap": 1.0, "own": True}
    setting = rwn.SoftRWN(**about, balance=1.0, width=2.0, chain=True, order=(others[0],))
    with pytest.raises(rwn.ParameterError, match="mixed = true takes it all the same"):
        rwn.mask(data, setting, seed=1)
    asked = replace(setting, mixed=True)
    release = rwn.mask(data, asked, seed=1)
    assert release.law.later.keys() == {*keys, "siri"}
    found = attribute_difference(data, asked, splits=4)
    assert found.value == pytest.approx(0.59, abs=0.06)
    assert any("stand in one row" in each and "59 %" in each for each in asked.cautions())
    assert not any("stand in one row" in each for each in setting.cautions())
    # whatever it holds, what a row says of its source is the first slice
    assert release.law.telling() == [tuple(others)]
    assert rwn.Policy(limits=rwn.Policy().limits[:1]).unjudged(asked)


def test_slices_in_order():
    data = rwn.load_demo("pima")
    roles = {each.name: each.role.value for each in data.schema.released}
    keys = [name for name, role in roles.items() if role == "key"]
    release = rwn.mask(data.with_slices([keys]), rwn.SoftRWN(chain=True), seed=1)
    assert set(release.law.telling()[0]) == set(keys)
