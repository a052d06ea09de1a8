"""Disclosure inside and outside of the file, odds of a person, attribute differences."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Microdata, NotApplicable, attribute_difference
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.evaluation import control_group as control_group_module
from rwn_core.evaluation import disclosure
from rwn_core.evaluation.attack_list import attacks, read_attack
from rwn_core.evaluation.control_group import Halves, control_group
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.io.demo import load_demo
from rwn_core.masking import NBRS2015, RWN, AdditiveNoise, RandomSample, SoftRWN, mask
from rwn_core.measures.attacks.non_members import NonMembers
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.risk.repeated_releases import bhattacharyya, bounds_of_records
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning import Limit, Policy, Setting, evaluate
from rwn_core.tuning.evaluate import PreparedTables, raised
from rwn_core.tuning.verdict import attacked
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import warnings as risk_warnings
from tests import tables
from tests.attacked_tables import flagged_register
from tests.core.measures.attacks.attribute_tables import released
from tests.tables import FOLLOWING, described

# without an answer: where the file is the population, under an even kernel, without categories
REFUSED = {"population_uniqueness", "certified_linkage", "posterior_odds"}


@pytest.fixture(scope="module")
def bodyfat():
    return load_demo("bodyfat")


@pytest.fixture(scope="module")
def found(bodyfat):
    shares: list[float] = []
    found = disclosure.disclose_release(
        bodyfat, RWN(epsilon=2.0, k=5), seed=7, progress=shares.append
    )
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1
    return pickle.loads(pickle.dumps(found))  # as it travels between processes


def test_every_risk_is_read_and_the_worst_records_come_first(found):
    assert set(found.readings) == {key for key, m in MEASURES.items() if m.side == "risk"}
    refused = {key for key, reading in found.readings.items() if not isinstance(reading, Reading)}
    assert refused == REFUSED
    success = {attack["words"]: attack["success"] for attack in attacks(found.readings)}
    assert success["whole original file"] == pytest.approx(0.999, abs=0.003)
    assert success["distance, all"] == pytest.approx(0.12, abs=0.05)
    worst = disclosure.worst_records(found.readings)
    truth = found.readings["linked_over_half"].detail.truth
    assert [row["truth"] for row in worst] == sorted(truth, reverse=True)[:10]
    assert all(0 <= share <= 1 for share in [*success.values(), *(row["appears"] for row in worst)])


def test_further_releases_lie_above_the_first(bodyfat, found):
    detail = found.readings["repeated_releases"].detail
    same = list(detail.same_order)
    assert same == sorted(same)
    assert detail.shuffled == same[0]
    law = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7).law
    bounds = bounds_of_records(bhattacharyya(law, detail.names), detail.releases).mean(axis=1)
    assert (np.asarray(same) >= bounds - 1e-9).all()


def test_rounded_releases_are_judged_rounded_and_those_without_a_law_say_why(bodyfat, found):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    precision = given_steps(bodyfat, 1.0)
    coarse = disclosure.disclose(base, release.masked, release.law, precision=precision)
    assert coarse.readings["bayes_linkage"].value < found.readings["bayes_linkage"].value - 0.2
    for key, reading in coarse.readings.items():
        assert isinstance(reading, Reading) == (key not in REFUSED)
        assert key in REFUSED or np.isfinite(reading.value)
    lawless = disclosure.disclose(base, release.masked, None)
    assert isinstance(lawless.readings["bayes_linkage"], NotApplicable)
    assert disclosure.worst_records(lawless.readings) == []
    answers = {attack["words"]: attack for attack in attacks(lawless.readings)}
    assert answers["whole original file"]["success"] is None
    assert answers["whole original file"]["reason"]
    assert answers["distance, all"]["success"] is not None


WARNED_BY = (
    "bayes_linkage",
    "distance_linkage",
    "extremes",
    "homogeneity",
    "cells_changed",
    "differential_privacy",
    "neighborhood_size",
)


def test_the_caveats_apply_to_the_setting(bodyfat, sentences):
    """What METHODS has a steward see: some at every setting of an ordinary table."""
    said = {}
    for name, params in {
        "small radius": RWN(epsilon=0.5, k=5),
        "half the file": RWN(epsilon=9.0, k=5, q=0.5),
        "sample": RWN(k=5, neighbors="sample", m=80),
        "partition": RWN(k=5, neighbors="partition", u=2),
        "2015": NBRS2015(epsilon=2.5, q=0.5),
    }.items():
        release = released(bodyfat, params, 7)
        readings = {key: MEASURES[key].read(release) for key in WARNED_BY}
        said[name] = risk_warnings.warnings(params, readings, digits=True, separate=15)
    sentences("caveats", said)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_MODE_what_nothing_but_the_releases_tells(bodyfat, q):
    """The numbers of MODE-1 and MODE-2 for the typical neighborhood, on the page."""
    release = mask(bodyfat, RWN(k=5, q=q), seed=1)
    table = risk_sentences.repetition(told(release))
    assert [row[0] for row in table["rows"]] == ["1", "2", "3", "5", "10", "20"]
    modes = [row[1] for row in table["rows"]]
    if q < 1:
        assert modes == ["50 %", "50 %", "60 %", "73 %", "89 %", "98 %"]
    assert ("most frequent value is the true one" in table["columns"]) == (q < 1)
    assert table["rows"][-1][-1] == "4.9 of 5"
    assert risk_sentences.repeated_words(q, 5) in table["caption"]
    nothing = mask(bodyfat, RWN(k=5, q=0.0), seed=1)
    assert risk_sentences.repetition(told(nothing)) is None


def told(release: Any) -> disclosure.Disclosure:
    return disclosure.Disclosure(readings={}, repetition=disclosure.values_alone(release.law))


@pytest.mark.parametrize("own", [False, True])
def test_what_many_releases_of_a_soft_kernel_tell(bodyfat, own):
    """One cell of the typical record over and over, drawn by its weights."""
    law = mask(bodyfat, SoftRWN(kernel="exponential", own=own, q=0.9), seed=1).law
    found = disclosure.values_alone(law)
    sizes = law.neighborhoods.effective_sizes
    record = int(np.argsort(sizes, kind="stable")[bodyfat.n // 2])
    row = law.probabilities.toarray()[record]
    chances = 0.1 * (np.arange(bodyfat.n) == record) + 0.9 * row
    drawn = np.random.default_rng(3).multinomial(10, chances, size=10_000)
    top = drawn.max(axis=1)
    hit = (drawn[:, record] == top) / (drawn == top[:, None]).sum(axis=1)
    assert found["mode"][4] == pytest.approx(hit.mean(), abs=4 * hit.std() / 100)
    assert found["distinct"][4] == pytest.approx((1 - (1 - row) ** 10).sum())
    assert found["donors"] == round(float(np.sort(sizes)[bodyfat.n // 2]))
    words = risk_sentences.weighted_words(found["q"], found["own"], found["largest"])
    wins = chances[record] > np.delete(chances, record).max()
    assert ("the person's own becomes" in words) == wins


@pytest.mark.parametrize(("q", "donors"), [(0.5, 1), (0.3, 4), (0.95, 9), (1.0, 4)])
def test_what_many_releases_tell_is_what_they_show(q, donors):
    """One cell over and over; donors have values 1, 2, ..., the own one is 0."""
    rng = np.random.default_rng(5)
    drawn = np.where(rng.random(200_000) < q, rng.integers(1, donors + 1, 200_000), 0)
    counts = np.bincount(drawn, minlength=donors + 1)
    words = risk_sentences.repeated_words(q, donors)
    away = q == 1 or abs(q - donors / (donors + 1)) > 1e-9  # no tie
    assert ("becomes the person's own" in words) == (away and counts[0] > counts[1:].max())
    assert ("becomes the rarest one" in words) == (away and 0 < counts[0] < counts[1:].min())
    assert ("none comes more often" in words) == (not away)
    assert ("tends to the mean of the neighborhood" in words) == (q == 1)
    if q < 1:
        assert f"tends to {1 - q:.2g} of the own value and {q:.2g} of the" in words


@pytest.mark.parametrize("params", [AdditiveNoise(size=0.3), RandomSample(left_out=0.5)], ids=str)
def test_a_method_without_neighborhoods_is_not_told_of_them(bodyfat, params):
    release = mask(bodyfat, params, seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    found = disclosure.disclose(base, release.masked, release.law)
    assert found.repetition is None
    assert isinstance(found.readings["neighborhood_size"], NotApplicable)
    said = risk_warnings.warnings(params, found.readings, digits=True, separate=15)
    said += [row[3] for row in risk_sentences.rows(found.readings, bodyfat.n) if row[1] != "n/a"]
    for words in ("neighborhood", "donor", "q = ", "larger q", "ε"):
        assert words not in " ".join(said), words
    if params.method == "sampling":  # everybody is unique, so each released row is
        assert found.readings["uniqueness"].value == found.readings["k_anonymity"].value == 1.0


CONTROLLED = RWN(epsilon=2.0, k=5)


def test_a_control_group_is_a_fifth_whatever_the_order_of_the_file(bodyfat):
    base = Comparison(original=bodyfat, masked=bodyfat)
    control = control_group(base, CONTROLLED, seed=1)
    assert (control.holdout.n, control.original.n) == (bodyfat.n // 5, bodyfat.n - bodyfat.n // 5)

    def in_order(*tables: Microdata) -> list[list[float]]:
        together = pd.concat([each.frame for each in tables])
        return together.sort_values(list(bodyfat.names)).to_numpy().tolist()

    assert in_order(control.original, control.holdout) == in_order(bodyfat)
    other = bodyfat.take(np.random.default_rng(1).permutation(bodyfat.n))  # of any order the same
    again = control_group(Comparison(original=other, masked=other), CONTROLLED, seed=1)
    assert in_order(control.holdout) == in_order(again.holdout)


def test_a_control_group_is_left_out_and_guessed_about(bodyfat, monkeypatch):
    base = Comparison(original=bodyfat, masked=bodyfat)
    control = control_group(base, CONTROLLED, seed=1)
    read: list[tuple[str, Comparison]] = []
    compute = Measure.read

    def watched(measure, comparison):
        read.append((measure.key, comparison))
        return compute(measure, comparison)

    monkeypatch.setattr(Measure, "read", watched)
    release = mask(bodyfat, CONTROLLED, seed=1)
    found = disclosure.disclose(base, release.masked, release.law, control=control)
    for key, measure in MEASURES.items():  # no attack is computed to be thrown away
        asked = [comparison is control for name, comparison in read if name == key]
        expected = [measure.against_control] if measure.side == "risk" else []
        assert asked == expected, key
    for key in ("attribute_inference", "singling_out", "linkability", "inference"):
        assert found.readings[key].detail.control is not None
    plain = MEASURES["inference"].read(base.with_masked(release.masked, release.law))
    assert plain.detail.control is None
    # what an informed intruder learns of people in the file is more than of those outside
    worst = found.readings["attribute_inference"]
    assert worst.value > worst.baseline + 0.1
    assert worst.baseline > worst.detail.ignorant.mean()
    assert "people who are not in the file" in str(risk_sentences.rows(found.readings, 241))


def test_where_a_control_group_has_no_answer_the_release_is_asked(bodyfat):
    full = released(bodyfat, RWN(epsilon=2.0, k=5))
    lawless = Comparison(original=bodyfat, masked=full.masked)
    measure = MEASURES["attribute_inference"]
    for release, control, answers in (
        (full, lawless, True), (lawless, full, True), (lawless, lawless, False)
    ):  # fmt: skip
        assert isinstance(read_attack(measure, release, control), Reading) == answers


def test_people_outside_are_judged_as_they_are_like_those_inside():
    """A secret that nothing tells is named as rarely outside as inside, however it is rounded."""
    beyond = []
    precision = dict.fromkeys(("x", "y", "s"), 1.0)
    for seed in range(6):
        values = np.random.default_rng(seed).normal(size=(600, 3))
        frame = pd.DataFrame(values, columns=["x", "y", "s"])
        data = described(frame, x="key", y="key", s="confidential").with_weights({"s": 0.0})
        base = Comparison(original=data, masked=data)
        control = control_group(base, RWN(k=40), seed=1, precision=precision)
        reading = MEASURES["attribute_inference"].read(control)
        beyond.append(reading.value - reading.baseline)
    # 120 people outside, of whom .08 are named rightly by chance: .025 is one standard error
    assert np.mean(beyond) == pytest.approx(0.0, abs=3 * 0.025 / np.sqrt(6))
    held = np.flatnonzero(~data.frame["x"].isin(control.original.frame["x"]))
    pd.testing.assert_frame_equal(control.holdout.frame, data.take(held).frame)
    asked = NonMembers(control, control.law, control.holdout, ["x", "y"])
    pd.testing.assert_frame_equal(  # a release would show them rounded
        asked.people.frame, rounded(control.holdout, precision).frame
    )


@pytest.mark.parametrize(("n", "k", "enough"), [(60, 2, False), (120, 2, True), (120, 110, False)])
def test_no_control_group_of_a_few(n, k, enough):
    """Of 60 it would have 12 people, of 120 the rest has 96."""
    data = described(pd.DataFrame({"x": np.arange(n) / 2, "y": np.arange(n) % 7}))
    base = Comparison(original=data, masked=data)
    assert (control_group(base, RWN(k=k), seed=1) is not None) == enough


def test_no_row_of_people_outside_is_in_the_file():
    """Else their other rows tell of them what the release would not, and the risk reads too low."""
    person = np.repeat(np.arange(150), 4)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=["x", "y", "s"]).iloc[person]
    frame = frame.reset_index(drop=True) + 0.01 * rng.normal(size=(600, 3))
    data = described(frame.assign(who=person), who="person", s="confidential")
    data = data.with_weights({"s": 0.0})
    control = control_group(Comparison(original=data, masked=data), RWN(k=3), seed=1)
    inside, outside = (each.frame["who"].unique() for each in (control.original, control.holdout))
    assert (len(inside), len(outside)) == (120, 30)
    assert not set(inside) & set(outside)
    # the nearest rows are of the same person, so that they tell of nobody else
    found = MEASURES["inference"].read(control)
    assert found.value > 0.4
    assert found.detail.control < 0.3
    # nor is a prediction tried on other rows of the people that it has learned from
    asked = data.with_schema(data.schema.asking("s", ("x", "y")))
    trial = predict_on_holdout(asked, RWN(k=3), seed=1, repeats=1)
    assert (trial.n_train, trial.n_test) == (420, 180)
    assert trial.errors.original.min() > 0.8


PARAMS = RWN(epsilon=0.0, k=6)


def people(n: int = 60, seed: int = 3) -> pd.DataFrame:
    """Two numbers, the second all but told by the first; the first record is far from all."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    frame = pd.DataFrame({"height": first, "weight": first + 0.3 * rng.normal(size=n)})
    frame.iloc[0] = [9.0, 9.0]
    return frame


