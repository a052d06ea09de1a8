"""What a setting means when nothing is said: defaults, levers and starting points, in full.

Whoever repeats a release or reads a setting from a file relies on them.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.masking import METHODS, RWN, LeverRange
from rwn_core.masking.lever import lever_presets, lever_ranges, neutral_levers
from rwn_core.neighbors.slider_range import SliderRange
from tests.holding import hold

DEFAULTS: dict[str, dict[str, Any]] = {
    "rwn": {
        "epsilon": None, "k": None, "q": 1.0, "scale": "sd", "encoding": "dummies",
        "neighbors": "exact", "m": None, "u": None, "fresh": False, "weights": "schema",
        "outside_household": False, "kernel": "even", "width": None, "bandwidth": "adaptive",
        "bandwidth_k": None, "cap": None, "own": False, "balance": 0.0,
    },
    "nbrs2015": {"epsilon": MISSING, "q": 1.0, "record_selection": "count"},
    "additive_noise": {"size": 0.3, "shape": "gaussian", "reflected": False, "others": "keep"},
    "correlated_noise": {"size": 0.25, "form": "population", "others": "keep"},
    "k_noise": {"k": 10, "shape": "uniform", "others": "keep"},
    "rank_swapping": {
        "p": None, "r0": None, "k0": None, "top": 0.0, "bottom": 0.0, "form": "moore",
        "others": "keep",
    },
    "random_swapping": {
        "share": 0.2, "pairs": "disjoint", "rarer_than": 0, "variables": (), "others": "keep",
    },
    "record_swapping": {"share": 0.5, "within": (), "variables": ()},
    "pram": {
        "change": 0.2, "spread": "even", "invariant": True, "alpha": 1.0, "matrices": (),
        "variables": (), "within": (), "others": "keep",
    },
    "k_pram": {"k": 10, "draw_from": "resample", "others": "keep"},
    "recoding": {"k": 20, "top": 0.0, "bottom": 0.0, "others": "keep"},
    "row_copy": {"epsilon": 0.0, "k": 5, "q": 1.0},
    "microaggregation": {"k": 5, "others": "keep"},
    "local_suppression": {"k": 3, "classes": 3},
    "sampling": {"left_out": 0.5},
}  # fmt: skip

COUNTED = ("k_noise", "k_pram", "recoding", "microaggregation", "local_suppression")
BALL = {"epsilon": 0.0, "k": 1, "q": 1.0}
STARTS: dict[str, dict[str, float]] = {
    "rwn": BALL, "row_copy": BALL, "nbrs2015": {"epsilon": 1.0, "q": 1.0},
    **{method: {"k": 1} for method in COUNTED},
}  # fmt: skip

SHARE, WHOLE, TAIL = (0.0, 1.0, 0.05), (1, 150, 1), (0.0, 0.4, 0.01)
RANGES: dict[str, dict[str, tuple[float, float, float]]] = {
    "additive_noise": {"size": (0.0, 2.0, 0.05)},
    "correlated_noise": {"size": (0.0, 4.0, 0.05)},
    "k_noise": {"k": WHOLE},
    "rank_swapping": {"p": (0.0, 0.5, 0.01), "r0": (0.0, 1.0, 0.01), "k0": (0.0, 1.0, 0.01)},
    "random_swapping": {"share": SHARE},
    "record_swapping": {"share": SHARE},
    "pram": {"change": SHARE},
    "k_pram": {"k": WHOLE},
    "recoding": {"k": WHOLE, "top": TAIL, "bottom": TAIL},
    "microaggregation": {"k": (1, 100, 1)},
    "local_suppression": {"k": (1, 100, 1), "classes": (1, 50, 1)},
    "sampling": {"left_out": (0.0, 0.95, 0.05)},
}
"""On a table of 300 records; half of them is the end of some."""

PRESETS: dict[str, tuple[dict[str, float], ...]] = {
    "additive_noise": ({"size": 0.1}, {"size": 0.3}, {"size": 1.0}),
    "correlated_noise": ({"size": 0.05}, {"size": 0.25}, {"size": 1.0}),
    "k_noise": ({"k": 5}, {"k": 10}, {"k": 50}),
    "rank_swapping": tuple({"p": p, "r0": 1.0, "k0": 0.0} for p in (0.02, 0.05, 0.2)),
    "random_swapping": ({"share": 0.05}, {"share": 0.2}, {"share": 1.0}),
    "record_swapping": ({"share": 0.1}, {"share": 0.5}, {"share": 1.0}),
    "pram": ({"change": 0.1}, {"change": 0.2}, {"change": 0.5}),
    "k_pram": ({"k": 5}, {"k": 10}, {"k": 50}),
    "recoding": tuple({"k": k, "top": 0.0, "bottom": 0.0} for k in (5, 10, 25)),
    "microaggregation": ({"k": 3}, {"k": 5}, {"k": 15}),
    "local_suppression": tuple({"k": k, "classes": 3} for k in (2, 3, 10)),
    "sampling": ({"left_out": 0.1}, {"left_out": 0.5}, {"left_out": 0.9}),
}
"""Light, Standard, Strong."""

FLAGS = ("uses_weights", "uses_slices", "releases_true_rows", "drops_lost_rows", "moves_missing")
TRUE: dict[str, set[str]] = {
    "rwn": {"uses_weights", "uses_slices", "moves_missing"},
    "nbrs2015": {"uses_weights", "uses_slices", "moves_missing"},
    "random_swapping": {"uses_slices"},
    "row_copy": {"uses_weights", "releases_true_rows", "moves_missing"},
    "sampling": {"releases_true_rows", "drops_lost_rows"},
}


def table(n: int) -> Microdata:
    frame = pd.DataFrame({"x": np.arange(n) * 1.0, "g": ["a", "b"] * (n // 2)})
    return Microdata.from_frame(frame)


def test_what_is_not_said_has_the_default_that_is_documented() -> None:
    def rule(method: str) -> None:
        found = {field.name: field.default for field in fields(METHODS[method])}
        assert found == DEFAULTS[method]
        # a switch is no number, though Python takes the two for equal
        assert {name for name, value in found.items() if isinstance(value, bool)} == {
            name for name, value in DEFAULTS[method].items() if isinstance(value, bool)
        }

    hold(rule, METHODS)


def test_every_method_says_what_it_depends_on_and_where_it_starts() -> None:
    def rule(method: str) -> None:
        made = METHODS[method]
        true = {flag for flag in FLAGS if getattr(made, flag, False)}
        assert true == TRUE.get(method, set())
        assert neutral_levers(made) == STARTS.get(method, {})
        assert method == "rwn" or made.has_forecast is True

    hold(rule, METHODS)
    # neighbors that depend on the key leave nothing to expect
    assert [
        RWN(k=1, neighbors=who, m=m).has_forecast for who, m in (("exact", None), ("pairs", 3))
    ] == [True, False]


def test_levers_take_whole_numbers_or_not_and_some_can_be_off() -> None:
    whole = {
        (method, lever.name)
        for method in METHODS
        for lever in METHODS[method].levers
        if lever.whole_number
    }
    assert whole == {
        *((method, "k") for method in (*COUNTED, "rwn", "row_copy")),
        ("local_suppression", "classes"),
    }
    off = {
        (method, lever.name): lever.off
        for method in METHODS
        for lever in METHODS[method].levers
        if lever.off is not None
    }
    assert off == {
        ("rank_swapping", "r0"): 1.0,
        ("rank_swapping", "k0"): 0.0,
        ("recoding", "top"): 0.0,
        ("recoding", "bottom"): 0.0,
    }


@pytest.mark.parametrize("method", RANGES)
def test_a_lever_goes_as_far_as_it_makes_sense_on_a_table(method: str) -> None:
    data, params = table(300), METHODS[method]()
    found = {name: (r.low, r.high, r.step) for name, r in lever_ranges(params, data).items()}
    assert found == RANGES[method]
    presets = lever_presets(params, data)
    assert list(presets) == ["Light", "Standard", "Strong"]
    assert tuple(dict(each) for each in presets.values()) == PRESETS[method]


def test_successive_swaps_may_be_more_than_the_records() -> None:
    params = METHODS["random_swapping"](pairs="successive")
    assert lever_ranges(params, table(4))["share"] == LeverRange(low=0.0, high=5.0, step=0.05)


@pytest.mark.parametrize(
    ("method", "ends", "strong"),
    [
        ("k_noise", (1, 2, 1, 3), (1, 2, 1, 3)),
        ("k_pram", (1, 2, 1, 3), (1, 2, 1, 3)),
        ("recoding", (2, 2, 2, 3), (2, 2, 2, 3)),
        ("microaggregation", (2, 4, 4, 6), (2, 4, 4, 6)),
        ("local_suppression", (2, 4, 4, 6), (2, 4, 4, 6)),
    ],
)
def test_a_tiny_table_has_no_position_beyond_its_records(method, ends, strong) -> None:
    """Two records, one of them without a number; four; four of which one has a number; six."""
    sparse = Microdata.from_frame(pd.DataFrame({"x": [1.5, None, None, None], "g": list("abab")}))
    two = Microdata.from_frame(pd.DataFrame({"x": [1.5, None], "g": list("ab")}))
    tables, params = (two, table(4), sparse, table(6)), METHODS[method]()
    assert tuple(lever_ranges(params, each)["k"].high for each in tables) == ends
    assert tuple(lever_presets(params, each)["Strong"]["k"] for each in tables) == strong


NEAR = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.5, stored=3.0)


def test_methods_of_neighborhoods_start_at_multiples_of_the_typical_distance() -> None:
    radii = {"Light": (0.3, 3, 0.5), "Standard": (0.6, 5, 1.0), "Strong": (1.2, 10, 1.0)}
    for params in (METHODS["rwn"](k=1), METHODS["row_copy"]()):
        assert lever_ranges(params, NEAR) == {
            "epsilon": LeverRange(low=0.0, high=3.0, step=0.1),
            "k": LeverRange(low=1, high=10, step=1),
            "q": LeverRange(low=0.0, high=1.0, step=0.05),
        }
        presets = lever_presets(params, NEAR)
        found = {name: tuple(preset.values()) for name, preset in presets.items()}
        assert found == radii  # fifteen neighbors, if the slider went so far


def test_the_2015_method_starts_where_somebody_has_a_neighbor() -> None:
    params = METHODS["nbrs2015"](epsilon=1.0)
    assert lever_ranges(params, NEAR) == {
        "epsilon": LeverRange(low=0.1, high=3.0, step=0.1),
        "q": LeverRange(low=0.0, high=1.0, step=0.05),
    }
    assert lever_presets(params, NEAR) == {
        "Light": {"epsilon": 0.6, "q": 0.5},
        "Standard": {"epsilon": 1.2, "q": 1.0},
        "Strong": {"epsilon": 2.0, "q": 1.0},
    }
    twins = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.0, stored=3.0)
    assert [each["epsilon"] for each in lever_presets(params, twins).values()] == [0.1, 0.1, 0.1]
