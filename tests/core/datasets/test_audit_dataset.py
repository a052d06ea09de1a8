"""Streamed statistics are those of the table in memory, and rows are linked to their records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.question import Question
from rwn_core.datasets.dataset_linkage import released_rows
from rwn_core.errors import InputError
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SecretKey
from tests.core.datasets import datasets


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A dataset, its release, and its release in the order of the records."""
    folder = tmp_path_factory.mktemp("data")
    source = datasets.write_files(folder / "in", datasets.frame(), 7)
    data = rwn.Microdata.from_frame(datasets.frame(), datasets.SCHEMA)
    release = rwn.mask(data, rwn.RWN(k=3, q=0.5), seed=3)
    release.publish(folder / "out.parquet")
    release.publish(folder / "aligned.parquet", order="original")
    return source, folder / "out.parquet", folder / "aligned.parquet"


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dataset", "dataset_linkage"):
        monkeypatch.setattr(f"rwn_core.datasets.{module}.BATCH", 1024)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("sample", [0, 500])
def test_progress_ends_when_the_work_does(folders: tuple[Path, Path, Path], sample: int) -> None:
    told = list[float]()
    options = rwn.AuditOptions(schema=datasets.SCHEMA, sample=sample)
    rwn.audit_dataset(*folders[:2], options, progress=told.append)
    assert told == sorted(set(told)), "no step is done after the end"
    assert told[-1] == 1


@pytest.mark.usefixtures("small_batches")
def test_statistics_are_those_of_the_tables_in_memory(folders: tuple[Path, Path, Path]) -> None:
    question = Question(response="income", predictors=("age",))
    found = rwn.audit_dataset(
        folders[0],
        folders[1],
        rwn.AuditOptions(schema=datasets.SCHEMA, question=question, sample=0),
    )
    for path, side, number in ((None, found.original, 0), (folders[1], found.released, 1)):
        table = datasets.frame() if path is None else pd.read_parquet(path)
        numbers = table[list(side.numeric)].to_numpy(dtype=float)
        assert side.numeric == ("income", "age", "score", "fixed")
        near = {"rtol": 1e-10, "atol": 1e-12}
        np.testing.assert_allclose(side.correlation, correlation_matrix(numbers), **near)
        np.testing.assert_allclose(side.covariance, table[list(side.numeric)].cov(), **near)
        for name in side.numeric:
            assert side.columns[name].mean == pytest.approx(table[name].mean(), rel=1e-10)
            assert side.columns[name].sd == pytest.approx(table[name].std(), rel=1e-10)
        for name in ("region", "place", "school"):
            assert dict(side.levels[name]) == table[name].value_counts().to_dict()
        slope, intercept = np.polyfit(table["age"], table["income"], 1)
        assert found.regression is not None
        assert found.regression[number]["age"] == pytest.approx(slope, rel=1e-10)
        assert found.regression[number]["intercept"] == pytest.approx(intercept, rel=1e-10)
        assert side.bins.sum(axis=1).tolist() == table[list(side.numeric)].count().tolist()
        assert side.shares_of_components.sum() == pytest.approx(1)
    assert found.linkage is None
    assert found.distances["fixed"] == 0, "a variable that is not masked"
    assert 0 < found.distances["income"] < 0.2
    counts = [
        each["region"].value_counts() for each in (datasets.frame(), pd.read_parquet(folders[1]))
    ]
    shares = [each / each.sum() for each in counts]
    wanted = (shares[0] - shares[1]).abs().sum() / 2
    assert found.distances["region"] == pytest.approx(wanted)


@pytest.mark.usefixtures("small_batches")
def test_rows_are_found_and_linked(folders: tuple[Path, Path, Path]) -> None:
    key = SecretKey.from_seed(3)
    order = random_order(key, datasets.N)
    records = np.arange(0, datasets.N, 7)
    np.testing.assert_array_equal(order[released_rows(key, records, datasets.N)], records)
    options = {"schema": datasets.SCHEMA, "sample": 300}
    known = rwn.audit_dataset(folders[0], folders[1], rwn.AuditOptions(**options, key=key)).linkage
    other = SecretKey.from_seed(4)
    wrong = rwn.audit_dataset(
        folders[0], folders[1], rwn.AuditOptions(**options, key=other)
    ).linkage
    alone = rwn.audit_dataset(folders[0], folders[1], rwn.AuditOptions(**options)).linkage
    assert known is not None
    assert wrong is not None
    assert alone is not None
    assert alone.linked is None
    assert known.linked is not None
    assert wrong.linked is not None
    assert known.linked == pytest.approx(_linked_in_memory(folders, key), abs=1e-12)
    assert wrong.linked < 0.02 < known.linked, "another key names other rows"


def _linked_in_memory(folders: tuple[Path, Path, Path], key: SecretKey) -> float:
    """By all pairs, with a distance that shares no code with the package."""
    chosen = np.sort(np.random.default_rng(0).choice(datasets.N, 300, replace=False))
    before, after = datasets.frame(), pd.read_parquet(folders[2]).iloc[chosen]
    squared = np.zeros((300, datasets.N))
    for name in ("income", "age", "score", "born", "fixed", "school"):
        one, two = before[name], after[name]
        if name == "born":
            one, two = (each.astype("datetime64[s]").astype("int64") / 86400 for each in (one, two))
        if name == "school":
            one, two = (each.map({"a": 0, "b": 1, "c": 2}).astype(float) for each in (one, two))
        mean, sd = one.mean(), one.std()
        gap = two.fillna(mean).to_numpy()[:, None] - one.fillna(mean).to_numpy()
        squared += (gap / sd) ** 2
        if one.isna().any():
            spread = one.isna().astype(float).std()
            squared += (
                (two.isna().to_numpy()[:, None] * 1.0 - one.isna().to_numpy() * 1.0) / spread
            ) ** 2
    for name in ("region", "place"):
        one, two = (
            each[name].astype(object).where(each[name].notna(), "?") for each in (before, after)
        )
        for level in one.unique():
            spread = (one == level).astype(float).std()
            gap = (two == level).to_numpy()[:, None] * 1.0 - (one == level).to_numpy() * 1.0
            squared += (gap / spread) ** 2
    nearest = squared.min(axis=1)
    tied = (squared <= nearest[:, None] * (1 + 1e-9)).sum(axis=1)
    own = squared[np.arange(300), chosen]
    return float(np.where(own <= nearest * (1 + 1e-9), 1 / tied, 0).mean())


def test_another_release_is_refused(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    frame = pd.read_parquet(folders[1])
    frame.drop(columns="age").to_parquet(tmp_path / "less.parquet", index=False)
    frame.head(100).to_parquet(tmp_path / "short.parquet", index=False)
    for name, key in (("less", None), ("short", SecretKey.from_seed(3))):
        with pytest.raises(InputError):
            rwn.audit_dataset(
                folders[0],
                tmp_path / f"{name}.parquet",
                rwn.AuditOptions(schema=datasets.SCHEMA, key=key),
            )
