"""The masking equals a slow loop by another hand, on 320 tables with ties and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN, mask
from rwn_core.randomness import SecretKey
from tests.properties import reference_rwn
from tests.properties.tables import random_frame

TABLES, GROUPS = 320, 8


def plain_columns(frame: pd.DataFrame) -> list[list[object]]:
    """Columns as Python lists, None where missing."""
    return [[None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame]


@pytest.mark.parametrize("group", range(GROUPS))
def test_donors_equal_the_plain_loop(group, key_base):
    for number in range(group, TABLES, GROUPS):
        frame = random_frame(number)
        rng = np.random.default_rng((number, len(key_base)))
        k = int(rng.integers(1, len(frame)))
        epsilon = [None, 0.0, 0.7, 1.5, 3.0][number % 5]
        q = [1.0, 0.5, 0.9][number % 3]
        key = SecretKey(rng.bytes(32))
        release = mask(Microdata.from_frame(frame), RWN(k=k, epsilon=epsilon, q=q), seed=key)
        words = tuple(int(word) for word in key.words)
        expected = reference_rwn.donors(plain_columns(frame), k, epsilon, q, words)
        assert release.donors.tolist() == expected, (number, k, epsilon, q)
        reference_rwn.chacha20_words.cache_clear()


def test_the_plain_loop_knows_the_published_block():
    """RFC 8439, section 2.3.2: its counter 1 and nonce are record, stream and block here."""
    key = tuple(int.from_bytes(bytes(range(i, i + 4)), "little") for i in range(0, 32, 4))
    words = reference_rwn.chacha20_words(key, 0x09000000 * 2**32 + 1, 0x4A000000, 0)
    assert [words[0], words[15]] == [0xE4E7F110, 0x4E3C50A2]
