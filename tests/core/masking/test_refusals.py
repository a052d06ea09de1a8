"""What a setting refuses, in which words, and the last value that it still takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN

TAKEN: dict[str, list[dict[str, Any]]] = {
    "additive_noise": [{"size": 0}, {"size": 100}, {"size": 1, "reflected": True}],
    "correlated_noise": [{"size": 0}, {"size": 100}],
    "k_noise": [{"k": 1}, {"k": np.int64(2)}],
    "k_pram": [{"k": 1}],
    "recoding": [{"k": 1, "top": 0, "bottom": 0.4}, {"top": 0.4, "bottom": 0}],
    "microaggregation": [{"k": 1}],
    "local_suppression": [{"k": 1, "classes": 1}],
    "sampling": [{"left_out": 0}, {"left_out": 0.999}],
    "data_shuffling": [{"anew": 0}, {"anew": 1}],
    "cart_synthesis": [{"q": 0, "leaf": 1, "smoothing": 0}, {"q": 1, "smoothing": 10}],
    "pram": [{"change": 0, "alpha": 1}, {"change": 1, "alpha": 0}],
    "record_swapping": [{"share": 0}, {"share": np.float64(1)}],
    "random_swapping": [{"share": 1, "rarer_than": 0},
        {"share": 100, "pairs": "successive", "rarer_than": np.int64(2)}],
    "rank_swapping": [{"p": 0, "r0": 0, "k0": 0}, {"p": 1, "r0": 1, "k0": 1e9},
        {"top": 0.5, "bottom": 0.499}],
    "rwn": [{"k": 1, "q": 0}, {"k": 1, "q": 1}],
    "soft_rwn": [{"q": 0, "balance": 0}, {"cap": 1, "balance": 1, "bandwidth_k": 1, "width": 1e9}],
    "row_copy": [{"k": 1, "epsilon": 0, "q": 0}],
    "nbrs2015": [{"epsilon": 1e-9, "q": 0}, {"epsilon": np.int64(1)}],
}  # fmt: skip

NAN = float("nan")
CANDIDATES: list[dict[str, Any]] = [
    {"neighbors": "some"}, {"neighbors": "sample"}, {"neighbors": "pairs"},
    {"neighbors": "partition"}, {"m": 10}, {"neighbors": "sample", "m": 10, "u": 2},
    {"neighbors": "sample", "m": 0}, {"neighbors": "sample", "m": 2.5},
    {"neighbors": "pairs", "m": 3, "fresh": True},
]  # fmt: skip
REFUSED: dict[str, list[dict[str, Any]]] = {
    "additive_noise": [{"size": -0.001}, {"size": 100.001}, {"size": True}, {"size": "1"},
        {"shape": "round"}, {"reflected": 1}, {"others": "drop"}],
    "correlated_noise": [{"size": -0.001}, {"size": 100.5}, {"size": True}, {"size": None},
        {"form": "kim"}, {"others": "drop"}],
    "k_noise": [{"k": 0}, {"k": 2.0}, {"shape": "round"}, {"others": "drop"}],
    "k_pram": [{"k": True}, {"draw_from": "all"}, {"others": "drop"}],
    "recoding": [{"k": 0}, {"top": 0.41}, {"top": -0.01}, {"bottom": 0.41}, {"bottom": False},
        {"bottom": "0.1"}, {"others": "drop"}],
    "microaggregation": [{"k": 0}, {"others": "drop"}],
    "local_suppression": [{"k": 0}, {"classes": 0}],
    "sampling": [{"left_out": 1}, {"left_out": -0.001}, {"left_out": False}, {"left_out": "half"}],
    "data_shuffling": [{"anew": 1.001}, {"variables": "a,a"}, {"others": "drop"}],
    "cart_synthesis": [{"q": 1.001}, {"leaf": 0}, {"leaf": 5.0}, {"smoothing": 10.001},
        {"visit": "a,a"}],
    "pram": [{"change": 1.001}, {"alpha": -0.001}, {"spread": "far"}, {"invariant": 0},
        {"within": "a", "variables": "a,b"}, {"within": "a", "matrices": {"b": [[1.0]]}},
        {"others": "drop"}],
    "record_swapping": [{"share": 100}, {"share": 100.5}, {"share": NAN},
        {"within": "a", "variables": "a"}],
    "random_swapping": [{"share": 1.001}, {"share": 100.5, "pairs": "successive"},
        {"pairs": "three"}, {"rarer_than": -1}, {"rarer_than": 2.0}, {"rarer_than": True},
        {"others": "drop"}],
    "rank_swapping": [{"p": 1.001}, {"r0": -0.001}, {"top": 2}, {"bottom": -1}, {"k0": -0.001},
        {"top": 0.5, "bottom": 0.5}, {"form": "sdc"}, {"others": "drop"}],
    "rwn": [{"k": 1, "fresh": 1}, {"k": 1, "outside_household": 1},
        {"k": 1, "outside_household": True, "neighbors": "pairs", "m": 2},
        {"k": 1, "weights": "my own"}, *({"k": 5, **other} for other in CANDIDATES),
        {"k": 5, "q": 1.001}, {"k": 5, "q": 50}, {"k": 5, "scale": "iqr"},
        {"kernel": "gaussian"}, {"k": 5, "width": 1.0}, {"k": 5, "cap": 0.2},
        {"k": 5, "balance": 1.0}, {"k": 5, "own": True}],
    "soft_rwn": [{"k": 5}, {"kernel": "even"}, {"kernel": "round"}, {"width": -1.0}, {"width": 0},
        {"balance": 2}, {"own": 1}, {"cap": 0}, {"cap": None}, {"bandwidth": "wide"},
        {"bandwidth_k": 0}, {"outside_household": 1}, {"q": -1}, {"encoding": "far"}],
    "row_copy": [{"epsilon": None}, {"k": None}, {"epsilon": np.ones(3)}],
    "nbrs2015": [{"epsilon": 1, "record_selection": "all"}],
}  # fmt: skip


@pytest.mark.parametrize("method", TAKEN)
def test_the_ends_of_what_is_allowed_are_taken(method: str) -> None:
    for options in TAKEN[method]:
        made = METHODS[method](**options)
        assert {name: getattr(made, name) for name in options} == options


SMALL = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.0, 7.0], "g": list("aabb")}))


TOO_MUCH: list[tuple[str, dict[str, Any]]] = [
    ("microaggregation", {"k": 5}),
    ("correlated_noise", {"size": 3, "form": "sample"}),
    ("k_pram", {"k": 5}),
    ("random_swapping", {"rarer_than": 2}),
    ("record_swapping", {"within": "g,z"}),
    ("cart_synthesis", {"visit": "z"}),
    ("data_shuffling", {"variables": "g"}),
    ("pram", {"within": "z"}),
    ("pram", {"within": "g"}),
    ("rwn", {"k": 1, "outside_household": True}),
    ("rwn", {"k": 4}),
]


def refusal(method: str, options: dict[str, Any], data: Microdata | None = None) -> str:
    """Why a setting is refused, or why a table refuses it."""
    with pytest.raises(ParameterError) as caught:
        METHODS[method](**options) if data is None else METHODS[method](**options).prepare(data)
    return f"{options}: {caught.value}"


def test_what_lies_beyond_is_refused_in_a_sentence_with_the_range(
    sentences: Callable[..., None],
) -> None:
    found = {
        method: [refusal(method, options) for options in listed]
        for method, listed in REFUSED.items()
    }
    found["a table of four records"] = [
        f"{method} {refusal(method, options, SMALL)}" for method, options in TOO_MUCH
    ]
    sentences("refusal", found)


def test_the_largest_number_that_a_table_has_is_taken() -> None:
    for method in ("microaggregation", "k_noise", "k_pram", "recoding", "local_suppression"):
        METHODS[method](k=4).prepare(SMALL)
    METHODS["correlated_noise"](size=2.999, form="sample").prepare(SMALL)
    METHODS["correlated_noise"](size=3.0, form="plain").prepare(SMALL)
    METHODS["rwn"](k=3).prepare(SMALL)


def test_a_table_without_keys_or_without_anything_to_release_is_refused() -> None:
    secret = SMALL.schema
    for name in SMALL.names:
        secret = secret.replace_variable(name, role=Role.CONFIDENTIAL)
    with pytest.raises(ParameterError) as caught:
        METHODS["local_suppression"]().prepare(SMALL.with_schema(secret))
    assert str(caught.value) == (
        "No variable can be a key: all are confidential or not to be masked; give one the role key."
    )
    hidden = SMALL.schema
    for name in SMALL.names:
        hidden = hidden.replace_variable(name, role=Role.IDENTIFIER)
    with pytest.raises(ParameterError, match=r"^Every variable is a direct identifier; nothing"):
        METHODS["sampling"]().prepare(SMALL.with_schema(hidden))


def test_records_without_a_neighbor_are_counted_in_the_refusal() -> None:
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 0.1, 20.0, 50.0]}))
    with pytest.raises(ParameterError) as caught:
        _ = RWN(epsilon=0.1).prepare(data).law
    assert str(caught.value) == (
        "2 records have no other record within epsilon; give k (at least 1) as well, or a larger "
        "epsilon."
    )
