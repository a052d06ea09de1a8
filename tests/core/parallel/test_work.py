"""What is wanted of a piece of work: said at the door, read inside, and kept apart by user."""

from __future__ import annotations

import threading
import time

import pytest

from rwn_core.errors import ParameterError
from rwn_core.parallel.memory import budget_bytes
from rwn_core.parallel.pool import Pool
from rwn_core.parallel.threads import (
    Cancelled,
    Work,
    current_work,
    in_parts,
    in_threads,
    steps,
    work,
)
from tests.core.parallel import worker_tasks


def test_what_is_left_out_stays_and_ends_with_its_door() -> None:
    told = list[float]()
    with work(threads=2, progress=told.append), work(memory=5e6) as inner:
        assert current_work() is inner
        assert (inner.threads, inner.memory, budget_bytes()) == (2, 5e6, 5e6)
        current_work().report(0.5)
    assert told == [0.5]
    assert (current_work().threads, current_work().progress) == (None, None)
    with pytest.raises(ParameterError, match="threads must be"), work(threads=0):
        pass


def test_a_door_is_left_by_an_error_too() -> None:
    def stumble() -> None:
        for _ in steps("ab"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), work(threads=3):
        stumble()
    assert current_work().threads is None


def test_a_part_of_a_part_is_reported_within_the_whole() -> None:
    told = list[float]()
    with work(progress=told.append), current_work().part(0.5, 1.0), current_work().part(0.0, 0.5):
        current_work().report(0.0)
        current_work().report(1.0)
    assert told == [0.5, 0.75]


def test_steps_report_after_each_and_nothing_of_what_a_step_does() -> None:
    told = list[float]()
    with work(progress=told.append):
        for _ in steps(range(4)):
            in_threads(lambda start, stop: None, 10)
            current_work().run(lambda start, stop: None, 10)
            in_parts(lambda start, stop: None, 10, 10**6)
        assert current_work().progress is not None
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_threads_see_the_work_that_began_them_and_begin_no_others() -> None:
    seen = set[tuple[object, ...]]()
    cancel, told = threading.Event(), list[float]()

    def look(start: int, stop: int) -> None:
        time.sleep(0.01)
        now = current_work()
        seen.add((threading.get_ident(), now.threads, now.progress, now.cancel is cancel))

    with work(threads=2, cancel=cancel, progress=told.append):
        current_work().run(look, 40)
    assert len({each[0] for each in seen}) == 2
    assert {each[1:] for each in seen} == {(1, None, True)}


def test_an_answer_so_far_goes_to_what_takes_one() -> None:
    class Listener:
        def __init__(self) -> None:
            self.answers = list[object]()

        def __call__(self, share: float) -> None:
            pass

        def found(self, answer: object) -> None:
            self.answers.append(answer)

    listener = Listener()
    current_work().found(1)
    with work(progress=listener), current_work().part(0.2, 0.4):
        current_work().found(2)
        for _ in steps("a"):
            current_work().found(3)  # that of a step is none of the whole
    assert listener.answers == [2]


def test_two_users_of_one_server_neither_hear_nor_stop_each_other() -> None:
    """Each request has a thread of its own; both are inside at the same time."""
    together, told, ended = threading.Barrier(2), {0: set[float](), 1: set[float]()}, {}
    cancels = threading.Event(), threading.Event()

    def serve(user: int) -> None:
        def task(start: int, stop: int) -> None:
            time.sleep(0.002)

        with work(threads=user + 1, progress=told[user].add, cancel=cancels[user]) as mine:
            together.wait()
            for turn in range(3):
                if turn == 1 and user == 0:
                    cancels[0].set()
                try:
                    assert current_work() is mine
                    current_work().part(user / 2, user / 2 + 0.5).run(task, 60)
                except Cancelled:
                    ended[user] = turn
                    return
            ended[user] = "done"

    users = [threading.Thread(target=serve, args=(user,)) for user in (0, 1)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert ended == {0: 1, 1: "done"}
    assert told[0], "the first is told, too"
    assert max(told[0]) <= 0.5 <= min(told[1])


def test_a_work_without_a_door_is_of_the_machine() -> None:
    assert (Work().threads, Work().memory, Work().cancel) == (None, None, None)


def test_a_task_takes_threads_and_memory_along_to_its_process() -> None:
    pool = Pool(worker_tasks.wanted_inside, workers=1)
    try:
        with work(threads=3, memory=7e6):
            some = pool.submit(None)
        other = pool.submit(None)
        assert (some.result(), other.result()) == ((3, 7e6), (None, None))
    finally:
        pool.cancel()
