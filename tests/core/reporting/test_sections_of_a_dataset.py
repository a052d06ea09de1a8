"""Every section of a dataset's report, word for word, and which groups are too small to name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import mask_dataset
from rwn_core.datasets.prepare_run import RunOptions
from rwn_core.masking import RWN
from rwn_core.reporting.dataset_record import dataset_record, read_dataset_record
from rwn_core.reporting.dataset_reports import internal_dataset_file, public_dataset_files
from rwn_core.reporting.facts import DATASET, Content, Material
from rwn_core.reporting.facts import public_words as words
from tests.core.reporting.records_by_hand import RECORD, by_hand, said

NAMES = ["age", "pay", "few", "none", "town"]
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


def side(counts: list[int], **more: Any) -> SimpleNamespace:
    """Sums over a dataset, as far as facts read them."""
    numbers = zip(NAMES, counts, strict=False)
    columns = {n: SimpleNamespace(count=c, mean=10.0 + c, sd=c / 10) for n, c in numbers}
    about = {"levels": {}, "numeric": [], "correlation": np.zeros((0, 0))}
    return SimpleNamespace(columns=columns, **{**about, **more})


def section(key: str, record: dict[str, Any], **audit: Any) -> Content:
    (entry,) = (each for each in DATASET if each.key == key)
    assert entry.make is not None
    return entry.make(replace(by_hand(**record), dataset=SimpleNamespace(**audit)))


def changed() -> dict[str, Any]:
    return {
        "original": side([10, 30, 20, 15]),
        "released": side([12, 10, 9, 0]),
        "distances": dict(zip(NAMES, [0.01, 0.02, 0.03, 0.04, 0.05], strict=True)),
    }


def levels() -> dict[str, Any]:
    """Ten records and twenty levels are the bounds of what is named."""
    towns = {f"town {i:02d}": 1000 - i for i in range(22)}
    before = {
        "town": towns,
        "sex": {"m": 20, "f": 20, "x": 9, "y": 30, "z": 12},
        "all": {"a": 10, "b": 11},
        "new": {"a": 15},
    }
    after = {
        "town": {**towns, "town 00": 2000},
        "sex": {"m": 10, "f": 30, "x": 40, "y": 9},
        "all": {"a": 11, "b": 10},
        "new": {"a": 15, "b": 1},
    }
    return {"original": side([], levels=before), "released": side([], levels=after)}


def correlations(change: float | None) -> dict[str, Any]:
    before, after = np.zeros((8, 8)), np.zeros((8, 8))
    pairs = list(combinations(range(8), 2))
    for place, pair in enumerate(pairs):
        before[pair] = 0.25
        after[pair] = 0.25 + (-1) ** place * (place + 1) / 100
    after[pairs[20]] = np.nan  # never said
    about = {"numeric": [f"v{i}" for i in range(8)]}
    shares = [0.5, 0.2, 0.1, 0.08, 0.07, 0.05]
    return {
        "original": side([], correlation=before, shares_of_components=shares, **about),
        "released": side([], correlation=after, shares_of_components=[0.9, 0.1], **about),
        "correlation_change": change,
    }


def test_what_each_section_says(sentences: Callable[..., None]) -> None:
    kinds = ["count", "continuous", "continuous", "count", "categorical"]
    table = {**RECORD["table"], "variables": [*NAMES, "day"], "kinds": [*kinds, "date"]}
    cells = {"value": 0.125, "names": NAMES, "share": [0.5, 0.25, 0.0, 1.0, 0.125]}
    record = {"table": table, "readings": {"cells_changed": cells}}
    undated = {**record, "table": {**table, "kinds": [*kinds, "categorical"]}}
    nothing = {"original": side([]), "released": side([])}
    fitted = ({"(constant)": 1.5, "age": -0.25}, {"(constant)": 1.0, "age": 0.5})
    about = {"sampled": 200, "identical": 0.015, "nearest": 0.5, "baseline": 0.00125}
    linkage = {linked: SimpleNamespace(**about, linked=linked) for linked in (0.0825, None)}
    only_k = {"file": FILE, "setting": {**RECORD["setting"], "parameters": {"k": 5}}}
    cases: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "changed": (record, changed()),
        "changed, no dates": (undated, changed()),
        "levels": ({}, levels()),
        "levels, none": ({}, nothing),
        "correlations": ({}, correlations(0.12345)),
        "correlations, none": ({}, correlations(None)),
        "regression": ({}, {**nothing, "regression": fitted}),
        "regression, none": ({}, {**nothing, "regression": None}),
        "linkage": ({}, {**nothing, "linkage": linkage[0.0825]}),
        "linkage, no key": ({}, {**nothing, "linkage": linkage[None]}),
        "linkage, none": ({}, {**nothing, "linkage": None}),
        "files": ({"file": FILE}, nothing),
        "files, no radius": (only_k, nothing),
        "file": ({"file": FILE}, {}),
    }
    found = {}
    for case, (parts, audit) in cases.items():
        found[case] = said(section(case.partition(",")[0], parts, **audit))
    sentences("dataset", found)


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
        files["internal"] = internal_dataset_file(known, source, out, ".html")
        for content in files.values():
            assert (words.MISSING.encode() in content) == (name is not None)
