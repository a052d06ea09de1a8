"""Words that threads of the server have freed are nowhere in its memory."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import weakref

import pytest

from rwn_ui.server.launch import WRITTEN_OVER
from rwn_ui.server.sweeper import free_memory, set_aside

# ten threads that make words, forget them, and rest; then all memory is searched
PROGRAM = r"""
import re, threading
rest, done = threading.Event(), threading.Barrier(11)
def work(number):
    words = ["QX%03dZ N%02d" % (number, level) for level in range(20)]
    del words
    done.wait()
    rest.wait()
threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(10)]
for each in threads:
    each.start()
done.wait()
found = set()
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        span, rights, *_ = line.split()
        if not rights.startswith("rw"):
            continue
        begin, end = (int(part, 16) for part in span.split("-"))
        try:
            memory.seek(begin)
            part = memory.read(end - begin)
        except OSError:  # a part that nobody can read
            continue
        found |= set(re.findall(rb"QX\d\d\dZ N\d\d", part))
print(len(found))
"""


def words_left(environment: dict[str, str]) -> int:
    plain = {name: value for name, value in os.environ.items() if name not in WRITTEN_OVER}
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=plain | environment,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    return int(said)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc writes over")
def test_nothing_that_a_thread_has_freed_is_left() -> None:
    assert words_left(WRITTEN_OVER) == 0
    kept = words_left(WRITTEN_OVER | {"GLIBC_TUNABLES": ""})
    assert kept > 0, "threads keep some of what they free, unwritten"


class Circle:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_set_aside_is_freed_once_somebody_has_left() -> None:
    left = Circle()
    seen = weakref.ref(left)
    try:
        set_aside()
        del left
        gc.collect()
        assert seen() is not None  # the collector passes it over
        free_memory()
        assert seen() is None
        assert gc.get_freeze_count() > 0  # what is still used is set aside again
    finally:
        gc.unfreeze()
