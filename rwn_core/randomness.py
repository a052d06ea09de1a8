"""Randomness as a key: each cell's random numbers depend on (key, record, column, step) alone."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError

UNIFORMS_A_BLOCK = 8
ORDER_STREAM = 2**32 - 1  # the column number that the order of a release draws from
SELECTION_STREAM = 2**32 - 2  # ... and the one that a selection of records draws from
SAMPLE_STREAM = 2**32 - 3  # one sample of records for all
OTHERS_STREAM = 2**32 - 4  # a record's own sample of others
PAIRS_STREAM = 2**32 - 5
PARTS_STREAM = 2**32 - 6
ISOLATED_STREAM = 2**32 - 7  # others for a record that no sampled pair has
TIE_STREAM = 2**32 - 8  # the class of a row of tied slices

_CONSTANTS = np.frombuffer(b"expand 32-byte k", dtype="<u4").astype(np.uint32)
_LEFT, _HALF, _RIGHT = (np.roll(np.arange(4), -by) for by in (1, 2, 3))


class SecretKey:
    """A 256-bit secret; with it, a release can be undone.

    It shows itself nowhere: not in `repr`, a log, a file name or a report.

    Parameters
    ----------
    value : bytes
        Exactly 32 of them.

    Raises
    ------
    ParameterError
        There are not 32.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> len(rwn.SecretKey.fresh().words)
    8
    """

    __slots__ = ("_bytes",)

    def __init__(self, value: bytes) -> None:
        if len(value) != 32:
            raise ParameterError("A secret key must have exactly 32 bytes.")
        self._bytes = value

    @classmethod
    def fresh(cls) -> SecretKey:
        """A new key from the operating system."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def from_seed(cls, seed: int) -> SecretKey:
        """The key of a small integer: repeatable, for teaching and exploring, and no secret."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ParameterError("seed must be a whole number of at least 0, or left out.")
        return cls(hashlib.sha256(b"rwn teaching seed:%d" % int(seed)).digest())

    def __repr__(self) -> str:
        """Nothing of the key."""
        return "SecretKey(hidden)"

    def __reduce__(self) -> tuple[type[SecretKey], tuple[bytes]]:
        """Pickle for worker processes of the same machine."""
        return (SecretKey, (self._bytes,))

    @property
    def identity(self) -> str:
        """A name for memos in this process; it does not give the key away."""
        return hashlib.sha256(b"rwn key identity:" + self._bytes).hexdigest()[:16]

    def derived(self, label: str) -> SecretKey:
        """Another key for each label; none of them reveals another."""
        return SecretKey(
            hashlib.sha256(b"rwn derived key:" + self._bytes + label.encode()).digest()
        )

    @property
    def words(self) -> NDArray[np.uint32]:
        """The key as eight 32-bit words, shape (8,)."""
        return np.frombuffer(self._bytes, dtype="<u4").astype(np.uint32)


def chacha20_blocks(key: NDArray[np.uint32], counters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return ChaCha20 blocks (RFC 8439, section 2.3), shape (16, N), of counters (4, N)."""
    # The key has the shape (8,), or (8, M) for keys that take turns, with N a multiple of M.
    count = counters.shape[1]
    start = np.empty((16, count), dtype=np.uint32)
    start[0:4] = _CONSTANTS[:, None]
    keys = key.reshape(8, -1)
    start[4:12] = np.tile(keys, count // keys.shape[1])
    start[12:16] = counters
    # the four columns (then diagonals) of the state go through a quarter round together
    a = start[0:4].copy()
    b = start[4:8].copy()
    c = start[8:12].copy()
    d = start[12:16].copy()
    for _ in range(10):
        _quarter_rounds(a, b, c, d)
        b = b[_LEFT]
        c = c[_HALF]
        d = d[_RIGHT]
        _quarter_rounds(a, b, c, d)
        b = b[_RIGHT]
        c = c[_HALF]
        d = d[_LEFT]
    return np.concatenate((a, b, c, d)) + start


def _quarter_rounds(
    a: NDArray[np.uint32], b: NDArray[np.uint32], c: NDArray[np.uint32], d: NDArray[np.uint32]
) -> None:
    # Shapes: each (4, N); all four are changed in place.
    for first, second, target, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        first += second
        target ^= first
        high = target << np.uint32(bits)
        target >>= np.uint32(32 - bits)
        target |= high


def uniforms(
    key: SecretKey, records: NDArray[np.int64], stream: int | NDArray[np.int64], block: int = 0
) -> NDArray[np.float64]:
    """Return eight uniform numbers of each record in its column stream, shape (8, N)."""
    # They are strictly between 0 and 1, with 52 random bits; block 1 holds steps 8 to 15, and so
    # on.
    bits = words64(key, records, stream, block)
    # 52 bits, so that adding one half stays exact and neither 0 nor 1 can occur
    uniform: NDArray[np.float64] = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return uniform


def words64(
    key: SecretKey, records: NDArray[np.int64], stream: int | NDArray[np.int64], block: int = 0
) -> NDArray[np.uint64]:
    """The eight 64-bit words of each record that `uniforms` are made of, shape (8, N)."""
    counters = np.empty((4, len(records)), dtype=np.uint32)
    counters[0] = records & 0xFFFFFFFF
    counters[1] = records >> 32
    counters[2] = stream
    counters[3] = block
    words = chacha20_blocks(key.words, counters).astype(np.uint64)
    both: NDArray[np.uint64] = (words[0::2] << np.uint64(32)) | words[1::2]
    return both
