"""A second reading of a dataset's release: every released value occurs in its original column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.io.arrow_columns import decimal_texts
from rwn_core.io.other_readers import ARROW, ARROW_RUST, batches_by_arrow, batches_by_rust
from rwn_core.masking.second_reading import SecondReading, refuse_strange

Pass = tuple[list[str], int, int]
Read = Callable[[str], Iterator[pa.RecordBatch]]


def read_dataset_again(
    original: Sequence[str],
    released: Sequence[str],
    names: Sequence[str],
    records: int,
    keys: int = 2**24,
) -> SecondReading:
    """Look the values of released files up in the original's files, in bounded memory."""
    library = ARROW_RUST
    try:
        wrong = _strange(original, released, list(_passes(names, records, keys)), batches_by_rust)
    except (ImportError, ValueError):
        library = f"{ARROW} (no second library)"
        wrong = _strange(original, released, list(_passes(names, records, keys)), batches_by_arrow)
    refuse_strange(wrong)
    return SecondReading(checked=tuple(names), unchecked={}, release=library, original=library)


def _strange(
    original: Sequence[str], released: Sequence[str], passes: Sequence[Pass], read: Read
) -> dict[str, int]:
    """Count the values of each variable that are in a released file and nowhere in the original."""
    wrong: Counter[str] = Counter()
    for names, part, parts in passes:
        known: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in names}
        for path in original:
            for name, found in _keys(read(path), names, part, parts):
                known[name].append(found)
        sorted_keys = {name: np.unique(np.concatenate(each)) for name, each in known.items()}
        for path in released:
            for name, found in _keys(read(path), names, part, parts):
                wrong[name] += _absent(found, sorted_keys[name])
    return {name: count for name, count in wrong.items() if count}


def _passes(names: Sequence[str], records: int, keys: int) -> Iterator[Pass]:
    """Return the variables of each pass, and which part of their keys it looks at."""
    together = max(1, keys // records)
    parts = -(-records // keys)
    for first in range(0, len(names), together):
        for part in range(parts):
            yield list(names[first : first + together]), part, parts


def _keys(
    batches: Iterator[pa.RecordBatch], names: Sequence[str], part: int, parts: int
) -> Iterator[tuple[str, NDArray[np.uint64]]]:
    """Return the keys of the different values of each batch and variable."""
    for batch in batches:
        for name in names:
            found = pd.util.hash_array(_plain(batch.column(name)), categorize=False)
            yield name, found[found % np.uint64(parts) == part] if parts > 1 else found


def _plain(column: pa.Array) -> NDArray[Any]:
    """Return different values as bits of numbers, microseconds or texts, without missing ones."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = pc.unique(column).drop_null()
    kind = column.type
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit != "ns"):
        column = column.cast(pa.timestamp("us", getattr(kind, "tz", None)))
    if pa.types.is_temporal(column.type) or pa.types.is_boolean(kind):
        column = column.cast(pa.int64())
    if pa.types.is_decimal(kind):
        column = decimal_texts(column).cast(pa.float64())
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        numbers = values.astype(np.float64) + 0.0  # one zero only
        return numbers[~np.isnan(numbers)].view(np.uint64)
    if values.dtype.kind in "iu":  # as floating numbers where these are exact
        numbers = values.astype(np.float64)
        exact = np.abs(numbers) < 2**53
        return np.where(exact, numbers.view(np.uint64), values.astype(np.uint64))
    return values


def _absent(found: NDArray[np.uint64], known: NDArray[np.uint64]) -> int:
    """Count the keys that are not among sorted ones."""
    if not len(known):
        return len(found)
    places = np.minimum(np.searchsorted(known, found), len(known) - 1)
    return int(np.count_nonzero(known[places] != found))
