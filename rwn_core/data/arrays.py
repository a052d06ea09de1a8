"""Types of arrays, as annotations name them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Integers32 = NDArray[np.int32]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
