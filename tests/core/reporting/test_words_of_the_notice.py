"""Which word of a public notice a reading gets: each order of magnitude has its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.distributions import Marginal
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting.evidence import kept_detail
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.fact import Content
from rwn_core.reporting.facts.outside import OUTSIDE


def told(key: str, readings: dict[str, Any]) -> Content:
    entry = next(entry for entry in OUTSIDE if entry.key == key)
    assert entry.make is not None
    return entry.make(Material(record={"readings": readings, "setting": {"method": "rwn"}}))


ENDS = {
    "marginals": (0.01, 0.05, 0.15, 0.3, 0.6),
    "association_loss": (0.05, 0.2, 0.4, 0.6, 0.85),
    "subgroups": (0.02, 0.1, 0.25, 0.5, 0.8),
}


def slopes(coverage: float, signs: float, *, releases: int = 60) -> dict[str, Any]:
    return {
        "response": "y",
        "names": ["a", "b"],
        "coverage": [coverage, 0.95],
        "signs": [signs, 1.0],
        "shift": [0.0, 0.0],
        "releases": releases,
        "drawn": 60,
    }


def errors(**parts: Any) -> tuple[str, ...]:
    about = {"context": {"contact": "data@x.org"}, "setting": {"method": "rwn"}}
    record = {"readings": {}, **about, **parts}
    entry = next(entry for entry in OUTSIDE if entry.key == "errors")
    assert entry.make is not None
    return entry.make(Material(record=record)).lines


def test_a_slope_is_trusted_only_if_intervals_hold_it_over_releases() -> None:
    """Finding N2: neither "as large as the original's" nor a correction that corrects nothing."""
    said = [words.JUDGED.format(response="y")]
    ask = words.ASK.format(contact="data@x.org")
    hold = words.HELD.format(names="b")
    for judged, lines in (
        (slopes(0.8, 0.95), [words.HELD.format(names="a, b")]),
        (slopes(0.79, 0.95), [words.MISSED.format(names="a"), hold]),
        (slopes(0.9, 0.94), [words.TURNED.format(names="a"), hold]),
        (slopes(1.0, 1.0, releases=47), [words.MISSED.format(names="a, b")]),
    ):
        assert errors(slopes=[judged]) == (*words.ERRORS, *said, *lines, ask)
    assert errors() == (*words.ERRORS, words.UNJUDGED, ask)
    everything = " ".join(words.vocabulary())
    for false in ("further, independent source", "small effects are changed", "about as large"):
        assert false not in everything
    one_file = {**slopes(0.0, 1.0, releases=1), "drawn": 1}
    assert words.SINGLE.format(response="y") in errors(slopes=[one_file])


def test_means_move_in_standard_deviations_and_a_constant_does_not() -> None:
    counts = {"original": np.array([1, 2]), "released": np.array([1, 2]), "difference": 0.25}
    sex = Marginal(levels=["f", "m"], **counts, missing_original=0, missing_released=0)
    x = replace(sex, edges=np.arange(3.0), mean_original=2.0, mean_released=3.0, sd_original=2.0)
    variables = {"x": x, "constant": replace(x, sd_original=0.0), "sex": sex}
    kept = kept_detail("marginals", Reading(value=0.0, detail=marginal_distances(variables)))
    assert kept == {"mean_shift": {"x": 0.5}, "share_shift": {"sex": 0.25}}


def test_each_word_begins_where_it_should() -> None:
    for key in words.LOST:
        for place, end in enumerate(ENDS[key]):
            below, at = (told("loss", {key: {"value": v}}).table.rows for v in (end * 0.999, end))
            assert (below[0][1], at[0][1]) == words.AMOUNTS[place : place + 2]
    said = list(words.CHANGED.values())[::-1]
    for place, end in enumerate((0.1, 0.4, 0.6, 0.9)):
        for value, line in ((end * 0.999, said[place]), (end, said[place + 1])):
            assert line in told("loss", {"cells_changed": {"value": value}}).lines


def test_the_largest_shift_of_either_sign_is_said() -> None:
    for key, line, far in (
        ("mean_shift", words.MEANS, words.FAR_MEANS),
        ("share_shift", words.SHARES, words.FAR_SHARES),
    ):
        near = [*(line.format(near=each) for each in words.NEAR), far]
        for place, end in enumerate((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)):
            for value, wanted in ((end * 0.999, near[place]), (end, near[place + 1])):
                for one in (value, -value):  # the largest of either sign
                    marginals = {"value": 0.0, key: {"x": 0.0, "y": one}}
                    assert told("totals", {"marginals": marginals}).lines[1] == wanted
