"""What a setting refuses, in which words, and the last value that it still takes."""

from __future__ import annotations

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
    "pram": [{"change": 0, "alpha": 1}, {"change": 1, "alpha": 0}],
    "record_swapping": [{"share": 0}, {"share": np.float64(1)}],
    "random_swapping": [
        {"share": 1, "rarer_than": 0},
        {"share": 100, "pairs": "successive", "rarer_than": np.int64(2)},
    ],
    "rank_swapping": [
        {"p": 0, "r0": 0, "k0": 0},
        {"p": 1, "r0": 1, "k0": 1e9},
        {"top": 0.5, "bottom": 0.499},
    ],
    "rwn": [{"k": 1, "q": 0}, {"k": 1, "q": 1}],
    "row_copy": [{"k": 1, "epsilon": 0, "q": 0}],
    "nbrs2015": [{"epsilon": 1e-9, "q": 0}, {"epsilon": np.int64(1)}],
}

NOISE = "size must be a number from 0 to 100."
OTHERS = "others must be one of: keep, refuse."
K = "k must be a whole number of at least 1."
SHAPE = "shape must be one of: gaussian, laplace, uniform."
TAIL = "must be a share from 0 to 0.4, such as 0.05 for five percent."
PART = "left_out must be a number from 0 to less than 1."
PERCENT = "must be a fraction from 0 to 1, not a percentage: write 0.05 for 5 percent."
ONE = "must be a number from 0 to 1."
RARER = "rarer_than must be a whole number of at least 0."
TOGETHER = "top and bottom together must be below 1, so that values remain."
BOTH = "within and variables must not share a variable."

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("additive_noise", {"size": -0.001}, NOISE),
    ("additive_noise", {"size": 100.001}, NOISE),
    ("additive_noise", {"size": True}, NOISE),
    ("additive_noise", {"size": "1"}, NOISE),
    ("additive_noise", {"shape": "round"}, SHAPE),
    ("additive_noise", {"reflected": 1}, "reflected must be true or false."),
    ("additive_noise", {"others": "drop"}, OTHERS),
    ("correlated_noise", {"size": -0.001}, NOISE),
    ("correlated_noise", {"size": 100.5}, NOISE),
    ("correlated_noise", {"size": True}, NOISE),
    ("correlated_noise", {"size": None}, NOISE),
    ("correlated_noise", {"form": "kim"}, "form must be one of: population, sample, plain."),
    ("correlated_noise", {"others": "drop"}, OTHERS),
    ("k_noise", {"k": 0}, K),
    ("k_noise", {"k": 2.0}, K),
    ("k_noise", {"shape": "round"}, SHAPE),
    ("k_noise", {"others": "drop"}, OTHERS),
    ("k_pram", {"k": True}, K),
    ("k_pram", {"draw_from": "all"}, "draw_from must be one of: resample, permute, uniform."),
    ("k_pram", {"others": "drop"}, OTHERS),
    ("recoding", {"k": 0}, K),
    ("recoding", {"top": 0.41}, f"top {TAIL}"),
    ("recoding", {"top": -0.01}, f"top {TAIL}"),
    ("recoding", {"bottom": 0.41}, f"bottom {TAIL}"),
    ("recoding", {"bottom": False}, f"bottom {TAIL}"),
    ("recoding", {"bottom": "0.1"}, f"bottom {TAIL}"),
    ("recoding", {"others": "drop"}, OTHERS),
    ("microaggregation", {"k": 0}, K),
    ("microaggregation", {"others": "drop"}, OTHERS),
    ("local_suppression", {"k": 0}, K),
    ("local_suppression", {"classes": 0}, "classes must be a whole number of at least 1."),
    ("sampling", {"left_out": 1}, PART),
    ("sampling", {"left_out": -0.001}, PART),
    ("sampling", {"left_out": False}, PART),
    ("sampling", {"left_out": "half"}, PART),
    ("pram", {"change": 1.001}, f"change {PERCENT}"),
    ("pram", {"alpha": -0.001}, f"alpha {ONE}"),
    ("pram", {"spread": "far"}, "spread must be one of: even, margins."),
    ("pram", {"invariant": 0}, "invariant must be true or false."),
    ("pram", {"within": "a", "variables": "a,b"}, BOTH),
    (
        "pram",
        {"within": "a", "matrices": {"b": [[1.0]]}},
        "matrices are for the whole table; give them or within.",
    ),
    ("pram", {"others": "drop"}, OTHERS),
    ("record_swapping", {"share": 100}, f"share {PERCENT}"),
    ("record_swapping", {"share": 100.5}, f"share {ONE}"),
    ("record_swapping", {"share": float("nan")}, f"share {ONE}"),
    ("record_swapping", {"within": "a", "variables": "a"}, BOTH),
    ("random_swapping", {"share": 1.001}, f"share {PERCENT}"),
    (
        "random_swapping",
        {"share": 100.5, "pairs": "successive"},
        "share must be a number from 0 to 100.",
    ),
    ("random_swapping", {"pairs": "three"}, "pairs must be one of: disjoint, successive."),
    ("random_swapping", {"rarer_than": -1}, RARER),
    ("random_swapping", {"rarer_than": 2.0}, RARER),
    ("random_swapping", {"rarer_than": True}, RARER),
    ("random_swapping", {"others": "drop"}, OTHERS),
    ("rank_swapping", {"p": 1.001}, f"p {PERCENT}"),
    ("rank_swapping", {"r0": -0.001}, f"r0 {ONE}"),
    ("rank_swapping", {"top": 2}, f"top {PERCENT}"),
    ("rank_swapping", {"bottom": -1}, f"bottom {ONE}"),
    ("rank_swapping", {"k0": -0.001}, "k0 must be a number from 0 to inf."),
    ("rank_swapping", {"top": 0.5, "bottom": 0.5}, TOGETHER),
    ("rank_swapping", {"form": "sdc"}, "form must be one of: moore, mu_argus."),
    ("rank_swapping", {"others": "drop"}, OTHERS),
    ("rwn", {"k": 1, "fresh": 1}, "fresh must be true or false."),
    ("rwn", {"k": 1, "outside_household": 1}, "outside_household must be true or false."),
    (
        "rwn",
        {"k": 1, "outside_household": True, "neighbors": "pairs", "m": 2},
        "outside_household needs neighbors to be exact.",
    ),
    ("rwn", {"k": 1, "weights": "my own"}, "weights must be one of: schema, discrete."),
    ("row_copy", {"epsilon": None}, "epsilon and k must be numbers; give both."),
    ("row_copy", {"k": None}, "epsilon and k must be numbers; give both."),
    ("row_copy", {"epsilon": np.ones(3)}, "epsilon and k must be numbers; give both."),
    (
        "nbrs2015",
        {"epsilon": 1, "record_selection": "all"},
        "record_selection must be one of: count, bernoulli.",
    ),
]


