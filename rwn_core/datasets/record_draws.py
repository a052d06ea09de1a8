"""Two random numbers of each of many records: those of `rwn_core.randomness`, by compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.chacha_kernel import uniforms_of_records
from rwn_core.randomness import SecretKey


def two_uniforms(key: SecretKey, records: NDArray[np.int64], stream: int) -> NDArray[np.float64]:
    """The first two of `rwn_core.randomness.uniforms`."""
    draws = np.empty((2, len(records)))
    uniforms_of_records(key.words, records, stream, draws)
    return draws