def named_by_hand(frame: pd.DataFrame, records: list[int], releases: int, k: int) -> list[float]:
    """The share of releases in which the likeliest source of a row is its own; no project code."""
    z = ((frame - frame.mean()) / frame.std(ddof=1)).to_numpy()
    distance = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :k]
    lists = (near[:, :, None] == np.arange(len(frame))).any(axis=1)
    rng = np.random.default_rng(11)
    named = []
    for record in records:
        one, other = rng.choice(near[record], (2, releases))  # one draw per variable
        fits = lists[:, one] & lists[:, other]
        named.append(float((fits[record] / fits.sum(axis=0)).mean()))
    return named


def test_odds_of_400_releases_are_those_of_an_intruder_by_hand() -> None:
    """All values are distinct and q = 1, so that a row's sources are those who list its donors."""
    frame = people()
    records = [0, 4, 17, 33]
    odds = disclosure.follow(described(frame), PARAMS, records, seed=5, releases=400)
    by_hand = named_by_hand(frame, records, 4_000, 6)
    found = [odds[record] for record in records]
    assert found == pytest.approx(by_hand, abs=0.06)  # 2.5 standard errors of 400 releases
    shifted = named_by_hand(frame, records, 4_000, 12)
    assert np.max(np.abs(np.subtract(found, shifted))) > 0.06  # a wrong law is found