@pytest.mark.parametrize("method", TAKEN)
def test_the_ends_of_what_is_allowed_are_taken(method: str) -> None:
    for options in TAKEN[method]:
        made = METHODS[method](**options)
        assert {name: getattr(made, name) for name in options} == options


def test_what_lies_beyond_is_refused_in_a_sentence_with_the_range() -> None:
    for method, options, sentence in REFUSED:
        with pytest.raises(ParameterError) as caught:
            METHODS[method](**options)
        assert str(caught.value) == sentence, (method, options)


SMALL = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.0, 7.0], "g": list("aabb")}))


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("microaggregation", {"k": 5},
         "k must be at most the number of records, 4; take a smaller one."),
        ("correlated_noise", {"size": 3, "form": "sample"},
         "size must be below 3, the number of records less one, in Kim's form; take a smaller "
         "one."),
        ("k_pram", {"k": 5},
         "k must be at most 4, the number of records with a value of x; take a smaller one, or "
         "take the variable out of the masking."),
        ("random_swapping", {"rarer_than": 2},
         "rarer_than needs key variables, and the table has none; give at least one variable the "
         "role of a key."),
        ("record_swapping", {"within": "g,z"}, "within must name released variables, not z."),
        ("pram", {"within": "z"}, "within must name released variables, not z."),
        ("pram", {"within": "g"}, "No variable is left to be changed; name fewer in within."),
        ("rwn", {"k": 1, "outside_household": True},
         "outside_household needs to know the households; give the variable that numbers them the "
         "role household."),
        ("rwn", {"k": 4},
         "k must be a whole number from 1 to 3 (the number of records less one)."),
    ],
)  # fmt: skip
def test_a_table_is_refused_with_the_number_that_it_has(method, options, sentence) -> None:
    with pytest.raises(ParameterError) as caught:
        METHODS[method](**options).prepare(SMALL)
    assert str(caught.value) == sentence


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
