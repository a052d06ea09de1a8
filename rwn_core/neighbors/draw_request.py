"""The randomness and probabilities of a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rwn_core.data.arrays import Floats
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawRequest:
    """The secret, and what it is used for in each column."""

    key: SecretKey
    streams: Sequence[int]  # length p: columns of one stream have common donors
    q: Floats  # shape (p,): modification probability
