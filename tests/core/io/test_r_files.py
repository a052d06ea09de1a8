"""Files of R: what they declare is counted before it is read."""

import gzip
import io
import struct
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from rwn_core.errors import InputError
from rwn_core.io import r_stream
from rwn_core.io.r_files import r_bytes, read_r

HEAD = b"X\n" + struct.pack(">iii", 2, 0x30400, 0x20300)
LIST, NUMBERS, TEXTS = 0x313, 13, 16  # of a vector: a list with a class, whole numbers, texts


def declaring(kind: int, length: int) -> bytes:
    """The begin of a data frame whose first column declares so many values."""
    return HEAD + struct.pack(">iiii", LIST, 1, kind, length)


def test_a_packed_file_is_refused_before_its_values_take_memory() -> None:
    """Finding V6: .6 MB of 150 million zeros took 2.4 GB before they were refused."""
    zeros = gzip.compress(bytes(10_000_000))
    content = gzip.compress(declaring(NUMBERS, 150_000_000)) + zeros * 60
    assert len(content) < 600_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as refused:
            read_r("people.rds", content)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert str(refused.value) == (
        "people.rds declares values that take more than 4 GB of memory; read fewer columns or "
        "records, or use the commands for large tables."
    )
    assert most < 20_000_000


@pytest.mark.parametrize(
    ("kind", "length"), [(TEXTS, 20_000_000), (LIST & 0xFF, 20_000_000), (NUMBERS, -1)]
)
def test_no_more_is_read_than_what_declares_it(
    kind: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts and lists, and vectors of more values than a length holds; bytes are counted."""
    head = declaring(kind, length)
    read = io.BytesIO(head + bytes(50_000_000))
    monkeypatch.setattr(r_stream, "unpacking", lambda content: read)
    with pytest.raises(InputError, match="declares values that take more than 4 GB"):
        read_r("people.rds", head)
    assert read.tell() <= 1 << 20  # a step of unpacking


@pytest.mark.parametrize("length", [-2, 3])
def test_a_length_that_is_none_or_beyond_the_file_is_damage(length: int) -> None:
    with pytest.raises(InputError, match="damaged or cut off"):
        read_r("people.rds", declaring(NUMBERS, length))


def test_what_fits_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"x": np.arange(30.0), "name": pd.array(["a", "b", None] * 10, "str")})
    plain = gzip.decompress(r_bytes(frame))
    for content in (plain, gzip.compress(plain)):
        pd.testing.assert_frame_equal(read_r("t.rds", content).frame, frame)
    monkeypatch.setattr(r_stream, "LARGEST_DECLARED", 30 * r_stream.NUMBER_BYTES)
    with pytest.raises(InputError, match="declares values"):
        read_r("t.rds", plain)
