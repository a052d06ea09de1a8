"""Every engine gives one release, also after its workers or its driver were killed.

Takes minutes and Spark: ``make engines``.
"""

import os
import signal
import sys
from pathlib import Path

import pytest

import rwn_core as rwn
from tests.core.datasets import datasets

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore"),  # Spark leaves its sockets to the collector
    pytest.mark.skipif(sys.platform != "linux", reason="reads the processes of Linux"),
]
METHODS = {
    "exact": rwn.RWN(k=5, epsilon=1.5, q=0.8),
    "sample": rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150),
    "balanced": rwn.SoftRWN(kernel="gaussian", width=0.8, balance=1.0, q=0.8),
    "tied": rwn.SoftRWN(tie=True, tie_factors=2),
}
# workers, records of a task and files of the input: each value with several of the others
WAYS = [(1, 1024, 1), (1, 2048, 7), (1, 3072, 40), (2, 1024, 40), (2, 2048, 1), (2, 3072, 7)]


def workers_of(engine: str) -> list[int]:
    """The processes that do the tasks of an engine which this process drives."""
    found = []
    for pid in datasets.descendants(os.getpid()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1]
            above = Path(f"/proc/{parent}/cmdline").read_bytes()
        except OSError:
            continue
        if engine == "dask" and (b"dask worker" in words or b"spawn_main" in words):
            found.append(pid)
        if engine == "spark" and b"pyspark" in words and b"pyspark" in above:
            found.append(pid)
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("input")
    table = datasets.frame()
    return {n: datasets.write_files(folder / str(n), table, n) for n in (1, 7, 40)}


@pytest.fixture(scope="module")
def wanted(sources: dict[int, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("wanted")
    digests = {}
    for name, params in METHODS.items():
        datasets.mask(sources[7], folder / name, params)
        digests[name] = datasets.digest(folder / name)
    return digests


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("engine", ["local", "dask", "spark"])
def test_one_digest(engine, method, sources, wanted, tmp_path):
    for workers, rows, files in WAYS:
        target = tmp_path / f"{workers}-{rows}-{files}"
        datasets.mask(
            sources[files], target, METHODS[method], engine=engine, workers=workers, rows=rows
        )
        assert datasets.digest(target) == wanted[method], (workers, rows, files)


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_a_killed_worker_changes_nothing(engine, sources, wanted, tmp_path):
    killed: list[int] = []

    def kill(share: float) -> None:
        if share > 0.2 and not killed and (workers := workers_of(engine)):
            killed.append(workers[0])
            os.kill(killed[0], signal.SIGKILL)

    datasets.mask(
        sources[7], tmp_path / "out", METHODS["exact"], engine=engine, workers=2, progress=kill
    )
    assert killed
    assert datasets.digest(tmp_path / "out") == wanted["exact"]


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_a_killed_driver_leaves_no_orphan_and_the_run_goes_on(engine, sources, wanted, tmp_path):
    source = sources[7]
    target = tmp_path / "out"
    datasets.killed_driver(source, target, engine)
    datasets.mask(source, target, METHODS["sample"], engine=engine, workers=2)
    assert datasets.digest(target) == wanted["sample"]
