"""Section of the Risk page on donors of shown values: true matches, and the best attack."""

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
    """True matches by key set, links that are sure, and how confidential values are named."""
    made = (_matches(readings), _sure(readings), _worst(readings), _strategies(readings))
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
        f"random. First what is stated, then the worst of {detail['larger']:,} sets of more than "
        f"three variables and of any three ({detail['searched']:,} sets).{skipped} Expected: for "
        "variables that share a donor, before any release is drawn.",
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
    """Number of links at several posterior probabilities."""
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


def _worst(readings: Answers) -> Table | None:
    """Return the gain in naming each confidential variable, and its worst level."""
    reading = readings["attribute_inference"]
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    order = np.argsort([-gain["value"] for gain in detail["gains"]], kind="stable")
    return {
        "title": "Which confidential value is disclosed?",
        "columns": [
            "confidential",
            "named correctly",
            "exact value",
            "without the release",
            "worst level",
            "named of it",
            "names that are right",
            "gain",
        ],
        "rows": [_gain_row(detail, at) for at in order.tolist()],
        "caption": "Named correctly: the share of people, by the best strategy. Worst level: "
        "recall and precision of naming its people, or people an intruder is sure of. "
        "Gain: the larger one of both, beyond the baseline. The largest gain decides.",
    }


def _gain_row(detail: Mapping[str, Any], at: int) -> list[str]:
    gain = detail["gains"][at]
    naming = gain["naming"]
    level, recall, right = "–", "–", "–"
    if naming["score"]:
        level = "all" if naming["level"] is None else naming["level"]
        level += f", {percent(naming['certainty'])} sure" if naming["certainty"] else ""
        recall = percent(naming["right"] / naming["people"])
        right = percent(naming["right"] / naming["named"])
    return [
        detail["secrets"][at],
        percent(float(detail["informed"][at])),
        percent(float(detail["exact"][at])),
        percent(gain["reference"]),
        level,
        recall,
        right,
        percent(gain["value"]),
    ]


def _strategies(readings: Answers) -> Table | None:
    """Return the success of each strategy on each confidential variable."""
    reading = readings["attribute_inference"]
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    found = list(zip(detail["rates"], detail["strategies"], strict=True))
    shown = [key for key in STRATEGIES if any(key in rates for rates, _ in found)]
    return {
        "title": "How a confidential value is found out",
        "columns": ["strategy", *detail["secrets"]],
        "rows": [
            [
                STRATEGIES[key][0].upper() + STRATEGIES[key][1:],
                *(
                    (percent(rates[key]) if key in rates else "–")
                    + (" (best)" if key == best else "")
                    for rates, best in found
                ),
            ]
            for key in shown
        ],
        "caption": f"An intruder who knows {', '.join(detail['names'])} of every person and the "
        "method "
        "guesses the most probable value. The table shows the share of correct guesses by "
        "strategy. "
        "A prediction from the keys also applies to people outside of the file.",
    }
