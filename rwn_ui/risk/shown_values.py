"""The Risk page's section on whose values a row shows: true matches, and the best attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rwn_core.evaluation.attack_list import Answers
from rwn_core.measures.attacks.attribute_attack import STRATEGIES
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent

Table = dict[str, Any]
_SETS = 8  # of the search, those that show most


def tables(readings: Answers) -> list[Table]:
    """True matches by key set, the intruder who is sure, and strategies of the attribute attack."""
    made = (_matches(readings), _sure(readings), _strategies(readings))
    return [table for table in made if table is not None]


def _matches(readings: Answers) -> Table | None:
    reading = readings["true_matches"]
    if not isinstance(reading, Reading):
        return None
    detail, sets = reading.detail, reading.detail["sets"]
    ranked = np.lexsort((-sets["found"][detail["stated"] :], -sets["read"][detail["stated"] :]))
    shown = [*range(detail["stated"]), *(detail["stated"] + ranked[:_SETS]).tolist()]
    left = detail["possible"] - detail["searched"]
    skipped = f" {left:,} more sets of three were not looked at." if left else ""
    return {
        "title": "Whose values does a row show?",
        "columns": [
            "known of everybody",
            "people alone with it",
            "found in the release",
            "expected by the law",
            "read truly",
            "by chance",
        ],
        "rows": [_row(sets, at) for at in shown],
        "caption": "Found: a released row has exactly these values of a person, so it is known "
        "that the person is in the file. Read truly: such a row shows the person's own "
        "confidential value, with its 95 % interval; by chance: if those values were dealt at "
        "random. First what is stated, then the worst of any three variables "
        f"({detail['searched']:,} sets).{skipped} Expected: for variables that share a donor, "
        "before any release is drawn.",
    }


def _row(sets: Mapping[str, Any], at: int) -> list[str]:
    expected, secret = sets["expected"][at], sets["secret"][at]
    low, high = (percent(end) for end in sets["read_interval"][at].tolist())
    read = f"{percent(float(sets['read'][at]))} ({low} to {high}) of {secret}"
    return [
        ", ".join(sets["names"][at]),
        f"{sets['people'][at]:,}",
        percent(float(sets["found"][at])),
        "–" if expected is None else percent(expected),
        "–" if secret is None else read,
        "–" if secret is None else percent(float(sets["chance"][at])),
    ]


def _sure(readings: Answers) -> Table | None:
    """How many are linked at several degrees of certainty."""
    reading = readings["abstaining_linkage"]
    if not isinstance(reading, Reading):
        return None
    detail, sides = reading.detail, (("all variables", "all"), ("the keys alone", "keys"))
    return {
        "title": "Links by somebody who is sure of them",
        "columns": ["known of everybody", *(f"{percent(p)} right" for p in detail["precisions"])],
        "rows": [[words, *map(percent, detail[key]["at"])] for words, key in sides],
        "caption": "Share of the rows that are linked if he keeps silent about all others, so that "
        "so many of the links are right in expectation.",
    }


def _strategies(readings: Answers) -> Table | None:
    reading = readings["attribute_inference"]
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "title": "How a confidential value is found out",
        "columns": [
            "confidential",
            *(words[0].upper() + words[1:] for words in STRATEGIES.values()),
        ],
        "rows": [
            [
                name,
                *(percent(rates[key]) + (" (best)" if key == best else "") for key in STRATEGIES),
            ]
            for name, rates, best in zip(
                detail["secrets"], detail["rates"], detail["strategies"], strict=True
            )
        ],
        "caption": f"Who knows {', '.join(detail['names'])} of everybody and the method names the "
        "likeliest value; the share of people for whom it is right, by what he does.",
    }
