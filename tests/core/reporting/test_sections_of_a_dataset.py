"""Every section of a dataset's report, word for word, and which groups are too small to name."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import mask_dataset
from rwn_core.masking import RWN
from rwn_core.reporting.dataset_record import dataset_record, read_dataset_record
from rwn_core.reporting.dataset_reports import internal_dataset_file, public_dataset_files
from rwn_core.reporting.facts import DATASET, Audience, Content, Material, facts_for
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


def test_means_are_told_only_where_ten_records_share_them() -> None:
    table = {
        **RECORD["table"],
        "variables": [*NAMES, "day"],
        "kinds": ["count", "continuous", "continuous", "count", "categorical", "date"],
    }
    cells = {"value": 0.125, "names": NAMES, "share": [0.5, 0.25, 0.0, 1.0, 0.125]}
    record = {"table": table, "readings": {"cells_changed": cells}}
    audit = {
        "original": side([10, 30, 20, 15]),
        "released": side([12, 10, 9, 0]),
        "distances": dict(zip(NAMES, [0.01, 0.02, 0.03, 0.04, 0.05], strict=True)),
    }
    assert said(section("changed", record, **audit)) == [
        "Of all records, added up batch by batch: 12.5 % of the values changed. Moved is the share "
        "of records whose value would have to change to give one distribution the shape of the "
        "other (total variation).",
        "Dates are not compared: day.",
        "variable | mean | mean, released | SD | SD, released | changed | moved",
        "age | 20 | 22 | 1 | 1.2 | 50.00 % | 1.00 %",
        "pay | 40 | 20 | 3 | 1 | 25.00 % | 2.00 %",
        "few | – | – | – | – | 0.00 % | 3.00 %",
        "none | – | – | – | – | 100.00 % | 4.00 %",
        "town | – | – | – | – | 12.50 % | 5.00 %",
    ]
    record["table"] = {**table, "kinds": [*table["kinds"][:5], "categorical"]}
    assert len(section("changed", record, **audit).lines) == 1


def test_levels_are_named_from_ten_records_on_and_twenty_of_them() -> None:
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
    audit = {"original": side([], levels=before), "released": side([], levels=after)}
    lines = said(section("levels", {}, **audit))
    assert lines[:4] == [
        "Records of each level. The 20 most frequent are named, and none that fewer than 10 "
        "records have in the original or in the release.",
        "variable | level | original | released",
        "town | town 00 | 1,000 | 2,000",
        "town | town 01 | 999 | 999",
    ]
    assert lines[21:] == [
        "town | town 19 | 981 | 981",
        "town | (all others) | 1,959 | 1,959",
        "sex | f | 20 | 30",
        "sex | m | 20 | 10",
        "sex | (all others) | 51 | 49",
        "all | b | 11 | 10",
        "all | a | 10 | 11",
        "new | a | 15 | 15",
        "new | (all others) | 0 | 1",
    ]
    nothing = {"original": side([]), "released": side([])}
    assert len(said(section("levels", {}, **nothing))) == 1


def test_the_most_changed_correlations_come_first_and_undefined_ones_never() -> None:
    numeric = [f"v{i}" for i in range(8)]
    before, after = np.zeros((8, 8)), np.zeros((8, 8))
    pairs = list(combinations(range(8), 2))
    for place, pair in enumerate(pairs):
        before[pair] = 0.25
        after[pair] = 0.25 + (-1) ** place * (place + 1) / 100
    after[pairs[20]] = np.nan
    shares = [0.5, 0.2, 0.1, 0.08, 0.07, 0.05]
    about = {"numeric": numeric, "shares_of_components": shares}
    audit = {
        "original": side([], correlation=before, **about),
        "released": side([], correlation=after, **{**about, "shares_of_components": [0.9, 0.1]}),
        "correlation_change": 0.12345,
    }
    lines = said(section("correlations", {}, **audit))
    assert lines[:3] == [
        "Principal components hold 50.0 %, 20.0 %, 10.0 %, 8.0 %, 7.0 % of the variance; of the "
        "release 90.0 %, 10.0 %.",
        "Correlations changed by 0.1235 on average. The most changed:",
        "variable | and | original | released",
    ]
    assert lines[3:5] == ["v6 | v7 | 0.25 | −0.03", "v5 | v7 | 0.25 | 0.52"]
    kept = [place for place in range(27, -1, -1) if place != 20][:20]
    assert [line.split(" | ")[:2] for line in lines[3:]] == [
        [numeric[i] for i in pairs[place]] for place in kept
    ]
    audit["correlation_change"] = None
    alone = section("correlations", {}, **audit)
    assert said(alone) == ["Fewer than two variables are numbers."]


def test_a_regression_is_told_side_by_side() -> None:
    sides = {"original": side([]), "released": side([])}
    fitted = ({"(constant)": 1.5, "age": -0.25}, {"(constant)": 1.0, "age": 0.5})
    assert said(section("regression", {}, **sides, regression=fitted)) == [
        "least squares | original | released",
        "(constant) | 1.5 | 1",
        "age | −0.25 | 0.5",
    ]
    none = section("regression", {}, **sides, regression=None)
    assert said(none) == ["No regression was asked for."]


def test_a_linkage_without_the_key_does_not_say_who_was_found() -> None:
    sides = {"original": side([]), "released": side([])}
    about = {"sampled": 200, "identical": 0.015, "nearest": 0.5, "baseline": 0.00125}

    def told(linked: float | None) -> list[str]:
        linkage = SimpleNamespace(**about, linked=linked)
        return said(section("linkage", {}, **sides, linkage=linkage))

    assert told(0.0825) == [
        "A random sample of the released rows was linked to all original records by distance.",
        "An intruder who knows the method finds more. For the worst case mask a sample of the "
        "records with rwn mask and read its audit.",
        "what | value",
        "released rows in the sample | 200",
        "of them equal to an original record | 1.50 %",
        "median distance to the nearest original record | 0.5",
        "nearest original record is the true one | 8.25 %",
        "a guess finds | 0.12 %",
    ]
    assert told(None)[-2] == "nearest original record is the true one | not known without the key"
    none = section("linkage", {}, **sides, linkage=None)
    assert said(none) == ["No released row was linked."]


def test_its_files_are_told_and_how_many_records_lacked_candidates() -> None:
    sides = {"original": side([]), "released": side([])}
    lines = [
        "what | value",
        "files | 1",
        "bytes | 123,456",
        f"SHA-256 of what sha256sum says of the files | {'cd' * 32}",
        "format and row order | parquet, shuffled",
        "randomness | a fresh 256-bit secret, forgotten",
    ]
    radius = [*lines, "records with fewer than k candidates within epsilon | 1,234"]
    assert said(section("files", {"file": FILE}, **sides)) == radius
    only_k = {**RECORD["setting"], "parameters": {"k": 5}}
    assert said(section("files", {"file": FILE, "setting": only_k}, **sides)) == lines


def test_the_notice_of_a_dataset_counts_its_files() -> None:
    material = by_hand(file=FILE)
    assert said(section("file", {"file": FILE})) == [
        "The release was made on 2028-02-29 and has 1,100 records. Number of its files: 1.",
        f"Release {'0f' * 16}.",
        f"SHA-256 of the list of its files: {'cd' * 32}",
        "The card of the release has the SHA-256 of each file.",
    ]
    facts = facts_for(Audience.PUBLIC, replace(material, dataset=SimpleNamespace()))
    assert [fact.key for fact in facts] == [
        "treated", "variables", "loss", "errors", "totals", "use", "file", "review"
    ]  # fmt: skip
    assert isinstance(material, Material)


def test_it_is_said_whether_missing_values_of_a_dataset_move(tmp_path: Path) -> None:
    number = np.arange(200)
    frame = pd.DataFrame({"x": number * 1.5, "y": number % 7, "group": ["a", "b"] * 100})
    for name in (None, "x", "group"):
        holes = frame if name is None else frame.assign(**{name: frame[name].where(number % 5 > 0)})
        source, out = tmp_path / f"{name}.parquet", tmp_path / f"out {name}"
        holes.to_parquet(source, index=False)
        made = mask_dataset(source, out, RWN(k=50))
        schema = Dataset.at(source).guessed_schema()
        text = dataset_record(made, RWN(k=50), schema, "a fresh 256-bit secret", source)
        known = Material(record=read_dataset_record(text, out))
        files = public_dataset_files(known, source, out, (".html", ".xml"))
        files["internal"] = internal_dataset_file(known, source, out, ".html")
        for content in files.values():
            assert (words.MISSING.encode() in content) == (name is not None)
