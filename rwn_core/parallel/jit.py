"""Decorators of compiled functions, and where their machine code is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

from rwn_core.parallel.compiling import compiling
from rwn_core.parallel.kernel_cache import folder

Function = TypeVar("Function", bound=Callable[..., Any])

_njit: Any = partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
_UNSEEN: Any = {"no_cpython_wrapper": True}
ZERO = cast(int, np.int64(0))  # a literal 0 is another type, for which kernels compile once more


class _Compiling(event.Listener):
    """Hears of a kernel that is compiled because its code is not on disk."""

    def on_start(self, _event: Any) -> None:
        compiling()

    def on_end(self, _event: Any) -> None:
        pass


_register: Any = event.register
_register("numba:compile", _Compiling())


def jit_entry(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, run without the interpreter's lock."""
    # Only such functions are called from Python.
    with _own_cache():
        return cast(Function, _njit(cache=True, _nrt=True)(function))


def jit_internal(function: Function) -> Function:
    """`jit_entry`, for other kernels alone."""
    # What Python needs to call a kernel takes longer to compile than many a kernel. It is left out
    # here: such a call would end the process.
    with _own_cache():
        return cast(Function, _njit(cache=True, _nrt=True, **_UNSEEN)(function))


def jit_no_refcount(function: Function) -> Function:
    """`jit_internal`, without reference counts of arrays: for functions called once a row or more.

    Such a function may neither make an array nor return one. Counting is an atomic instruction
    for each array of a tuple that is passed on, and took two thirds of the time of a search.
    """
    with _own_cache():
        return cast(Function, _njit(cache=True, _nrt=False, **_UNSEEN)(function))


def jit_inline(function: Function) -> Function:
    """`jit_no_refcount`, and made part of its callers by LLVM."""
    return cast(Function, _njit(_nrt=False, forceinline=True, **_UNSEEN)(function))


def jit_fused(function: Function) -> Function:
    """`jit_inline`, where a product may go into a sum without being rounded first."""
    return cast(
        Function, _njit(_nrt=False, forceinline=True, fastmath={"contract"}, **_UNSEEN)(function)
    )


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
