"""Chained slices: draw and law, and what measures and policies read of them."""

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison
from rwn_core.data.microdata import codes_together, joint_codes
from rwn_core.data.rounding import rounded
from rwn_core.evaluation.control_group import attribute_difference, control_group
from rwn_core.evaluation.disclosure import Assumptions, disclose_release
from rwn_core.laws.chained_slices import Chain, ChainLaw, draw_later
from rwn_core.masking import chain
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.certificate import certified_share, linkage_bounds
from rwn_core.measures.attacks.non_members import NonMembersOneByOne, non_members
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.neighbors.metric import shared_metric
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning.evaluate import evaluate
from rwn_core.tuning.policy import CHAIN_UNJUDGED
from tests.attacked_tables import released
from tests.check_values import check_values
from tests.oracles.chained_rows import row_law
from tests.tables import described, frame, table

VALUES = check_values("chained")
RECORDS = np.array(VALUES["CHAIN-1"]["input"]["values"], dtype=np.float64)
WEIGHTS = np.array(VALUES["CHAIN-1"]["input"]["weights_slice_1"])
THREE = [[0], [1], [2]]
BALANCED_DRAWS = [158, 202, 69, 33, 207, 140, 80, 223, 184, 113, 18, 178, 201, 142, 14, 81, 59, 83]
PLAIN_DRAWS = [122, 177, 69, 213, 192, 19, 84, 73, 127, 113, 220, 40, 163, 142, 157, 20, 87, 189]


def numbers(values, columns):
    return np.unique(values[:, columns], axis=0, return_inverse=True)[1].ravel()


def chain_of(values, later, *, balanced=False, written=None):
    center = values.mean(axis=0)
    scale = values.std(axis=0, ddof=1)
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
            now = chain_of(values, later, written=written)
            for columns, own, donor in zip(slices, contents, donors, strict=False):
                now.shown.append((list(columns), own, np.full(len(values), donor)))
            found = now.next_slice(["x"])
            for entry in range(found.table.offsets[1]):
                donor = int(found.table.records[entry])
                weight = found.shares[entry]
                longer.append(((*donors, donor), chance * weight))
        histories = longer
    for donors, chance in histories:
        row = [tuple(shown[donor, each]) for donor, each in zip(donors, slices, strict=True)]
        law[tuple(row)] += chance
    return law


def test_donors_of_a_second_slice_chain_2():
    for each in VALUES["CHAIN-2"]["expected"]["lists"]:
        shown = chain_of(RECORDS, 2)
        donor = int(np.flatnonzero(RECORDS[:, 0] == each["slice_1"])[0])
        shown.shown.append(([0], numbers(RECORDS, [0]), np.full(6, donor)))
        found = shown.next_slice(["b"])
        assert sorted(found.members(0) + 1) == each["donors"]
        assert not {*found.members(0) + 1} & {*each["holders"]}


def test_balanced_weights_of_a_second_slice_chain_3():
    about = VALUES["CHAIN-3"]
    shown = chain_of(RECORDS, 3, balanced=True)
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
    shown = chain_of(values, 3, balanced=True)
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
    data = survey()
    steps = {"age": 10.0, "income": 50.0}
    release = rwn.mask(data, CHAINED, precision=steps, seed=1)
    written = rounded(data, steps)
    again = CHAINED.prepare(data).release(rwn.SecretKey.from_seed(1)).rounded(steps)
    assert again.masked.fingerprint == release.masked.fingerprint
    np.testing.assert_array_equal(again.donors, release.donors)
    # by hand: the second slice given the first
    metric = shared_metric(data)
    unit = ("age", "height")
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
    metric = shared_metric(data)
    donors = np.random.default_rng(1).integers(0, 150, 150)
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
        for records, places in ((data, np.arange(60)), (data.take(order), np.argsort(order))):
            metric = shared_metric(records)
            own = Chain(points=metric.points(records), later=5, balanced=balanced)
            donor = np.roll(np.arange(60), 1)  # of the records in the first order
            donor = donor if records is data else np.argsort(order)[donor[order]]
            own.shown.append(([0, 1], joint_codes(records, ("age", "height")), donor))
            weights = own.next_slice(["sport"]).probabilities().toarray()
            found.append(weights[places][:, places])
        np.testing.assert_allclose(*found, atol=1e-7)


