"""Differences between two scenarios, in sentences: settings, protection, costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.data.slices import slice_words
from rwn_core.masking import SHORT_NAMES, lever_values
from rwn_core.reporting.scenario import Scenario

_NAMED = 4  # variables whose release precision is named one by one
_UNLIKE = 0.005  # of the larger value: below, two readings count as the same

Reading = Mapping[str, float]


def value_words(measure: str, value: float | None) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if measure in rwn.MEASURES and rwn.MEASURES[measure].is_share:
        return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"
    return f"{value:.3g}"


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


def differences(one: Scenario, other: Scenario) -> list[str]:
    """Differences of the other scenario from the first, a sentence each."""
    sentences = _settings(one, other)
    for key, before in one.readings.items():
        after = other.readings.get(key)
        if after is not None and key in rwn.MEASURES:
            sentences.append(_reading(key, before, after))
    return sentences


def _settings(one: Scenario, other: Scenario) -> list[str]:
    before, after = _parts(one), _parts(other)
    sentences = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            sentences.append(f"{name} is {_word(new)} instead of {_word(old)}.")
    sentences += _precision(one, other)
    return sentences or ["Both have the same setting."]


def _parts(scenario: Scenario) -> dict[str, Any]:
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


def _precision(one: Scenario, other: Scenario) -> list[str]:
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
    return "as it is" if step is None else f"in steps of {step:g}"


def _word(value: Any) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _reading(key: str, before: Reading, after: Reading) -> str:
    measure = rwn.MEASURES[key]
    old, new = before["median"], after["median"]
    both = f"{value_words(key, new)} against {value_words(key, old)}"
    if abs(new - old) <= _UNLIKE * max(abs(old), abs(new)) or _same_words(key, old, new):
        return f"{measure.title}: the same, {value_words(key, new)}."
    direction = "higher" if new > old else "lower"
    if measure.better == "neutral":
        return f"{measure.title}: {direction}, {both}."
    verdict = "better" if (new > old) == (measure.better == "higher") else "worse"
    apart = "" if _apart(before, after) else "; one release differs from another by as much"
    return f"{measure.title}: {direction} and so {verdict}, {both}{apart}."


def _same_words(key: str, old: float, new: float) -> bool:
    return value_words(key, old) == value_words(key, new)


def _apart(before: Reading, after: Reading) -> bool:
    """True if the ranges of single releases do not overlap."""
    if not ("low" in before and "low" in after):
        return True
    return before["high"] < after["low"] or after["high"] < before["low"]
