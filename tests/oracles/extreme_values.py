"""The distribution of a released extreme, from the law of the cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.laws.law import Law


def extreme_distribution(
    law: Law, name: str, *, largest: bool = True, values: int = 40
) -> tuple[list[Any], NDArray[np.float64]]:
    """The most extreme values, and the probability that each is the released extreme.

    P(max <= v) is the product over records of P(value <= v), as rows are independent; what is
    missing to 1 falls to values further in.
    """
    table, known = law.table(name)
    present = [place for place, value in enumerate(known) if value is not None]
    ordered = present[::-1] if largest else present
    chosen = ordered[:values]
    beyond = np.cumsum(table[:, chosen].toarray(), axis=1)
    none_beyond = np.prod(np.clip(1.0 - beyond, 0.0, 1.0), axis=0)
    probability = -np.diff(none_beyond, prepend=1.0)
    return [known[place] for place in chosen], np.clip(probability, 0.0, 1.0) + 0.0
