"""Control group: records left out of a release, so that attacks can be tried on them, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rwn_core.data.rounding import rounded
from rwn_core.errors import ParameterError
from rwn_core.masking import mask
from rwn_core.measures.attacks.guessing import ATTACKS, canonical_sample
from rwn_core.measures.comparison import Comparison

LEAST = 20  # people outside, below which their success says nothing
_SEED = 7


def control_group(
    base: Comparison, params: Any, seed: int, precision: Mapping[str, float] | None = None
) -> Comparison | None:
    """A release of the same setting that leaves one record in five out, for comparison."""
    original, precision = base.original, precision or {}
    order = np.random.default_rng(_SEED).permutation(canonical_sample(original, original.n))
    count = min(original.n // 5, ATTACKS)
    held, others = np.sort(order[:count]), np.sort(order[count:])
    if count < LEAST:
        return None
    inside = original.take(others)
    try:
        release = mask(inside, params, seed=seed)
    except ParameterError:
        return None
    made = Comparison(
        original=inside,
        masked=rounded(release.masked, precision),
        law=None if release.law is None else release.law.rounded(precision),
        holdout=original.take(held),  # as they are, like the people in the file
        question=base.question,
    )
    made.halves = base.halves
    return made
