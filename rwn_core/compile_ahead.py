"""Compile ahead, once a machine: the search of large tables and the attacks, in half a minute.

Run ``python -m rwn_core.compile_ahead`` after an installation to have it done before the first
user.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Role
from rwn_core.masking import RWN, mask
from rwn_core.measures.attacks.assignment import all_rows
from rwn_core.measures.attacks.likeliest_value import EXACT, ReleasedValues
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.attacks.true_match import KnownColumns
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.attributes import ATTRIBUTE_GAIN
from rwn_core.neighbors import LARGEST_DENSE, neighbor_table
from rwn_core.parallel.kernel_cache import DRAWS, LIMITS, compiler, is_ready, set_ready
from rwn_core.randomness import SecretKey


def warm() -> None:
    """Use the kernels that mask a large table once, so that their machine code is kept on disk."""
    warm_to_draw()
    with compiler() as is_ours:
        if is_ours:
            _mask_and_search()
            set_ready()


def _mask_and_search() -> None:
    from rwn_core.neighbors.index import build_index
    from rwn_core.neighbors.slider_range import find_slider_range

    table = _table(LARGEST_DENSE + 500)
    params = RWN(k=3, epsilon=0.1)
    mask(table, params, seed=0)
    params.prepare(table, settings=[params]).release(SecretKey.from_seed(0))
    # the kernels that store a table for its sliders
    points = params.points(table)
    find_slider_range(points, 1000)
    neighbor_table(points, k=3, epsilon=0.1, index=build_index(points))


def warm_to_draw() -> None:
    """Use the kernels that mask a small table, which everything else uses as well."""
    with compiler(DRAWS) as is_ours:
        if is_ours:
            _small_release()
            set_ready(DRAWS)


def warm_for_limits() -> None:
    """Use the kernels of the attacks, which a policy's limits need.

    Processes that ask for them at once compile different parts.
    """
    if is_ready(LIMITS):
        return
    warm_to_draw()
    drawn = _small_release()
    for wait in (False, True):  # at the end for what another process compiles
        for part, use in PARTS.items():
            with compiler(part, wait=wait) as is_ours:
                if is_ours:
                    use(drawn)
                    set_ready(part)
    with compiler(LIMITS) as is_ours:
        if is_ours:
            ATTRIBUTE_GAIN.read(drawn)  # by what all parts have compiled
            set_ready(LIMITS)


def read_compiled() -> None:
    """Use what is compiled on this machine, so that it is read from the disk; compile nothing."""
    if is_ready(DRAWS):
        drawn = _small_release()
        if is_ready(LIMITS):
            ATTRIBUTE_GAIN.read(drawn)


def _small_release() -> Comparison:
    table = _table(50)
    schema = table.schema.replace_variable("x", role=Role.KEY)
    table = table.with_schema(schema.replace_variable("z", role=Role.CONFIDENTIAL))
    release = mask(table, RWN(k=3, epsilon=0.1), seed=0)
    return Comparison(original=table, masked=release.masked, law=release.law)


def _link(drawn: Comparison) -> None:
    assert drawn.law is not None
    link(drawn.law, drawn.masked)
    drawn.law.table("x")
    drawn.law.rows_unchanged()
    for _, cells in drawn.law.components():
        if cells.donors is not None:
            cells.donors.received(np.arange(2))


def _name_values(_drawn: Comparison) -> None:
    ReleasedValues(np.arange(2), np.ones(2), EXACT).majority(np.ones(2))


def _match(_drawn: Comparison) -> None:
    all_rows(sparse.csc_array(np.eye(2)), np.zeros(2, np.int64))
    codes = np.arange(6).reshape(2, 3)
    list(KnownColumns(codes, [(0, 1, 2)]).matches(codes))


PARTS: Mapping[str, Callable[[Comparison], None]] = {
    "links": _link,
    "names": _name_values,
    "matchings": _match,
}
"""What uses the kernels of the attacks, by the name of its lock; few kernels are of two parts.

The first takes half of the time.
"""


def _table(n: int) -> Microdata:
    numbers = np.random.default_rng(0)
    frame = {"x": numbers.normal(size=n), "y": numbers.normal(size=n), "z": np.arange(n) % 7}
    return Microdata.from_frame(pd.DataFrame(frame))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(19)  # a server with users may run at the same time
    warm_for_limits()  # a small table needs them first
    warm()
