"""Our numbers of small published tables and of a release, for benchmarks/side_by_side.py."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.suda import scores
from rwn_core.measures.statistics.key_variables import class_sizes, class_totals
from rwn_core.measures.statistics.population import individual_risk

ROLES: dict[str, Any] = {
    "keys": ["ethnicity", "smsa", "region"],
    "secret": "parttime",
    "ranked": "education",
    "number": "wage",
    "category": "smsa",
}
FRANCDAT = {
    "key 1": [1, 1, 1, 3, 4, 4, 6, 1],
    "key 2": [2, 2, 2, 3, 3, 3, 2, 2],
    "key 3": [5, 1, 1, 1, 1, 1, 1, 5],
    "key 4": [1, 1, 1, 5, 4, 1, 5, 1],
    "weight": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
}
GUIDELINE = ("UUUURUUUUU", "FFFMFMFMFF", "iipcccdsii", "EENEUENUNN")
BOOK = ("yyyyyyyo", "mmmmfffm", "++------", "hhhhuhmu")
SMALL = ("baa", "xyx", "pqp")
SIX = (
    [[1.0, 10.0], [2.0, 12.0], [3.0, 11.0], [4.0, 15.0], [5.0, 14.0], [6.0, 18.0]],
    [[2.0, 10.0], [1.0, 11.0], [3.0, 12.0], [5.0, 15.0], [4.0, 18.0], [6.0, 14.0]],
)


def codes(columns: tuple[str, ...]) -> np.ndarray:
    """Return the letters of some columns as numbers, shape (n, m)."""
    return np.column_stack([np.unique(list(c), return_inverse=True)[1] for c in columns])


def francdat(missing: bool) -> np.ndarray:
    """Return the keys of sdcMicro's example, shape (8, 4); -1 for a missing value."""
    cells = np.column_stack([FRANCDAT[f"key {number}"] for number in range(1, 5)]).astype(np.int64)
    if missing:
        cells[[2, 3, 3, 4, 5], [2, 0, 1, 3, 0]] = -1
    return cells


WEIGHT = np.array(FRANCDAT["weight"])


def older_risk() -> np.ndarray:
    """Return the individual risk of Benedetti and Franconi of each record."""
    cells = francdat(missing=False)
    return individual_risk(class_sizes(cells), class_totals(cells, WEIGHT))


def older(size: int, population: float) -> float:
    """Return the individual risk of a class by Benedetti and Franconi."""
    return float(individual_risk(np.array([size]), np.array([population]))[0])


def fitted_risk() -> float:
    """Return the mean individual risk that the program shows."""
    kinds = [(name, Kind.CATEGORICAL, Role.KEY) for name in FRANCDAT if name != "weight"]
    kinds.append(("weight", Kind.CONTINUOUS, Role.OTHER))
    schema = Schema(variables=tuple(Variable(name=n, kind=k, role=r) for n, k, r in kinds))
    frame = pd.DataFrame(FRANCDAT).astype(
        {name: str for name, _, role in kinds if role is Role.KEY}
    )
    data = rwn.Microdata.from_frame(frame, schema)
    comparison = Comparison(original=data, masked=data, sampling=Sampling(weights="weight"))
    return MEASURES["individual_risk"].compute(comparison).value


def six(measure: str, what: str = "") -> float:
    """Return a measure, or a number of its detail, of six records in two versions."""
    one, two = (pd.DataFrame(rows, columns=["x", "y"]) for rows in SIX)
    original = rwn.Microdata.from_frame(one)
    comparison = Comparison(original=original, masked=rwn.Microdata(two, original.schema))
    reading = MEASURES[measure].compute(comparison)
    return reading.detail[what] if what else reading.value


@cache
def survey() -> Comparison:
    """Return 1,000 records of cps1988 and a release of them."""
    data = rwn.load_demo("cps1988").take(np.arange(1000) * 28)
    roles = {ROLES["secret"]: Role.CONFIDENTIAL, ROLES["ranked"]: Role.CONFIDENTIAL}
    schema = data.schema
    for name in data.names:
        role = Role.KEY if name in ROLES["keys"] else roles.get(name, Role.OTHER)
        schema = schema.replace_variable(name, role=role)
    data = rwn.Microdata(data.frame, schema)
    return Comparison(
        original=data, masked=rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=7).masked
    )


@cache
def detail(measure: str) -> Mapping[str, Any]:
    """Return the detail of a measure of the release."""
    reading = read(measure, survey())
    assert isinstance(reading, Reading)
    return reading.detail


def of_secret(measure: str, what: str, role: str) -> float:
    """Return what a measure says of one confidential variable."""
    found = detail(measure)
    return float(found[what][found["secrets"].index(ROLES[role])])


def similarity(measure: str) -> float:
    """Return a measure of the release on the scale of sdmetrics: 1 is equal."""
    found = detail(measure)
    if measure == "correlation":
        places = np.ix_(*2 * [[found["names"].index(ROLES[r]) for r in ("number", "ranked")]])
        return 1 - abs(found["original"][places] - found["released"][places])[0, 1] / 2
    pair = sorted((ROLES["category"], ROLES["secret"]), key=survey().original.names.index)
    return 1 - float(found["distance"][found["pairs"].index(pair)])


def variation(role: str) -> float:
    """Return 1 - the distance of the distributions of one variable."""
    return 1 - detail("marginals")["variables"][ROLES[role]]["difference"]


def contributions(cells: np.ndarray) -> np.ndarray:
    """Return each variable's share of the scores in percent."""
    found = scores(cells)
    return 100 * found.score @ found.shares / found.score.sum()
