"""Methods 2 and 3 over a dataset give the release of the table in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets import pairs_and_parts
from rwn_core.errors import ParameterError
from rwn_core.neighbors.candidates import random_pairs, random_parts
from rwn_core.randomness import SecretKey
from tests.core.datasets import datasets

SETTINGS = {
    "pairs": rwn.RWN(k=3, epsilon=2.0, q=0.8, neighbors="pairs", m=4),
    "parts": rwn.RWN(k=3, epsilon=1.5, q=0.8, neighbors="partition", u=4),
    "pairs in parts": rwn.RWN(k=3, q=0.8, neighbors="partition", u=3, m=5),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "in", datasets.frame(), 3)


@pytest.mark.parametrize("way", SETTINGS)
def test_the_release_is_that_of_the_table_in_memory(way: str, source: Path, tmp_path: Path) -> None:
    params = SETTINGS[way]
    data = rwn.Microdata.from_frame(datasets.frame(), datasets.SCHEMA)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=3).publish(tmp_path / "memory.parquet"))
    for rows in (1024, 3072):
        options = rwn.RunOptions(schema=datasets.SCHEMA, workers=1, rows=rows, file_rows=800)
        rwn.mask_dataset(source, tmp_path / str(rows), params, seed=3, options=options)
        pd.testing.assert_frame_equal(datasets.released(tmp_path / str(rows)), wanted)


@pytest.mark.parametrize(("n", "u"), [(3000, 7), (3000, 1), (500_000, 3), (10, 10)])
def test_parts_are_those_of_a_table(n: int, u: int) -> None:
    key = SecretKey.from_seed(5)
    bounds = pairs_and_parts.part_bounds(key, n, u)
    found = pairs_and_parts.part_numbers(key, np.arange(n), bounds)
    for number, records in enumerate(random_parts(key, n, u)):
        np.testing.assert_array_equal(np.flatnonzero(found == number), records)


def test_repeated_pairs_are_left_out(source: Path, tmp_path: Path) -> None:
    few = datasets.write_files(tmp_path / "in", datasets.frame(200), 2)
    params = rwn.RWN(k=3, neighbors="pairs", m=90)  # nearly half of all pairs
    i, _ = random_pairs(SecretKey.from_seed(1), 200, 200 * 90 // 2)
    assert len(i) == 9000
    options = rwn.RunOptions(schema=datasets.SCHEMA, workers=1, rows=1024)
    rwn.mask_dataset(few, tmp_path / "out", params, seed=1, options=options)
    data = rwn.Microdata.from_frame(datasets.frame(200), datasets.SCHEMA)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=1).publish(tmp_path / "memory.parquet"))
    pd.testing.assert_frame_equal(datasets.released(tmp_path / "out"), wanted)
    crowded = rwn.RWN(k=3, neighbors="pairs", m=101)
    with pytest.raises(ParameterError, match="at most half"):
        rwn.mask_dataset(few, tmp_path / "other", crowded, seed=1, options=options)
