"""Every section of a dataset's report, word for word, and which groups are too small to name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import RunOptions, mask_dataset
from rwn_core.masking import RWN
from rwn_core.reporting.dataset_record import (
    dataset_record,
    public_dataset_files,
    read_dataset_record,
)
from rwn_core.reporting.facts import DATASET, Content, Material
from rwn_core.reporting.facts import public_words as words
from tests.core.reporting.records_by_hand import RECORD, by_hand, said

FILE = {
    "format": "parquet",
    "order": "shuffled",
    "key": "a fresh 256-bit secret, forgotten",
    "records": 1100,
    "size": 123456,
    "fell_back": 1234,
    "sha256": "cd" * 32,
    "parts": [{"name": "part-000000.parquet", "sha256": "ef" * 32}],
}


def section(key: str, record: dict[str, Any]) -> Content:
    (entry,) = (each for each in DATASET if each.key == key)
    assert entry.make is not None
    return entry.make(by_hand(**record))


def test_what_each_section_says(sentences: Callable[..., None]) -> None:
    cells = {"value": 0.125, "names": ["age", "town"], "share": [0.5, 0.25]}
    judged = {"words": "judged on 5,000 of 1,000,000 records", "records": 5000, "of": 1000000}
    only_k = {"file": FILE, "setting": {**RECORD["setting"], "parameters": {"k": 5}}}
    cases: dict[str, dict[str, Any]] = {
        "changed": {"readings": {"cells_changed": cells}},
        "judged": {"judged": judged},
        "judged, none": {},
        "files": {"file": FILE},
        "files, no radius": only_k,
        "file": {"file": FILE},
    }
    said_of = {case: said(section(case.partition(",")[0], parts)) for case, parts in cases.items()}
    sentences("dataset", said_of)
    (first, *_), (sampled, *_) = (
        section("loss", {**parts, "readings": RECORD["readings"]}).lines[1:] or ("",)
        for parts in ({}, {"judged": judged})
    )
    assert first != sampled == words.SAMPLED


def test_it_is_said_whether_missing_values_of_a_dataset_move(tmp_path: Path) -> None:
    number = np.arange(200)
    frame = pd.DataFrame({"x": number * 1.5, "y": number % 7, "group": ["a", "b"] * 100})
    for name in (None, "x"):
        holes = frame if name is None else frame.assign(**{name: frame[name].where(number % 5 > 0)})
        source, out = tmp_path / f"{name}.parquet", tmp_path / f"out {name}"
        holes.to_parquet(source, index=False)
        made = mask_dataset(source, out, RWN(k=50), options=RunOptions(workers=1))
        schema = Dataset.at(source).guessed_schema()
        text = dataset_record(made, RWN(k=50), schema, "a fresh 256-bit secret", source)
        known = Material(record=read_dataset_record(text, out))
        files = public_dataset_files(known, source, out, (".html", ".xml"))
        for content in files.values():
            assert (words.MISSING.encode() in content) == (name is not None)
