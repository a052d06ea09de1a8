"""Bad parameters: each is refused in one sentence with its name, its range and what to do."""

from __future__ import annotations

import math
from collections.abc import Callable

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
LEAKS = ("987654", "Oslo", "Bern", "Traceback", "None", "nan", "numpy")

PARAMETERS = {"epsilon", "k", "q", "scale", "encoding"}


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata.from_frame(FRAME)


def refusal(kind: type[RWNError], act: Callable[[], object]) -> str:
    """The message of a refusal, after checking its form."""
    with pytest.raises(kind) as caught:
        act()
    message = str(caught.value)
    assert message.endswith(".")
    first = message.split()[0]
    assert first[0].isupper() or first[0].isdigit() or first in PARAMETERS
    assert "\n" not in message
    assert ". " not in message, "more than one sentence"
    assert len(message) < 200
    for leak in LEAKS:
        assert leak not in message
    assert caught.value.__cause__ is None
    return message


@pytest.mark.parametrize(
    "epsilon", [-1, -0.001, math.nan, -math.inf, "5 km", "", True, [1.0], np.float64("nan"), 2j]
)
def test_epsilon(epsilon):
    message = refusal(ParameterError, lambda: RWN(epsilon=epsilon, k=2))
    assert message.startswith("epsilon must be a number of at least 0")
    assert "standard deviations" in message
    assert "km" not in message


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, "5 km", True, None])
def test_epsilon_of_the_2015_method(epsilon):
    message = refusal(ParameterError, lambda: NBRS2015(epsilon=epsilon))
    assert message.startswith("epsilon must be a number above 0")
    assert "standard deviations" in message


@pytest.mark.parametrize(
    "q", [-0.1, 1.0001, 50, math.nan, math.inf, "50%", "0.5", True, None, [0.5], 1j]
)
@pytest.mark.parametrize("method", [lambda q: RWN(k=2, q=q), lambda q: NBRS2015(epsilon=1, q=q)])
def test_q(method, q):
    message = refusal(ParameterError, lambda: method(q))
    assert message == "q must be a probability: a number from 0 to 1."


@pytest.mark.parametrize("k", [0, -1, 2.5, 2.0, math.nan, math.inf, "five", "5", True, [5]])
def test_k(k):
    message = refusal(ParameterError, lambda: RWN(k=k))
    assert message == "k must be a whole number from 1 to n - 1."


@pytest.mark.parametrize("k", [6, 7, 1000, np.int64(6)])
def test_k_not_below_the_number_of_records(data, k):
    message = refusal(ParameterError, lambda: mask(data, RWN(k=k)))
    assert message == "k must be a whole number from 1 to 5 (the number of records less one)."


def test_the_largest_k_is_fine(data):
    assert (mask(data, RWN(k=5), seed=1).law.neighborhoods.sizes == 5).all()


def test_neither_epsilon_nor_k():
    message = refusal(ParameterError, RWN)
    assert message == "Give epsilon, k or both; neither is given."


def test_epsilon_that_leaves_records_alone(data):
    message = refusal(ParameterError, lambda: mask(data, RWN(epsilon=0.0)))
    for words in ("6 records", "epsilon", "give k", "larger epsilon"):
        assert words in message


@pytest.mark.parametrize("weight", [-1, -1e-9, math.nan, math.inf, "2", True, None, [1.0]])
def test_weights(data, weight):
    message = refusal(SchemaError, lambda: data.schema.with_weights({"age": weight}))
    assert "weight of variable age" in message
    assert "a number of at least 0; 0 leaves it out" in message


def test_a_weight_of_an_unknown_variable(data):
    message = refusal(SchemaError, lambda: data.schema.with_weights({"Age": 1.0}))
    assert "no variable Age" in message
    assert "age, town" in message


@pytest.mark.parametrize("params", [RWN(k=2), NBRS2015(epsilon=1.0)])
def test_all_weights_zero(data, params):
    schema = data.schema.with_weights({"age": 0, "town": 0})
    message = refusal(ParameterError, lambda: mask(data.with_schema(schema), params))
    for words in ("weights are 0 for every variable", "at least one a positive weight"):
        assert words in message


@pytest.mark.parametrize("params", [RWN(k=2), NBRS2015(epsilon=1.0)])
def test_no_variable_chosen(data, params):
    schema = data.schema
    for name in schema.names:
        schema = schema.replace_variable(name, masked=False)
    message = refusal(ParameterError, lambda: mask(data.with_schema(schema), params))
    assert message == "No variable is chosen for masking; choose at least one."


@pytest.mark.parametrize("params", [RWN(k=2), NBRS2015(epsilon=1.0)])
def test_only_identifiers(params):
    variables = [
        Variable(name=name, kind=kind, role=Role.IDENTIFIER)
        for name, kind in (("age", Kind.CONTINUOUS), ("town", Kind.CATEGORICAL))
    ]
    message = refusal(
        RWNError,
        lambda: mask(Microdata.from_frame(FRAME, Schema(variables=tuple(variables))), params),
    )
    assert "identifier" in message
    assert "another role" in message


@pytest.mark.parametrize("params", [RWN(k=2), NBRS2015(epsilon=1.0)])
def test_all_distance_columns_constant(params):
    frame = FRAME.assign(age=SECRET, town="Oslo")
    message = refusal(ParameterError, lambda: mask(Microdata.from_frame(frame), params))
    assert "No variable with a positive weight varies" in message
    assert "give a varying variable a positive weight" in message


@pytest.mark.parametrize("params", [RWN(k=2), NBRS2015(epsilon=1.0)])
def test_only_weightless_columns_vary(params):
    microdata = Microdata.from_frame(FRAME.assign(town="Oslo"))
    schema = microdata.schema.with_weights({"age": 0})
    message = refusal(ParameterError, lambda: mask(microdata.with_schema(schema), params))
    assert "varies" in message


@pytest.mark.parametrize("option", [{"scale": "mad"}, {"scale": None}, {"encoding": "ordinal"}])
def test_options(data, option):
    (name,) = option
    message = refusal(ParameterError, lambda: mask(data, RWN(k=2, **option)))
    assert message.startswith(f"{name} must be one of: ")


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", math.nan])
def test_seeds(data, seed):
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0"):
        mask(data, RWN(k=2), seed=seed)


@pytest.mark.parametrize("order", ["sorted", None, 1])
def test_orders(data, order):
    release = mask(data, RWN(k=2), seed=7)
    with pytest.raises(ParameterError, match="order must be one of: shuffled, original"):
        release.to_bytes("csv", order=order)


@pytest.mark.parametrize("name", ["out.xls", "out", "out.csv.gz"])
def test_file_names(data, tmp_path, name):
    with pytest.raises(ParameterError, match=r"must end in \.csv, \.parquet"):
        mask(data, RWN(k=2), seed=7).publish(tmp_path / name)
    assert not list(tmp_path.iterdir())
