"""The intruder's beliefs against exact values of the worked example, and against his luck."""

from __future__ import annotations

from ast import literal_eval

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.masking import RWN, mask
from rwn_core.measures.attacks.posterior import identical_records, likelihoods, link, posteriors
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.neighbors import neighbor_table
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey
from tests.core.measures.attacks.intruder_examples import number
from tests.oracles.exact_enumeration import expected_success

KEYS = {"bodyfat": ("age", "weight", "height"), "pima": ("pregnant", "bmi", "age")}


def test_ATT_1_likelihoods_and_posteriors(e1_law, e1_rows, check_values):
    law = e1_law(0.5)
    for text, expected in check_values["ATT-1"].items():
        masked = e1_rows([literal_eval(text)])
        scaled, logs = likelihoods(law, masked, np.arange(1))
        found = scaled.toarray()[:, 0] * np.exp(logs[0])
        np.testing.assert_allclose(found, [number(p) for p in expected["L"]], atol=1e-14)
        belief = posteriors(law, masked, np.arange(1)).toarray()[:, 0]
        np.testing.assert_allclose(belief, [number(p) for p in expected["post"]], atol=1e-14)


@pytest.mark.parametrize(("q", "key"), [(0.5, "q1/2"), (1.0, "q1"), (0.0, "q0"), (0.1, "q1/10")])
def test_ATT_2_expected_success_by_enumeration(e1_law, check_values, q, key):
    assert expected_success(e1_law(q)) == pytest.approx(number(check_values["ATT-2"][key][0]))


SETTINGS = [
    ("bodyfat", None, 0.0, 5, 1.0),
    ("bodyfat", "keys", 2.0, 5, 1.0),
    ("bodyfat", "keys", 4.0, 5, 0.5),
    ("pima", "keys", 2.0, 5, 1.0),
    ("pima", None, 2.5, 25, 0.8),
]
"""Table, attacked variables, epsilon, k, q: settings of each table."""


@pytest.fixture(scope="module")
def ranked(bodyfat, pima):
    data = {"bodyfat": bodyfat, "pima": pima}
    return {
        name: (table, neighbor_table(coordinates(table), k=25, epsilon=6.0))
        for name, table in data.items()
    }


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: "-".join(map(str, setting)))
def test_analytic_success_is_the_realized_one(ranked, setting):
    """Rao-Blackwell: what the intruder expects is what he gets, within 3 standard errors."""
    name, keys, epsilon, k, q = setting
    data, _ = ranked[name]
    names = KEYS[name] if keys else None
    prepared = RWN(k=1).preview(data).with_levers(epsilon=epsilon, k=k, q=q)
    differences = []
    for release in range(4):
        masked = prepared.release(SecretKey.from_seed(1000 + release))
        found = link(masked.law, masked.masked, names, work=10**9)
        differences.append(found.top1 - found.best)
    difference = np.concatenate(differences)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) <= max(3 * error, 1e-9)


def test_a_wrong_law_is_refuted(ranked):
    """The same comparison with q misstated fails: the agreement above is no accident."""
    data, table = ranked["bodyfat"]
    neighborhoods = table.cut(k=5, epsilon=4.0)
    masked = RWN(epsilon=4.0, k=5, q=1.0).prepare(data).release(SecretKey.from_seed(3))
    wrong = CellLaw(data, neighborhoods, np.full(data.p, 0.5))
    found = link(wrong, masked.masked)
    difference = found.top1 - found.best
    assert abs(difference.mean()) > 3 * difference.std(ddof=1) / np.sqrt(len(difference))


def test_a_sample_of_a_large_file_is_stated(ranked):
    data, table = ranked["pima"]
    neighborhoods = table.cut(k=5, epsilon=1.0)
    law = RWN(epsilon=1.0, k=5).law(data, neighborhoods)
    masked = simulate(law, np.random.default_rng(1))
    whole = link(law, masked, work=10**9)
    some = link(law, masked, work=400 * data.n)
    assert not whole.sampled
    assert some.sampled
    assert len(some.rows) == 400
    assert some.total_rows == data.n
    assert some.success == pytest.approx(whole.success, abs=0.05)
    np.testing.assert_allclose(some.best, whole.best[some.rows])


def test_identical_records_share_their_link():
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 5.0], "b": ["u", "u", "u", "v"]})
    data = Microdata.from_frame(frame)
    law = RWN(k=2, q=0.5).prepare(data).release(SecretKey.from_seed(1)).law
    found = link(law, data)
    # the fourth record may have released such a row too, with probability 1/4
    assert found.best[:3] == pytest.approx([1 / 3.25] * 3)
    assert found.top1[:3] == pytest.approx([1 / 3] * 3)
    assert found.same[:3] == pytest.approx([3 / 3.25] * 3)
    assert identical_records(data, None).tolist() == [0, 0, 0, 1]


def test_a_row_that_no_original_can_release(e1_law, e1_rows):
    found = link(e1_law(1.0), e1_rows([[99.0, 0.0], [0.0, 0.0]]))
    assert found.best[0] == 0
    assert found.first[0] == -1
    assert found.candidates[0] == 0
    assert found.truth[0] == found.top5[0] == 0


def test_no_variable_to_link_by(e1_law, e1):
    with pytest.raises(NotApplicable, match="no variables to link by"):
        link(e1_law(1.0), e1, ["nowhere"])


@pytest.mark.parametrize(
    "params",
    [
        RWN(epsilon=1.5, k=5, q=0.9, neighbors="sample", m=80),
        RWN(epsilon=1.5, k=5, q=0.9, neighbors="sample", m=80, fresh=True),
        RWN(epsilon=1.5, k=5, q=0.9, neighbors="pairs", m=30),
        RWN(epsilon=1.5, k=5, q=0.9, neighbors="partition", u=3),
    ],
    ids=["Method 1", "Method 1, fresh", "Method 2", "Method 3"],
)
def test_the_methods_for_large_data_carry_their_law(bodyfat, params):
    """Given the random candidates: every donor is possible, and the success is the realized."""
    differences = []
    for seed in range(4):
        release = mask(bodyfat, params, seed=seed)
        members = release.law.probabilities.toarray() > 0
        np.fill_diagonal(members, True)
        assert members[np.arange(bodyfat.n)[:, None], release.donors].all()
        found = link(release.law, release.masked, KEYS["bodyfat"])
        differences.append(found.top1 - found.best)
        for name in ("age", "siri"):
            law = release.law.table(name)[0]
            np.testing.assert_allclose(np.asarray(law.sum(axis=1)).ravel(), 1.0)
    difference = np.concatenate(differences)
    assert abs(difference.mean()) <= 3 * difference.std(ddof=1) / np.sqrt(len(difference))
