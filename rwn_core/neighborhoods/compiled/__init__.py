"""Compiled kernels: what needs numba; imported for large tables only."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_FAST = {"contract", "reassoc", "nsz", "arcp"}  # not nnan: padding is NaN and must stay unequal


def compiled(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, run without the interpreter's lock."""
    with _own_cache():
        return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled_fast(function: Function) -> Function:
    """`compiled`, with sums in any order: for numbers that exact distances check afterwards."""
    with _own_cache():
        make = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
        return cast(Function, make(function))


def inlined(function: Function) -> Function:
    """Compile into each caller: for what runs once a cell."""
    return cast(Function, numba.njit(nogil=True, error_model="numpy", inline="always")(function))


@contextmanager
def _own_cache() -> Iterator[None]:
    """Keep the machine code apart for each state of the sources of this package.

    numba looks at the file of the compiled function alone, and would go on using code that has
    an older version of another file inside. A folder that is given (NUMBA_CACHE_DIR) is used.
    """
    config: Any = numba.config
    given = config.CACHE_DIR
    config.CACHE_DIR = str(Path(given or _default_folder()) / f"rwn-{_state()}")
    try:
        yield
    finally:
        config.CACHE_DIR = given


def _default_folder() -> Path:
    return Path(__file__).parent / "__pycache__"


def _state() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
