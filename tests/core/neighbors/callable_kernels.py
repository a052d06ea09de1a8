"""Kernels that only other kernels call, so that a test may call them."""

from __future__ import annotations

from typing import Any

import numba


def callable_here(*kernels: Any) -> list[Any]:
    """The same functions, compiled with what Python needs to call them."""
    return [numba.njit(error_model="numpy")(kernel.py_func) for kernel in kernels]
