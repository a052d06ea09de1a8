"""Everything about one release: other keys, rounding, further releases, and plain sentences."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rwn_core
from rwn_core.comparison import Comparison
from rwn_core.disclosure import (
    attacks,
    disclose,
    disclose_release,
    readable_step,
    steps_of,
    with_keys,
    worst_records,
)
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.reading import Reading
from rwn_core.schema import Role
from rwn_ui import risk_words


@pytest.fixture(scope="module")
def bodyfat():
    return rwn_core.load_demo("bodyfat")


@pytest.fixture(scope="module")
def found(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    told: list[float] = []
    disclosure = disclose(base, release.masked, release.law, progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1
    return disclosure


def test_every_risk_measure_is_read(found):
    assert set(found.readings) == {key for key, m in MEASURES.items() if m.side == "risk"}
    assert all(isinstance(reading, Reading) for reading in found.readings.values())


def test_ordinary_beside_worst_case(found):
    success = {attack["words"]: attack["success"] for attack in attacks(found.readings)}
    assert success["whole original file"] == pytest.approx(0.999, abs=0.003)
    assert success["distance, all"] == pytest.approx(0.12, abs=0.05)
    assert all(0 <= share <= 1 for share in success.values())


def test_further_releases_lie_above_the_bound(found):
    detail = found.readings["repeated_releases"].detail
    for times, bound in zip(detail["releases"], detail["bound"], strict=True):
        if times <= len(detail["simulated"]):
            assert detail["simulated"][times - 1] >= bound - 1e-9


def test_rounding_lowers_the_worst_case(found):
    risk = [step["risk"] for step in found.rounding]
    assert risk == sorted(risk, reverse=True)
    assert risk[-1] < 0.8 < risk[0]
    assert found.rounding[0]["correlation"] <= found.rounding[-1]["correlation"] + 0.02


def test_rounded_releases_are_judged_rounded(bodyfat, found):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    precision = steps_of(bodyfat, 1.0)
    base = Comparison(original=bodyfat, masked=bodyfat)
    coarse = disclose(base, release.masked, release.law, precision=precision)
    assert coarse.readings["bayes_linkage"].value < found.readings["bayes_linkage"].value - 0.2
    for reading in coarse.readings.values():
        assert isinstance(reading, Reading)
        assert np.isfinite(reading.value)


def test_other_keys(bodyfat):
    other = with_keys(bodyfat, ["siri", "neck"])
    roles = {v.name: v.role for v in other.schema.released}
    assert [name for name, role in roles.items() if role is Role.KEY] == ["siri", "neck"]
    assert roles["age"] is Role.OTHER
    for keys in ([], ["nowhere"]):
        with pytest.raises(ParameterError, match="key variable"):
            with_keys(bodyfat, keys)


@pytest.mark.parametrize(
    ("size", "step"),
    [(3.4, 5.0), (0.08, 0.1), (1.3, 1.0), (17.0, 20.0), (0.0021, 0.002), (9, 10.0)],
)
def test_steps_that_a_person_can_read(size, step):
    assert readable_step(size) == step


def test_steps_of_every_number(bodyfat):
    steps = steps_of(bodyfat, 0.25)
    assert set(steps) == set(bodyfat.numeric_names)
    for name, step in steps.items():
        assert 0.15 < step / bodyfat.values(name).std(ddof=1) < 0.4
    assert steps_of(bodyfat, 0.0) == {}


def test_the_worst_records_have_the_largest_risks(found):
    worst = worst_records(found.readings)
    truth = found.readings["bayes_linkage"].detail["truth"]
    assert len(worst) == 10
    assert [row["truth"] for row in worst] == sorted(truth, reverse=True)[:10]
    assert all(0 <= row["appears"] <= 1 for row in worst)


def test_a_background_job_finds_the_same(bodyfat, found):
    other = disclose_release(bodyfat, RWN(epsilon=2.0, k=5), seed=7, progress=lambda share: None)
    back = pickle.loads(pickle.dumps(other))  # as it travels between processes
    for key, reading in back.readings.items():
        assert reading.value == pytest.approx(found.readings[key].value), key


def test_a_population_lowers_the_sample_risk(bodyfat):
    pima = rwn_core.load_demo("pima")
    release = mask(pima, RWN(epsilon=2.0, k=5), seed=1)
    base = Comparison(original=pima, masked=pima)
    alone = disclose(base, release.masked, release.law)
    sample = disclose(base, release.masked, release.law, population=1e6)
    for key in ("individual_risk", "loglinear_risk"):
        assert sample.readings[key].value < alone.readings[key].value
    assert sample.readings["bayes_linkage"].value == alone.readings["bayes_linkage"].value


def test_without_a_law_the_reasons_stand(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=7)
    base = Comparison(original=bodyfat, masked=bodyfat)
    found = disclose(base, release.masked, None)
    assert isinstance(found.readings["bayes_linkage"], NotApplicable)
    assert found.rounding == []
    assert worst_records(found.readings) == []
    told = {attack["words"]: attack for attack in attacks(found.readings)}
    assert told["whole original file"]["success"] is None
    assert told["whole original file"]["reason"]
    assert told["distance, all"]["success"] is not None


def test_each_number_has_its_sentence(bodyfat, found):
    rows = risk_words.rows(found.readings, bodyfat.n)
    assert {row[0] for row in rows} >= {
        MEASURES[key].title for key in ("bayes_linkage", "queries", "inference")
    }
    for row in rows:
        assert row[3].endswith(".")
        assert row[3][0].isupper() or row[3][0].isdigit()
        assert "nan" not in " ".join(row)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (RWN(k=5, q=0.0), "masks nothing"),
        (RWN(k=5, q=0.5), "keeps its own value"),
        (RWN(k=5, q=1.0), "real values of near neighbors"),
    ],
)
def test_warnings_fit_the_setting(found, params, words):
    told = risk_words.warnings(params, found.readings, rounding=False, groups=0)
    assert any(words in text for text in told)
    assert any("original data" in text for text in told)
    assert any("not differentially private" in text for text in told)
    assert any("One release only" in text for text in told)
    assert any("all their digits" in text for text in told)
    fewer = risk_words.warnings(params, found.readings, rounding=True, groups=1)
    assert not any("all their digits" in text for text in fewer)
    assert not any("edit rules" in text for text in fewer)
