"""Datasets larger than memory: masked in ranges, split, mapped, restarted, surveyed."""

import hashlib
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core import Comparison, ReleaseError
from rwn_core.datasets import donors, engines, key_file, spatial_parts, staged_arrays
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_statistics import BLOCK, block_sums, merge_sums
from rwn_core.datasets.engines import SURVEY, perform
from rwn_core.datasets.mask_dataset import LISTED_BYTES, PROGRAM_BYTES, plan_lines, prepare_run
from rwn_core.datasets.run import Run, SurveyResult
from rwn_core.datasets.spatial_parts import leaf_numbers
from rwn_core.datasets.stage import Stage
from rwn_core.datasets.staged_arrays import give_back, load, save
from rwn_core.laws import tied_law
from rwn_core.masking.sliced_method import imbalance_words
from rwn_core.neighbors.frame import Frame
from rwn_core.neighbors.index import Index
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.record_draws import random_order
from rwn_core.neighbors.soft_lists import LISTED, SoftLists
from rwn_core.parallel.memory import resident_bytes
from rwn_core.parallel.pool import Stopped
from rwn_core.parallel.threads import Cancelled
from rwn_core.randomness import SAMPLE_STREAM
from tests.core.datasets import datasets

EXACT = rwn.RWN(k=5, epsilon=1.5, q=0.8)
METHOD_1 = rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150)
BALANCED = rwn.SoftRWN(kernel="gaussian", balance=1.0)
TIED = rwn.SoftRWN(tie=True)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return datasets.frame()


@pytest.fixture(scope="module")
def folder(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "seven", table, 7)


def masked(table: pd.DataFrame, params: rwn.RWN, seed: int = 3) -> rwn.Release:
    """The release of the table in memory."""
    return rwn.mask(rwn.Microdata.from_frame(table, datasets.SCHEMA), params, seed=seed)


def in_memory(table: pd.DataFrame, params: rwn.RWN, path: Path, seed: int = 3) -> pd.DataFrame:
    """Its published file, read back."""
    return pd.read_parquet(masked(table, params, seed).publish(path))


# workers, records of a task and files of the input: each at each of its values once at least
WAYS = [(1, 1024, 1), (1, 3072, 40), (2, 2048, 7)]
# by day in one process, of half as many records; a cluster of two workers has its own test
BY_DAY = [(1, 1024, 1), (1, 2048, 7)]
AT_NIGHT = {"marks": pytest.mark.nightly}


@pytest.mark.parametrize(
    ("n", "ways"), [(1100, BY_DAY), pytest.param(datasets.N, WAYS, **AT_NIGHT)], ids=["few", "all"]
)
@pytest.mark.parametrize(
    "params", [METHOD_1, EXACT, BALANCED, TIED], ids=["sample", "exact", "balanced", "tied"]
)
def test_the_release_is_that_of_the_table_in_memory(params, n, ways, table, tmp_path):
    table = table.head(n)
    release = masked(table, params)
    wanted = pd.read_parquet(release.publish(tmp_path / "memory.parquet"))
    data = rwn.Microdata.from_frame(table, datasets.SCHEMA)
    both = Comparison(original=data, masked=release.masked)
    found = rwn.MEASURES["cells_changed"].compute(both).detail
    changed = dict(zip(found.names, np.rint(found.share * data.n), strict=True))
    assert changed["fixed"] == 0 < changed["score"] < changed["income"]
    digests = set()
    for number, (workers, rows, files) in enumerate(ways):
        source = tmp_path / f"in-{files}"
        if not source.exists():
            datasets.write_files(source, table, files)
        target = tmp_path / f"out-{number}"
        made = datasets.mask(source, target, params, workers=workers, rows=rows)
        assert (made.n, made.files, dict(made.changed)) == (n, -(-n // 800), changed)
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
        rwn.SoftRWN(tie=True, balance=1.0),
        # TIED above has a tie of one factor by day, tests/core/laws/test_tie of two
        pytest.param(
            rwn.SoftRWN(tie=True, tie_factors=2, kernel="exponential", width=2.0), **AT_NIGHT
        ),
    ],
)
def test_other_settings_are_the_same_too(params, table, tmp_path):
    few = table.head(1500 if params.method == "rwn" else 1100)  # two ranges of records
    datasets.mask(datasets.write_files(tmp_path / "in", few, 3), tmp_path / "out", params, seed=9)
    wanted = in_memory(few, params, tmp_path / "memory.parquet", seed=9)
    pd.testing.assert_frame_equal(datasets.released(tmp_path / "out"), wanted)


