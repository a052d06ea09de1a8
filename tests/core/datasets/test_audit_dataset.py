"""A dataset's release is judged on a sample, row by row, as the same rows in memory are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import InputError, ParameterError, Question, SecretKey
from rwn_core.datasets.audit_dataset import random_rows
from rwn_core.datasets.dataset import Dataset
from rwn_core.laws.donors import released_schema
from tests.core.datasets import datasets
from tests.lanes import lanes
from tests.tables import described

KEY = SecretKey.from_seed(3)
READ = ("correlation", "regression", "marginals", "distance_linkage", "cells_changed")
QUESTION = Question(response="income", predictors=("age",))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, pd.DataFrame]:
    """A dataset, its release, and its release in the order of the records."""
    folder = tmp_path_factory.mktemp("data")
    source = datasets.write_files(folder / "in", datasets.frame(), 7)
    data = rwn.Microdata.from_frame(datasets.frame(), datasets.SCHEMA)
    release = rwn.mask(data, rwn.RWN(k=3, q=0.5), seed=3)
    release.publish(folder / "out.parquet")
    return source, folder / "out.parquet", release.masked.frame


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dataset", "audit_dataset"):
        monkeypatch.setattr(f"rwn_core.datasets.{module}.BATCH", 1024)


def options(**more: object) -> rwn.AuditOptions:
    given = {"key": KEY, "schema": datasets.SCHEMA, "measures": READ, "sample": 300}
    return rwn.AuditOptions(**{**given, "question": QUESTION, **more})


# a sample as large as the dataset: tests/cli/test_commands_of_pages judges all of 600 records
@pytest.mark.parametrize("sample", lanes(300, 10 * datasets.N))
def test_the_readings_are_those_of_the_same_rows_in_memory(folders, sample):
    source, out, masked = folders
    told: list[float] = []
    found = rwn.audit_dataset(source, out, options(sample=sample), progress=told.append)
    assert (told, told[-1]) == (sorted(told), 1)
    judged = min(sample, datasets.N)
    assert found.words == f"judged on {judged:,} of 3,000 records"
    chosen = np.sort(np.random.default_rng(0).choice(datasets.N, judged, replace=False))
    data = rwn.Microdata.from_frame(datasets.frame().iloc[chosen], datasets.SCHEMA)
    table = rwn.Microdata(masked.iloc[chosen].reset_index(drop=True), released_schema(data.schema))
    wanted = rwn.audit(data, table, measures=READ, question=QUESTION)
    for key in READ:
        assert found.audit[key].value == pytest.approx(wanted[key].value, rel=1e-9), key
    assert not found.apart


@pytest.mark.parametrize("role", ["person", "household", "identifier"])
@pytest.mark.parametrize("sample", lanes(300, 3000))
def test_people_of_several_rows_are_drawn_and_counted_whole(tmp_path, role, sample):
    table = datasets.frame(1200).assign(person=[f"p{n % 400:03d}" for n in range(1200)])
    table.loc[5, "person"] = None  # a unit alone
    schema = datasets.SCHEMA.replace_variable("person", role=role)
    if role == "identifier":  # whose rows they are is said of the rows
        schema = schema.with_rows("person=person")
    source = datasets.write_files(tmp_path / "in", table, 3)
    release = rwn.mask(rwn.Microdata.from_frame(table, schema), rwn.RWN(k=3, q=0.5), seed=3)
    release.publish(tmp_path / "out.parquet")
    read = ("distance_linkage", "true_matches")
    asked = options(schema=schema, sample=sample, measures=read, question=None)
    found = rwn.audit_dataset(source, tmp_path / "out.parquet", asked)

    chosen = random_rows(Dataset.at(source), ["person"], asked, lambda _: None)
    assert found.judged == len(chosen) == pytest.approx(min(sample, 1200), rel=0.2)
    inside = table["person"].iloc[chosen]
    assert table["person"].isin(inside.dropna()).sum() == inside.notna().sum()  # all of their rows
    data = rwn.Microdata.from_frame(table, schema).take(chosen)
    masked = release.masked.take(chosen)
    wanted = rwn.audit(data, masked, measures=read)
    for key in read:
        assert found.audit[key].value == pytest.approx(wanted[key].value, rel=1e-9), key
        assert found.audit[key].baseline == pytest.approx(wanted[key].baseline), key


def test_a_wrong_key_is_noticed_and_links_nobody(folders):
    wrong = rwn.audit_dataset(*folders[:2], options(key=SecretKey.from_seed(4)))
    right = rwn.audit_dataset(*folders[:2], options())
    assert wrong.audit["distance_linkage"].value < 0.05 < right.audit["distance_linkage"].value
    assert (wrong.apart, right.apart) == (True, False)
    for seed in range(5, 12):
        key = SecretKey.from_seed(seed)
        assert rwn.audit_dataset(*folders[:2], options(key=key, measures=("correlation",))).apart


def test_a_variable_without_a_value_in_the_sample_is_left_out(tmp_path):
    x = np.random.default_rng(1).normal(size=500)
    table = pd.DataFrame({"x": x, "y": np.arange(500.0) % 7, "rare": np.nan})
    table.loc[0, "rare"] = 1.5
    data = described(table, unmasked=["rare"])
    table.to_parquet(tmp_path / "in.parquet", index=False)
    rwn.mask(data, rwn.RWN(k=3), seed=3).publish(tmp_path / "out.parquet")
    asked = rwn.AuditOptions(
        key=KEY,
        schema=data.schema,
        measures=("marginals", "regression"),
        question=Question(response="y", predictors=("rare",)),
        sample=20,
    )
    found = rwn.audit_dataset(tmp_path / "in.parquet", tmp_path / "out.parquet", asked)
    assert found.left_out == ("rare",)
    assert isinstance(found.audit["regression"], rwn.NotApplicable)


def test_another_release_is_refused(folders, tmp_path):
    frame = pd.read_parquet(folders[1])
    frame.drop(columns="age").to_parquet(tmp_path / "less.parquet", index=False)
    frame.head(100).to_parquet(tmp_path / "short.parquet", index=False)
    for name in ("less", "short"):
        with pytest.raises(InputError):
            rwn.audit_dataset(folders[0], tmp_path / f"{name}.parquet", options())
    with pytest.raises(ParameterError, match="sample must be at least 20"):
        replace(options(), sample=19)
