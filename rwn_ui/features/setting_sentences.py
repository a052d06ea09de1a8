"""Differences between two scenarios, in sentences: settings, protection, costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.data.schema import slice_words
from rwn_core.masking import SHORT_NAMES, lever_values

_NAMED = 4  # most release precisions that are named one by one
_UNLIKE = 0.005  # of the larger value: below, two readings count as the same

Reading = Mapping[str, float]


def value_words(measure: str, value: float | None) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if measure in rwn.MEASURES and rwn.MEASURES[measure].is_share:
        return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"
    return f"{value:.3g}"


def arrow(measure: str) -> str:
    """The direction in which a measure is better."""
    return {"lower": "↓", "higher": "↑", "neutral": ""}[rwn.MEASURES[measure].better]


def reading_words(measure: str, reading: Reading | None) -> str:
    """A reading with where one more release falls."""
    if reading is None:
        return "–"
    text = value_words(measure, reading["median"])
    if reading.get("at_most", 1.0) < 1:
        text += f", at most {value_words(measure, reading['at_most'])}"
    if "low" not in reading:
        return text
    low, high = (value_words(measure, reading[end]) for end in ("low", "high"))
    return f"{text} ({low} to {high})"


def differences(one: rwn.Scenario, other: rwn.Scenario) -> list[str]:
    """Differences of the other scenario from the first; those without a clear one in a line."""
    before_parts, after_parts = _parts(one), _parts(other)
    sentences = [
        f"{name} is {_word(after_parts.get(name))} instead of {_word(before_parts.get(name))}."
        for name in dict.fromkeys((*before_parts, *after_parts))
        if before_parts.get(name) != after_parts.get(name)
    ]
    sentences += _precision(one, other)
    sentences = sentences or ["Both have the same setting."]
    unclear = []
    for key, before in one.readings.items():
        after = other.readings.get(key)
        if after is None or key not in rwn.MEASURES:
            continue
        if _apart(key, before, after):
            measure = rwn.MEASURES[key]
            higher = after["median"] > before["median"]
            said = "better" if higher == (measure.better == "higher") else "worse"
            if measure.better == "neutral":
                said = "higher" if higher else "lower"
            sentences.append(f"{measure.title}: {said}, {_both(key, before, after)}.")
        else:
            unclear.append(f"{rwn.MEASURES[key].title} ({_both(key, before, after)})")
    return sentences + ([f"No clear difference: {'; '.join(unclear)}."] if unclear else [])


def _parts(scenario: rwn.Scenario) -> dict[str, Any]:
    """A setting's parts by the names that people read."""
    setting = scenario.setting
    if setting is None:
        return {}
    shown: dict[str, Any] = {"the method": setting.params.title}
    for name, value in (lever_values(setting.params) | setting.parameters).items():
        if value is not None:
            shown[SHORT_NAMES.get(name, name)] = value
    shown |= {f"the weight of {name}": weight for name, weight in setting.weights}
    return shown | {
        "what travels together": " | ".join(slice_words(s) for s in setting.slices or ())
        or "nothing"
    }


def _precision(one: rwn.Scenario, other: rwn.Scenario) -> list[str]:
    """Which variables are rounded otherwise; a sentence each, or one for many."""
    before, after = (
        {} if each.setting is None else dict(each.setting.precision) for each in (one, other)
    )
    changed = [
        f"{name} is released {_steps(after.get(name))} instead of {_steps(before.get(name))}."
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    if len(changed) <= _NAMED:
        return changed
    return [
        *changed[: _NAMED - 1],
        f"{len(changed) - _NAMED + 1} more variables are released in other steps.",
    ]


def _steps(step: float | None) -> str:
    return "unrounded" if step is None else f"in steps of {step:g}"


def _word(value: Any) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _both(key: str, before: Reading, after: Reading) -> str:
    """Both values, or the one that they share."""
    new, old = (value_words(key, each["median"]) for each in (after, before))
    return f"both {new}" if new == old else f"{new} against {old}"


def _apart(key: str, before: Reading, after: Reading) -> bool:
    """True if two values differ and the ranges of single releases do not overlap."""
    new = after["median"]
    old = before["median"]
    same = abs(new - old) <= _UNLIKE * max(abs(old), abs(new))
    if same or value_words(key, new) == value_words(key, old):
        return False
    if not ("low" in before and "low" in after):
        return True
    return before["high"] < after["low"] or after["high"] < before["low"]
