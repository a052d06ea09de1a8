"""What several test folders share: E1, the key that tests draw from, ports, groups of tests."""

from __future__ import annotations

import gc
import io
import os
import secrets
import socket
from collections.abc import Callable
from functools import cache

# many small matrix products, beside as many other tests as there are processors; read by numpy
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# workers that stand back would wait minutes for a second of a processor that others want
os.environ.setdefault("RWN_NICENESS", "0")

import numpy as np
import pandas as pd
import pytest
import xlsxwriter
from hypothesis import settings

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.io import reading
from tests import cpu_seconds
from tests import sentences as snapshots
from tests.before_workers import BeforeWorkers
from tests.read_here import Here

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if "RWN_TEST_SEED" in os.environ else "repeatable")

KEY_BASE = os.environ.get("RWN_TEST_SEED", "rwn")
if KEY_BASE == "any":
    KEY_BASE = secrets.token_hex(16)
    os.environ["RWN_TEST_SEED"] = KEY_BASE  # workers draw from the same


FIRST = ("browser", "journeys", "ui", "tuning", "neighbors")
"""Folders whose tests are handed out first, so that no worker is left alone with them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever has changed sentences have their files written anew."""
    parser.addoption("--update-sentences", action="store_true", help="rewrite golden sentences")


@pytest.fixture
def sentences(request: pytest.FixtureRequest) -> Callable[[str, snapshots.Sections], None]:
    """Hold all that is said about something against the file of the test's room."""
    room = request.path.relative_to(request.config.rootpath / "tests" / "core").parts[0]
    update = bool(request.config.getoption("--update-sentences"))
    return lambda about, said: snapshots.hold(room, about, said, update=update)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have workers begin with the tests that take longest."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = {name: at for at, name in enumerate(FIRST)}
        items.sort(key=lambda item: min(place.get(f, 9) for f in item.nodeid.split("/")))


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what stays to the end: libraries and tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Take as many workers as processors, eight at most; none where tests are named."""
    return min(8, os.cpu_count() or 1) if cpu_seconds.is_day_lane(config) else 0


def pytest_configure(config: pytest.Config) -> None:
    """Count processor seconds; have a controller of workers do once what is for all of them."""
    config.pluginmanager.register(cpu_seconds.Clock(config), "cpu seconds")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(BeforeWorkers(config))


def pytest_report_header() -> str:
    """Show what a failure needs to be repeated."""
    return f"RWN_TEST_SEED={KEY_BASE}"


@pytest.fixture(scope="session")
def key_base() -> str:
    """What the keys of the statistical tests are made from; RWN_TEST_SEED, if it is set."""
    return KEY_BASE


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """A function that has the system choose a port, which no other worker is given."""

    def chosen() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return chosen


@pytest.fixture(scope="session")
def e1_points() -> np.ndarray:
    """The records of the worked example E1 as unscaled points, shape (6, 2)."""
    return np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [10, 0], [11, 1]])


@pytest.fixture(scope="session")
def e1(e1_points: np.ndarray) -> Microdata:
    """The worked example E1: six records of two variables, x and y."""
    return Microdata.from_frame(pd.DataFrame(e1_points, columns=["x", "y"]))


@pytest.fixture
def a_process_reads() -> None:
    """Whoever asks for this has files read as users do, also where `read_here` is for all."""


@pytest.fixture
def read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, not in one each."""
    if "a_process_reads" not in request.fixturenames:
        monkeypatch.setattr(reading, "Pool", Here)


_load_demo = cache(rwn.load_demo)


@pytest.fixture
def unread_demos() -> None:
    """Whoever asks for this has demo tables of which nothing is known from another test."""


@pytest.fixture
def demos_read_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of a demo table is known to all tests of a worker."""
    if "unread_demos" not in request.fixturenames:
        monkeypatch.setattr(rwn, "load_demo", _load_demo)


@pytest.fixture
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked holds of a forest of three trees as of a hundred."""
    for what in ("attacks.red_team", "utility"):
        monkeypatch.setattr(f"rwn_core.measures.{what}.prediction.TREES", 3)


@pytest.fixture(scope="session")
def titled_workbook() -> bytes:
    """A workbook of 60 people with two rows above its table, and one below it."""
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as made:
        page = made.add_worksheet()
        page.write(0, 0, "The office")
        page.write_row(2, 0, ["age", "pay", "place"])
        for i in range(60):
            page.write_row(3 + i, 0, [20 + i % 30, 100 + i * 1.5, "ab"[i % 2]])
        page.write(63, 0, "Source")
    return stream.getvalue()
