"""Write `release_bytes.json`: the SHA-256 of small releases under seed 7.

Run from the repository's root, only when the masking itself is meant to change:
``PYTHONPATH=. python tests/golden/make_release_bytes.py``, and say why in the changelog.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from rwn_core import NBRS2015, RWN, CARTSynthesis, DataShuffling, Microdata, Role, mask

FILE = Path(__file__).parent / "release_bytes.json"
SEED = 7
SETTINGS = {
    "rwn k 5": RWN(k=5),
    "rwn epsilon 1 k 3 q 0.5": RWN(epsilon=1.0, k=3, q=0.5),
    "rwn range matching k 4": RWN(k=4, scale="range", encoding="matching"),
    "nbrs2015 epsilon 1 q 0.5": NBRS2015(epsilon=1.0, q=0.5),
    "nbrs2015 epsilon 0.6 bernoulli": NBRS2015(epsilon=0.6, q=0.8, record_selection="bernoulli"),
    "cart_synthesis leaf 3 smoothing 0.2": CARTSynthesis(leaf=3, smoothing=0.2),
    "data_shuffling anew 0.8": DataShuffling(anew=0.8),
}


def _scattered(n: int, step: int, modulus: int) -> np.ndarray:
    """Whole numbers without a pattern that matters; they need no generator to stay the same."""
    return np.arange(1, n + 1) ** 2 * step % modulus


def _numbers() -> Microdata:
    columns = {
        name: _scattered(60, step, 997) / 7 for name, step in zip("xyz", (3, 71, 449), strict=True)
    }
    return Microdata.from_frame(pd.DataFrame(columns))


def _ties() -> Microdata:
    columns = {
        name: _scattered(80, step, m)
        for name, step, m in zip("abc", (1, 3, 5), (7, 5, 3), strict=True)
    }
    return Microdata.from_frame(pd.DataFrame(columns))


def _people() -> Microdata:
    n = 50
    frame = pd.DataFrame(
        {
            "person": [f"person {number}" for number in range(n)],
            "age": 18 + _scattered(n, 13, 61),
            "income": pd.Series(_scattered(n, 17, 991) * 12.5).mask(_scattered(n, 1, 9) == 0),
            "town": pd.Series(_scattered(n, 5, 4)).map({0: "Ost", 1: "West", 2: "Süd", 3: "Nord"}),
            "school": pd.Categorical.from_codes(
                _scattered(n, 7, 3) - (_scattered(n, 1, 11) == 0),
                categories=["none", "some", "much"],
                ordered=True,
            ),
            "since": pd.Timestamp(2010, 1, 1) + pd.to_timedelta(_scattered(n, 3, 900), unit="D"),
            "member": _scattered(n, 3, 2) == 1,
            "children": pd.Series(_scattered(n, 1, 4)).astype("Int64"),
        }
    )
    schema = Microdata.from_frame(frame).schema
    schema = schema.replace_variable("person", role=Role.IDENTIFIER)
    schema = schema.replace_variable("member", masked=False)
    for name in ("age", "since"):
        schema = schema.replace_variable(name, group="time")
    return Microdata.from_frame(frame, schema.with_weights({"town": 0.5}))


TABLES = {"numbers": _numbers, "ties": _ties, "people": _people}


def digests(table: str, setting: str) -> dict[str, str]:
    """The SHA-256 of the donors, where the method keeps them, and of the published files."""
    release = mask(TABLES[table](), SETTINGS[setting], seed=SEED)
    contents = {"csv": release.to_bytes("csv"), "parquet": release.to_bytes("parquet")}
    if release.donors is not None:
        donors = np.ascontiguousarray(release.donors, dtype="<i8").tobytes()
        contents = {"donors": donors, **contents}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def main() -> None:
    """Write the golden file."""
    found = {table: {setting: digests(table, setting) for setting in SETTINGS} for table in TABLES}
    document = {"seed": SEED, "pyarrow": pa.__version__, "sha256": found}
    FILE.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