def test_members_of_a_holders_household_are_left_out():
    values = RECORDS
    own = chain_of(values, 2)
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
    data = rwn.load_demo("pima").take(np.arange(200))
    roles = {each.name: each.role.value for each in data.schema.released}
    keys = [name for name, role in roles.items() if role == "key"]
    release = rwn.mask(data.with_slices([keys]), rwn.SoftRWN(chain=True), seed=1)
    assert set(release.law.telling()[0]) == set(keys)


CHAIN = rwn.SoftRWN(
    chain=True, kernel="exponential", bandwidth="absolute", own=True, width=2.0, cap=1.0
)
LINKAGE = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
UNJUDGED = "Chained slices keep almost any limit"
N = 120


def chain_survey(n=N, slices=(("age", "height"),)):
    names = ["age", "height", "income", "sport"]
    roles = {"age": "key", "height": "key", "income": "confidential"}
    return described(frame("following", n)[names], slices, **roles)


@pytest.fixture(scope="module")
def compared():
    return released(chain_survey(), CHAIN)


def test_certificate_is_that_of_the_first_slice(compared):
    reading = MEASURES["certified_linkage"].read(compared)
    logs = np.log(
        compared.law.source.unit_chances(("age", "height"), compared.masked, np.arange(N))
    )
    least = np.min(logs.T[:, None, :] - logs.T[None, :, :], axis=2)
    bounds = np.exp(logs) / (np.exp(logs) @ np.exp(least).T)
    assert reading.value <= bounds.max(axis=1).mean() + 1e-9
    assert reading.value >= MEASURES["bayes_linkage"].read(compared).value
    assert len(reading.detail.slices) == 3
    # one slice is still not certified
    whole = released(chain_survey(slices=[compared.original.names]), replace(CHAIN, chain=False))
    assert isinstance(MEASURES["certified_linkage"].read(whole), rwn.NotApplicable)
    for key, measure in MEASURES.items():  # and every measure answers or says why
        other = measure.read(compared, begin=True)
        assert not isinstance(other, rwn.NotApplicable) or other.reason, key


def test_beliefs_in_donors_of_a_later_slice(compared):
    rows = people = np.arange(N)
    found = beliefs(compared.law, compared.masked, rows, ["age", "height"], ["income"], people)
    weights = compared.law.later["income"].matrix.toarray()
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)
    # with a key in the same slice: among its holders
    data = chain_survey(slices=[["age", "height"], ["sport", "income"]])
    release = rwn.mask(data, replace(CHAIN, order=("age",)), seed=2)
    found = beliefs(release.law, release.masked, rows, ["age", "sport"], ["income"], people)
    weights = release.law.later["income"].matrix.toarray()
    own, shown = codes_together(data, release.masked, ("sport",), rows)
    weights = np.where(own == shown[:, None], weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)


def test_the_true_donor_has_the_chance_that_an_intruder_believes():
    ready = CHAIN.prepare(chain_survey())
    hits = []
    expected = []
    for seed in range(20):
        made = ready.release(rwn.SecretKey.from_seed(seed))
        matrix = made.law.later["income"].matrix
        donor = made.donors[:, 2]
        largest = matrix.max(axis=1).toarray().ravel()
        assert (np.asarray(matrix[np.arange(N), donor]) > 0).all()
        assert (largest <= 1 / 20 + 1e-9).all()
        hits.append(np.mean(donor == np.asarray(matrix.argmax(axis=1)).ravel()))
        expected.append(largest.mean())
    spread = np.std(hits) / np.sqrt(20)
    assert abs(np.mean(hits) - np.mean(expected)) < 4 * max(spread, 0.004)


def test_limits_on_linkage_alone_do_not_judge_a_chain(compared):
    data = compared.original
    release = rwn.mask(data, CHAIN, seed=1)
    verdict = judged(data, release, LINKAGE)
    assert verdict.state == "not judged"
    assert dict(verdict.unread) == {"bayes_linkage": CHAIN_UNJUDGED}
    assert "attribute_gain" in judged(data, release, rwn.Policy()).values
    apart = rwn.mask(data, replace(CHAIN, chain=False), seed=1)
    assert judged(data, apart, LINKAGE).values
    # rounding makes no difference
    rough = rwn.mask(data, CHAIN, precision={"age": 5}, seed=1)
    assert judged(data, rough, LINKAGE).state == "not judged"


