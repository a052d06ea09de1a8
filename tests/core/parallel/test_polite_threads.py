"""Threads: what they leave to others, and how they end with their program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rwn_core.parallel import threads

ENDS = """
import atexit, threading, time
from rwn_core.parallel import threads

def work():
    try:
        while True:
            threads.Work(threads=2).run(lambda start, stop: time.sleep(0.01), 4)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    ended.set()

ended = threading.Event()
atexit.register(lambda: ended.wait(30))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows a priority of a thread")
def test_a_polite_thread_and_those_it_begins_stand_back_and_nobody_else() -> None:
    before, seen = niceness(), dict[int, int]()

    def piece(start: int, stop: int) -> None:
        time.sleep(0.01)
        seen[threading.get_native_id()] = niceness()

    def work() -> None:
        threads.be_polite()
        threads.Work(threads=3).run(piece, 40)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert len(seen) == 3
    assert set(seen.values()) == {min(19, before + threads._POLITE)}
    assert niceness() == before


def test_elsewhere_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(threads.sys, "platform", "darwin")
    monkeypatch.setattr(threads.os, "nice", asked.append)
    threads.be_polite()  # there it would be the whole process
    assert asked == []


def test_work_of_a_program_that_ends_is_cancelled_and_no_fault() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("Cancelled The program ends.\n", "")


def test_a_system_without_threads_to_spare_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(pool: ThreadPoolExecutor, *labor: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", none_left)
    with pytest.raises(RuntimeError, match="can't start"):
        threads.Work(threads=2).run(lambda start, stop: time.sleep(0.01), 4)
    threads.Work(threads=2).run(lambda start, stop: None, 40)  # too little for another one
