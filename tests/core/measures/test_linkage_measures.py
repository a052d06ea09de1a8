"""Linkage, intervals and nearness: published values and slow computations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare as compare_release
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.nearness import inside, nearness_ratio, robust_distances, robust_shares
from rwn_core.measures.risk.ordinary_linkage import OrdinaryLinkage, fit
from rwn_core.measures.statistics.intervals import excess_risk, wilson
from tests.check_values import check_values
from tests.core.measures.intruder_free_table import related

ENTRIES = check_values("risk")


def test_FS_1_weights():
    given, expected = ENTRIES["FS-1"]["input"], ENTRIES["FS-1"]["expected"]
    weights = OrdinaryLinkage(matched=np.array(given["m"]), unmatched=np.array(given["u"]))
    np.testing.assert_allclose(weights.agree, expected["agree"], rtol=1e-9)
    np.testing.assert_allclose(weights.disagree, expected["dis"], rtol=1e-9)
    assert weights.weight(np.array([True, True])) == pytest.approx(expected["both"])


def test_the_weights_are_found_again_from_pairs():
    rng = np.random.default_rng(3)
    matched = rng.random((2000, 3)) < [0.9, 0.8, 0.95]
    others = rng.random((198_000, 3)) < [0.1, 0.25, 0.3]
    patterns, counts = np.unique(np.concatenate((matched, others)), axis=0, return_counts=True)
    found = fit(patterns, counts.astype(float), 0.01)
    np.testing.assert_allclose(found.unmatched, [0.1, 0.25, 0.3], atol=0.01)
    np.testing.assert_allclose(found.matched, [0.9, 0.8, 0.95], atol=0.1)


def test_UT_DBRL_argmin1_D_and_global(compare, ut_frames):
    """The published distances decide the assignment of least total squared distance too."""
    from itertools import permutations

    distance = np.array(ENTRIES["UT-DBRL_D"]["expected"])
    nearest = [[int(row.argmin()) + 1] for row in distance]
    assert nearest == ENTRIES["UT-DBRL_argmin1"]["expected"]
    comparison = compare(*ut_frames)
    assert MEASURES["distance_linkage"].compute(comparison).value == pytest.approx(
        ENTRIES["UT-DBRL"]["expected"]
    )
    reading = MEASURES["global_linkage"].compute(comparison)
    totals = {
        order: (distance[np.arange(6), list(order)] ** 2).sum() for order in permutations(range(6))
    }
    best = min(totals, key=lambda order: totals[order])
    assert reading.detail.linked.tolist() == list(best)
    assert reading.value == pytest.approx(np.mean(np.array(best) == np.arange(6)))


def test_UT_DCR_distance_to_the_closest_record(compare, ut_frames):
    detail = MEASURES["closest_record"].compute(compare(*ut_frames)).detail
    np.testing.assert_allclose(detail.distance, ENTRIES["UT-DCR"]["expected"], rtol=1e-9)
    assert (detail.ratio <= 1).all()
    assert nearness_ratio(np.zeros(1), np.zeros(1)).tolist() == [1.0]


def test_closest_record_beside_a_holdout():
    data, holdout = related(200, 1), related(200, 2)
    for masked, low, high in ((data, 0.99, 1.0), (related(200, 3), 0.35, 0.65)):
        detail = (
            MEASURES["closest_record"]
            .compute(Comparison(original=data, masked=masked, holdout=holdout))
            .detail
        )
        assert low <= detail.share_nearer_than_holdout <= high
    copies = MEASURES["closest_record"].compute(Comparison(original=data, masked=data)).detail
    assert len(copies.exact_copies) == 200


@pytest.mark.parametrize("width", ["0.05", "0.3", "0.5", "0.8"])
def test_UT_dRisk_all_values_in_their_intervals(ut_frames, width):
    before, after = (frame.to_numpy() for frame in ut_frames)
    expected = ENTRIES["UT-dRisk"]["expected"][f"dRisk_k{width}"]
    assert inside(before, after, float(width)).mean() == pytest.approx(expected)


def test_missing_values_in_intervals():
    before = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 3.0], [4.0, 4.0]])
    after = np.array([[np.nan, 1.0], [1.0, 2.0], [np.nan, 3.0], [4.0, 4.0]])
    assert inside(before, after).tolist() == [True, False, False, True]


def test_robust_intervals_widen_with_outlyingness():
    rng = np.random.default_rng(2)
    before = rng.normal(size=(80, 2))
    before[0] = 60.0
    after = before + 0.03
    close, hidden = robust_shares(before, after, robust_distances(before))
    assert close == 1 / 80  # only the far record's interval reaches that far
    assert hidden <= close
    singular = np.column_stack((before, before[:, 0]))
    with pytest.raises(NotApplicable, match=r"singular|more records"):
        robust_distances(singular[:10])


@pytest.mark.parametrize(("moved", "flagged"), [(0.0004, 1.0), (0.0006, 0.0), (0.005, 0.0)])
def test_a_robust_interval_reaches_a_two_thousandth_of_the_distance(moved, flagged):
    rng = np.random.default_rng(3)
    before = rng.normal(size=(200, 3))
    squared = robust_distances(before)
    after = before + moved * np.sqrt(squared)[:, None]
    assert robust_shares(before, after, squared)[0] == flagged


def test_ANO_1_risk_beyond_a_control_group():
    expected = ENTRIES["ANO-1"]["expected"]
    attack, control = wilson(30, 100), wilson(20, 100)
    assert attack == pytest.approx(tuple(expected["attack"]), abs=1e-9)
    assert control == pytest.approx(tuple(expected["control"]), abs=1e-9)
    risk, error = excess_risk(attack, control)
    assert risk == pytest.approx(expected["risk"], abs=1e-9)
    assert error == pytest.approx(expected["err"], abs=1e-9)
    assert excess_risk((1.0, 0.0), (1.0, 0.0)) == (0.0, 1.0)


def test_ANO_2_they_are_far_from_the_worst_case():
    import rwn_core

    pima = rwn_core.load_demo("pima")
    half = np.random.default_rng(1).permutation(pima.n)
    data, holdout = pima.take(half[:384]), pima.take(half[384:])
    for q, k, low, high, worst in ((0.5, 5, 0.1, 0.35, 0.93), (1.0, 5, 0.0, 0.12, 0.9)):
        release = mask(data, RWN(k=k, q=q), seed=2)
        comparison = Comparison(
            original=data, masked=release.masked, law=release.law, holdout=holdout
        )
        assert low <= MEASURES["linkability"].compute(comparison).value <= high
        assert MEASURES["bayes_linkage"].compute(comparison).value > worst


def test_mahalanobis_linkage_sees_through_a_common_shift():
    """Correlated noise hides a record from plain distances, not from one who knows its shape."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(150, 4))
    noise = rng.normal(size=(150, 1)) * [3.0, 3.0, 3.0, 3.0] + 0.02 * rng.normal(size=(150, 4))
    frame = pd.DataFrame(values, columns=list("abcd"))
    data = Microdata.from_frame(frame)
    masked = Microdata(frame + noise, data.schema)
    comparison = Comparison(original=data, masked=masked)
    assert MEASURES["mahalanobis_linkage"].compute(comparison).value > 0.9
    assert MEASURES["distance_linkage"].compute(comparison).value < 0.3
    with pytest.raises(NotApplicable, match="moves no number"):
        MEASURES["mahalanobis_linkage"].compute(Comparison(original=data, masked=data))