def test_no_search_looks_for_a_chain_by_linkage_alone():
    data = chain_survey()
    setting = rwn.Setting(params=CHAIN)
    plan = rwn.Plan(measures=("bayes_linkage", "association_loss"), releases=1)
    grid = rwn.Grid(axes={"width": (1.0, 2.0), "chain": (True,)}, method="soft_rwn")
    swept = rwn.sweep(data, grid, plan=plan, workers=1)
    assert LINKAGE.judge(swept.points[0]).state == "not judged"
    goal = rwn.Goal(keep=LINKAGE, best="association_loss")
    limits = tuple(rwn.Limit(measure=e, at_most=0.3) for e in ("attribute_gain", "true_matches"))
    gain = rwn.Policy(limits=limits[:1])
    for ask in (
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting), seconds=5),
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting, slices=True), seconds=5),
        lambda: rwn.seek(data, swept, goal, workers=1),
        lambda: rwn.search(data, gain, rwn.Space(chain=True), seconds=5),
    ):
        with pytest.raises(rwn.ParameterError, match=UNJUDGED):
            ask()
    # chains are tried under limits on attributes
    space = rwn.Space(chain=True)
    small = chain_survey(60)
    assert sum(getattr(each.params, "chain", False) for each in space.starts(small)) >= 2
    assert rwn.search(small, rwn.Policy(limits=limits), space).tried >= 1


def test_risks_are_read_of_a_chain_in_its_precision():
    data = chain_survey()
    assumed = Assumptions(precision={"age": 5.0, "income": 20.0})
    found = disclose_release(data, CHAIN, seed=1, assumed=assumed)
    release = rwn.mask(data, CHAIN, precision=assumed.precision, seed=1)
    own = Comparison(original=data, masked=release.masked, law=release.law)
    expected = MEASURES["bayes_linkage"].read(own).value
    assert found.readings["bayes_linkage"].value >= expected - 1e-9


def test_datasets_are_not_chained(tmp_path):
    chain_survey().frame.to_parquet(tmp_path / "survey.parquet", index=False)
    with pytest.raises(rwn.ParameterError, match="drawn for all rows together"):
        rwn.mask_dataset(tmp_path / "survey.parquet", tmp_path / "out", CHAIN)


def test_a_rounded_chain_is_drawn_once(monkeypatch):
    data = chain_survey()
    steps = {"age": 5.0, "height": 2.0}
    drawn = []
    own = chain.draw_chain
    monkeypatch.setattr(chain, "draw_chain", lambda *about: drawn.append(1) or own(*about))
    rwn.mask(data, CHAIN, precision=steps, seed=1)
    assert len(drawn) == 1
    plan = rwn.Setting(params=CHAIN, precision=tuple(steps.items()))
    evaluate(data, plan, [1], ["bayes_linkage"])
    assert len(drawn) == 2


INSIDE, LATER = 14, 5
KEYS = ["age", "sex"]
SETTING = rwn.SoftRWN(chain=True, own=True, later=LATER, later_balance=False)


