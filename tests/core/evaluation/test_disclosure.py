"""Everything about one release: other keys, rounding, further releases, and plain sentences."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from rwn_core.data.rounding import given_steps
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.attack_list import attacks
from rwn_core.evaluation.disclosure import (
    Disclosure,
    disclose,
    disclose_release,
    values_alone,
    worst_records,
)
from rwn_core.masking import NBRS2015, RWN, AdditiveNoise, RandomSample, SoftRWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.repeated_releases import bhattacharyya, bounds_of_records
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import warnings as risk_warnings

# without an answer: where the file is the population, under an even kernel, without categories
REFUSED = {"population_uniqueness", "certified_linkage", "posterior_odds"}


@pytest.fixture(scope="module")
def found(bodyfat):
    shares: list[float] = []
    found = disclose_release(bodyfat, RWN(epsilon=2.0, k=5), seed=7, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1
    return pickle.loads(pickle.dumps(found))  # as it travels between processes


def test_every_risk_measure_is_read(found):
    assert set(found.readings) == {key for key, m in MEASURES.items() if m.side == "risk"}
    refused = {key for key, reading in found.readings.items() if not isinstance(reading, Reading)}
    assert refused == REFUSED


def test_ordinary_beside_worst_case(found):
    success = {attack["words"]: attack["success"] for attack in attacks(found.readings)}
    assert success["whole original file"] == pytest.approx(0.999, abs=0.003)
    assert success["distance, all"] == pytest.approx(0.12, abs=0.05)
    assert all(0 <= share <= 1 for share in success.values())


def test_further_releases_lie_above_the_first(bodyfat, found):
    detail = found.readings["repeated_releases"].detail
    same = list(detail.same_order)
    assert same == sorted(same)
    assert detail.shuffled == same[0]
    law = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7).law
    bounds = bounds_of_records(bhattacharyya(law, detail.names), detail.releases).mean(axis=1)
    assert (np.asarray(same) >= bounds - 1e-9).all()


def test_rounded_releases_are_judged_rounded(bodyfat, found):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    precision = given_steps(bodyfat, 1.0)
    base = Comparison(original=bodyfat, masked=bodyfat)
    coarse = disclose(base, release.masked, release.law, precision=precision)
    assert coarse.readings["bayes_linkage"].value < found.readings["bayes_linkage"].value - 0.2
    for key, reading in coarse.readings.items():
        assert isinstance(reading, Reading) == (key not in REFUSED)
        assert key in REFUSED or np.isfinite(reading.value)


def test_the_worst_records_have_the_largest_risks(found):
    worst = worst_records(found.readings)
    truth = found.readings["linked_over_half"].detail.truth
    assert len(worst) == 10
    assert [row["truth"] for row in worst] == sorted(truth, reverse=True)[:10]
    assert all(0 <= row["appears"] <= 1 for row in worst)


def test_without_a_law_the_reasons_stand(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    found = disclose(base, release.masked, None)
    assert isinstance(found.readings["bayes_linkage"], NotApplicable)
    assert worst_records(found.readings) == []
    answers = {attack["words"]: attack for attack in attacks(found.readings)}
    assert answers["whole original file"]["success"] is None
    assert answers["whole original file"]["reason"]
    assert answers["distance, all"]["success"] is not None


ALWAYS = (
    "may stay, vanish or be copied",  # 1
    "original data",  # 3
    "not differentially private",  # 4
    "no membership protection",  # 4
    "key of a release is a secret",  # 5
    "One release only",  # 6
    "Row order, row names",  # 7
    "all their digits",  # 7
    "Small groups shrink",  # 9
    "edit rules may break",  # 10
    "one outlier changes every neighborhood",  # 11
)
"""What METHODS has a steward see, at every setting of an ordinary table."""


WARNED_BY = (
    *("bayes_linkage", "distance_linkage", "extremes", "homogeneity", "cells_changed"),
    *("differential_privacy", "neighborhood_size"),
)


@pytest.mark.parametrize(
    ("params", "more", "other"),
    [
        (RWN(epsilon=0.5, k=5), ["nobody keeps a unique own value", "distances concentrate"],
         ["kept values identify", "more than half the file"]),
        (RWN(epsilon=9.0, k=5, q=0.5), ["kept values identify", "more than half the file"],
         ["nobody keeps", "distances concentrate"]),
        (RWN(k=5, neighbors="sample", m=80), ["Only the sampled records give"], ["their part"]),
        (RWN(k=5, neighbors="partition", u=2), ["Values never leave their part"], ["sampled"]),
        (NBRS2015(epsilon=2.5, q=0.5), ["record is released whole"], ["cell keeps"]),
    ],
    ids=["small radius", "half the file", "sample", "partition", "2015"],
)  # fmt: skip
def test_the_caveats_apply_to_the_setting(bodyfat, params, more, other):
    release = mask(bodyfat, params, seed=7)
    comparison = Comparison(original=bodyfat, masked=release.masked, law=release.law)
    readings = {key: MEASURES[key].read(comparison) for key in WARNED_BY}
    sentences = " ".join(risk_warnings.warnings(params, readings, digits=True, separate=15))
    shown = list(ALWAYS)
    if params.epsilon == 9.0 or params.method == "nbrs2015":
        shown.remove("original data")  # nearly nobody is linked; or an ordinary intruder suffices
    for words in (*shown, *more):
        assert words in sentences, words
    for words in other:
        assert words not in sentences, words


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


def told(release: Any) -> Disclosure:
    return Disclosure(readings={}, repetition=values_alone(release.law))


@pytest.mark.parametrize("own", [False, True])
def test_what_many_releases_of_a_soft_kernel_tell(bodyfat, own):
    """One cell of the typical record over and over, drawn by its weights."""
    law = mask(bodyfat, SoftRWN(kernel="exponential", own=own, q=0.9), seed=1).law
    found = values_alone(law)
    sizes = law.neighborhoods.effective_sizes
    record = int(np.argsort(sizes, kind="stable")[bodyfat.n // 2])
    row = law.probabilities.toarray()[record]
    chances = 0.1 * (np.arange(bodyfat.n) == record) + 0.9 * row
    drawn = np.random.default_rng(3).multinomial(10, chances, size=40_000)
    top = drawn.max(axis=1)
    hit = (drawn[:, record] == top) / (drawn == top[:, None]).sum(axis=1)
    assert found["mode"][4] == pytest.approx(hit.mean(), abs=4 * hit.std() / 200)
    assert found["distinct"][4] == pytest.approx((1 - (1 - row) ** 10).sum())
    assert found["donors"] == round(float(np.sort(sizes)[bodyfat.n // 2]))
    words = risk_sentences.weighted_words(found["q"], found["own"], found["largest"])
    wins = chances[record] > np.delete(chances, record).max()
    assert ("the person's own becomes" in words) == wins


@pytest.mark.parametrize(("q", "donors"), [(0.5, 1), (0.8, 4), (0.3, 4), (0.95, 9), (1.0, 4)])
def test_what_many_releases_tell_is_what_they_show(q, donors):
    """One cell over and over; donors have values 1, 2, ..., the own one is 0."""
    rng = np.random.default_rng(5)
    drawn = np.where(rng.random(200_000) < q, rng.integers(1, donors + 1, 200_000), 0)
    counts, words = (
        np.bincount(drawn, minlength=donors + 1),
        risk_sentences.repeated_words(q, donors),
    )
    away = q == 1 or abs(q - donors / (donors + 1)) > 1e-9  # no tie
    assert ("becomes the person's own" in words) == (away and counts[0] > counts[1:].max())
    assert ("becomes the rarest one" in words) == (away and 0 < counts[0] < counts[1:].min())
    assert ("none comes more often" in words) == (not away)
    assert ("tends to the mean of the neighborhood" in words) == (q == 1)
    if q < 1:
        assert f"tends to {1 - q:.2g} of the own value and {q:.2g} of the" in words


@pytest.mark.parametrize(
    "params",
    [AdditiveNoise(size=0.3), RandomSample(left_out=0.5)],
    ids=lambda params: params.method,
)
def test_a_method_without_neighborhoods_is_not_told_of_them(bodyfat, params):
    release = mask(bodyfat, params, seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    found = disclose(base, release.masked, release.law)
    assert found.repetition is None
    assert isinstance(found.readings["neighborhood_size"], NotApplicable)
    said = risk_warnings.warnings(params, found.readings, digits=True, separate=15)
    said += [row[3] for row in risk_sentences.rows(found.readings, bodyfat.n) if row[1] != "n/a"]
    for words in ("neighborhood", "donor", "q = ", "larger q", "ε"):
        assert words not in " ".join(said), words
    if params.method == "sampling":  # everybody is unique, so each released row is
        assert found.readings["uniqueness"].value == 1.0
        assert found.readings["k_anonymity"].value == 1.0