def test_a_tie_is_fitted_to_the_records_that_a_screen_shows(table, tmp_path, monkeypatch):
    few = table.head(1100)
    source = datasets.write_files(tmp_path / "in", few, 3)
    monkeypatch.setattr(tied_law, "LIVE_RECORDS", 300)
    release = masked(few, TIED, seed=9)
    wanted = pd.read_parquet(release.publish(tmp_path / "memory.parquet"))
    made = datasets.mask(source, tmp_path / "out", TIED, seed=9)
    pd.testing.assert_frame_equal(datasets.released(tmp_path / "out"), wanted)
    assert made.kept == pytest.approx(release.law.tied.fitted.kept, rel=1e-9)
    monkeypatch.setattr(donors, "fitted_records", lambda fingerprint, n: np.arange(300))
    datasets.mask(source, tmp_path / "fault", TIED, seed=9)
    assert not datasets.released(tmp_path / "fault").equals(wanted), "a fault would be noticed"


def test_a_balance_that_is_not_reached_is_counted(folder, tmp_path, monkeypatch):
    made = datasets.mask(folder, tmp_path / "out", BALANCED)
    assert imbalance_words(made.imbalance) == []

    def missed(kernel: Kernel, lists: SoftLists) -> tuple[NDArray[np.float64], float]:
        return np.zeros(datasets.N), 0.03

    monkeypatch.setattr("rwn_core.datasets.donors.column_factors", missed)
    made = datasets.mask(folder, tmp_path / "other", BALANCED)
    (words,) = imbalance_words(made.imbalance)
    assert words.startswith("balance is not reached: some records give 0.03 more or less often")


def test_a_tile_out_of_reach_would_be_missed(table, folder, tmp_path, monkeypatch):
    def without_one_tile(run: Run, frame: Frame) -> Index:
        index = spatial_parts.joined_index(run, frame)
        index.side.boxes[0, :, 0] = np.inf
        return index

    monkeypatch.setattr("rwn_core.datasets.donors.joined_index", without_one_tile)
    datasets.mask(folder, tmp_path / "out", EXACT)
    wanted = in_memory(table, EXACT, tmp_path / "memory.parquet")
    assert not datasets.released(tmp_path / "out").equals(wanted)


def test_nothing_but_the_release_is_left(folder, tmp_path):
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
    [(METHOD_1, (5,)), (EXACT, (8, 14)), pytest.param(EXACT, (2, 8, 11, 14), **AT_NIGHT)],
    ids=["sample", "exact", "exact, in each step"],
)
def test_a_cancelled_run_leaves_no_release_and_goes_on(params, stops, folder, tmp_path):
    datasets.mask(folder, tmp_path / "whole", params)
    for tasks in stops:
        target = tmp_path / f"out-{tasks}"
        stopped_after(tasks, folder, target, params)
        assert not target.exists()
        stage = tmp_path / f".out-{tasks}.stage"
        assert stage.stat().st_mode & 0o077 == 0, "originals lie there"
        assert len(list(stage.rglob("*.done"))) == tasks
        datasets.mask(folder, target, params)
        assert datasets.digest(target) == datasets.digest(tmp_path / "whole")


def test_finished_tasks_are_not_done_again_and_another_run_is_refused(
    folder, tmp_path, monkeypatch
):
    stopped_after(5, folder, tmp_path / "out")

    def refuse(*_: object) -> None:
        raise AssertionError("a range was surveyed twice")

    wider = rwn.RWN(k=6, epsilon=1.0, q=0.8, neighbors="sample", m=150)
    for params, seed in ((METHOD_1, 4), (wider, 3), (METHOD_1, None)):
        with pytest.raises(ReleaseError, match="another input, setting or key"):
            datasets.mask(folder, tmp_path / "out", params, seed=seed)
    monkeypatch.setattr("rwn_core.datasets.engines.block_sums", refuse)
    datasets.mask(folder, tmp_path / "out", METHOD_1)
    with pytest.raises(AssertionError, match="twice"):
        datasets.mask(folder, tmp_path / "new", METHOD_1)


def test_the_key_is_nowhere_on_the_stage(folder, tmp_path):
    secret = hashlib.sha256(b"no bytes that a file has by chance").digest()
    stopped_after(8, folder, tmp_path / "out", seed=rwn.SecretKey(secret))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        assert secret not in content
        assert secret.hex().encode() not in content
        assert b"person-" not in content, "direct identifiers are not read"