def tables(count, seed=2):
    """Yield a table of 14 with ties in the first slice, and one person more."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        age = draw.permutation(np.repeat(np.arange(8), 2)[: INSIDE + 1])
        people = pd.DataFrame({"age": age, "sex": draw.integers(0, 2, INSIDE + 1)})
        people["income"] = draw.permutation(INSIDE + 1) * 1.7 + age
        assert people["income"].is_unique
        everyone = described(people, [KEYS], age="key", sex="key", income="confidential")
        yield everyone.take(np.arange(INSIDE)), everyone.take(np.array([INSIDE]))


def believed(inside, person, setting):
    """Return the release, the law with the person, and beliefs of all rows in source and value."""
    compared = released(inside, setting)
    attacked = non_members(compared, compared.law, person, KEYS)
    assert isinstance(attacked, NonMembersOneByOne)
    found = attacked.beliefs(np.arange(INSIDE), ["income"])
    law = compared.law.with_people(person)
    return compared.masked, law, found.source.toarray()[0], found.donor[0].toarray()[0]


def rows_of(*parts):
    return pd.concat([each.frame[[*KEYS, "income"]] for each in parts]).to_numpy(np.float64)


def test_beliefs_in_a_person_outside_are_those_of_the_file_with_the_person():
    faulty = 0.0
    for inside, person in tables(12):
        masked, law, source, shown = believed(inside, person, SETTING)
        both = rows_of(inside, person)
        slices = [[0, 1], [2]]
        # chances of the first slice's donors, with the person: by the law of a plain first slice
        chances = law.source.probabilities.toarray()
        sources = [row_law(rows_of(inside), slices, each, LATER, both) for each in chances]
        for row, values in enumerate(rows_of(masked)):
            first = np.array([
                sum(chance for (own, _), chance in each.items() if own == tuple(values[:2]))
                for each in sources
            ])  # fmt: skip
            assert source[row] == pytest.approx(first[-1] / first.sum(), abs=1e-12)
            after = [
                each.get((tuple(values[:2]), (both[-1, 2],)), 0.0) / own
                for each, own in zip(sources, first, strict=True)
                if own > 0
            ]
            # whatever the source; and so it is what an intruder believes of the person's value
            np.testing.assert_allclose(after, shown[row], atol=1e-12)
            # planted fault: a person that is nobody's donor
            faulty = max(faulty, abs(shown[row]))
    assert faulty > 0.1


def balanced(inside, person, donors):
    """Return weights of rows and all records in balance, by turns, from the text of the method."""
    both = rows_of(inside, person)
    points = both[:, :2] / rows_of(inside)[:, :2].std(axis=0, ddof=1)
    shown = both[donors]
    m = len(both)
    squared = ((points[donors][:, None] - points[None]) ** 2).sum(axis=2)
    same = (shown[:, None, :2] == both[None, :, :2]).all(axis=2)
    squared[same & (same.sum(axis=1, keepdims=True) <= LATER)] = np.inf
    of_row, of_record = (np.sqrt(np.sort(squared, axis=axis).take(LATER - 1, axis=axis))
                         for axis in (1, 0))  # fmt: skip
    floor = 0.05 * np.median(of_row[of_row > 0])
    scales = np.outer(np.maximum(of_row, floor), np.maximum(of_record, floor))
    kernel = np.exp(-2 * squared / scales) + LATER / (100_000 * INSIDE)
    kernel[np.isinf(squared)] = 0.0
    cap = 1 / LATER

    def factors(weights, target):
        """Return each row's factor, with sums of min(cap, factor times weight) at the target."""
        low = np.zeros(len(weights))
        high = np.full(len(weights), 1e12)
        for _ in range(90):
            middle = np.sqrt(np.maximum(low, 1e-12) * high)
            enough = np.minimum(cap, middle[:, None] * weights).sum(axis=1) > target
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    columns = np.ones(m)
    for _ in range(200):
        rows = factors(kernel * columns, 1.0)
        columns = factors((kernel * rows[:, None]).T, INSIDE / m)
    rows = factors(kernel * columns, 1.0)
    return np.minimum(cap, rows[:, None] * kernel * columns)


def test_a_balance_with_a_person_added_gives_each_record_equally():
    ((inside, person),) = tables(1)
    setting = replace(SETTING, later_balance=True)
    _, law, _, shown = believed(inside, person, setting)
    weights = law.later["income"].matrix.toarray()
    assert weights.shape == (INSIDE, INSIDE + 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=0), INSIDE / (INSIDE + 1), atol=1e-6)
    donors = rwn.mask(inside, setting, seed=1).donors[:, 0]
    np.testing.assert_allclose(weights, balanced(inside, person, donors), atol=1e-4)
    np.testing.assert_allclose(shown, weights[:, -1], atol=1e-12)


def test_rounding_comes_before_the_slices_of_a_file_with_a_person():
    ((inside, person),) = tables(1, 5)
    release = rwn.mask(inside, SETTING, precision={"age": 2.0}, seed=1)
    law = release.law.with_people(person)
    assert law.original.array("age").max() % 2 == 0
    keys = law.original.frame[KEYS]
    own = np.flatnonzero((keys == keys.iloc[-1]).all(axis=1))
    rows = np.isin(release.donors[:, 0], own)
    # holders of what a rounded row shows are left out
    assert not law.later["income"].matrix.toarray()[rows][:, -1].any()


def test_what_holds_for_everybody_is_no_gain_of_a_chain():
    """A relation that strangers follow, too, is large against the most frequent value alone."""
    data = table("following")
    setting = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
    gain = MEASURES["attribute_gain"]
    alone = gain.read(released(data, setting))
    majority = float((alone.detail.informed - alone.detail.ignorant).max())
    beyond = gain.read(control_group(released(data, setting), setting, 1))
    assert beyond.detail.control is not None
    assert majority > 0.1
    assert beyond.value < majority - 0.05
    # without a control group each person of the file is taken out in turn
    assert alone.value < majority - 0.02
