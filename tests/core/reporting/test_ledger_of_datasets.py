"""A dataset's release in the ledger: known again by the marks that a table in memory has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.datasets.dataset import Dataset
from rwn_core.errors import InputError, ReleaseError
from rwn_core.parallel.threads import work
from rwn_core.reporting import table_marks as of_datasets
from rwn_core.reporting.dataset_record import dataset_record, thawed_record
from rwn_core.reporting.ledger import add, add_dataset, read_entries
from rwn_core.reporting.table_marks import SKETCH, common_records, dataset_marks, table_marks
from tests.core.reporting.conftest import quickly_made_of

KEY = b"k" * 32


def people(n: int) -> pd.DataFrame:
    numbers = np.random.default_rng(4)
    age = numbers.integers(0, 90, n).astype(float)
    age[3] = np.nan
    place = np.array(["north", "Zaphod", None], dtype=object)[numbers.integers(0, 3, n)]
    return pd.DataFrame(
        {
            "x": numbers.normal(size=n).round(3),
            "age": age,
            "rooms": numbers.integers(1, 9, n),
            "owner": numbers.random(n) < 0.4,
            "place": place,
        }
    )


def written(frame: pd.DataFrame, folder: Path) -> Dataset:
    folder.mkdir()
    half = len(frame) // 3
    frame[:half].to_parquet(folder / "a.parquet", index=False)
    frame[half:].to_parquet(folder / "b.parquet", index=False)
    return Dataset.at(folder)


@pytest.mark.parametrize("n", [900, 5000])
def test_the_marks_are_those_of_the_table_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    monkeypatch.setattr(of_datasets, "BATCH", 250)
    frame, told = people(n), list[float]()
    data = Microdata.from_frame(frame)
    expected = table_marks(data, KEY)
    with work(progress=told.append):
        found = dataset_marks(written(frame, tmp_path / "in"), list(frame), KEY)
    assert {name: found[name] for name in ("names", "columns", "records")} == {
        name: expected[name] for name in ("names", "columns", "records")
    }
    assert len(found["records"]) == min(n, SKETCH)
    assert found["count"] == pytest.approx(expected["count"], rel=0 if n < SKETCH else 0.1)
    assert common_records(found, expected) == pytest.approx(1, rel=0.1)
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_dataset_is_known_again_in_any_order_and_another_one_is_not(tmp_path: Path) -> None:
    frame = people(300)
    first = dataset_marks(written(frame, tmp_path / "one"), list(frame), KEY)
    again = dataset_marks(written(frame[::-1], tmp_path / "two"), list(frame), KEY)
    fewer = dataset_marks(written(frame[1:], tmp_path / "three"), list(frame), KEY)
    assert again == first
    assert fewer["table"] != first["table"]
    assert common_records(first, fewer) == pytest.approx(1)


def test_a_very_long_variable_has_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_datasets, "LISTED_PAIRS", 299)
    found = dataset_marks(written(people(300), tmp_path / "in"), ["x", "age"], KEY)
    assert found["columns"] == []
    assert found["count"] == 300


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A dataset of 1,500 people, and the record of its release."""
    folder = tmp_path_factory.mktemp("made")
    schema = written(people(1500), folder / "in").guessed_schema()
    params, options = rwn.RWN(k=3), rwn.RunOptions(workers=1, rows=1024)
    out = rwn.mask_dataset(folder / "in", folder / "out", params, seed=1, options=options)
    text = dataset_record(out, params, schema, "seed", folder / "in")
    return folder / "in", thawed_record(text)


def test_releases_of_a_dataset_and_of_a_table_with_its_people_are_announced(
    made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    (source, record), path = made, tmp_path / "ledger.jsonl"
    entry, warned = add_dataset(path, record, source, by="Ada")
    assert warned == []
    assert (entry["by"], entry["records"], entry["kept"]) == ("Ada", 1500, None)
    assert entry["sha256"] == record["file"]["sha256"]
    with pytest.raises(ReleaseError, match="The ledger has this release already"):
        add_dataset(path, record, source)
    _, warned = add_dataset(path, {**record, "release": {"id": "0" * 16}}, source)
    assert "is of the same table" in warned[0]
    assert "how much is not known" in warned[-2]
    assert "datasets are not merged" in warned[-1]
    some = Microdata.from_frame(people(1500)[:300])
    in_memory = dict(quickly_made_of(some, rwn.RWN(k=3), ["repeated_releases"]).record)
    _, warned = add(path, in_memory, some)
    assert sum("has about 100 % of its records in common" in each for each in warned) == 2
    assert len(read_entries(path.read_bytes())) == 3
    assert "Zaphod" not in path.read_text(encoding="utf-8")


def test_another_dataset_is_refused_and_nothing_is_added(
    made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    written(people(1400), tmp_path / "other")
    with pytest.raises(InputError, match="not the dataset that the record was made of"):
        add_dataset(tmp_path / "ledger.jsonl", made[1], tmp_path / "other")
    assert not (tmp_path / "ledger.jsonl").exists()