def test_files_and_options_that_fit_no_dataset_are_refused(table, folder, tmp_path):
    source = datasets.write_files(tmp_path / "in", table.head(100), 2)
    few = table.head(10)
    for odd, sentence in (
        (few.assign(age="texts"), "column age in the type"),
        (few.drop(columns="income"), "has the column"),
    ):
        odd.to_parquet(source / "zzz.parquet", index=False)
        with pytest.raises(rwn.InputError, match=sentence):
            datasets.mask(source, tmp_path / "out", METHOD_1, seed=None)
    odd = table.copy()
    odd.loc[2000, "income"] = float("inf")
    source = datasets.write_files(tmp_path / "infinite", odd, 2)
    with pytest.raises(rwn.InputError, match=r"income .* row 977.* from record 1,025 "):
        datasets.mask(source, tmp_path / "out", METHOD_1, seed=None)
    years = rwn.Variable(name="years", kind=rwn.Kind.COUNT)
    other = rwn.Schema(variables=(*datasets.SCHEMA.variables, years))
    for wrong, sentence in (
        ({"file_rows": 0}, "file_rows must be at least 1"),
        ({"rows": 1500}, "rows must be a multiple"),
        ({"schema": other}, "years"),
    ):
        with pytest.raises(rwn.RWNError, match=sentence):
            datasets.mask(folder, tmp_path / "out", METHOD_1, seed=None, **wrong)
    (tmp_path / "there").mkdir()
    with pytest.raises(ReleaseError, match="exists"):
        datasets.mask(folder, tmp_path / "there", METHOD_1, seed=None)
    with pytest.raises(rwn.InputError, match="no Parquet files"):
        datasets.mask(tmp_path / "there", tmp_path / "out", METHOD_1, seed=None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (rwn.RWN(k=5, neighbors="sample", m=50, fresh=True), "neighbors=sample"),
        (rwn.RWN(k=5, neighbors="pairs", m=50), "among everybody or with neighbors=sample"),
        (rwn.RWN(k=5, neighbors="partition", u=3), "mask a table that fits into memory"),
        (rwn.RWN(k=3000), r"At most 2,999 .* choose neighbors=sample"),
        (rwn.RWN(k=3000, neighbors="sample", m=2999), "k must be"),
        (rwn.NBRS2015(epsilon=1.0), "method rwn"),
        (rwn.RWN(k=5, neighbors="sample", m=4), "m must be"),
        (rwn.Rounded(params=METHOD_1, precision={"age": 5}), "without rounding"),
    ],
)
def test_settings_that_no_dataset_takes_are_refused(
    params, sentence, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("rwn_core.datasets.mask_dataset.LARGEST", datasets.N - 1)
    with pytest.raises(rwn.ParameterError, match=sentence):
        datasets.mask(folder, tmp_path / "out", params, seed=None)
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
def test_a_worker_is_planned_by_its_records_and_columns(params, record, folder, tmp_path):
    for rows, records in ((1024, 1024), (102_400, datasets.N)):
        lines = plan_lines(folder, tmp_path / "out", params, datasets.options(rows=rows))
        assert lines[2].startswith(f"about {(PROGRAM_BYTES + records * record) / 1e6:,.0f} MB of")
        assert any("people give values" in line for line in lines) == (params is METHOD_1)


@pytest.mark.parametrize("who", [{}, {"neighbors": "sample", "m": 50}])
def test_empty_neighborhoods_are_refused_as_in_memory(folder, tmp_path, who):
    alone = rwn.RWN(epsilon=0.01, **who)
    with pytest.raises(rwn.ParameterError, match="no other record within epsilon"):
        datasets.mask(folder, tmp_path / "out", alone, seed=None)
    assert not (tmp_path / "out").exists()


def test_a_balance_beyond_memory_is_refused(folder, tmp_path, monkeypatch):
    asked: list[float] = []
    monkeypatch.setattr(donors, "pairs_bytes", lambda pairs: (asked.append(pairs), pairs)[1])
    monkeypatch.setattr(donors, "budget_bytes", lambda: 8.0 * datasets.N)
    with pytest.raises(rwn.ParameterError, match="The balance of all records needs"):
        datasets.mask(folder, tmp_path / "out", BALANCED)
    assert asked[0] > 8 * datasets.N  # each record has more than one neighbor
    assert not (tmp_path / "out").exists()


def test_a_key_is_written_over_nothing(tmp_path):
    there, broken = tmp_path / "there", tmp_path / "broken"
    there.write_text("mine")
    broken.symlink_to(tmp_path / "nowhere")
    for taken in (there, broken):
        with pytest.raises(rwn.ParameterError, match="is there already"):
            key_file.fresh_key(taken)
    assert there.read_text() == "mine"


SIZE = 10_000_000  # numbers: 80 MB


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return SimpleNamespace(stage=SimpleNamespace(path=lambda step, name: tmp_path / name))


@pytest.mark.skipif(not resident_bytes(), reason="this system does not say what a process takes")
def test_what_was_read_is_given_back_and_read_again(run, monkeypatch):
    save(run, "join", "tiles", np.arange(SIZE))
    before = resident_bytes()
    array = load(run, "join", "tiles")
    total = int(array.sum())
    read = resident_bytes()
    assert read - before > 0.9 * array.nbytes
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", 2 * read)
    give_back()
    assert resident_bytes() - before > 0.9 * array.nbytes, "a small process keeps what it has"
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", before)
    give_back()
    assert resident_bytes() - before < 0.1 * array.nbytes
    assert int(array.sum()) == total == SIZE * (SIZE - 1) // 2


def test_the_release_is_the_same_where_everything_is_given_back(folder, tmp_path, monkeypatch):
    given: list[None] = []

    def noted() -> None:
        given.append(None)
        give_back()

    monkeypatch.setattr(engines, "give_back", noted)
    datasets.mask(folder, tmp_path / "kept", EXACT)
    assert given
    monkeypatch.setattr(staged_arrays, "LARGEST_RESIDENT", 0)
    datasets.mask(folder, tmp_path / "given back", EXACT)
    assert datasets.digest(tmp_path / "kept") == datasets.digest(tmp_path / "given back")


def test_leaves_are_about_as_large_and_lie_across_the_widest_direction():
    numbers = np.random.default_rng(1)
    turned = np.linalg.qr(np.eye(3) + 0.3)[0]
    points = numbers.normal(size=(4000, 3)) * [3.0, 1.0, 0.5] @ turned
    leaf = leaf_numbers(points[::4], points, 13)
    assert 150 < np.bincount(leaf, minlength=13).min() < np.bincount(leaf).max() < 500
    widest = points @ turned.T[:, 0]
    assert abs(np.corrcoef(leaf, widest)[0, 1]) > 0.95
    for column in (1, 2):
        assert abs(np.corrcoef(leaf, points @ turned.T[:, column])[0, 1]) < 0.1
    alike = np.repeat([[0.0], [1.0]], [900, 100], axis=0)  # identical records share a leaf
    leaf = leaf_numbers(alike, alike, 8)
    assert len(np.unique(leaf[:900])) == len(np.unique(leaf[900:])) == 1
    assert len(np.unique(leaf_numbers(np.zeros((50, 0)), np.zeros((50, 0)), 8))) == 1


@pytest.fixture(scope="module")
def wanted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("whole") / "out"
    datasets.mask(folder, target, METHOD_1)
    return datasets.digest(target)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processes of Linux")
def test_a_killed_driver_leaves_no_orphan_and_the_run_goes_on(folder, wanted, tmp_path):
    target = tmp_path / "out"
    datasets.killed_driver(folder, target, "local", share=0.5)
    (tmp_path / ".out.unfinished" / ".part-000000.parquet.0000").write_bytes(b"half a file")
    datasets.mask(folder, target, METHOD_1)
    assert datasets.digest(target) == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["driver.py", "out"]


class Killed(BaseException):
    """Stands for a kill: nothing after it is done."""


@pytest.mark.parametrize("moment", ["end", "rename", "remove"])
def test_a_kill_at_the_end_leaves_no_original_and_the_same_command_ends_well(
    folder, wanted, tmp_path, monkeypatch, moment
):
    """Finding T6: the stage with original values stayed for good, and the command was refused."""
    target, stage = tmp_path / "out", tmp_path / ".out.stage"

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Path if moment == "rename" else Stage, moment, kill)
        with pytest.raises(Killed):
            datasets.mask(folder, target, METHOD_1)
    assert stage.exists()
    if moment != "end":
        assert sorted(path.name for path in stage.rglob("*")) == ["ended.json", "run.json"]
    if moment == "remove":
        with pytest.raises(ReleaseError, match="exists; choose a new folder"):
            datasets.mask(folder, target, METHOD_1, seed=4)
    made = datasets.mask(folder, target, METHOD_1)
    assert datasets.digest(target) == wanted
    assert made.n == len(datasets.frame())
    assert made.changed == datasets.mask(folder, tmp_path / "again", METHOD_1).changed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "out"]
    with pytest.raises(ReleaseError, match="exists; choose a new folder"):
        datasets.mask(folder, target, METHOD_1)


