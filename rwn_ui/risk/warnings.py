"""What a careful steward must bear in mind at a setting, whatever the numbers say."""

from __future__ import annotations

from typing import Any

from rwn_core.evaluation.attack_list import Answers
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent


def warnings(params: Any, readings: Answers, *, rounding: bool, groups: int) -> list[str]:
    """The warnings of the method that apply to this setting, most pressing first."""
    texts: list[str] = []
    worst, ordinary = _value(readings, "bayes_linkage"), _value(readings, "distance_linkage")
    if worst is not None and ordinary is not None and worst > 2 * ordinary and worst > 0.2:
        texts.append(
            f"Ordinary linkage finds {percent(ordinary)} of the records, a person who knows the "
            f"original data {_least(readings)}{percent(worst)}: the values of a row, exact or "
            "rounded, together leave few originals that can have released it. "
            f"{_help(readings)} or fewer variables help; rounding helps on top of them, seldom "
            "alone."
        )
    texts += params.cautions()
    texts += _of_extremes(readings)
    if not rounding:
        texts.append("Values are released with all their digits; long decimals are identifiers.")
    texts.append(
        "Row order, row names, file dates and the order of levels are identifiers too: publish the "
        "shuffled file that this program writes."
    )
    texts.append(
        "One release only: each further release of this table, at any setting, adds evidence; so "
        "do a corrected file and a later wave of the same people."
    )
    texts += _of_privacy(readings)
    texts.append(
        "The key of a release is a secret: whoever has it undoes the row order and knows which "
        "cells are original. A seed of the trial is none."
    )
    shared = _value(readings, "homogeneity")
    if shared:
        where = "In" if _drawn(readings) else "For"
        whom = (
            "of the neighborhoods nearly everybody has"
            if _drawn(readings)
            else "of the records nearly all who may give them values have"
        )
        texts.append(
            f"{where} {percent(shared)} {whom} one confidential value: it is disclosed without "
            "any linkage."
        )
    return texts + (_of_changes(params, readings, groups) if _changed(readings) else [])


def _help(readings: Answers) -> str:
    """What helps against who knows the original data."""
    return "Larger neighborhoods at q = 1" if _drawn(readings) else "Stronger masking"


def _drawn(readings: Answers) -> bool:
    """Whether values are drawn from neighborhoods."""
    return isinstance(readings["neighborhood_size"], Reading)


def _changed(readings: Answers) -> bool:
    """Whether masking did anything: at q = 0 nothing moves that it could distort."""
    return _value(readings, "cells_changed") != 0


def _least(readings: Answers) -> str:
    reading = readings["bayes_linkage"]
    bound = isinstance(reading, Reading) and reading.detail["standing"] == "at least"
    return "at least " if bound else ""


def _of_privacy(readings: Answers) -> list[str]:
    privacy = readings["differential_privacy"]
    if not isinstance(privacy, Reading):
        return ["Nothing is known of differential privacy, and there is no membership protection."]
    alone = "" if privacy.detail["total_epsilon"] else " There is no membership protection either."
    return [privacy.detail["statement"] + alone]


def _of_extremes(readings: Answers) -> list[str]:
    extremes = readings["extremes"]
    if not isinstance(extremes, Reading):
        return []
    copies = extremes.detail["released"]
    there = sum(count > 0 for count in copies)
    if not there and not _drawn(readings):
        return [f"None of the {len(copies)} largest and smallest values stands in this release."]
    return [
        f"Of the {len(copies)} largest and smallest values {there} stand in this release"
        + (f", one of them {max(copies)} times" if there and max(copies) > 1 else "")
        + (
            ": an extreme may stay, vanish or be copied to others, and it is a real person's."
            if _drawn(readings)
            else ": each is a real person's value."
        )
    ]


def _of_changes(params: Any, readings: Answers, groups: int) -> list[str]:
    texts = _of_neighborhoods(readings)
    if groups == 0 and not params.shows_whole_rows:
        texts.append(
            "Variables that are computed from others (sums, ratios, dummies of one answer) "
            + (
                "take values of different donors unless they form a group: edit rules may break."
                if params.uses_slices
                else "are masked apart from them: edit rules may break."
            )
        )
    if _drawn(readings):
        texts.append(
            "Small groups shrink, means drift toward dense regions, and standard errors that are "
            "computed from the release are too small, the more so the larger q and the "
            "neighborhoods."
        )
    elif not params.shows_whole_rows:
        texts.append(
            "Standard errors that are computed from the release take masked values for true ones: "
            "they leave out what masking adds."
        )
    return texts


def _of_neighborhoods(readings: Answers) -> list[str]:
    texts = []
    sizes = readings["neighborhood_size"]
    if isinstance(sizes, Reading) and sizes.detail["share_governed_by_k"] > 0.5:
        texts.append(
            f"The radius plays no part for {percent(sizes.detail['share_governed_by_k'])} of the "
            "records: only their k nearest give values. In many columns distances concentrate, "
            "and a small radius reaches nobody."
        )
    if isinstance(sizes, Reading) and sizes.value > 0.5 * len(sizes.detail["sizes"]):
        texts.append(
            "The typical neighborhood is more than half the file: a modified value may come from "
            "nearly anybody."
        )
    return texts


def _value(readings: Answers, key: str) -> float | None:
    reading: Any = readings[key]
    return reading.value if isinstance(reading, Reading) else None
