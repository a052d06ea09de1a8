"""What measures read on the unmasked file, and where no relation is left."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.laws.ends import shuffled_donors, unmasked
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import SHUFFLES, UNMASKED, UNRELATED, Detail, Reading, ends
from rwn_core.randomness import SecretKey
from tests.holding import hold


def table(n: int, seed: int = 0) -> rwn.Microdata:
    """Coarse keys and a confidential answer that nearly all give alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "group": rng.choice(list("abc"), n),
            "age": rng.integers(0, 4, n),
            "ill": rng.choice(["no", "yes"], n, p=[0.97, 0.03]),
        }
    )
    schema = rwn.Microdata.from_frame(frame).schema
    roles = (("name", Role.IDENTIFIER), ("group", Role.KEY), ("ill", Role.CONFIDENTIAL))
    for name, role in (*roles, ("age", Role.KEY)):
        schema = schema.replace_variable(name, role=role)
    return rwn.Microdata.from_frame(frame, schema)


def read(data: rwn.Microdata, measure: str) -> dict[str, float]:
    return dict(MEASURES[measure].ends(Comparison(original=data, masked=data)))


def test_the_law_of_the_unmasked_file_changes_nothing() -> None:
    data = table(50)
    masked, law = unmasked(data)
    assert masked.names == ("group", "age", "ill")
    assert masked.frame.equals(data.frame[["group", "age", "ill"]])
    assert law.rows_unchanged() == pytest.approx(np.ones(50))
    of_rwn = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).law
    for name in masked.names:
        ours, values = law.table(name)
        theirs, others = of_rwn.table(name)
        assert values == others
        assert np.array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize("n", [60, 700])
def test_linkage_of_the_unmasked_file_is_counted_by_hand(n: int) -> None:
    data = table(n)
    classes = len(data.frame[["group", "age", "ill"]].drop_duplicates())
    assert read(data, "bayes_linkage")[UNMASKED] == pytest.approx(classes / n)
    assert read(data, "distance_linkage")[UNMASKED] == pytest.approx(classes / n)
    assert read(data, "bayes_linkage")[UNRELATED] == pytest.approx(1 / n)


def test_where_no_relation_is_left_correlations_are_lost() -> None:
    data = rwn.load_demo("bodyfat")
    matrix = np.abs(np.corrcoef(data.matrix(data.numeric_names), rowvar=False))
    lost = matrix[np.triu_indices(len(matrix), 1)].mean()
    assert read(data, "correlation")[UNRELATED] == pytest.approx(lost, abs=0.02)
    assert read(data, "correlation")[UNMASKED] == 0.0
    # a planted wrong end: shuffled rows, whose relations are whole
    order = np.random.default_rng(0).permutation(data.n)
    rows = Comparison(original=data, masked=data.take(order))
    assert MEASURES["correlation"].read(rows, bare=True).value < 0.1 * lost


def test_shuffles_keep_each_column_and_break_pairs() -> None:
    data = table(400)
    donors = shuffled_donors(data, SecretKey.from_seed(0))
    assert np.array_equal(np.sort(donors, axis=0), np.tile(np.arange(400), (3, 1)).T)
    assert abs(np.corrcoef(donors, rowvar=False)[0, 1]) < 0.2


def test_a_measure_of_single_columns_says_nothing_of_relations() -> None:
    """A file without relations has all marginals, which makes no limit on them empty."""
    data = rwn.load_demo("bodyfat")
    for measure in ("marginals", "quantiles", "wasserstein"):
        assert read(data, measure) == {UNMASKED: 0.0}


def test_each_end_is_read_once_for_all_releases_weights_and_slices() -> None:
    data, calls = table(80), []

    def compute(comparison: Comparison) -> Reading:
        calls.append(comparison)
        return Reading(value=float(len(calls)), detail=Detail())

    first = Comparison(original=data, masked=data)
    found = ends(first, "made up", compute)
    assert len(calls) == 1 + SHUFFLES
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    sliced = data.with_weights({"age": 4.0}).with_slices([("group", "ill")])
    for other in (
        first.with_masked(release.masked, release.law),
        Comparison(original=sliced, masked=sliced),
    ):
        assert ends(other, "made up", compute) == found
    assert len(calls) == 1 + SHUFFLES
    ends(Comparison(original=table(80, 1), masked=table(80, 1)), "made up", compute)
    assert len(calls) == 2 * (1 + SHUFFLES)


@pytest.mark.parametrize("n", [3, 40])
def test_every_measure_can_be_asked_at_both_ends(n: int) -> None:
    def rule(measure: str) -> None:
        found = read(table(n), measure)
        assert set(found) <= {UNMASKED, UNRELATED}
        assert all(np.isfinite(value) for value in found.values())
        assert found == read(table(n), measure), "the same table, the same ends"

    hold(rule, MEASURES)
