"""People of a file attacked as if they were outside of it: the one baseline of attribute gain."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import chi2

import rwn_core as rwn
from rwn_core import Comparison, NotApplicable, SecretKey, SoftRWN
from rwn_core.laws.left_out import NO_DONOR, _apart, for_rows, rows_without
from rwn_core.measures.attacks.attribute_attack import AttackedRows, beliefs, own_beliefs
from rwn_core.measures.attacks.attribute_guesses import AttributeAttack
from rwn_core.measures.attacks.left_out_people import PeopleLeftOut
from rwn_core.measures.risk import attributes
from rwn_core.measures.risk.attributes import ATTRIBUTE_GAIN
from rwn_core.tuning.evaluate import read_all
from tests.oracles import tied_slices
from tests.tables import described

WIDE = SoftRWN(width=2.0, balance=1.0, own=True)
WAYS = {
    "apart": WIDE,
    "predicted": SoftRWN(width=2.0, balance=1.0, own=True, by_prediction=True),
    "tied": SoftRWN(width=2.0, balance=1.0, own=True, tie=True),
    "each alone": rwn.RWN(k=40),
    "some kept": rwn.RWN(k=40, q=0.9),
}


@cache
def bodyfat() -> rwn.Microdata:
    data = rwn.load_demo("bodyfat")
    others = tuple(each.name for each in data.schema.released if each.name != "siri")
    return data.with_slices([others])


def gain_of(masked: rwn.Microdata, law: object, data: rwn.Microdata) -> object:
    return ATTRIBUTE_GAIN.read(Comparison(original=data, masked=masked, law=law))


@pytest.mark.parametrize("way", WAYS)
def test_a_true_response_gains_more_than_half_and_an_unrelated_one_nothing(way: str) -> None:
    data = bodyfat()
    if way in ("each alone", "some kept"):
        data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, WAYS[way], seed=1)
    planted = data if way != "predicted" else rwn.Microdata(data.frame, release.masked.schema)
    true = gain_of(planted, release.law, data)
    assert true.value > 0.5
    assert true.interval[0] > 0.4
    # independent columns: each one in an order of its own
    draw = np.random.default_rng(0)
    frame = release.masked.frame.copy()
    for name in frame.columns:
        frame[name] = frame[name].to_numpy()[draw.permutation(len(frame))]
    apart = gain_of(rwn.Microdata(frame, release.masked.schema), release.law, data)
    assert apart.value <= max(apart.interval[1], 0.02)
    assert apart.interval[0] <= 0.0 < 0.02 + apart.interval[1]
    assert apart.value < 0.04


def test_the_tie_of_bodyfat_reads_as_much_as_halves_of_the_table_do() -> None:
    setting = rwn.Setting(params=WAYS["tied"])
    data = bodyfat()
    read = []
    for seed in range(2):
        release = rwn.mask(data, WAYS["tied"], seed=seed)
        compared = Comparison(original=data, masked=release.masked, law=release.law)
        found = read_all(compared, ("attribute_gain", "red_team"), setting)["attribute_gain"]
        read.append(found.value)
        alone = ATTRIBUTE_GAIN.read(compared)
        assert alone.value <= found.value
        assert (alone.interval[1] - alone.interval[0]) / 3.92 < 0.02
    assert np.mean(read) == pytest.approx(0.04, abs=0.02)  # nearly three times the error of .007


LAWS = WAYS | {
    "predicted": SoftRWN(width=2.0, own=True, by_prediction=True, mixed=True),
    "2015": rwn.NBRS2015(epsilon=2.0),
    "noise": rwn.AdditiveNoise(size=0.5),
}


@pytest.mark.parametrize("way", LAWS)
def test_beliefs_in_the_person_of_each_row_are_those_in_all_people(way: str) -> None:
    """Also where a key has the donor of the secret, and for secrets with other donors."""
    data = bodyfat() if way in ("apart", "predicted", "tied") else rwn.load_demo("bodyfat")
    data = data.with_slices([("siri", "age"), ("weight", "height", "chest")])
    release = rwn.mask(data, LAWS[way], seed=3)
    rows = np.arange(0, data.n, 2)
    people = np.random.default_rng(1).permutation(data.n)[: len(rows)]
    keys, secrets = ("age", "chest", "neck"), ("siri", "weight", "hip")
    own = own_beliefs(release.law, AttackedRows(release.masked, rows, people), keys, secrets)
    every = beliefs(release.law, release.masked, rows, keys, secrets, np.arange(data.n))
    assert max(each.max() for each in own) > 0
    for found, whole in zip(own, (every.source, *every.donor), strict=True):
        wanted = whole.toarray()[people, np.arange(len(rows))]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("way", ["each alone", "some kept", "tied", "predicted"])
def test_a_row_drawn_again_with_the_same_keys_is_believed_in_as_before(way: str) -> None:
    data = bodyfat() if way in ("tied", "predicted") else rwn.load_demo("bodyfat")
    release = rwn.mask(data, WAYS[way], seed=3)
    compared = Comparison(original=data, masked=release.masked, law=release.law)
    tried = AttributeAttack(compared, release.law)
    people = np.arange(data.n)
    tried.on_people(people)
    left = PeopleLeftOut(tried, people)
    found = left._beliefs()
    owner = left.changed.owner
    rows = data.n + np.arange(len(owner))
    law = for_rows(release.law, left.like)
    about = AttackedRows(left.table, rows, people[owner])
    wanted = own_beliefs(law, about, tried.keys, tried.secrets)
    for believed, own in zip((found.source, *found.donor), wanted, strict=True):
        assert own.max() > 0
        np.testing.assert_allclose(believed.toarray()[owner, rows], own, rtol=1e-9, atol=1e-15)
    keys = left.table.frame[list(tried.keys)].to_numpy()
    same = (keys[data.n :] == keys[left.changed.like]).all(axis=1)
    assert same.any()


PLANTED = ("as it is", "in classes of their own", "with the own record")
PERSON, ROW, RELEASES = 3, 5, 700
TIED = SoftRWN(tie=True, width=3.0, own=True, kernel="gaussian", bandwidth="absolute", cap=1.0)


@cache
def rows_seen() -> tuple[object, np.ndarray]:
    """The law of a table of eight, and how often a row shows two donors without a person."""
    draw = np.random.default_rng(4)
    a = np.sort(draw.normal(size=8)).round(3)
    frame = pd.DataFrame({"a": a, "b": (a + 0.1 * draw.normal(size=8)).round(4)})
    prepared = TIED.prepare(described(frame))
    count = np.zeros((8, 8))
    for seed in range(RELEASES):
        masked = prepared.release(SecretKey.from_seed(seed)).masked
        found = rows_without(prepared.law, masked, np.array([PERSON]), seed=seed)
        cells = masked.frame.iloc[ROW]
        at = np.flatnonzero(found.row == ROW)
        if at.size and found.again[at[0]] >= 0:
            cells = found.table.frame.iloc[found.again[at[0]]]
        places = [int(np.flatnonzero(frame[name] == cells[name])[0]) for name in "ab"]
        count[tuple(places)] += 1
    return prepared.law, count


@pytest.mark.parametrize("fault", PLANTED)
def test_rows_without_a_person_follow_the_law_by_loops(fault: str) -> None:
    law, count = rows_seen()
    tied = law.tied
    assert abs(tied.fitted.loadings).min() > 0.7
    weights = law.probabilities.toarray()[ROW].tolist()
    # by loops: in each class both slices are drawn without the person
    given = []
    for unit in range(2):
        order = np.argsort(tied.tie.ranks[unit]).tolist()
        chances = np.array(tied_slices.class_chances(weights, order, tied.tie.tables[unit].T))
        if fault != "with the own record":
            chances[:, PERSON] = 0.0
        given.append(chances / chances.sum(axis=1, keepdims=True))
    expected = sum(np.outer(*pair) for pair in zip(*given, strict=True)) / len(given[0])
    if fault == "in classes of their own":
        expected = np.outer(expected.sum(axis=1), expected.sum(axis=0))
    wanted = expected.ravel() * RELEASES
    seen = count.ravel()
    often = wanted >= 5
    wanted = np.append(wanted[often], wanted[~often].sum() + 1e-9)
    seen = np.append(seen[often], seen[~often].sum())
    statistic = ((seen - wanted) ** 2 / wanted).sum()
    refuted = statistic > chi2.ppf(0.9999, len(wanted) - 1)
    assert refuted == (fault != "as it is")
    if fault == "as it is":
        assert count[PERSON].sum() == count[:, PERSON].sum() == 0  # nobody shows the person


def test_no_row_of_a_unit_stays_and_none_shows_it() -> None:
    data = bodyfat()
    release = rwn.mask(data, WAYS["tied"], seed=2)
    units = np.arange(data.n) // 2
    found = rows_without(release.law, release.masked, np.arange(0, data.n, 2), units)
    own = found.again < 0
    assert (units[2 * found.person[own]] == units[found.row[own]]).mean() > 0.99
    siri = data.frame["siri"].to_numpy()
    assert found.table.n == data.n + len(found.owner)
    for number in range(0, len(found.owner), 7):
        of_unit = siri[units == found.owner[number]]
        others = np.isin(of_unit, siri[units != found.owner[number]])
        assert not np.isin(found.table.frame["siri"].iloc[data.n + number], of_unit[~others])


@pytest.mark.parametrize("fault", ["", "the last row is looked up as any other"])
def test_a_row_without_a_donor_picks_none_at_the_end_of_a_table_too(fault: str) -> None:
    """Rows without entries, or with weights of 0 alone, lie first, between others and last."""
    chances = np.array([[0, 0, 0], [0, 3, 1], [0, 0, 0], [0, 2, 0], [5, 0, 0], [0, 0, 0]])
    matrix = sparse.csr_array(chances.astype(float))
    matrix.data[matrix.data == 5] = 0.0
    alike = np.zeros(6, np.int64)
    alone = np.array([7, 8, 9, 9, 9, 9])  # each of the three records is a person's
    draw = np.random.default_rng(4)
    count = np.zeros((6, 4))
    for _ in range(2_000):
        picked, _others = _apart(matrix, 1.0, alike, alike, alone, draw)
        if fault:  # the first entry of all where a row has none
            picked = np.where(picked < 0, matrix.indices[0], picked)
        count[np.arange(6), picked] += 1
    never = [0, 2, 4, 5]
    assert (count[never, NO_DONOR] == 2_000).all() == (not fault)
    assert count[3].tolist() == [0, 2_000, 0, 0]
    assert count[1, 1] / 2_000 == pytest.approx(0.75, abs=0.05)


def test_another_record_is_of_another_person_and_a_kept_value_has_no_donor() -> None:
    matrix = sparse.csr_array(np.array([[0, 3, 1], [0, 2, 0], [2, 0, 2]], dtype=float))
    own = np.array([5, 6, 7])
    draw = np.random.default_rng(4)
    for _ in range(50):
        donors, others = _apart(matrix, 1.0, np.array([1, 2, 3]), np.array([2, 2, 1]), own, draw)
        assert donors.tolist() == [1, 1, 0]
        assert others.tolist() == [2, NO_DONOR, 2]
    # one half is kept: where the own value is shown and no donor has it, it was
    donors, _ = _apart(matrix, 0.5, np.array([1, 2, 3]), np.array([1, 1, 3]), own, draw)
    assert donors[:2].tolist() == [NO_DONOR, NO_DONOR]


def test_a_tie_that_cannot_be_read_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotApplicable("Too many pairs.")

    monkeypatch.setattr(attributes, "PeopleLeftOut", refuse)
    data = bodyfat()
    read = {}
    for way in ("apart", "tied", "predicted"):
        release = rwn.mask(data, WAYS[way], seed=1)
        read[way] = gain_of(release.masked, release.law, data)
    assert read["apart"].baseline == 0.0  # beyond the majority: at most the gain
    policy = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.9),))
    for way in ("tied", "predicted"):
        assert isinstance(read[way], NotApplicable)
        verdict = policy.judge({"attribute_gain": read[way]})
        assert not verdict.kept
        assert verdict.state == "not judged"
