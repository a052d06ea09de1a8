"""A cluster of Dask gives the release that one process gives, also when a worker is killed."""

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.datasets import engines
from rwn_core.errors import ParameterError, RWNError
from tests.core.datasets import datasets

EXACT = rwn.RWN(k=5, epsilon=1.5, q=0.8)
METHOD_1 = rwn.RWN(k=5, epsilon=1.0, q=0.8, neighbors="sample", m=150)


def over(address: str) -> dict[str, str]:
    return {"engine": "dask", "address": address}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        memory_limit=None,
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return datasets.write_files(tmp_path_factory.mktemp("input") / "in", datasets.frame(), 7)


@pytest.mark.nightly  # the release below is that of one process, too, after a worker was killed
def test_the_release_is_that_of_one_process(source, address, tmp_path):
    from distributed import Client

    other = datasets.write_files(tmp_path / "in", datasets.frame(), 1)
    datasets.mask(other, tmp_path / "wanted", EXACT, rows=2048)
    shares: list[float] = []
    datasets.mask(source, tmp_path / "out", EXACT, progress=shares.append, **over(address))
    assert datasets.digest(tmp_path / "out") == datasets.digest(tmp_path / "wanted")
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    with Client(address, set_as_default=False) as client:
        remembered = client.run(lambda: engines._unpacked.cache_info().currsize)
    assert set(remembered.values()) == {0}, "the secret leaves with the run"


def test_a_killed_worker_changes_nothing(source, address, tmp_path):
    from distributed import Client

    datasets.mask(source, tmp_path / "wanted", METHOD_1)
    killed: list[int] = []
    shares: list[float] = []
    with Client(address, set_as_default=False) as client:

        def kill(share: float) -> None:
            shares.append(share)
            if share > 0.1 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        datasets.mask(source, tmp_path / "out", METHOD_1, progress=kill, **over(address))
        remembered = client.run(lambda: engines._unpacked.cache_info().currsize)
    assert set(remembered.values()) == {0}, "the secret leaves with the run"
    assert killed
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert datasets.digest(tmp_path / "out") == datasets.digest(tmp_path / "wanted")


def test_a_refusal_comes_back(source, address, tmp_path):
    empty = rwn.RWN(epsilon=1e-9, neighbors="sample", m=150)
    there = over(address)
    with pytest.raises(ParameterError, match="no other record within epsilon"):
        datasets.mask(source, tmp_path / "out", empty, **there)
    gone = datasets.write_files(tmp_path / "in", datasets.frame(), 1)

    def remove(share: float) -> None:
        (gone / "000.parquet").unlink(missing_ok=True)

    with pytest.raises(RWNError, match="no longer there"):
        datasets.mask(gone, tmp_path / "other", METHOD_1, rows=3072, progress=remove, **there)


def test_what_engines_refuse(source, tmp_path, monkeypatch):
    monkeypatch.setattr("rwn_core.datasets.engines._PATIENCE", "1s")
    for engine, reason in (("local", "takes no address"), ("dask", "No Dask scheduler answers")):
        with pytest.raises(ParameterError, match=reason):
            datasets.mask(
                source, tmp_path / "out", METHOD_1, engine=engine, address="tcp://127.0.0.1:9"
            )


def test_a_task_elsewhere_answers_and_never_raises(tmp_path):
    packed = engines.PackedRun.__new__(engines.PackedRun)
    packed.content = b"no run"
    what, why = packed({"step": "survey", "number": 0})
    assert what == "failed"
    assert "no run" not in repr(packed) + why