def test_mahalanobis_linkage_counts_the_records_that_it_compares():
    """Planted: half of the records lack a number, so that none of them can be found."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    frame.loc[50:, "a"] = np.nan
    data = Microdata.from_frame(frame)
    masked = Microdata(frame + 0.001 * rng.normal(size=(100, 3)), data.schema)
    measure = MEASURES["mahalanobis_linkage"]
    reading = measure.compute(Comparison(original=data, masked=masked))
    assert reading.value == 1.0
    said = measure.sentence(reading, data.n)
    assert "50 of 50 records that have all their numbers in both files" in said


def test_ATT_7_attribute_inference():
    from rwn_core.laws.cell_law import CellLaw
    from rwn_core.measures.attacks.attribute_attack import beliefs
    from rwn_core.measures.attacks.likeliest_value import EXACT, ReleasedValues
    from rwn_core.neighbors import find_neighborhoods

    points = np.array(ENTRIES["ATT-7"]["input"]["W"], float)
    data = Microdata.from_frame(pd.DataFrame(points, columns=["x", "y"]))
    law = CellLaw(data, find_neighborhoods(points, k=2, epsilon=1.0), np.full(2, 0.5))
    rows = np.array([[1, 0], [0, 0], [1, 0], [0, 0], [11, 0], [10, 1]], float)
    masked = Microdata(pd.DataFrame(rows, columns=["x", "y"]), data.schema)
    expected, everybody = ENTRIES["ATT-7"]["expected"], np.arange(6)
    belief = beliefs(law, masked, everybody, ["x"], ["y"], everybody).source.toarray()
    np.testing.assert_allclose(belief[5], expected["pk_col6"], atol=1e-9)
    np.testing.assert_allclose(belief[5] / belief[5].sum(), expected["t"], atol=1e-9)
    # whether rows are looked at one by one or as classes of equal keys
    for group in (everybody, np.unique(rows[:, 0], return_inverse=True)[1].ravel()):
        first = np.unique(group, return_index=True)[1]
        some = beliefs(law, masked, first, ["x"], ["y"], everybody)
        weights = some.source.toarray()[5][group]
        share = weights[rows[:, 1] == 1].sum() / weights.sum()
        assert share == pytest.approx(expected["pred_y1"])
        values = ReleasedValues(group, rows[:, 1], EXACT)
        shown = values.named(sparse.csr_array(some.source))
        named = shown.right(np.ones(6), values.near)[5]
        assert named == float(expected["pred_y1"] > 0.5)


def test_attribute_inference_looks_at_classes_a_few_at_a_time(monkeypatch):
    """Tables of any size: sums are kept, not the posterior of every row."""
    import rwn_core
    from rwn_core.measures.attacks import attribute_guesses
    from rwn_core.measures.risk import attributes

    data = rwn_core.load_demo("pima")
    release = mask(data, RWN(epsilon=1.0, k=5, q=0.5), seed=2)
    held = data.take(np.arange(0, data.n, 5))
    whole = attributes.best_guesses(compare_release(data, release, holdout=held))
    monkeypatch.setattr(attribute_guesses, "CHUNK", 100)
    parts = attributes.best_guesses(compare_release(data, release, holdout=held))
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    assert parts.baseline == pytest.approx(whole.baseline, rel=1e-12)
    monkeypatch.setattr(attribute_guesses, "STORED_NUMBERS", 100)
    with pytest.raises(NotApplicable, match="fewer key variables"):
        attributes.best_guesses(compare_release(data, release, holdout=held))
