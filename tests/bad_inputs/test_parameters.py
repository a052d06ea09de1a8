"""Bad parameters: each is refused in one sentence with its name, its range and what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import ParameterError, RWNError, SchemaError
from rwn_core.masking import NBRS2015, RWN, mask

SECRET = 987654.25  # a cell's value: no message may show it
FRAME = pd.DataFrame(
    {"age": [31.0, 42.0, 57.0, SECRET, 60.0, 24.0], "town": ["Oslo"] * 3 + ["Bern"] * 3}
)
DATA = Microdata.from_frame(FRAME)
LEAKS = ("987654", "Oslo", "Bern", "Traceback", "None", "nan", "numpy")
NAN, INF = math.nan, math.inf
RADIUS = "(a radius in standard deviations)."
METHODS = (RWN(k=2), NBRS2015(epsilon=1.0))


def refusal(kind: type[RWNError], act: Callable[[], object]) -> str:
    """The message of a refusal, after checking its form."""
    with pytest.raises(kind) as caught:
        act()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert ". " not in message, "more than one sentence"
    assert len(message) < 200
    for leak in LEAKS:
        assert leak not in message
    assert caught.value.__cause__ is None
    return message


# what is refused; how it is given; the sentence
VALUES: dict[str, tuple[list[Any], Callable[[Any], object], str]] = {
    "epsilon": (
        [-1, -0.001, NAN, -INF, "5 km", "", True, [1.0], np.float64("nan"), 2j],
        lambda value: RWN(epsilon=value, k=2),
        f"epsilon must be a number of at least 0 {RADIUS}",
    ),
    "epsilon of 2015": (
        [0, -1.0, NAN, "5 km", True, None],
        lambda value: NBRS2015(epsilon=value),
        f"epsilon must be a number above 0 {RADIUS}",
    ),
    "q": (
        [-0.1, NAN, INF, "50%", "0.5", True, None, [0.5], 1j],
        lambda value: RWN(k=2, q=value),
        "q must be a number from 0 to 1.",
    ),
    "q as a percentage": (
        [1.0001, 50],
        lambda value: RWN(k=2, q=value),
        "q must be a fraction from 0 to 1, not a percentage: write 0.05 for 5 percent.",
    ),
    "q of 2015": (
        [-0.1, NAN, "0.5", True, None],
        lambda value: NBRS2015(epsilon=1, q=value),
        "q must be a number from 0 to 1.",
    ),
    "k": (
        [0, -1, 2.5, 2.0, NAN, INF, "five", "5", True, [5]],
        lambda value: RWN(k=value),
        "k must be a whole number from 1 to n - 1.",
    ),
    "k of a table": (
        [6, 7, 1000, np.int64(6)],
        lambda value: mask(DATA, RWN(k=value)),
        "k must be a whole number from 1 to 5 (the number of records less one).",
    ),
    "scale": (
        ["mad", None],
        lambda value: mask(DATA, RWN(k=2, scale=value)),
        "scale must be one of: sd, range.",
    ),
    "encoding": (
        ["ordinal"],
        lambda value: mask(DATA, RWN(k=2, encoding=value)),
        "encoding must be one of: dummies, matching.",
    ),
    "seed": (
        [-1, 1.5, True, "7", NAN],
        lambda value: mask(DATA, RWN(k=2), seed=value),
        "seed must be a whole number of at least 0, or left out.",
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_bad_value_is_refused_with_the_range(name: str) -> None:
    values, give, sentence = VALUES[name]
    for value in values:
        assert refusal(ParameterError, lambda value=value: give(value)) == sentence, value


def test_the_largest_k_is_fine() -> None:
    assert (mask(DATA, RWN(k=5), seed=1).law.neighborhoods.sizes == 5).all()


def test_a_radius_without_neighbors_and_no_radius_at_all() -> None:
    assert refusal(ParameterError, RWN) == "Give epsilon, k or both; neither is given."
    assert refusal(ParameterError, lambda: mask(DATA, RWN(epsilon=0.0))) == (
        "6 records have no other record within epsilon; give k (at least 1) as well, or a larger "
        "epsilon."
    )


def test_weights() -> None:
    for weight in (-1, -1e-9, NAN, INF, "2", True, None, [1.0]):
        assert refusal(SchemaError, lambda w=weight: DATA.schema.with_weights({"age": w})) == (
            "The weight of variable age must be a number of at least 0; 0 leaves it out."
        )
    assert refusal(SchemaError, lambda: DATA.schema.with_weights({"Age": 1.0})) == (
        "There is no variable Age; the table has: age, town."
    )


def weightless(frame: pd.DataFrame, *names: str) -> Microdata:
    """A table with variables that do not count in the distance."""
    data = Microdata.from_frame(frame)
    return data.with_schema(data.schema.with_weights(dict.fromkeys(names, 0)))


def unmasked() -> Microdata:
    schema = DATA.schema
    for name in schema.names:
        schema = schema.replace_variable(name, masked=False)
    return DATA.with_schema(schema)


def identifiers() -> Microdata:
    kinds = {"age": Kind.CONTINUOUS, "town": Kind.CATEGORICAL}
    variables = (Variable(name=n, kind=k, role=Role.IDENTIFIER) for n, k in kinds.items())
    return Microdata.from_frame(FRAME, Schema(variables=tuple(variables)))


VARIES = (
    "No variable with a positive weight varies, so there is no distance between records; give a "
    "varying variable a positive weight."
)
TABLES: dict[str, tuple[Callable[[], Microdata], str]] = {
    "all weights zero": (
        lambda: weightless(FRAME, "age", "town"),
        "The weights are 0 for every variable; give at least one a positive weight.",
    ),
    "none chosen": (unmasked, "No variable is chosen for masking; choose at least one."),
    "only identifiers": (
        identifiers,
        "Every variable is a direct identifier, and identifiers are never released; give at least "
        "one variable another role.",
    ),
    "all constant": (lambda: weightless(FRAME.assign(age=SECRET, town="Oslo")), VARIES),
    "only weightless vary": (lambda: weightless(FRAME.assign(town="Oslo"), "age"), VARIES),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_a_distance_or_anything_to_mask(name: str) -> None:
    make, sentence = TABLES[name]
    for params in METHODS:
        assert refusal(ParameterError, lambda p=params: mask(make(), p)) == sentence


def test_orders_and_file_names(tmp_path) -> None:
    release = mask(DATA, RWN(k=2), seed=7)
    for order in ("sorted", None, 1):
        with pytest.raises(ParameterError, match="order must be one of: shuffled, original"):
            release.to_bytes("csv", order=order)
    for name in ("out.xls", "out", "out.csv.gz"):
        with pytest.raises(ParameterError, match=r"must end in \.csv, \.parquet"):
            release.publish(tmp_path / name)
    assert not list(tmp_path.iterdir())
