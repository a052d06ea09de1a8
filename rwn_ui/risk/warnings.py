"""Warnings at a setting that the numbers do not show."""

from __future__ import annotations

from typing import Any

from rwn_core.evaluation.attack_list import Answers
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent


def warnings(params: Any, readings: Answers, *, digits: bool, separate: int) -> list[str]:
    """The warnings of the method that apply to this setting, most pressing first."""
    texts = [*_of_linkage(readings), *params.cautions(), *_of_extremes(readings)]
    if digits:
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
        people = (
            f"In {percent(shared)} of the neighborhoods nearly everybody has"
            if _drawn(readings)
            else f"For {percent(shared)} of the records nearly all who may give them values have"
        )
        texts.append(f"{people} one confidential value: it is disclosed without any linkage.")
    changed = _value(readings, "cells_changed") != 0  # at q = 0 nothing is distorted
    return texts + (_of_changes(params, readings, separate) if changed else [])


def _drawn(readings: Answers) -> bool:
    """True if values are drawn from neighborhoods."""
    return isinstance(readings["neighborhood_size"], Reading)


def _of_linkage(readings: Answers) -> list[str]:
    """Limits of linkage by distance, their reason, and a remedy with this method."""
    worst, ordinary = _value(readings, "bayes_linkage"), _value(readings, "distance_linkage")
    if worst is None or ordinary is None or not _far_beyond(worst, ordinary):
        return []
    reading: Any = readings["bayes_linkage"]
    alone = (
        "the values of a row, exact or rounded, together leave few originals that can have "
        "released it"
    )
    if not _far_beyond(reading.detail.row_by_row, ordinary):
        alone = (
            "single rows are ambiguous, but each original is the source of only one row: "
            "matching all rows jointly removes most of the ambiguity"
        )
    help = "Larger neighborhoods at q = 1" if _drawn(readings) else "Stronger masking"
    return [
        f"Ordinary linkage finds {percent(ordinary)} of the records, a person who knows the "
        f"original data {_least(readings)}{percent(worst)}: {alone}. {help} or fewer variables "
        "help. Rounding helps in addition, rarely by itself."
    ]


def _far_beyond(worst: float, ordinary: float) -> bool:
    """True if the number of linkage by distance is misleading."""
    return worst > max(2 * ordinary, 0.2)


def _least(readings: Answers) -> str:
    reading = readings["bayes_linkage"]
    bound = isinstance(reading, Reading) and reading.detail.standing == "at least"
    return "at least " if bound else ""


def _of_privacy(readings: Answers) -> list[str]:
    privacy = readings["differential_privacy"]
    if not isinstance(privacy, Reading):
        return ["Nothing is known of differential privacy, and there is no membership protection."]
    alone = "" if privacy.detail.total_epsilon else " There is no membership protection either."
    return [privacy.detail.statement + alone]


def _of_extremes(readings: Answers) -> list[str]:
    extremes = readings["extremes"]
    if not isinstance(extremes, Reading):
        return []
    copies = extremes.detail.released
    there = sum(count > 0 for count in copies)
    if not there:
        return [f"None of the {len(copies)} largest and smallest values stands in this release."]
    return [
        f"Of the {len(copies)} largest and smallest values {there} stand in this release"
        + (f", one of them {max(copies)} times" if max(copies) > 1 else "")
        + (
            ": an extreme may stay, vanish or be copied to others, and it is a real person's."
            if _drawn(readings)
            else ": each is a real person's value."
        )
    ]


def _of_changes(params: Any, readings: Answers, separate: int) -> list[str]:
    """Effect of masking on relations and standard errors."""
    texts = _of_neighborhoods(readings)
    full_rows = params.releases_true_rows or _whole_rows(readings)
    if separate > 1 and not full_rows:
        apart = (
            "take their values from donors of their own"
            if _drawn(readings)
            else "are masked by themselves"
        )
        texts.append(
            f"{separate} variables {apart}. What is computed from others (sums, ratios, dummies of "
            "one answer) "
            + ("must form a group with them: " if params.uses_slices else "no longer fits them: ")
            + "edit rules may break."
        )
    if _drawn(readings):
        texts.append(
            "Small groups shrink, means drift toward dense regions, and standard errors that are "
            "computed from the release are too small, the more so the larger q and the "
            "neighborhoods."
        )
    elif not full_rows:
        texts.append(
            "Standard errors that are computed from the release take masked values for true ones: "
            "they leave out what masking adds."
        )
    return texts


def _of_neighborhoods(readings: Answers) -> list[str]:
    """True if the radius has no effect, or neighborhoods hold most of the file."""
    sizes = readings["neighborhood_size"]
    if not isinstance(sizes, Reading):
        return []
    texts = []
    if sizes.detail.share_governed_by_k > 0.5:
        texts.append(
            f"The radius plays no part for {percent(sizes.detail.share_governed_by_k)} of the "
            "records: only their k nearest give values. In many columns distances concentrate, "
            "and a small radius reaches nobody."
        )
    if sizes.value > 0.5 * len(sizes.detail.sizes):
        texts.append(
            "The typical neighborhood is more than half the file: a modified value may come from "
            "most of the other people, near or far."
        )
    return texts


def _whole_rows(readings: Answers) -> bool:
    """True if all variables of a row come from one donor."""
    privacy = readings["differential_privacy"]  # of each unit that is drawn by itself
    return isinstance(privacy, Reading) and len(privacy.detail.names) == 1


def _value(readings: Answers, key: str) -> float | None:
    reading: Any = readings[key]
    return reading.value if isinstance(reading, Reading) else None
