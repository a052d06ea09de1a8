"""What a steward is told of a setting, and of a setting on a table: all sentences, no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import METHODS, NBRS2015, RWN, mask

SCALE = "ε counts standard deviations of this file"
NEAR = "At q = 1 nobody keeps a unique own value"
ROWS = "Each row is a true record of a person"
NOTHING_KEPT = "q = 0 masks nothing: the release is the original."
EMPTY = "A record without a neighbor within ε loses all"
OUTLIERS = "Outliers stay outliers"
SWAPPED = (
    "Every released number is somebody's true value of that variable, extremes included.",
    "Each variable is exchanged by itself",
    "An intruder who knows P",
)
SWAPPED_WITH_MEANS = (
    "Every released number but those at the ends, which are means, is somebody's true value",
    *SWAPPED[1:],
)
SHARES = "Shares of levels are kept in expectation, not exactly; relations"
PUBLISH = "Publish the matrices"
IDENTITY = {"g": [[1.0]]}

CAUTIONS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("rwn", {"k": 1, "q": 0}, (NOTHING_KEPT, SCALE)),
    ("rwn", {"k": 1}, (NEAR, SCALE)),
    (
        "rwn",
        {"k": 1, "q": 0.25, "neighbors": "sample", "m": 3},
        ("At q = 0.25 every cell keeps its own value with probability 0.75 at least", SCALE,
         "Only the sampled records give values"),
    ),
    ("rwn", {"k": 1, "neighbors": "sample", "m": 3, "fresh": True}, (NEAR, SCALE)),
    ("rwn", {"k": 1, "neighbors": "pairs", "m": 3}, (NEAR, SCALE)),
    ("rwn", {"k": 1, "neighbors": "partition", "u": 2}, (NEAR, SCALE, "Values never leave their")),
    (
        "nbrs2015",
        {"epsilon": 1.0, "q": 0.4},
        ("At q = 0.4 every record is released whole with probability 0.6 at least", SCALE, EMPTY),
    ),
    ("row_copy", {"q": 0.0}, (ROWS, NOTHING_KEPT, SCALE)),
    ("row_copy", {"q": 0.5}, (ROWS, "At q = 0.5 every record is kept with probability 0.5", SCALE)),
    ("additive_noise", {"size": 0}, ("size = 0 masks nothing: the release is the original.",)),
    (
        "additive_noise",
        {"size": 2},
        ("Noise of 2 standard deviations multiplies every variance by 5 and every correlation by "
         "0.2.", OUTLIERS),
    ),
    ("correlated_noise", {"size": 0}, ("size = 0 masks nothing: the release is the original.",)),
    ("correlated_noise", {"size": 1}, ("Means and covariances are kept", OUTLIERS)),
    ("k_noise", {"k": 1}, ("k = 1 masks nothing: the release is the original.",)),
    ("k_noise", {"k": 2}, ("k counts records near each value of one variable; several",)),
    ("k_pram", {"k": 1}, ("k = 1 masks nothing: the release is the original.",)),
    ("k_pram", {"k": 2}, ("k counts records in an interval of one variable; several",)),
    ("microaggregation", {"k": 1}, ("k = 1 masks nothing: the release is the original.",)),
    ("microaggregation", {"k": 2}, ("Who holds the original file knows the group of every row, and "
                                    "links one of 2 correctly by chance",)),
    ("rank_swapping", {"p": 0}, ("P = 0 masks nothing: the release is the original.",)),
    ("rank_swapping", {"p": 0.1}, SWAPPED),
    ("rank_swapping", {"p": 0, "r0": 0.9}, SWAPPED),
    ("rank_swapping", {"p": 0, "k0": 0.1}, SWAPPED),
    ("rank_swapping", {"p": 0, "top": 0.1}, SWAPPED_WITH_MEANS),
    ("rank_swapping", {"p": 0, "bottom": 0.1}, SWAPPED_WITH_MEANS),
    ("random_swapping", {"share": 0}, ("share = 0 masks nothing: the release is the original.",)),
    ("random_swapping", {}, ("Counts of every single variable stay exact", "A value that only")),
    ("record_swapping", {"share": 0}, ("share = 0 masks nothing: the release is the original.",)),
    ("record_swapping", {}, ("Swapped values move together", "Where all of a block have the same")),
    ("pram", {"change": 0}, ("Nothing is masked: the release is the original.",)),
    ("pram", {"alpha": 0}, ("Nothing is masked: the release is the original.",)),
    ("pram", {"change": 0, "matrices": IDENTITY}, (SHARES, PUBLISH)),
    ("pram", {"invariant": False}, ("Shares of levels change; relations", PUBLISH)),
    ("pram", {"invariant": False, "spread": "margins"}, (SHARES, PUBLISH)),
    ("recoding", {}, ("Classes are made variable by variable",)),
    ("local_suppression", {}, ("k records share their keys, but all of them may have one",)),
    ("sampling", {}, ("Released records are true records",)),
]  # fmt: skip


def test_a_setting_says_what_it_keeps_and_nothing_that_holds_for_others() -> None:
    for method, options, beginnings in CAUTIONS:
        said = METHODS[method](**options).cautions()
        assert len(said) == len(beginnings), (method, options, said)
        for sentence, beginning in zip(said, beginnings, strict=True):
            assert sentence.startswith(beginning), (method, options)
            assert sentence.endswith(".")


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


MASKED = "noise may make numbers of y, z negative, which the original has none of; reflected=true"
KEPT = "released as they are: g, h"
NUMBERS = "released as they are: x, y, z"
NAMES = "merged levels carry the name of the most frequent of them"
ALONE = "1 records are alone in their block and keep their values"

REMARKS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("additive_noise", {}, [KEPT, f"{MASKED} prevents it"]),
    ("additive_noise", {"size": 0}, [KEPT]),
    ("additive_noise", {"reflected": True}, [KEPT]),
    ("correlated_noise", {}, [KEPT]),
    ("k_noise", {}, [KEPT]),
    ("k_pram", {}, [KEPT]),
    ("microaggregation", {}, [KEPT]),
    ("rank_swapping", {"p": 0.25}, [KEPT]),
    (
        "rank_swapping",
        {"p": 0.2},
        [KEPT, "P = 0.2 of 8 records is less than 2 ranks, so nothing is exchanged; take a larger "
         "one"],
    ),
    ("rank_swapping", {"p": 0.2, "r0": 0.5}, [KEPT]),
    ("rank_swapping", {"p": 0.2, "k0": 0.5}, [KEPT]),
    ("rank_swapping", {"p": 0}, [KEPT]),
    ("random_swapping", {}, [NUMBERS]),
    (
        "random_swapping",
        {"rarer_than": 2},
        [NUMBERS, "2 of 8 records have a combination of key values that occurs fewer than 2 times; "
         "only they are swapped"],
    ),
    ("record_swapping", {"within": "g"}, ["released as they are: x, y, g, h", ALONE]),
    ("record_swapping", {"within": "h"}, ["released as they are: x, y, g, h"]),
    ("pram", {}, [NUMBERS]),
    ("pram", {"change": 1}, [NUMBERS, "the matrix of g, h has no inverse, so nobody can estimate "
                             "true counts without bias"]),
    ("recoding", {"k": 2}, [NAMES]),
    ("recoding", {"k": 1}, []),
    ("local_suppression", {}, ["only the keys are changed: g, h"]),
    ("sampling", {"left_out": 0.25}, ["6 of 8 records are released, as they are"]),
    ("row_copy", {}, ["every replaced row is one person's true record"]),
    ("row_copy", {"q": 0.0}, []),
    ("rwn", {"k": 1}, []),
]  # fmt: skip


def test_a_table_is_remarked_on_in_full(data: Microdata) -> None:
    for method, options, expected in REMARKS:
        assert METHODS[method](**options).remarks(data, None) == expected, (method, options)


def test_numbers_alone_have_no_merged_levels(data: Microdata) -> None:
    numbers = Microdata.from_frame(data.frame[["x", "y"]])
    assert METHODS["recoding"](k=2).remarks(numbers, None) == []
    assert METHODS["rank_swapping"](p=0.5).remarks(numbers, None) == []


def test_a_level_without_another_leaves_nothing_to_estimate() -> None:
    data = Microdata.from_frame(pd.DataFrame({"g": ["a"] * 4, "h": list("uvuv")}))
    said = METHODS["pram"](change=1).remarks(data, None)
    assert [each.partition(" has")[0] for each in said] == ["the matrix of h"]


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
    shares = params.distance_shares(data)
    assert sum(shares.values()) == pytest.approx(1.0)
    words = ", ".join(f"{name} {100 * share:.1f}%" for name, share in shares.items())
    assert params.remarks(data, None) == [f"shares of the squared distance: {words}"]


def test_what_random_candidates_cost_is_said_once_a_key_is_drawn(data: Microdata) -> None:
    params = RWN(k=1, neighbors="sample", m=4)
    (said,) = params.remarks(data, mask(data, params, seed=1).law)
    assert said.startswith("neighbors sample: ")
    assert params.remarks(data, None) == []
    assert RWN(k=1).remarks(data, mask(data, RWN(k=1), seed=1).law) == []
