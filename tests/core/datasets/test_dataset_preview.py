"""What is shown of a dataset is of the full table: its columns, neighborhoods of its records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_preview import preview_dataset
from tests.core.datasets import datasets


@pytest.mark.parametrize("epsilon", [None, 0.9])
def test_neighborhoods_are_those_of_the_full_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epsilon: float | None
) -> None:
    monkeypatch.setattr("rwn_core.datasets.dataset.BATCH", 256)  # ties lie in several batches
    table = datasets.frame(1000)
    table["income"] = table["income"].round(-4)
    source = Dataset.at(datasets.write_files(tmp_path / "in", table, 3))
    params = rwn.RWN(k=4, epsilon=epsilon)
    found = preview_dataset(source, datasets.SCHEMA, params, seed=1)
    data = rwn.Microdata.from_frame(table, datasets.SCHEMA)
    points = rwn.coordinates(data)
    whole = rwn.find_neighborhoods(points, k=4, epsilon=epsilon)
    assert found.among == 1000
    np.testing.assert_array_equal(found.sizes, whole.sizes[found.records])
    np.testing.assert_allclose(found.radius, whole.radius[found.records], rtol=1e-9)
    shown = table.iloc[found.records]
    assert found.frame["place"].tolist() == shown["place"].tolist()
    assert "person" not in found.frame
    assert found.statistics.numbers["age"].mean == pytest.approx(table["age"].mean())


def test_a_larger_dataset_says_that_its_neighborhoods_are_of_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rwn_core.datasets.dataset_preview.DONORS", 200)
    source = Dataset.at(datasets.write_files(tmp_path / "in", datasets.frame(1000), 2))
    shares: list[float] = []
    found = preview_dataset(
        source,
        datasets.SCHEMA,
        rwn.RWN(k=4),
        largest_exact=999,
        seed=1,
        progress=shares.append,
    )
    full = preview_dataset(source, datasets.SCHEMA, rwn.RWN(k=4), seed=1)
    assert found.among == 200
    assert (found.radius >= full.radius).all()
    assert (found.radius > full.radius).mean() > 0.5
    assert shares == sorted(shares)