def test_odds_on_the_unmasked_file_in_other_units_and_among_twins() -> None:
    frame = people()
    data = described(frame)
    whole = disclosure.follow(data, RWN(epsilon=0.0, k=5, q=0.0), (0, 9), seed=1, releases=20)
    assert whole == pytest.approx({0: 1.0, 9: 1.0})
    scaled = described(frame * 1000)
    for table in (data, scaled):
        odds = disclosure.follow(table, PARAMS, (0, 9), seed=2, releases=30)
        assert odds == disclosure.follow(data, PARAMS, (0, 9), seed=2, releases=30)
    twins = described(pd.concat([frame, frame], ignore_index=True))
    named = disclosure.follow(twins, RWN(epsilon=0.0, k=5, q=0.0), (0, 9), seed=1, releases=20)
    assert named == pytest.approx({0: 0.5, 9: 0.5})  # two equal records share the hit


def test_rows_of_one_person_count_as_one() -> None:
    frame = pd.concat([people(30), people(30) + 0.01], ignore_index=True)
    both = described(frame.assign(id=[*range(30), *range(30)]), id="person")
    people_and_rows = (both, described(frame))
    setting = RWN(epsilon=0.2, k=4)
    named = [
        sum(disclosure.follow(each, setting, (3, 8), seed=4).values()) for each in people_and_rows
    ]
    assert named[0] > named[1]
    # a person is named by any of the own rows, whichever of them is watched
    odds = disclosure.follow(both, setting, (3, 8, 33), seed=4)
    assert odds[33] == odds[3] == disclosure.follow(both, setting, (33,), seed=4)[33]
    assert named[0] == pytest.approx(odds[3] + odds[8])


