"""Keyed randomness: the published ChaCha20 answers, the layout of the uniforms, and secrecy."""

import pickle
import struct

import numpy as np
import pytest
from scipy import stats

from rwn_core.randomness import ORDER_STREAM, SELECTION_STREAM, SecretKey, chacha20_blocks, uniforms

COUNTING_KEY = bytes(range(32))
ZERO_KEY = bytes(32)

# RFC 8439: section 2.3.2, then appendix A.1, test vectors 1 to 5
KNOWN_ANSWERS = {
    "2.3.2": (
        COUNTING_KEY,
        (1, 0x09000000, 0x4A000000, 0),
        "e4e7f110 15593bd1 1fdd0f50 c47120a3 c7f4d1c7 0368c033 9aaa2204 4e6cd4c3"
        " 466482d2 09aa9f07 05d7c214 a2028bd9 d19c12b5 b94e16de e883d0cb 4e3c50a2",
    ),
    "A.1-1": (
        ZERO_KEY,
        (0, 0, 0, 0),
        "ade0b876 903df1a0 e56a5d40 28bd8653 b819d2bd 1aed8da0 ccef36a8 c70d778b"
        " 7c5941da 8d485751 3fe02477 374ad8b8 f4b8436a 1ca11815 69b687c3 8665eeb2",
    ),
    "A.1-2": (
        ZERO_KEY,
        (1, 0, 0, 0),
        "bee7079f 7a385155 7c97ba98 0d082d73 a0290fcb 6965e348 3e53c612 ed7aee32"
        " 7621b729 434ee69c b03371d5 d539d874 281fed31 45fb0a51 1f0ae1ac 6f4d794b",
    ),
    "A.1-3": (
        bytes(31) + b"\x01",
        (1, 0, 0, 0),
        "2452eb3a 9249f8ec 8d829d9b ddd4ceb1 e8252083 60818b01 f38422b8 5aaa49c9"
        " bb00ca8e da3ba7b4 c4b592d1 fdf2732f 4436274e 2561b3c8 ebdd4aa6 a0136c00",
    ),
    "A.1-4": (
        b"\x00\xff" + bytes(30),
        (2, 0, 0, 0),
        "fb4dd572 4bc42ef1 df922636 327f1394 a78dea8f 5e269039 a1bebbc1 caf09aae"
        " a25ab213 48a6b46c 1b9d9bcb 092c5be6 546ca624 1bec45d5 87f47473 96f0992e",
    ),
    "A.1-5": (
        ZERO_KEY,
        (0, 0, 0, 0x02000000),
        "374dc6c2 3736d58c b904e24a cd3f93ef 88228b1a 96a4dfb3 5b76ab72 c727ee54"
        " 0e0e978a f3145c95 1b748ea8 f786c297 99c28f5f 628314e8 398a19fa 6ded1b53",
    ),
}


def words(key: bytes) -> np.ndarray:
    return np.array(struct.unpack("<8I", key), dtype=np.uint32)


def test_chacha20_gives_the_published_blocks_one_by_one_and_together():
    keys = np.column_stack([words(key) for key, _, _ in KNOWN_ANSWERS.values()])
    counters = np.column_stack([c for _, c, _ in KNOWN_ANSWERS.values()]).astype(np.uint32)
    together = chacha20_blocks(keys, counters)
    for place, (_, _, answer) in enumerate(KNOWN_ANSWERS.values()):
        assert " ".join(f"{word:08x}" for word in together[:, place]) == answer
        alone = chacha20_blocks(keys[:, place], counters[:, [place]])
        np.testing.assert_array_equal(together[:, [place]], alone)


def test_uniforms_are_52_bits_of_two_words_each():
    """Step s of a block is made of its words 2s (high) and 2s + 1 (low)."""
    record = 2**32 + 5
    stream = 7
    block = 3
    counter = np.array([[5], [1], [stream], [block]], dtype=np.uint32)
    keystream = chacha20_blocks(words(COUNTING_KEY), counter)[:, 0]
    result = uniforms(SecretKey(COUNTING_KEY), np.array([record]), stream, block)
    assert result.shape == (8, 1)
    for step in range(8):
        bits = ((int(keystream[2 * step]) << 32) | int(keystream[2 * step + 1])) >> 12
        assert result[step, 0] == (bits + 0.5) / 2**52
    # of vector A.1-1: the first from ade0b876 903df1a0, the last from 69b687c3 8665eeb2
    known = uniforms(SecretKey(ZERO_KEY), np.array([0]), 0)[[0, 7], 0]
    assert known.tolist() == [
        ((bits >> 12) + 0.5) / 2**52 for bits in (0xADE0B876903DF1A0, 0x69B687C38665EEB2)
    ]


@pytest.mark.parametrize("word", [0, 0xFFFFFFFF])
def test_uniforms_are_never_zero_or_one(monkeypatch, word):
    """Even for a keystream of all zeros or all ones."""
    monkeypatch.setattr(
        "rwn_core.randomness.chacha20_blocks",
        lambda key, counters: np.full((16, counters.shape[1]), word, dtype=np.uint32),
    )
    result = uniforms(SecretKey(ZERO_KEY), np.arange(3), 0)
    assert ((result > 0) & (result < 1)).all()


def test_uniforms_are_uniform(key_base):
    key = SecretKey.from_seed(len(key_base))
    result = uniforms(key, np.arange(50_000), 1).ravel()
    assert stats.kstest(result, "uniform").pvalue > 1e-6


def test_chunks_do_not_matter():
    key = SecretKey.from_seed(7)
    records = np.arange(1000)
    whole = uniforms(key, records, 2)
    for chunk in (1, 64):
        parts = [uniforms(key, records[i : i + chunk], 2) for i in range(0, 1000, chunk)]
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)
    np.testing.assert_array_equal(uniforms(key, records[::-1], 2), whole[:, ::-1])


def test_every_part_of_the_address_matters():
    key = SecretKey.from_seed(7)
    record = np.array([3])
    draws = [
        uniforms(key, record, 0),
        uniforms(key, record, 1),
        uniforms(key, record, 0, 1),
        uniforms(key, record + 1, 0),
        uniforms(key, record + 2**32, 0),
        uniforms(SecretKey.from_seed(8), record, 0),
    ]
    assert len(np.unique(np.concatenate(draws))) == 8 * len(draws)
    assert len({ORDER_STREAM, SELECTION_STREAM} & {*range(2**32 - 16, 2**32)}) == 2  # no columns


def test_a_key_hides_itself_and_goes_to_worker_processes():
    key = SecretKey(COUNTING_KEY)
    for text in (repr(key), str(key), f"{key}", repr([key])):
        assert "hidden" in text
        assert COUNTING_KEY.hex() not in text
        assert "\\x01" not in text
    assert not hasattr(key, "__dict__")
    assert COUNTING_KEY.hex().find(key.identity) == -1
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(key)).words, key.words)
    seeds = [SecretKey.from_seed(seed).identity for seed in (7, np.int64(7), 8)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert SecretKey.fresh().identity != SecretKey.fresh().identity
