"""Which word of a public notice a reading gets: each order of magnitude has its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.measures.measure import Reading
from rwn_core.reporting.evidence import kept_detail
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.fact import Content
from rwn_core.reporting.facts.outside import OUTSIDE


def told(key: str, readings: dict[str, Any]) -> Content:
    entry = next(entry for entry in OUTSIDE if entry.key == key)
    assert entry.make is not None
    return entry.make(Material(record={"readings": readings, "setting": {"method": "rwn"}}))


def test_each_order_of_magnitude_has_its_word() -> None:
    values = np.geomspace(0.001, 10.0, 200)
    for key in words.LOST:
        loss = [told("loss", {key: {"value": float(v)}}) for v in values]
        said = [content.table.rows[0][1] for content in loss]
        assert tuple(dict.fromkeys(said)) == words.AMOUNTS
        assert words.LOSS[1] in loss[0].lines
    changed = [told("loss", {"cells_changed": {"value": float(v)}}).lines for v in values]
    said = [line for lines in changed for line in lines if line in words.CHANGED.values()]
    assert list(dict.fromkeys(said)) == list(words.CHANGED.values())[::-1]
    every = {key: {"value": 0.1} for key in words.LOST}
    assert words.LOSS[1] not in told("loss", every).lines


def test_standard_errors_are_compared_by_the_median_without_the_constant() -> None:
    for ratios, said in (
        ([9.0, 0.5, 0.8], "smaller"),
        ([0.0, 0.95, 1.0, 3.0], "alike"),
        ([0.0, 1.2, 1.3, 0.1], "larger"),
    ):
        lines = told("errors", {"standard_errors": {"value": 1.0, "ratio": ratios}}).lines
        assert lines == (*words.ERRORS, words.REPORTED_ERRORS[said])
    assert told("errors", {}).lines == words.ERRORS


def test_the_largest_shift_of_either_sign_is_said() -> None:
    shifts = np.geomspace(0.001, 10.0, 200)
    for key, near, far in (
        ("mean_shift", words.MEANS, words.FAR_MEANS),
        ("share_shift", words.SHARES, words.FAR_SHARES),
    ):
        read = [{"value": 0.0, key: {"x": 0.0, "y": sign * s}} for s in shifts for sign in (1, -1)]
        lines = [told("totals", {"marginals": reading}).lines for reading in read]
        expected = [*(near.format(near=word) for word in words.NEAR), far]
        assert list(dict.fromkeys(line for _, line in lines)) == expected
        assert all(one == other for one, other in zip(lines[::2], lines[1::2], strict=True))
    assert told("totals", {}).lines == (words.TOTALS,)


def test_means_move_in_standard_deviations_and_a_constant_does_not() -> None:
    about = {"kind": "numeric", "mean_original": 2.0, "mean_released": 3.0}
    variables = {
        "x": {**about, "sd_original": 2.0},
        "constant": {**about, "sd_original": 0.0},
        "sex": {"kind": "categorical", "difference": 0.25},
    }
    kept = kept_detail("marginals", Reading(value=0.0, detail={"variables": variables}))
    assert kept == {"mean_shift": {"x": 0.5}, "share_shift": {"sex": 0.25}}


def test_each_word_begins_where_it_should() -> None:
    share = (0.01, 0.05, 0.15, 0.4)
    ends = {"regression": (0.5, 1.0, 2.0, 4.0), "subgroups": (0.02, 0.1, 0.25, 0.5)}
    for key in words.LOST:
        for place, end in enumerate(ends.get(key, share)):
            below, at = (told("loss", {key: {"value": v}}).table.rows for v in (end * 0.999, end))
            assert (below[0][1], at[0][1]) == words.AMOUNTS[place : place + 2]
    said = list(words.CHANGED.values())[::-1]
    for place, end in enumerate((0.1, 0.4, 0.6, 0.9)):
        for value, line in ((end * 0.999, said[place]), (end, said[place + 1])):
            assert line in told("loss", {"cells_changed": {"value": value}}).lines
    near = [*(words.MEANS.format(near=each) for each in words.NEAR), words.FAR_MEANS]
    for place, end in enumerate((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)):
        for value, line in ((end * 0.999, near[place]), (end, near[place + 1])):
            marginals = {"value": 0.0, "mean_shift": {"x": value}}
            assert told("totals", {"marginals": marginals}).lines[1] == line
    for ratio, line in ((0.899, "smaller"), (0.9, "alike"), (1.099, "alike"), (1.1, "larger")):
        read = {"standard_errors": {"value": 0.0, "ratio": [1.0, ratio]}}
        assert told("errors", read).lines[-1] == words.REPORTED_ERRORS[line]
