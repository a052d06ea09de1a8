"""A thread that leaves the processors to the others, and those that it begins."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rwn_core.parallel import threads


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows a priority of a thread")
def test_a_polite_thread_and_those_it_begins_stand_back_and_nobody_else() -> None:
    before, seen = niceness(), list[int]()

    def work() -> None:
        threads.be_polite()
        seen.append(niceness())
        threads.run_in_ranges(lambda start, stop: seen.append(niceness()), 2, threads=2)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert set(seen) == {min(19, before + threads._POLITE)}
    assert niceness() == before


def test_elsewhere_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(threads.sys, "platform", "darwin")
    monkeypatch.setattr(threads.os, "nice", asked.append)
    threads.be_polite()  # there it would be the whole process
    assert asked == []
