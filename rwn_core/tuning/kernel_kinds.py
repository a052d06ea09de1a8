"""The kernels that a search tries: even as published, gaussian, and gaussian with balance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.masking import RWN


def kernel_kinds(params: Any) -> tuple[RWN, RWN, RWN]:
    """Return a setting's parameters with each kernel, the other options as they are."""
    if not isinstance(params, RWN):
        raise ParameterError("Kernels are searched for the method rwn only; leave kernels out.")
    if not params.scheme.exact or params.outside_household:
        raise ParameterError(
            "Soft kernels need neighbors to be exact, and no outside_household; leave kernels out."
        )
    shared = {name: getattr(params, name) for name in ("q", "scale", "encoding", "weights")}
    is_even = params.kernel == "even"
    even = params if is_even else RWN(epsilon=1.0, k=5, **shared)
    soft = RWN(kernel="gaussian", **shared) if is_even else replace(params, balance=0.0)
    return even, soft, replace(soft, balance=1.0)
