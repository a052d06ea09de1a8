"""The abstaining intruder: what beliefs alone say of his links holds in simulated releases."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.masking import NBRS2015, RWN
from rwn_core.measures import read
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.measures.risk.worst_linkage import PRECISIONS, SURE, curve
from rwn_core.randomness import SecretKey

RELEASES = 30
TAUS = (0.31, 0.61, 0.91)
NAMES = ("age", "weight", "height", "neck")


@pytest.fixture(scope="module", params=[RWN(k=12, q=0.8), NBRS2015(epsilon=3.0, q=0.9)], ids=str)
def linked(request, bodyfat):
    """Beliefs, and how likely a link at random among the likeliest is right, of many releases."""
    law = request.param.prepare(bodyfat).release(SecretKey.from_seed(1)).law
    generator = np.random.default_rng(11)
    found = [link(law, simulate(law, generator), NAMES) for _ in range(RELEASES)]
    return [(one.best, one.top1) for one in found]


def misses(linked, tau: float, believed) -> float:
    """How far right links are from what is believed of them, in standard errors over releases."""
    apart = [(right - believed(best))[best >= tau].sum() / len(best) for best, right in linked]
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    return abs(float(np.mean(apart))) / max(float(error), 1e-12)


def test_links_are_right_as_often_as_the_curve_says(linked):
    for tau in TAUS:
        assert misses(linked, tau, lambda best: best) < 3
        best, _ = linked[0]
        found, chosen = curve(best), best >= tau
        at = np.flatnonzero(found.tau >= tau).max()
        assert found.precision[at] == pytest.approx(best[chosen].mean(), abs=1e-8)
        assert found.recall[at] == pytest.approx(chosen.mean())


def test_one_who_is_too_sure_is_seen(linked):
    assert max(misses(linked, tau, lambda best: np.sqrt(best)) for tau in TAUS) > 6


def test_the_share_at_a_precision_is_the_largest():
    best = np.array([1.0, 1.0, 0.9, 0.9, 0.9, 0.5, 0.0])
    found = curve(best)
    assert found.recall_at(0.95) == pytest.approx(2 / 7)  # three of .9 are linked together or not
    assert found.recall_at(0.94) == pytest.approx(5 / 7)
    assert found.recall_at(1.1) == 0.0
    assert curve(np.zeros(4)).recall_at(0.5) == 0.0
    many = curve(np.linspace(0.01, 1, 5000))
    thin = many.thinned()
    assert len(thin.tau) == 200
    assert (thin.recall[0], thin.recall[-1]) == (many.recall[0], many.recall[-1])


def test_an_average_may_hide_certain_links(bodyfat):
    law = (
        release := RWN(epsilon=1.5, k=60, q=0.7).prepare(bodyfat).release(SecretKey.from_seed(3))
    ).law
    found = read("abstaining_linkage", Comparison(original=bodyfat, masked=release.masked, law=law))
    keys = found.detail.keys
    assert 0 < found.detail.keys_at[PRECISIONS.index(SURE)] < found.value <= 1
    assert len(keys.tau) == len(keys.precision) == len(keys.recall)
    assert (np.diff(keys.precision) <= 1e-12).all()
    assert (np.diff(keys.recall) > 0).all()
