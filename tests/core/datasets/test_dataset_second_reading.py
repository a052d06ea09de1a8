"""A dataset's release is read again by another library, in bounded memory."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rwn_core as rwn
from rwn_core.datasets import mask_dataset
from rwn_core.datasets.dataset_second_reading import read_dataset_again
from rwn_core.errors import ReleaseError
from tests.core.datasets import datasets

NAMES = ["price", "day", "town", "count", "share"]
N = 2_500
PRICES = [Decimal(number) / 100 for number in range(500, 800)]
KIND = rwn.Kind


def original(folder: Path, files: int = 3) -> list[str]:
    """Write files with exact decimals, days, texts, whole numbers with gaps, and numbers."""
    folder.mkdir()
    table = pa.table(
        {
            "price": pa.array((PRICES * 9)[:N], pa.decimal128(9, 2)),
            "day": pa.array([date(1990, 1, 1) + timedelta(days=i % 900) for i in range(N)]),
            "town": pa.array([f"town {i % 70}" for i in range(N)]).dictionary_encode(),
            "count": pa.array([None if i % 11 == 0 else i for i in range(N)]),
            "share": pa.array([i / 7 for i in range(N)], pa.float32()),
        }
    )
    size = -(-N // files)
    for number in range(files):
        pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet")
    return sorted(map(str, folder.iterdir()))


def masked(tmp_path: Path) -> tuple[list[str], rwn.DatasetRelease, Path]:
    sources = original(tmp_path / "in")
    kinds = dict.fromkeys(NAMES, KIND.CONTINUOUS) | {"day": KIND.DATE, "town": KIND.CATEGORICAL}
    schema = rwn.Schema(
        variables=tuple(rwn.Variable(name=n, kind=k, confirmed=True) for n, k in kinds.items())
    )
    options = rwn.RunOptions(schema=schema, workers=1, rows=1024, file_rows=900)
    target = tmp_path / "out"
    made = rwn.mask_dataset(tmp_path / "in", target, rwn.RWN(k=4), seed=1, options=options)
    return sources, made, target


def test_an_honest_release_passes_in_one_pass_or_many(tmp_path: Path) -> None:
    sources, made, target = masked(tmp_path)
    assert made.second_reading["checked"] == NAMES
    assert made.second_reading["words"].count("Arrow's Rust library") == 2
    released = sorted(map(str, target.iterdir()))
    for keys in (2**24, 6_000, 700):
        assert read_dataset_again(sources, released, NAMES, N, keys).checked == tuple(NAMES)
    prices = set(datasets.released(target)["price"])
    assert prices <= {(500 + i) / 100 for i in range(300)}, "decimals are the nearest numbers"
    # a planted value is found
    path = target / "part-000001.parquet"
    honest = pd.read_parquet(path)
    strange = {"price": 5.1 + 2**-50, "day": pd.Timestamp("1999-01-01"), "town": "Town 1"}
    for name in NAMES:
        frame = honest.copy()
        row = int(frame[name].notna().to_numpy().argmax())
        frame.loc[row, name] = strange.get(name, 9_999_999)
        frame.to_parquet(path, index=False)
        for keys in (2**24, 700):
            with pytest.raises(ReleaseError, match=rf"column: {name} \(1\)"):
                read_dataset_again(sources, released, NAMES, N, keys)


def test_a_value_that_is_not_in_the_original_stops_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = mask_dataset.read_dataset_again

    def with_a_fault(sources, released, names, n):  # type: ignore[no-untyped-def]
        frame = pd.read_parquet(released[0])
        frame["share"] *= 1.5
        frame.to_parquet(released[0], index=False)
        return look(sources, released, names, n)

    monkeypatch.setattr(mask_dataset, "read_dataset_again", with_a_fault)
    with pytest.raises(ReleaseError, match="nowhere in the original's column: share"):
        masked(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["in"], "nothing of the work is left"


def test_without_the_second_library_the_words_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    _, made, _ = masked(tmp_path)
    assert made.second_reading["words"].count("Arrow (no second library)") == 2
