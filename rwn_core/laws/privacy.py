"""Differential-privacy parameters of a law."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Privacy(NamedTuple):
    """The local differential privacy of some variables that are drawn together."""

    # largest log ratio of what two true values make of one released value; infinite for none
    epsilon: float
    # why it is so large, or why there is none: continues a sentence after the variable's name
    because: str


STILL_MISSING = Privacy(np.inf, "keeps its missing values where they are")
NORMAL_NOISE = Privacy(
    np.inf,
    "has normal noise, under which some released values are as much likelier for one person than "
    "for another as one likes",
)
FROM_FILE = Privacy(np.inf, "takes its values, or their chances, from the file")
AS_IT_IS = Privacy(np.inf, "is released as it is")
OR_NOT_AT_ALL = Privacy(np.inf, "is released as it is, or not at all")
FROM_DONORS = Privacy(
    np.inf,
    "can only take a record's own value or those of its donors, so one person's change can make a "
    "released value impossible that was possible before",
)
