"""Replays of papers: each number of a source compared with ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.papers.figures import FIGURES
from benchmarks.papers.nbrs import NBRS
from benchmarks.papers.replay import (
    Replay,
    Replayed,
    Request,
    Row,
    Verdict,
    replayed,
)
from benchmarks.papers.rwn2022 import PREDICTION, SECTION_11
from rwn_core.errors import ParameterError

__all__ = ["REPLAYS", "Replay", "Replayed", "Request", "Row", "Verdict", "chosen", "replayed"]

REPLAYS: Mapping[str, Replay] = MappingProxyType(
    {each.key: each for each in (*FIGURES, *PREDICTION, SECTION_11, *NBRS)}
)
"""Every replay by key, in the order of the papers."""

ALL = "all"


def chosen(name: str) -> tuple[Replay, ...]:
    """The replays that a name stands for.

    >>> [each.key for each in chosen("rwn2022-figure-4")]
    ['rwn2022-figure-4']
    """
    if name in REPLAYS:
        return (REPLAYS[name],)
    if name == ALL:
        return tuple(REPLAYS.values())
    raise ParameterError(f"The replay must be one of: {', '.join([*REPLAYS, ALL])}.")