def test_a_folder_that_came_meanwhile_is_not_taken_for_the_release(folder, tmp_path):
    def other(share: float) -> None:
        if share > 0.5:
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "other").touch()

    with pytest.raises(ReleaseError, match="cannot be written"):
        datasets.mask(folder, tmp_path / "out", METHOD_1, progress=other)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["other"]


def test_a_killed_worker_stops_the_run_which_goes_on(folder, wanted, tmp_path):
    killed: list[int] = []

    def kill(share: float) -> None:
        for child in multiprocessing.active_children() if not killed else ():
            killed.append(child.pid or 0)
            os.kill(child.pid or 0, signal.SIGKILL)

    with pytest.raises(Stopped, match="run the same again"):
        datasets.mask(folder, tmp_path / "out", METHOD_1, workers=2, progress=kill)
    assert len(killed) == 2
    assert not (tmp_path / "out").exists()
    datasets.mask(folder, tmp_path / "out", METHOD_1)
    assert datasets.digest(tmp_path / "out") == wanted


def surveyed(source: Path, stage: Path, params: rwn.RWN) -> SurveyResult:
    options = rwn.RunOptions(schema=datasets.SCHEMA, rows=1024, stage=stage)
    key = rwn.SecretKey.from_seed(7)
    run, _ = prepare_run(source, stage.with_name("never"), params, key, options)
    run.stage.begin(run.fingerprint)
    for task in run.ranges(SURVEY):
        perform(run, task)
    return run.survey_result


