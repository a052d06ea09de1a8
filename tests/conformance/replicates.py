"""Thousands of releases at once: every replicate has its own secret key, as if run one by one."""

from __future__ import annotations

import hashlib

import numpy as np

from rwn_core import Neighborhoods, SecretKey, draw_donors
from tests.oracles.record_chain import RecordChain


def replicate_keys(base: str, count: int) -> list[bytes]:
    """The 32 bytes of each replicate's key."""
    return [hashlib.sha256(f"{base}:{number}".encode()).digest() for number in range(count)]


class ManyKeys(SecretKey):
    """Stands in for a key: block number b of a call is under key number b."""

    __slots__ = ("_words",)

    def __init__(self, keys: list[bytes], each: int) -> None:
        words = np.frombuffer(b"".join(keys), dtype="<u4").astype(np.uint32).reshape(-1, 8)
        self._words = np.repeat(words, each, axis=0).T.copy()

    @property
    def words(self) -> np.ndarray:
        """Key words of every record of every replicate, shape (8, R * n)."""
        return self._words


def replicate_draws(keys: list[bytes], n: int, p: int) -> RecordChain:
    """The random numbers of all R * n records, replicate by replicate."""
    records = np.tile(np.arange(n), len(keys))
    return RecordChain(ManyKeys(keys, n), records, range(p))


def replicate_sources(neighborhoods: Neighborhoods, draws: RecordChain, q: object) -> np.ndarray:
    """Whose value each cell of each replicate has, shape (R, n, p)."""
    p = len(draws.streams)
    probabilities = np.broadcast_to(np.asarray(q, dtype=float), p)
    return draw_donors(neighborhoods, draws, probabilities).reshape(-1, neighborhoods.n, p)
