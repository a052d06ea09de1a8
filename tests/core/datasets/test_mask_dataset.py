"""A dataset's release is that of the table in memory, however the work is dealt out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.datasets import donors, key_file, spatial_parts
from rwn_core.datasets.mask_dataset import LISTED_BYTES, PROGRAM_BYTES, plan_lines
from rwn_core.datasets.run import Run
from rwn_core.masking.soft_rwn import imbalance_words
from rwn_core.measures.comparison import Comparison
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import LISTED, SoftLists
from rwn_core.parallel.threads import Cancelled
from tests.core.datasets import datasets

EXACT = rwn.RWN(k=5, epsilon=1.5, q=0.8)
METHOD_1 = rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150)
BALANCED = rwn.SoftRWN(kernel="gaussian", balance=1.0)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return datasets.frame()


@pytest.fixture(scope="module")
def folder(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "seven", table, 7)


def in_memory(table: pd.DataFrame, params: rwn.RWN, path: Path, seed: int = 3) -> pd.DataFrame:
    """The published file of the table in memory, read back."""
    data = rwn.Microdata.from_frame(table, datasets.SCHEMA)
    return pd.read_parquet(rwn.mask(data, params, seed=seed).publish(path))


# workers, records of a task and files of the input: each at each of its values once at least
WAYS = [(1, 1024, 1), (1, 3072, 40), (2, 2048, 7)]


@pytest.mark.parametrize("params", [METHOD_1, EXACT, BALANCED], ids=["sample", "exact", "balanced"])
def test_the_release_is_that_of_the_table_in_memory(
    params: rwn.RWN, table: pd.DataFrame, tmp_path: Path
) -> None:
    wanted = in_memory(table, params, tmp_path / "memory.parquet")
    data = rwn.Microdata.from_frame(table, datasets.SCHEMA)
    masked = rwn.mask(data, params, seed=3).masked
    found = rwn.MEASURES["cells_changed"].compute(Comparison(original=data, masked=masked)).detail
    changed = dict(zip(found.names, np.rint(found.share * data.n), strict=True))
    assert changed["fixed"] == 0 < changed["score"] < changed["income"]
    digests = set()
    for number, (workers, rows, files) in enumerate(WAYS):
        source = tmp_path / f"in-{files}"
        if not source.exists():
            datasets.write_files(source, table, files)
        target = tmp_path / f"out-{number}"
        made = datasets.mask(source, target, params, workers=workers, rows=rows)
        assert (made.n, made.files, dict(made.changed)) == (datasets.N, 4, changed)
        digests.add(datasets.digest(target))
    pd.testing.assert_frame_equal(datasets.released(tmp_path / "out-0"), wanted)
    assert len(digests) == 1
    other = in_memory(table, params, tmp_path / "other.parquet", seed=4)
    assert not other.equals(wanted), "another key would be noticed"


@pytest.mark.parametrize(
    "params",
    [
        rwn.RWN(k=3, neighbors="sample", m=40, scale="range", encoding="matching"),
        rwn.RWN(epsilon=3.5, k=1, neighbors="sample", m=1500, weights="discrete", q=0.5),
        rwn.RWN(k=800, epsilon=1.0, scale="range", encoding="matching"),  # more than a leaf has
        rwn.SoftRWN(kernel="exponential", own=True, bandwidth="fixed", balance=0.5, q=0.6),
        rwn.SoftRWN(
            kernel="gaussian", bandwidth="absolute", bandwidth_k=230, encoding="matching", q=0.8
        ),
    ],
)
def test_other_settings_are_the_same_too(
    params: rwn.RWN, table: pd.DataFrame, tmp_path: Path
) -> None:
    few = table.head(1500)
    datasets.mask(datasets.write_files(tmp_path / "in", few, 3), tmp_path / "out", params, seed=9)
    wanted = in_memory(few, params, tmp_path / "memory.parquet", seed=9)
    pd.testing.assert_frame_equal(datasets.released(tmp_path / "out"), wanted)


def test_a_balance_that_is_not_reached_is_counted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = datasets.mask(folder, tmp_path / "out", BALANCED)
    assert imbalance_words(made.imbalance) == []

    def missed(kernel: Kernel, lists: SoftLists) -> tuple[NDArray[np.float64], float]:
        return np.zeros(datasets.N), 0.03

    monkeypatch.setattr("rwn_core.datasets.donors.column_factors", missed)
    made = datasets.mask(folder, tmp_path / "other", BALANCED)
    (words,) = imbalance_words(made.imbalance)
    assert words.startswith("balance is not reached: some records give 0.03 more or less often")


def test_a_tile_out_of_reach_would_be_missed(
    table: pd.DataFrame, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_one_tile(run: Run, frame: Frame) -> Index:
        index = spatial_parts.joined_index(run, frame)
        index.side.boxes[0, :, 0] = np.inf
        return index

    monkeypatch.setattr("rwn_core.datasets.donors.joined_index", without_one_tile)
    datasets.mask(folder, tmp_path / "out", EXACT)
    wanted = in_memory(table, EXACT, tmp_path / "memory.parquet")
    assert not datasets.released(tmp_path / "out").equals(wanted)


def test_nothing_but_the_release_is_left(folder: Path, tmp_path: Path) -> None:
    datasets.mask(folder, tmp_path / "out", METHOD_1, seed=None)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    released = datasets.released(tmp_path / "out")
    assert "person" not in released.columns
    content = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"person" not in content


def stopped_after(
    tasks: int, folder: Path, target: Path, params: rwn.RWN = METHOD_1, seed: Any = 3
) -> None:
    """A run that its user cancels."""
    seen: list[float] = []

    def cancel(share: float) -> None:
        seen.append(share)
        if len(seen) == tasks:
            raise Cancelled("The work was cancelled.")

    with pytest.raises(Cancelled):
        datasets.mask(folder, target, params, seed=seed, progress=cancel)


@pytest.mark.parametrize(
    ("params", "stops"),
    [(METHOD_1, (2, 5, 8)), (EXACT, (2, 8, 11, 14))],
    ids=["sample", "exact"],
)
def test_a_cancelled_run_leaves_no_release_and_goes_on(
    params: rwn.RWN, stops: tuple[int, ...], folder: Path, tmp_path: Path
) -> None:
    datasets.mask(folder, tmp_path / "whole", params)
    for tasks in stops:  # in each of the steps
        target = tmp_path / f"out-{tasks}"
        stopped_after(tasks, folder, target, params)
        assert not target.exists()
        stage = tmp_path / f".out-{tasks}.stage"
        assert stage.stat().st_mode & 0o077 == 0, "originals lie there"
        assert len(list(stage.rglob("*.done"))) == tasks
        datasets.mask(folder, target, params)
        assert datasets.digest(target) == datasets.digest(tmp_path / "whole")


def test_finished_tasks_are_not_done_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(5, folder, tmp_path / "out")

    def refuse(*_: object) -> None:
        raise AssertionError("a range was surveyed twice")

    monkeypatch.setattr("rwn_core.datasets.steps.block_sums", refuse)
    datasets.mask(folder, tmp_path / "out", METHOD_1)
    with pytest.raises(AssertionError, match="twice"):
        datasets.mask(folder, tmp_path / "new", METHOD_1)


def test_another_run_is_refused(folder: Path, tmp_path: Path) -> None:
    stopped_after(5, folder, tmp_path / "out")
    wider = rwn.RWN(k=6, epsilon=1.0, q=0.8, neighbors="sample", m=150)
    for params, seed in ((METHOD_1, 4), (wider, 3), (METHOD_1, None)):
        with pytest.raises(rwn.ReleaseError, match="another input, setting or key"):
            datasets.mask(folder, tmp_path / "out", params, seed=seed)


def test_the_key_is_nowhere_on_the_stage(folder: Path, tmp_path: Path) -> None:
    secret = hashlib.sha256(b"no bytes that a file has by chance").digest()
    stopped_after(8, folder, tmp_path / "out", seed=rwn.SecretKey(secret))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        assert secret not in content
        assert secret.hex().encode() not in content
        assert b"person-" not in content, "direct identifiers are not read"


def test_files_that_do_not_belong_together_are_refused(table: pd.DataFrame, tmp_path: Path) -> None:
    source, few = datasets.write_files(tmp_path / "in", table.head(100), 2), table.head(10)
    for odd, sentence in (
        (few.assign(age="texts"), "column age in the type"),
        (few.drop(columns="income"), "has the column"),
    ):
        odd.to_parquet(source / "zzz.parquet", index=False)
        with pytest.raises(rwn.InputError, match=sentence):
            datasets.mask(source, tmp_path / "out", METHOD_1, seed=None)


def test_a_value_is_refused_with_its_column_and_row(table: pd.DataFrame, tmp_path: Path) -> None:
    odd = table.copy()
    odd.loc[2000, "income"] = float("inf")
    source = datasets.write_files(tmp_path / "in", odd, 2)
    with pytest.raises(rwn.InputError, match=r"income .* row 977.* from record 1,025 "):
        datasets.mask(source, tmp_path / "out", METHOD_1, seed=None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (rwn.RWN(k=5, neighbors="sample", m=50, fresh=True), "neighbors=sample"),
        (rwn.RWN(k=5, neighbors="pairs", m=50), "among everybody or with neighbors=sample"),
        (rwn.RWN(k=5, neighbors="partition", u=3), "mask a table that fits into memory"),
        (rwn.RWN(k=3000), "k must be"),
        (rwn.NBRS2015(epsilon=1.0), "method rwn"),
        (rwn.RWN(k=5, neighbors="sample", m=4), "m must be"),
        (rwn.Rounded(params=METHOD_1, precision={"age": 5}), "without rounding"),
    ],
)
def test_settings_that_no_dataset_takes_are_refused(
    params: rwn.RWN, sentence: str, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(rwn.ParameterError, match=sentence):
        datasets.mask(folder, tmp_path / "out", params, seed=None)
    assert list(tmp_path.iterdir()) == []


def test_options_that_fit_no_dataset_are_refused(folder: Path, tmp_path: Path) -> None:
    years = rwn.Variable(name="years", kind=rwn.Kind.COUNT)
    other = rwn.Schema(variables=(*datasets.SCHEMA.variables, years))
    for wrong, sentence in (
        ({"file_rows": 0}, "file_rows must be at least 1"),
        ({"rows": 1500}, "rows must be a multiple"),
        ({"schema": other}, "years"),
    ):
        with pytest.raises(rwn.RWNError, match=sentence):
            datasets.mask(folder, tmp_path / "out", METHOD_1, seed=None, **wrong)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("params", "record"),
    [
        (METHOD_1, 300 + 100 * 8),
        (EXACT, 300 + 100 * 8 + 3 * (120 + 24 * 8)),
        (BALANCED, 300 + 100 * 8 + 3 * (120 + 24 * 8) + LISTED_BYTES * LISTED),
    ],
    ids=["sample", "exact", "balanced"],
)
def test_a_worker_is_planned_by_its_records_and_columns(
    params: rwn.RWN, record: int, folder: Path, tmp_path: Path
) -> None:
    for rows, records in ((1024, 1024), (102_400, datasets.N)):
        lines = plan_lines(folder, tmp_path / "out", params, datasets.options(rows=rows))
        assert lines[2].startswith(f"about {(PROGRAM_BYTES + records * record) / 1e6:,.0f} MB of")
        assert any("people give values" in line for line in lines) == (params is METHOD_1)


def test_more_records_than_an_index_can_number_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rwn_core.datasets.mask_dataset.LARGEST", datasets.N - 1)
    with pytest.raises(rwn.ParameterError, match=r"At most 2,999 .* choose neighbors=sample"):
        datasets.mask(folder, tmp_path / "out", EXACT, seed=None)


@pytest.mark.parametrize("who", [{}, {"neighbors": "sample", "m": 50}])
def test_empty_neighborhoods_are_refused_as_in_memory(
    folder: Path, tmp_path: Path, who: dict[str, Any]
) -> None:
    alone = rwn.RWN(epsilon=0.01, **who)
    with pytest.raises(rwn.ParameterError, match="no other record within epsilon"):
        datasets.mask(folder, tmp_path / "out", alone, seed=None)
    assert not (tmp_path / "out").exists()


def test_a_balance_beyond_memory_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(donors, "pairs_bytes", lambda pairs: (asked.append(pairs), pairs)[1])
    monkeypatch.setattr(donors, "budget_bytes", lambda: 8.0 * datasets.N)
    with pytest.raises(rwn.ParameterError, match="The balance of all records needs"):
        datasets.mask(folder, tmp_path / "out", BALANCED)
    assert asked[0] > 8 * datasets.N  # each record has more than one neighbor
    assert not (tmp_path / "out").exists()


def test_a_key_is_written_over_nothing(tmp_path: Path) -> None:
    there, broken = tmp_path / "there", tmp_path / "broken"
    there.write_text("mine")
    broken.symlink_to(tmp_path / "nowhere")
    for taken in (there, broken):
        with pytest.raises(rwn.ParameterError, match="is there already"):
            key_file.fresh_key(taken)
    assert there.read_text() == "mine"


def test_an_output_that_exists_is_not_touched(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(rwn.ReleaseError, match="exists"):
        datasets.mask(folder, tmp_path / "out", METHOD_1, seed=None)
    with pytest.raises(rwn.InputError, match="no Parquet files"):
        datasets.mask(tmp_path / "out", tmp_path / "new", METHOD_1, seed=None)
