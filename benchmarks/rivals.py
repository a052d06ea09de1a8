"""Print as JSON what pycanon, sdmetrics and suda say of two tables, under a Python that has them.

``PYTHON benchmarks/rivals.py FOLDER`` reads original.csv, released.csv and roles.json there.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from pycanon import anonymity
from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
from sdmetrics.single_column import KSComplement, TVComplement
from suda import suda


def main() -> None:
    """Print the readings by the names that benchmarks/side_by_side.py gives them."""
    folder = Path(sys.argv[1])
    roles = json.loads((folder / "roles.json").read_text(encoding="utf-8"))
    tables = {name: pd.read_csv(folder / f"{name}.csv") for name in ("original", "released")}
    found: dict[str, float | str | list[float]] = {}
    for name, table in tables.items():
        keys, secret, ranked = roles["keys"], roles["secret"], roles["ranked"]
        found[f"k {name}"] = int(anonymity.k_anonymity(table, keys))
        found[f"l {name}"] = int(anonymity.l_diversity(table, keys, [secret]))
        found[f"entropy l {name}"] = float(anonymity.entropy_l_diversity(table, keys, [ranked]))
        found[f"t {name}"] = float(anonymity.t_closeness(table, keys, [secret]))
        found[f"ordered t {name}"] = float(anonymity.t_closeness(table, keys, [ranked]))
    number, category = roles["number"], roles["category"]
    one, two = tables["original"], tables["released"]
    found["ks"] = float(KSComplement.compute(one[number], two[number]))
    found["tv"] = float(TVComplement.compute(one[category], two[category]))
    pair = [number, roles["ranked"]]
    found["correlation"] = float(CorrelationSimilarity.compute(one[pair], two[pair]))
    pair = [category, roles["secret"]]
    found["contingency"] = float(ContingencySimilarity.compute(one[pair], two[pair]))
    columns = pd.DataFrame({name: list(each) for name, each in roles["guideline"].items()})
    found["suda scores"] = suda(columns, max_msu=3)["suda"].astype(float).tolist()
    found |= {name: version(name) for name in ("pycanon", "sdmetrics", "suda")}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
