"""What a setting means when nothing is said: defaults, levers, starting points and options.

Whoever repeats a release or reads a setting from a file relies on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.masking import METHODS, RWN, LeverRange, method_options, option_words
from rwn_core.masking.lever import lever_presets, lever_ranges, neutral_levers
from rwn_core.masking.option import method_words
from rwn_core.neighbors.slider_range import SliderRange

FLAGS = ("uses_weights", "uses_slices", "releases_true_rows", "drops_lost_rows", "moves_missing",
         "has_forecast")  # fmt: skip
NEAR = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.5, stored=3.0)
TWINS = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.0, stored=3.0)
SPARSE = pd.DataFrame({"x": [1.5, None, None, None], "g": list("abab")})


def table(n: int) -> Microdata:
    frame = pd.DataFrame({"x": np.arange(n) * 1.0, "g": ["a", "b"] * (n // 2)})
    return Microdata.from_frame(frame)


def of_a_method(method: Any) -> Iterator[str]:
    """All that holds of a method before a table is known."""
    yield "flags: " + ", ".join(flag for flag in FLAGS if getattr(method, flag, False) is True)
    yield f"neutral: {neutral_levers(method)}"
    for field in fields(method):
        default = "needed" if "MISSING" in repr(field.default) else repr(field.default)
        yield f"default {field.name}: {default}"
    for lever in method.levers:
        yield f"lever {lever.name}: {lever.words}, whole {lever.whole_number}, off {lever.off}"
    for option in method_options(method):
        about = f"{option.title}, {option.form}, {option.choices}, optional {option.optional}"
        yield f"option {option.name}: {about}; {option.help}"
    helped = {option.name for option in method_options(method)}
    for name, words in method_words(method, "parameters").items():
        if name not in helped:
            yield f"words {name}: {words}"


def on_tables(method: str) -> Iterator[str]:
    """How far its levers go on tables of several sizes, and where they start."""
    near = method in ("rwn", "nbrs2015", "row_copy")
    options = {"rwn": {"k": 1}, "nbrs2015": {"epsilon": 1.0}}.get(method, {})
    tables: dict[str, Any] = {"300": table(300), "6": table(6), "4": table(4)}
    tables |= {"sparse": Microdata.from_frame(SPARSE), "2": Microdata.from_frame(SPARSE[:2])}
    params, before = METHODS[method](**options), dict[str, str]()
    for name, data in ({"near": NEAR, "twins": TWINS} if near else tables).items():
        ranges = lever_ranges(params, data).items()
        said = {lever: f"{ends.low} to {ends.high} by {ends.step}" for lever, ends in ranges}
        said |= {start: str(dict(at)) for start, at in lever_presets(params, data).items()}
        for what, words in said.items():
            if words != before.get(what):  # only what differs from the table before
                yield f"{name} records, {what}: {words}"
        before = said


def test_every_method_says_what_it_takes_and_where_it_starts(
    sentences: Callable[..., None],
) -> None:
    sentences("setting", {key: [*of_a_method(METHODS[key]), *on_tables(key)] for key in METHODS})
    # neighbors that depend on the key leave nothing to expect
    assert [
        RWN(k=1, neighbors=who, m=m).has_forecast for who, m in (("exact", None), ("pairs", 3))
    ] == [True, False]


def test_successive_swaps_may_be_more_than_the_records() -> None:
    params = METHODS["random_swapping"](pairs="successive")
    assert lever_ranges(params, table(4))["share"] == LeverRange(low=0.0, high=5.0, step=0.05)


def test_values_of_options_in_words() -> None:
    matrices = (("sex", ((1.0, 0.0), (0.0, 1.0))),)
    values = (True, False, 1, 0.25, 1 / 3, ("a", "b"), ["a"], (("a", 1), "b"), matrices, None, 1e7)
    assert [option_words(each) for each in values] == [
        "yes", "no", "1", "0.25", "0.333333", "a, b", "a", "a, b", "sex", "None", "1e+07"
    ]  # fmt: skip