def test_a_setting_without_a_law_says_so_and_the_guess_stands_beside() -> None:
    assert disclosure.follow(described(people()), PARAMS, (), seed=1) == {}
    assert disclosure.odds_words(0.07, 250) == (
        "correctly named in 7 of 100 releases like this, in 0 if not in the file; "
        "a guess is correct in 0.4"
    )
    assert "no exact law" in disclosure.odds_words(None, 250)


WEAK, STRONG = rwn.RWN(epsilon=0.0, k=1, q=0.1), rwn.RWN(epsilon=6.0, k=20)
GAIN = Policy(limits=(Limit(measure="attribute_gain", at_most=0.05),))


def numbers(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Two keys, two other variables, and a secret that they tell something of."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 4))
    secret = x.sum(axis=1) + draw.normal(size=n)
    return pd.DataFrame(x, columns=["a", "b", "c", "d"]).assign(s=secret)


def roles(frame: pd.DataFrame, **more: str) -> rwn.Microdata:
    return described(frame, a="key", b="key", s="confidential", **more)


TABLE = roles(numbers())


@pytest.fixture(scope="module")
def weak() -> control_group_module.AttributeDifference:
    return attribute_difference(TABLE, WEAK)


def test_an_unmasked_file_tells_of_nearly_everybody_inside_and_of_nobody_more_outside(weak):
    file = attribute_difference(TABLE, STRONG, masked=TABLE)
    assert file.inside == pytest.approx(1.0)
    assert file.value > 0.85
    assert weak.value > 0.6
    assert 0 < weak.error < 0.05
    assert set(weak.frame()["secret"]) == {"s"}
    assert {each.endswith("the keys") for each in weak.frame()["words"]} == {True, False}
    found = attribute_difference(TABLE, STRONG)  # no difference beyond luck
    assert abs(found.value) < 0.05
    assert abs(found.value) < 4 * found.error + 0.01
    another = attribute_difference(TABLE, WEAK, seed=1_000)  # another set of releases
    assert abs(another.value - weak.value) < 4 * np.hypot(another.error, weak.error)


def test_a_relation_that_outsiders_share_is_no_difference():
    """Every row near a person tells the secret, inside as outside."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 100, 400)
    table = roles(pd.DataFrame({"a": x, "b": x + draw.normal(size=400), "s": x // 34}))
    found = attribute_difference(table, rwn.RWN(epsilon=0.5, k=20))
    assert (found.frame()["outside"] > 0.3).any()
    assert found.value < 0.1


def test_a_planted_mix_of_both_sides_is_seen(weak, monkeypatch):
    """If people outside were in the file all the same, no disclosure would be found."""
    halved = control_group_module._halved
    draw = np.random.default_rng(0)

    def mixed(*about):
        for number, files in halved(*about):
            owner = draw.permutation(len(files.people))[: files.n]
            yield number, replace(files, owner=owner)

    monkeypatch.setattr(control_group_module, "_halved", mixed)
    mistaken = attribute_difference(TABLE, WEAK)
    assert mistaken.value < 0.15 * weak.value


def test_a_rare_level_counts_though_few_have_it():
    found = attribute_difference(flagged_register(), WEAK, splits=4)
    flag = found.frame().set_index("secret")
    assert found.level is not None
    assert (flag["value"] > 0.4).any()
    assert (flag[flag["level"].isna()]["value"] < 0.4).all()  # of everybody


def test_units_names_order_and_one_far_person_change_nothing(weak):
    frame = numbers().assign(g=np.random.default_rng(5).choice(list("xyz"), 200))
    found = attribute_difference(roles(frame), WEAK, splits=4)
    other = frame.assign(c=1024 * frame["c"], s=frame["s"] / 64)
    other["g"] = other["g"].map({"x": "one", "y": "two", "z": "three"})
    moved = attribute_difference(roles(other), WEAK, splits=4)
    assert moved.value == pytest.approx(found.value, abs=0.02)
    shuffled = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    again = attribute_difference(roles(shuffled), WEAK, splits=4)
    assert again.value == pytest.approx(found.value, abs=4 * (found.error + again.error))
    far = numbers()
    far.loc[3, ["c", "s"]] = 1e9
    assert attribute_difference(roles(far), WEAK).value == pytest.approx(weak.value, abs=0.1)


def test_a_tenth_left_as_it_is_is_found():
    table = roles(numbers(600))
    frame = rwn.mask(table, STRONG, seed=1).masked.frame.copy()
    frame.iloc[:60] = table.frame[list(frame)].iloc[:60]
    file = attribute_difference(table, STRONG, masked=roles(frame), splits=4)
    assert file.value == pytest.approx(0.1, abs=0.05)


def test_rows_of_one_person_are_on_one_side():
    """If rows of a person were inside and outside, both would be named: a difference of 0."""
    person = np.repeat(np.arange(80), 3)
    frame = numbers(80).loc[person].reset_index(drop=True).assign(person=person)
    setting = rwn.RWN(epsilon=0.0, k=3, q=0.1)
    found = attribute_difference(roles(frame, person="person"), setting)
    assert found.value > 0.5
    assert attribute_difference(roles(frame), setting).value < found.value - 0.2


SETTINGS = (rwn.CARTSynthesis(leaf=5), rwn.AdditiveNoise(size=0.2), rwn.RankSwapping(),
            rwn.Microaggregation(), rwn.RandomSample(), rwn.SoftRWN(width=2.0))  # fmt: skip


@pytest.mark.parametrize("params", SETTINGS, ids=lambda each: each.method)
def test_every_method_is_judged_alike(params):
    found = attribute_difference(TABLE, params, splits=3)
    assert -0.2 < found.value <= 1
    assert found.error > 0


def test_halves_are_masked_though_a_later_slice_has_a_third_of_all_records_as_donors():
    """In half of the records so many would be two thirds, which is refused."""
    data = TABLE.with_schema(TABLE.schema.with_slices([["a", "b", "c", "d"]]))
    third = RWN(epsilon=1.0, k=20, by_prediction=True, later=data.n // 3)
    found = attribute_difference(data, third, splits=4)
    assert (found.records, found.splits) == (data.n, 4)
    with pytest.raises(rwn.ParameterError, match="too few donors"):  # the planted fault
        mask(data.take(np.arange(data.n // 2)), third, seed=1)


def test_the_limit_on_attribute_gain_applies_to_the_difference():
    table = TABLE
    cart = rwn.CARTSynthesis(leaf=3)
    verdict = judged(table, rwn.mask(table, cart, seed=1), GAIN)
    assert verdict.broken == ("attribute_gain",)  # though no law of it is known
    loose = Policy(limits=(Limit(measure="attribute_gain", at_most=0.2),))
    strong = judged(table, rwn.mask(table, rwn.CARTSynthesis(leaf=60), seed=1), loose)
    assert not strong.kept  # the nearest rows alone keep no limit
    assert "nearest rows" in str(strong.unread)
    point = evaluate(table, Setting(params=cart), (1, 2), ("attribute_gain", "red_team"))
    difference = attribute_difference(table, cart).value
    assert point.median("attribute_gain") == pytest.approx(difference, abs=1e-12)
    # a stated gain below the difference is raised to it, and names the attack
    weak = judged(table, rwn.mask(table, WEAK, seed=1), GAIN)
    assert weak.broken == ("attribute_gain",)


def test_the_red_team_says_the_difference_with_its_error():
    release = rwn.mask(TABLE, WEAK, seed=1)
    read = rwn.audit(TABLE, release, measures=["red_team"]).readings
    find = Halves(TABLE, WEAK).difference
    readings = control_group_module.with_difference(read, find)
    said = rwn.MEASURES["red_team"].sentence(readings["red_team"], TABLE.n)
    assert "8 random halvings of 200 records" in said
    assert "standard error" in said


def test_refusals():
    for data, params, words in (
        (described(numbers(), a="key"), WEAK, "confidential"),
        (roles(numbers(30)), WEAK, "fewer than 40"),
        (TABLE, rwn.RWN(k=150), "Half of the records"),
    ):
        with pytest.raises(NotApplicable, match=words):
            attribute_difference(data, params)
    with pytest.raises(rwn.ParameterError, match="splits"):
        attribute_difference(TABLE, WEAK, splits=1)


EVERY_WAY = frozenset((way, "s") for way in ("merge", "nearest", "prediction", "matching"))


def related(n: int = 400) -> pd.DataFrame:
    """Keys that tell the secret of everybody, inside as outside."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 100, n)
    secret = np.where(x < 34, "low", np.where(x < 67, "middle", "high"))
    return pd.DataFrame({"a": x, "b": x + draw.normal(size=n), "s": secret})


def of_planted(frame: pd.DataFrame, own: list[str], some=slice(None), **roles_: str) -> Halves:
    """Return the halves of a file in which some records keep their own values of some columns."""
    table = roles(frame, **roles_)
    masked = rwn.mask(table, STRONG, seed=1).masked.frame.copy()
    masked.loc[masked.index[some], own] = table.frame.loc[table.frame.index[some], own]
    return Halves(table, STRONG, masked=roles(masked))


def test_a_relation_raises_no_gain_though_a_model_names_nearly_everybody():
    table = roles(related())
    setting = Setting(params=rwn.RWN(epsilon=0.5, k=20))
    release = table_release(table, setting)
    alone = attacked(release)["attribute_gain"].value
    found = release["red_team"].detail.attribute
    assert found.score > 0.5, "what the red team names, and used to raise the gain to"
    assert alone == found.certain
    tables = PreparedTables(table, [setting])
    both = raised(release, tables.compared(setting, 1), setting)["attribute_gain"]
    assert both.value < 0.05
    assert both.value >= release["attribute_gain"].value


def table_release(table: rwn.Microdata, setting: Setting):
    """Return what is read of one release, without people outside."""
    compared = PreparedTables(table, [setting]).compared(setting, 1)
    keys = ("attribute_gain", "red_team")
    return {key: rwn.MEASURES[key].read(compared, bare=True) for key in keys}


def test_an_attack_that_the_nearest_rows_miss_is_found():
    """Of each row c and s are the own ones: who merges on c names everybody."""
    halves = of_planted(numbers(), ["c", "s"])
    assert halves.difference().value < 0.1
    found = halves.difference({("merge", "s")})
    assert found.value > 0.9
    assert "a merge on c" in found.words
    assert not found.is_share
    assert halves.difference(EVERY_WAY).value == pytest.approx(found.value, abs=0.01)


def test_the_ten_lines_of_further_attacks():
    frame = numbers()
    whole = of_planted(frame, ["c", "s"]).difference(EVERY_WAY).certain
    moved = frame.assign(c=1024 * frame["c"], s=frame["s"] / 64)
    assert of_planted(moved, ["c", "s"]).difference(EVERY_WAY).certain == pytest.approx(whole), (
        "other units"
    )
    far = frame.copy()
    far.loc[3, ["c", "s"]] = 1e9
    assert of_planted(far, ["c", "s"]).difference(EVERY_WAY).certain > 0.8, "one outlier"
    tenth = of_planted(numbers(600), ["c", "d", "s"], slice(60)).difference(EVERY_WAY)
    assert tenth.certain > 0.05, "a worst-off tenth left as it is"
    flagged = numbers().assign(s=np.where(np.arange(200) < 8, "yes", "no"))
    rare = of_planted(flagged, ["c", "s"]).difference(EVERY_WAY)
    assert rare.certain > 0.4, "a rare level"
    person = np.repeat(np.arange(80), 3)
    rows = numbers(80).loc[person].reset_index(drop=True).assign(person=person)
    of_three = of_planted(rows, ["c", "s"], person="person").difference(EVERY_WAY)
    assert of_three.certain > 0.8, "three rows each"
    table = roles(frame)
    again = rwn.mask(table, STRONG, seed=2).masked
    assert Halves(table, STRONG, masked=again).difference(EVERY_WAY).certain < 0.05, (
        "another release"
    )
    unmasked = Halves(table, STRONG, masked=table).difference(EVERY_WAY)
    assert unmasked.certain > 0.9, "unmasked"


def test_secrets_of_which_nothing_tells_are_named_no_more_inside_by_any_attack():
    for seed in range(3):
        frame = numbers()
        frame["s"] = np.random.default_rng(seed).permutation(frame["s"])
        found = Halves(roles(frame), STRONG, splits=4).difference(EVERY_WAY)
        assert found.value < 0.04
        frame["s"] = np.random.default_rng(seed).permutation(np.arange(200) < 10)
        rare = Halves(roles(frame), rwn.RWN(epsilon=1e3), splits=4).difference(EVERY_WAY)
        beyond_luck_of_halves = rare.value - 2 * rare.error
        assert beyond_luck_of_halves < 0.02, "a rare level, whose people are donors like all others"


# slices by prediction name people inside no more than others; each line has its planted fault
PREDICTED = rwn.SoftRWN(by_prediction=True, own=True, width=1.0, balance=1.0)
KEYS_AND_SECRETS = tables.frame("following").drop(columns=["income", "sport"])
SURVEY = described(KEYS_AND_SECRETS, **FOLLOWING)
SMALL = 0.09  # a difference that luck explains, in a table of 200


def voted(setting, releases, people=None):
    """Return how often nearest rows of several releases name `rich`, inside less outside."""
    keys = SURVEY.frame[["age", "height"]].to_numpy(float)
    n = SURVEY.n
    scale = keys.std(axis=0)
    right = {True: [], False: []}
    for split in range(8):
        half = np.random.default_rng(split).permutation(n) < n // 2
        data = SURVEY.take(np.flatnonzero(half))
        votes = np.zeros(n)
        for seed in range(releases):
            masked = rwn.mask(data, setting, seed=100 * split + seed).masked.frame
            rows = masked[["age", "height"]].to_numpy(float)
            near = (((keys[:, None] - rows) / scale) ** 2).sum(axis=2).argmin(axis=1)
            votes += np.where(masked["rich"].to_numpy() == "y", 1, -1)[near]
        named = (votes > 0) == (SURVEY.frame["rich"] == "y")
        for inside in right:
            some = (half == inside) if people is None else (half == inside) & people
            right[inside].append(named[some].mean())
    return np.mean(right[True]) - np.mean(right[False])


def test_a_prediction_names_few_more_and_no_rare_level():
    usual = attribute_difference(SURVEY, PREDICTED)
    assert usual.value < SMALL
    assert max(row["value"] for row in usual.rows if row["secret"] == "sick") < SMALL
    assert attribute_difference(SURVEY, PREDICTED, masked=SURVEY).value > 0.3
    assert attribute_difference(SURVEY, WEAK).value > 0.2
    # planted: the rows of those few are their own
    shown = rwn.mask(SURVEY, PREDICTED, seed=1).masked
    rare = (SURVEY.frame["sick"] == "yes").to_numpy()
    kept = shown.frame.copy()
    kept[rare] = SURVEY.frame[rare]
    found = attribute_difference(SURVEY, PREDICTED, masked=rwn.Microdata(kept, shown.schema))
    assert max(row["value"] for row in found.rows if row["secret"] == "sick") > 0.3


def test_further_releases_of_one_table_add_little():
    assert voted(PREDICTED, 5) < min(SMALL, voted(PREDICTED, 1) + 0.04)
    assert voted(WEAK, 5) > 0.1  # planted: a method that shows the own row


def test_the_tenth_with_the_farthest_keys_is_not_named_more():
    keys = SURVEY.frame[["age", "height"]].to_numpy(float)
    distance = (((keys - keys.mean(axis=0)) / keys.std(axis=0)) ** 2).sum(axis=1)
    assert voted(PREDICTED, 3, distance >= np.quantile(distance, 0.9)) < 0.15
    hard = np.abs(keys @ [2, 1] - 265) < 12  # records whose secret the keys predict worst
    assert voted(PREDICTED, 3, hard) < 0.15
    assert voted(WEAK, 3, hard) > 0.3


def test_rows_of_one_person_are_inside_or_outside_together():
    twice = pd.concat([KEYS_AND_SECRETS.head(100)] * 2, ignore_index=True)
    person = np.tile(np.arange(100), 2)
    people = described(twice.assign(person=person), **FOLLOWING, person="household")
    apart = replace(PREDICTED, outside_household=True)
    assert attribute_difference(people, apart).value < SMALL + 0.04
    # planted: a person with a row on either side is no outsider, and hides what rows name
    weak = attribute_difference(people, WEAK).value
    assert weak > attribute_difference(described(twice, **FOLLOWING), WEAK).value + 0.1


def test_all_released_variables_may_be_keys_and_others_no_longer_are():
    data = tables.table("mixed")
    names = [variable.name for variable in data.schema.released]
    for chosen in (names, names[:1]):
        found = disclosure.with_keys(data, chosen).schema.released
        assert [v.name for v in found if v.role is rwn.Role.KEY] == chosen
    for refused in ((), ("nothing",)):
        with pytest.raises(rwn.ParameterError, match="at least one key variable"):
            disclosure.with_keys(data, refused)


def test_who_is_named_by_luck_in_one_file_breaks_no_limit():
    """Of files of a setting that discloses nothing hardly any is beyond 3 % for certain."""
    table = roles(numbers())

    def read(seed: int) -> tuple[float, float, float]:
        masked = rwn.mask(table, STRONG, seed=seed).masked
        found = attribute_difference(table, STRONG, masked=masked, splits=2)
        return found.value, found.certain, found.error

    value, certain, error = np.transpose(list(map(read, range(40))))
    assert (value > 0.03).sum() >= 4, "by luck alone"
    assert (certain > 0.03).sum() <= 2
    assert error.mean() == pytest.approx(value.std(), rel=0.5)
    # planted: what is no luck still counts
    assert attribute_difference(table, STRONG, masked=table, splits=2).certain > 0.8


def beyond_luck(frame: pd.DataFrame, left: int = 200, **roles_: str) -> float:
    """Return what is certain of a file in which the first rows are left as they are."""
    table = roles(frame, **roles_)
    masked = rwn.mask(table, STRONG, seed=1).masked.frame.copy()
    masked.iloc[:left] = table.frame[list(masked)].iloc[:left]
    return attribute_difference(table, STRONG, masked=roles(masked, **roles_), splits=2).certain


def test_the_ten_lines_of_a_file_beyond_luck():
    frame = numbers()
    whole = beyond_luck(frame)
    assert whole > 0.8, "unmasked"
    assert beyond_luck(frame.assign(c=1024 * frame["c"], s=frame["s"] / 64)) == pytest.approx(
        whole, abs=0.03
    ), "other units"
    far = frame.copy()
    far.loc[3, ["c", "s"]] = 1e9
    assert beyond_luck(far) > 0.8, "one outlier"
    assert beyond_luck(numbers(600), 60) > 0.05, "a worst-off tenth left as it is"
    register = flagged_register()
    rare = attribute_difference(register, STRONG, masked=register, splits=2)
    assert rare.certain > 0.4, "a rare level, unmasked"
    person = np.repeat(np.arange(80), 3)
    rows = numbers(80).loc[person].reset_index(drop=True).assign(person=person)
    data = roles(rows, person="person")
    assert attribute_difference(data, STRONG, masked=data, splits=2).certain > 0.8, (
        "three rows each"
    )
    again = rwn.mask(roles(frame), STRONG, seed=2).masked
    assert attribute_difference(roles(frame), STRONG, masked=again, splits=2).certain < 0.05
