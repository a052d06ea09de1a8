"""Masked bootstrap samples: what sampling and masking together do to an estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.masking import Method
from rwn_core.randomness import SecretKey


def masked_samples(
    microdata: Microdata, params: Method, repeats: int, seed: int | None
) -> Iterator[Microdata]:
    """Draw bootstrap samples of the records and mask each under its own key."""
    root = np.random.default_rng(seed)
    prepared = params.prepare(microdata)
    for number in range(repeats):
        rows = np.sort(root.integers(0, microdata.n, microdata.n))
        key = SecretKey.fresh() if seed is None else SecretKey.from_seed(seed + number)
        yield prepared.resampled(rows).release(key).masked
