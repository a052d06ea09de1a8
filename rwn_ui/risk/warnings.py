"""Warnings at a setting that the numbers do not show."""

from __future__ import annotations

from typing import Any

from rwn_core.evaluation.attack_list import Answers
from rwn_core.measures import CHANGED, MEASURES, ORDINARY, measures_of
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.membership import DIFFERENTIAL_PRIVACY
from rwn_core.measures.risk.nearness import NEIGHBORHOOD_SIZE

_OF_CHANGES = 8  # from this place on only where some value has changed


def warnings(params: Any, readings: Answers, *, digits: bool, separate: int) -> list[str]:
    """The warnings of method and measures that apply to this setting, most pressing first."""
    drawn = isinstance(readings[NEIGHBORHOOD_SIZE.key], Reading)  # values, from neighborhoods
    ordinary = _value(readings, ORDINARY)
    changed = _value(readings, CHANGED) != 0
    texts: dict[int, list[str]] = {
        2: [*params.cautions()],
        4: [
            *(
                ["Values are released with all their digits; long decimals are identifiers."]
                if digits
                else []
            ),
            "Row order, row names, file dates and the order of levels are identifiers too: publish "
            "the shuffled file that this program writes.",
            "One release only: each further release of this table, at any setting, adds evidence; "
            "so do a corrected file and a later wave of the same people.",
        ],
        # where no law says more
        5: ["Nothing is known of differential privacy, and there is no membership protection."],
        6: [
            "The key of a release is a secret: whoever has it undoes the row order and knows which "
            "cells are original. A seed is none."
        ],
        9: _of_changes(params, readings, separate, drawn=drawn),
    }
    for key in measures_of("warnings"):
        shown = MEASURES[key]
        reading = readings[key]
        if shown.warn is not None and isinstance(reading, Reading):
            texts[shown.places["warnings"]] = shown.warn(reading, drawn=drawn, ordinary=ordinary)
    places = (place for place in sorted(texts) if changed or place < _OF_CHANGES)
    return [text for place in places for text in texts[place]]


def _of_changes(params: Any, readings: Answers, separate: int, *, drawn: bool) -> list[str]:
    """Effect of masking on relations and standard errors."""
    texts = []
    privacy = readings[DIFFERENTIAL_PRIVACY.key]  # of each unit that is drawn by itself
    whole_rows = isinstance(privacy, Reading) and len(privacy.detail.names) == 1
    full_rows = params.releases_true_rows or whole_rows
    if separate > 1 and not full_rows:
        apart = (
            "take their values from donors of their own" if drawn else "are masked by themselves"
        )
        texts.append(
            f"{separate} variables {apart}. What is computed from others (sums, ratios, dummies of "
            "one answer) "
            + ("must form a group with them: " if params.uses_slices else "no longer fits them: ")
            + "edit rules may break."
        )
    if drawn:
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


def _value(readings: Answers, key: str) -> float | None:
    reading = readings[key]
    return reading.value if isinstance(reading, Reading) else None
