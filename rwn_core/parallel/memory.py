"""Estimates what a search needs in memory, before it starts."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

from rwn_core.errors import ParameterError
from rwn_core.parallel.threads import current_work

PAIR_BYTES = 12  # a stored neighbor: its number and its squared distance
# decides: share of the free memory that a search may use; beyond, it is refused or lists in parts
MEMORY_SHARE = 0.8
GIGABYTE = 1e9
_KEEPING = (  # options of malloc.h
    (-8, 1),  # M_ARENA_MAX: what one thread frees, another one gets
    (-3, 2**25),  # M_MMAP_THRESHOLD: the most it takes
    (-1, 2**28),  # M_TRIM_THRESHOLD: bytes that are kept at most
)


def budget_bytes() -> float:
    """Return the number of bytes that may be used."""
    allowed = current_work().memory
    if allowed is not None:
        return allowed
    given = os.environ.get("RWN_MEMORY", "")
    if given:
        try:
            return max(0.0, float(given)) * GIGABYTE
        except ValueError:
            raise ParameterError("RWN_MEMORY must be a number of gigabytes.") from None
    return MEMORY_SHARE * _free_bytes()


def _free_bytes() -> float:
    meminfo = Path("/proc/meminfo")
    if meminfo.is_file():
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return 8 * GIGABYTE


def resident_bytes() -> float:
    """The memory that this process takes; 0 where the system does not say."""
    with contextlib.suppress(OSError, AttributeError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return float(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0.0


def keep_freed_memory() -> None:
    """Have this process keep what it frees for what it asks for next; for workers."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in _KEEPING:
            set_option(option, value)


def search_bytes(n: int, dimensions: int, columns: int) -> float:
    """Estimate what the search of a table takes: linear in the number of records."""
    # rows, rows in tree order, single-precision columns and tiles; then numbers for each record
    return float(n) * (8 * dimensions * 2 + 4 * dimensions * 2 + 120 + 8 * columns)


def pairs_bytes(pairs: float) -> float:
    """Return the bytes of a table of stored neighbors."""
    return PAIR_BYTES * pairs


def check_fits(needed: float, allowed: float, what: str, instead: str) -> None:
    """Refuse work that would not fit."""
    if needed > allowed:
        need, may = (
            f"{size / GIGABYTE:.3g} GB" if size >= GIGABYTE else f"{size / 1e6:.3g} MB"
            for size in (needed, allowed)
        )
        raise ParameterError(
            f"{what} needs about {need} of memory, and {may} may be used; {instead}, or allow more "
            "with RWN_MEMORY."
        )


def limit_memory(size: float) -> None:
    """Let this process take at most so much more memory than it has now, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limits on this system
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + int(size)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the data
