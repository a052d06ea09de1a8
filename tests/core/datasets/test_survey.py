"""The survey of a dataset finds what a table in memory has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_statistics import (
    BLOCK,
    block_sums,
    merge_sums,
)
from rwn_core.datasets.mask_dataset import prepare_run
from rwn_core.datasets.run import SurveyResult
from rwn_core.datasets.steps import SURVEY, perform
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SAMPLE_STREAM
from tests.core.datasets import datasets


def surveyed(source: Path, stage: Path, params: rwn.RWN) -> SurveyResult:
    options = rwn.RunOptions(schema=datasets.SCHEMA, rows=1024, stage=stage)
    key = rwn.SecretKey.from_seed(7)
    run, _ = prepare_run(source, stage.with_name("never"), params, key, options)
    run.stage.begin(run.fingerprint)
    for task in run.ranges(SURVEY):
        perform(run, task)
    return run.survey_result


@pytest.mark.parametrize("scaled", ["sd", "range"])
def test_the_metric_is_that_of_the_table(scaled: str, tmp_path: Path) -> None:
    table = datasets.frame()
    source = datasets.write_files(tmp_path / "in", table, 7)
    params = rwn.RWN(k=1, scale=scaled, neighbors="sample", m=100)
    found = surveyed(source, tmp_path / "stage", params)
    data = rwn.Microdata.from_frame(table, datasets.SCHEMA)
    wanted = rwn.Metric.fit(data, scaled).axes
    assert len(found.metric.axes) == len(wanted) > 75
    for axis, other in zip(found.metric.axes, wanted, strict=True):
        assert (axis.level, axis.number, axis.missing) == (other.level, other.number, other.missing)
        assert axis.center == pytest.approx(other.center, rel=1e-10, abs=1e-12)
        assert axis.factor == pytest.approx(other.factor, rel=1e-10)
    np.testing.assert_array_equal(
        found.ids, np.sort(random_order(rwn.SecretKey.from_seed(7), data.n, SAMPLE_STREAM)[:100])
    )
    assert found.sample.column("income").to_pylist() == table["income"][found.ids].tolist()


def test_sums_have_the_same_bits_however_rows_are_dealt_out() -> None:
    numbers = np.random.default_rng(2)
    values = numbers.normal(size=(5000, 2)) * 10.0 ** numbers.integers(-8, 8, (5000, 2))
    values[numbers.random(values.shape) < 0.1] = np.nan
    once = merge_sums([block_sums(values)])
    parts = [values[:BLOCK], values[BLOCK : 4 * BLOCK], values[4 * BLOCK :]]
    assert merge_sums([block_sums(part) for part in parts]) == once
    shifted = [values[: BLOCK - 1], values[BLOCK - 1 :]]
    assert merge_sums([block_sums(part) for part in shifted]) != once, "other blocks, other bits"


def test_sums_are_exact_where_a_naive_one_pass_formula_is_not() -> None:
    values = 1e9 + np.random.default_rng(0).normal(size=(50_000, 1))
    (found,) = merge_sums([block_sums(values)])
    assert found.sd == pytest.approx(values.std(ddof=1), rel=1e-10)
    assert found.mean == pytest.approx(values.mean(), rel=1e-15)
    naive = np.sqrt((values**2).mean() - values.mean() ** 2)
    assert naive != pytest.approx(values.std(ddof=1), rel=1e-3)


def test_any_range_of_records_is_read(tmp_path: Path) -> None:
    table = datasets.frame(1000)
    dataset = Dataset.at(datasets.write_files(tmp_path / "in", table, 7))
    assert dataset.n == 1000
    for start, stop in ((0, 1), (0, 1000), (333, 777), (999, 1000)):
        found = dataset.read(start, stop, ["age", "person"]).to_pandas()
        wanted = table[["age", "person"]].iloc[start:stop].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, wanted)


def test_a_damaged_file_and_values_in_the_names_of_folders_are_refused(tmp_path: Path) -> None:
    source = datasets.write_files(tmp_path / "in", datasets.frame(100), 2)
    (source / "001.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(rwn.InputError, match=r"001\.parquet is damaged"):
        Dataset.at(source)
    (tmp_path / "one" / "year=2020").mkdir(parents=True)
    datasets.frame(10).to_parquet(tmp_path / "one" / "year=2020" / "a.parquet")
    with pytest.raises(rwn.InputError, match="folder's names hold values"):
        Dataset.at(tmp_path / "one")
