"""What a category of many levels costs: masking with it, against the same table without it.

`python -m benchmarks.many_levels [--records 100000] [--levels 10000]` prints CPU seconds and
the ratio, for levels that are alike in number and for some rare ones. The first masking of each
table is not counted: it may compile.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable

NUMBERS = 6


def table(records: int, levels: int, power: float) -> Microdata:
    """Correlated numbers and a category whose l-th level is drawn in proportion to l^-power."""
    rng = np.random.default_rng(levels)
    common = rng.normal(size=records)
    columns: dict[str, object] = {
        f"x{number}": common + rng.normal(size=records) for number in range(NUMBERS)
    }
    variables = [Variable(name=name, kind=Kind.CONTINUOUS) for name in columns]
    if levels:
        share = 1 / np.arange(1, levels + 1) ** power
        codes = rng.choice(levels, records, p=share / share.sum())
        columns["place"] = pd.Series(codes).astype(str)
        variables.append(Variable(name="place", kind=Kind.CATEGORICAL))
    return Microdata.from_frame(pd.DataFrame(columns), Schema(variables=tuple(variables)))


def seconds(microdata: Microdata, params: rwn.RWN) -> float:
    """CPU seconds of one masking."""
    start = time.process_time()
    rwn.mask(microdata, params, seed=1)
    return time.process_time() - start


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--levels", type=int, default=10_000)
    asked = parser.parse_args()
    for encoding in ("dummies", "matching"):
        params = rwn.RWN(epsilon=0.5, k=5, q=1.0, encoding=encoding)
        small = table(2500, 100, 1.0)
        rwn.mask(small, params, seed=1)
        without = table(asked.records, 0, 0.0)
        rwn.mask(table(2500, 0, 0.0), params, seed=1)
        base = seconds(without, params)
        for power in (0.0, 1.0):
            spent = seconds(table(asked.records, asked.levels, power), params)
            kind = "alike" if power == 0 else "some rare"
            sys.stdout.write(
                f"{encoding}, levels {kind}: {spent:.1f} CPU-s, without {base:.1f}, "
                f"ratio {spent / base:.2f}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
