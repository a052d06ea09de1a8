"""What a steward is told of a setting, and of a setting on a table: all sentences, no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import METHODS, NBRS2015, RWN, mask

CAUTIONS: list[tuple[str, list[dict[str, Any]]]] = [
    ("rwn", [{"k": 1, "q": 0}, {"k": 1}, {"k": 1, "q": 0.25, "neighbors": "sample", "m": 3},
        {"k": 1, "neighbors": "sample", "m": 3, "fresh": True},
        {"k": 1, "neighbors": "pairs", "m": 3}, {"k": 1, "neighbors": "partition", "u": 2}]),
    ("soft_rwn", [{"balance": 1.0}, {"own": True}, {"cap": 1.0}]),
    ("nbrs2015", [{"epsilon": 1.0, "q": 0.4}]),
    ("row_copy", [{"q": 0.0}, {"q": 0.5}]),
    ("additive_noise", [{"size": 0}, {"size": 2}]),
    ("correlated_noise", [{"size": 0}, {"size": 1}]),
    ("k_noise", [{"k": 1}, {"k": 2}]),
    ("k_pram", [{"k": 1}, {"k": 2}]),
    ("microaggregation", [{"k": 1}, {"k": 2}]),
    ("rank_swapping", [{"p": 0}, {"p": 0.1}, {"p": 0, "r0": 0.9}, {"p": 0, "k0": 0.1},
        {"p": 0, "top": 0.1}, {"p": 0, "bottom": 0.1}]),
    ("random_swapping", [{"share": 0}, {}]),
    ("record_swapping", [{"share": 0}, {}]),
    ("pram", [{"change": 0}, {"alpha": 0}, {"change": 0, "matrices": {"g": [[1.0]]}},
        {"invariant": False}, {"invariant": False, "spread": "margins"}]),
    ("recoding", [{}]),
    ("local_suppression", [{}]),
    ("data_shuffling", [{"anew": 0}, {}]),
    ("cart_synthesis", [{"q": 0}, {"q": 0.5, "smoothing": 0.5}, {"leaf": 10}]),
    ("sampling", [{}]),
]  # fmt: skip


def test_a_setting_says_what_it_keeps_and_nothing_that_holds_for_others(
    sentences: Callable[..., None],
) -> None:
    found = {f"{method} {options}": METHODS[method](**options).cautions()
             for method, listed in CAUTIONS for options in listed}  # fmt: skip
    sentences("caution", found)
    assert all(sentence.endswith(".") for lines in found.values() for sentence in lines)


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Eight records: x has negative numbers, y none but a 0, z is missing once; two keys."""
    frame = pd.DataFrame(
        {
            "x": [-1.5, 2.5, 3.5, 0.5, 9.0, 1.0, 2.0, 4.0],
            "y": [0.0, 2.5, 3.5, 0.5, 9.0, 1.0, 2.0, 40.0],
            "z": [1.5, np.nan, 2.5, 2.0, 8.0, 6.5, 5.5, 7.0],
            "g": list("aaaabbbc"),
            "h": list("uuvvuuvv"),
        }
    )
    made = Microdata.from_frame(frame)
    schema = made.schema.replace_variable("g", role=Role.KEY)
    schema = schema.replace_variable("h", role=Role.KEY)
    return made.with_schema(schema.replace_variable("z", role=Role.CONFIDENTIAL))


REMARKS: list[tuple[str, list[dict[str, Any]]]] = [
    ("additive_noise", [{}, {"size": 0}, {"reflected": True}]),
    ("correlated_noise", [{}]),
    ("k_noise", [{}]),
    ("k_pram", [{}]),
    ("microaggregation", [{}]),
    ("rank_swapping", [{"p": 0.25}, {"p": 0.2}, {"p": 0.2, "r0": 0.5}, {"p": 0.2, "k0": 0.5},
        {"p": 0}]),
    ("data_shuffling", [{}]),
    ("random_swapping", [{}, {"rarer_than": 2}]),
    ("record_swapping", [{"within": "g"}, {"within": "h"}]),
    ("pram", [{}, {"change": 1}]),
    ("recoding", [{"k": 2}, {"k": 1}]),
    ("local_suppression", [{}]),
    ("sampling", [{"left_out": 0.25}]),
    ("row_copy", [{}, {"q": 0.0}]),
    ("rwn", [{"k": 1}]),
]  # fmt: skip


def test_a_table_is_remarked_on_in_full(data: Microdata, sentences: Callable[..., None]) -> None:
    one_level = Microdata.from_frame(pd.DataFrame({"g": ["a"] * 4, "h": list("uvuv")}))
    found = {f"{method} {options}": METHODS[method](**options).remarks(data, None)
             for method, listed in REMARKS for options in listed}  # fmt: skip
    numbers = Microdata.from_frame(data.frame[["x", "y"]])
    found["numbers alone"] = METHODS["recoding"](k=2).remarks(numbers, None)
    found["a level without another"] = METHODS["pram"](change=1).remarks(one_level, None)
    sentences("remark", found)


def test_records_without_a_neighbor_are_remarked_on() -> None:
    data = Microdata.from_frame(pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 50.0]}))
    said = {
        epsilon: NBRS2015(epsilon=epsilon).remarks(
            data, NBRS2015(epsilon=epsilon).prepare(data).law
        )
        for epsilon in (0.1, 5.0)
    }
    assert said == {
        0.1: [
            "2 records have no neighbor within epsilon: a selected one loses all its masked "
            "values, and the empty row says that it is rare; take a larger epsilon, or method rwn"
        ],
        5.0: [],
    }
    assert NBRS2015(epsilon=0.1).remarks(data, None) == []


def test_smaller_weights_of_categories_are_said_as_shares_of_the_distance(data: Microdata) -> None:
    params = RWN(k=1, weights="discrete")
    shares = params.metric(data).shares(data)
    assert sum(shares.values()) == pytest.approx(1.0)
    words = ", ".join(f"{name} {100 * share:.1f}%" for name, share in shares.items())
    assert params.remarks(data, None) == [f"shares of the squared distance: {words}"]


def test_what_random_candidates_cost_is_said_once_a_key_is_drawn(data: Microdata) -> None:
    params = RWN(k=1, neighbors="sample", m=4)
    (said,) = params.remarks(data, mask(data, params, seed=1).law)
    assert said.startswith("neighbors sample: ")
    assert params.remarks(data, None) == []
    assert RWN(k=1).remarks(data, mask(data, RWN(k=1), seed=1).law) == []
