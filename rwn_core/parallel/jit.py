"""Decorators of compiled functions, and where their machine code is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite.ir import IRBuilder, Value
from numba.core import event
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from rwn_core.parallel.kernel_cache import compiling, folder

Function = TypeVar("Function", bound=Callable[..., Any])

_njit: Any = partial(numba.njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
_UNSEEN: Any = {"no_cpython_wrapper": True}
ZERO = cast(int, np.int64(0))  # a literal 0 is another type, for which kernels compile once more


class _Compiling(event.Listener):
    """A listener for kernels that are compiled because their code is not on disk."""

    def on_start(self, _event: object) -> None:
        compiling()

    def on_end(self, _event: object) -> None:
        pass


_register: Any = event.register
_intrinsic: Any = intrinsic
_register("numba:compile", _Compiling())


def _compiled(**options: object) -> Callable[[Function], Function]:
    """Return a decorator that keeps the machine code in this program's own folder."""

    def decorate(function: Function) -> Function:
        config: Any = numba.config
        given, config.CACHE_DIR = config.CACHE_DIR, str(folder())
        try:
            return cast(Function, _njit(**options)(function))
        finally:
            config.CACHE_DIR = given

    return decorate


jit_entry = _compiled(cache=True, _nrt=True)
"""Compile on first call, keep the machine code on disk, run without the interpreter's lock.

Only such functions are called from Python.
"""
# What Python needs to call a kernel takes longer to compile than many a kernel. It is left out
# of the others: such a call would end the process.
jit_internal = _compiled(cache=True, _nrt=True, **_UNSEEN)
"""`jit_entry`, for other kernels alone."""
jit_no_refcount = _compiled(cache=True, _nrt=False, **_UNSEEN)
"""`jit_internal`, without reference counts of arrays: for functions called once a row or more.

Such a function may neither make an array nor return one. Counting is an atomic instruction
for each array of a tuple that is passed on, and took two thirds of the time of a search.
"""
jit_inline = _compiled(_nrt=False, forceinline=True, **_UNSEEN)
"""`jit_no_refcount`, and made part of its callers by LLVM."""
jit_fused = _compiled(_nrt=False, forceinline=True, fastmath={"contract"}, **_UNSEEN)
"""`jit_inline`, where a product may go into a sum without being rounded first."""


def _same_bits(
    context: BaseContext, builder: IRBuilder, signature: Signature, given: Sequence[Value]
) -> Value:
    """Let LLVM read the bits of a number as a number of another type."""
    type_of: Any = context.get_value_type
    return builder.bitcast(given[0], type_of(signature.return_type))


def _bits(_context: object, number: object) -> tuple[Signature, object]:
    signature = numba.types.int64(numba.types.float64)
    return signature, _same_bits


def _number(_context: object, bits: object) -> tuple[Signature, object]:
    signature = numba.types.float64(numba.types.int64)
    return signature, _same_bits


bits_of_number: Callable[[float], int] = _intrinsic(_bits)
"""The 64 bits of a number, in kernels."""
number_of_bits: Callable[[int], float] = _intrinsic(_number)
"""The number of 64 bits, in kernels."""
