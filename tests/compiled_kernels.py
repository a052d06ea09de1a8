"""Compile every kernel once, before several workers would each do it for themselves.

The app compiles what most tables need (`rwn_core.compile_ahead`); tests use the others as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

import rwn_core as rwn
from rwn_core.compile_ahead import warm, warm_for_limits
from rwn_core.laws.left_out import rows_without
from rwn_core.measures.attacks.worst_case import shares_given_part
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.kernel_cache import is_ready, set_ready
from tests.before_workers import KERNELS
from tests.tables import described

DENSE = 50
SEARCHED = LARGEST_DENSE + 50
"""Records of a table whose pairs are all looked at, and of one that is searched."""

CERTIFIED = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True, cap=1.0)
TIED = rwn.SoftRWN(tie=True, cap=0.5)
METHODS: tuple[tuple[int, rwn.SoftRWN, Sequence[Sequence[str]]], ...] = (
    (DENSE, rwn.SoftRWN(balance=1.0), ()),
    (DENSE, rwn.SoftRWN(balance=1.0), (("x", "y", "z"),)),
    (DENSE, rwn.SoftRWN(by_prediction=True, own=True, later=5), ()),
    (DENSE, TIED, ()),
    (DENSE, TIED, (("x", "y"),)),
    (DENSE, rwn.SoftRWN(tie=True, cap=0.5, own=True), ()),
    (DENSE, CERTIFIED, ()),
    (SEARCHED, rwn.SoftRWN(balance=1.0), ()),
    (SEARCHED, CERTIFIED, ()),
)
"""What masks so that each kernel is used that the app compiles only when it is asked for.

The number of records, the method, and the slices; what is in none is one by itself.
"""


def compile_all() -> None:
    """Use every kernel once, in the forms in which tests use it, so that its code is kept."""
    if is_ready(KERNELS):
        return
    warm_for_limits()
    warm()
    nobody = np.zeros(2, np.int64)
    shares_given_part(sparse.csc_array(np.eye(2)), nobody, nobody)
    for n, method, slices in METHODS:
        _mask_and_attack(n, method, slices)
    set_ready(KERNELS)


def _mask_and_attack(n: int, method: rwn.SoftRWN, slices: Sequence[Sequence[str]]) -> None:
    numbers = np.random.default_rng(0)
    columns = {name: numbers.normal(size=n) for name in "xyz"}
    data = described(pd.DataFrame(columns), slices, x="key", z="confidential")
    # a secret that chooses no neighborhoods is attacked by what else a row shows
    data = data.with_weights({"z": 0.0})
    release = rwn.mask(data, method, seed=0)
    law = release.law
    comparison = rwn.Comparison(original=data, masked=release.masked, law=law)
    if n == DENSE:
        rwn.MEASURES["attribute_gain"].read(comparison)
    if method.by_prediction:
        return
    # codes of one variable and of several lie in another order, for which kernels compile again
    for names in (["x"], ["x", "y"]):
        law.supports(names)
        law.retained_each([(name,) for name in names])
    if law.tied is not None:
        rows_without(law, release.masked, np.arange(n))
    if n == DENSE:
        for key in ("bayes_linkage", "certified_linkage"):
            rwn.MEASURES[key].read(comparison)


if __name__ == "__main__":
    compile_all()
