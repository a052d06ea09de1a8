"""What a process takes of memory and processor time, and which words it holds."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

MEGABYTE = 1e6


def rss(process: int) -> float:
    """The memory of a process, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def cpu(process: int) -> float:
    """The processor time of a process, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def found_in_memory(process: int, words: re.Pattern[bytes]) -> int:
    """How many different words of a pattern a process holds anywhere."""
    found: set[bytes] = set()
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if rights.startswith("rw"):
                begin, end = (int(part, 16) for part in span.split("-"))
                with suppress(OSError, ValueError):  # a part that nobody can read
                    memory.seek(begin)
                    found |= set(words.findall(memory.read(end - begin)))
    return len(found)