@pytest.mark.parametrize("scaled", ["sd", "range"])
def test_the_metric_is_that_of_the_table(scaled, table, folder, tmp_path):
    params = rwn.RWN(k=1, scale=scaled, neighbors="sample", m=100)
    found = surveyed(folder, tmp_path / "stage", params)
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


def test_sums_have_the_same_bits_however_rows_are_dealt_out():
    numbers = np.random.default_rng(2)
    values = numbers.normal(size=(5000, 2)) * 10.0 ** numbers.integers(-8, 8, (5000, 2))
    values[numbers.random(values.shape) < 0.1] = np.nan
    once = merge_sums([block_sums(values)])
    parts = [values[:BLOCK], values[BLOCK : 4 * BLOCK], values[4 * BLOCK :]]
    assert merge_sums([block_sums(part) for part in parts]) == once
    shifted = [values[: BLOCK - 1], values[BLOCK - 1 :]]
    assert merge_sums([block_sums(part) for part in shifted]) != once, "other blocks, other bits"


def test_any_range_of_records_is_read(tmp_path):
    table = datasets.frame(1000)
    dataset = Dataset.at(datasets.write_files(tmp_path / "in", table, 7))
    assert dataset.n == 1000
    for start, stop in ((0, 1), (0, 1000), (333, 777), (999, 1000)):
        found = dataset.read(start, stop, ["age", "person"]).to_pandas()
        wanted = table[["age", "person"]].iloc[start:stop].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, wanted)


def test_a_damaged_file_and_values_in_the_names_of_folders_are_refused(tmp_path):
    source = datasets.write_files(tmp_path / "in", datasets.frame(100), 2)
    (source / "001.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(rwn.InputError, match=r"001\.parquet is damaged"):
        Dataset.at(source)
    (tmp_path / "one" / "year=2020").mkdir(parents=True)
    datasets.frame(10).to_parquet(tmp_path / "one" / "year=2020" / "a.parquet")
    with pytest.raises(rwn.InputError, match="folder's names hold values"):
        Dataset.at(tmp_path / "one")


def test_sums_are_exact_where_a_naive_one_pass_formula_is_not():
    values = 1e9 + np.random.default_rng(0).normal(size=(50_000, 1))
    (found,) = merge_sums([block_sums(values)])
    assert found.sd == pytest.approx(values.std(ddof=1), rel=1e-10)
    assert found.mean == pytest.approx(values.mean(), rel=1e-15)
    naive = np.sqrt((values**2).mean() - values.mean() ** 2)
    assert naive != pytest.approx(values.std(ddof=1), rel=1e-3)
