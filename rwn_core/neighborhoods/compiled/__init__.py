"""Compiled kernels: what needs numba; imported for large tables only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba

from rwn_core.neighborhoods.machine_code import folder

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
    """Keep the machine code in this program's own folder."""
    config: Any = numba.config
    given = config.CACHE_DIR
    config.CACHE_DIR = str(folder())
    try:
        yield
    finally:
        config.CACHE_DIR = given
