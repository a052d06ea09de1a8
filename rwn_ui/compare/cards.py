"""Scenarios side by side, as the panels draw them: a tile each, a map, readings in words."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, serialise
from rwn_core.reporting.scenario import Scenario
from rwn_ui.features import watch_list
from rwn_ui.features.analysis_plan_results import standing_words, standings
from rwn_ui.features.risk_axis import axis_title
from rwn_ui.features.scenario_trial import RISKS
from rwn_ui.features.setting_sentences import differences, reading_words
from rwn_ui.state.session import Session


def cards(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """A tile for each scenario."""
    return {
        "stamp": f"{[s.name for s in scenarios]}|{meeting}|{session.generation}",
        "projector": meeting,
        "stacked": True,
        "summary": {"text": session.name},
        "tiles": [_tile(session, scenario) for scenario in scenarios],
    }


def picture(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """The map with every scenario."""
    return {"projector": meeting, "single": True, "cards": [serialise(_map(session, scenarios))]}


def table(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """The readings side by side, then the differences in words."""
    keys = list(dict.fromkeys(key for s in scenarios for key in s.readings if key in rwn.MEASURES))
    rows = [
        ["setting", *map(_setting, scenarios)],
        ["note", *(s.note or "–" for s in scenarios)],
    ]
    for key in keys:
        readings = [reading_words(key, s.readings.get(key)) for s in scenarios]
        rows.append([f"{_title(session, key)} {_arrow(key)}", *readings])
    rows += _analysis_plan_rows(session, scenarios)
    side_by_side = {
        "title": "Side by side",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": rows,
        "caption": "Median over the releases, and between which values one more release falls 9 "
        "times in 10. ↓ lower is better, ↑ higher is better.",
    }
    words = [_words(scenarios[0], other) for other in scenarios[1:]]
    followed = watch_list.side_by_side(session, scenarios) if meeting else None
    return {
        "projector": meeting,
        "tables": [side_by_side, *([followed] if followed else []), *words],
    }


def _analysis_plan_rows(session: Session, scenarios: list[Scenario]) -> list[list[str]]:
    """A row for each registered analysis: whether it passes on several releases."""
    found = [
        {one.analysis.name: standing_words(one) for one in standings(session, scenario) or ()}
        for scenario in scenarios
    ]
    names = dict.fromkeys(name for each in found for name in each)
    return [[f"Analysis plan: {name}", *(each.get(name, "–") for each in found)] for name in names]


def _setting(scenario: Scenario) -> str:
    """Its words, to be broken between parameters only."""
    words = scenario.setting.words if scenario.setting else "–"
    return words.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _title(session: Session, key: str) -> str:
    """What a measure's median over releases is called: a worst case only where each is one."""
    return rwn.MEASURES[key].title_for(session.data.n)


def _arrow(key: str) -> str:
    return {"lower": "↓", "higher": "↑", "neutral": ""}[rwn.MEASURES[key].better]


def _tile(session: Session, scenario: Scenario) -> dict[str, Any]:
    """A scenario as a card: its setting, whether it keeps its limits and its analysis plan."""
    over = [
        _title(session, key)
        for key, limit in scenario.limits.items()
        if key in scenario.readings and _exceeds(key, scenario.readings[key], limit)
    ]
    passed = standings(session, scenario) or ()
    over += [f"analysis plan: {one.analysis.name}" for one in passed if not one.always]
    return {
        "label": scenario.name,
        "released": _setting(scenario),
        "state": "over" if over else "ok",
        "limit": ", ".join(over),
        "against": [
            {"pin": key, "text": f"{_title(session, key)} {value}", "better": None}
            for key in (*RISKS, "correlation")
            if (value := reading_words(key, scenario.readings.get(key))) != "–"
        ]
        + ([{"pin": "note", "text": scenario.note, "better": None}] if scenario.note else []),
        "help": "",
    }


def _exceeds(key: str, reading: Any, limit: float) -> bool:
    """Whether some of the releases, not just half of them, would lie beyond the limit."""
    if rwn.MEASURES[key].better == "higher":
        return bool(reading.get("low", reading["median"]) < limit)
    return bool(reading.get("high", reading["median"]) > limit)


def _map(session: Session, scenarios: list[Scenario]) -> Any:
    risk = next((key for key in RISKS if all(key in s.readings for s in scenarios)), RISKS[-1])
    points = [
        {
            "label": scenario.name,
            "utility": 1 - scenario.readings["correlation"]["median"],
            "risk": scenario.readings[risk]["median"],
            "text": scenario.setting.words if scenario.setting else "",
        }
        for scenario in scenarios
        if {"correlation", risk} <= set(scenario.readings)
    ]
    chart = CHARTS["risk_utility_map"](points, session.policy.linkage)
    chart["layout"]["yaxis"]["title"]["text"] = axis_title(risk, session.data.n)
    return chart


def _words(first: Scenario, other: Scenario) -> dict[str, Any]:
    return {
        "title": f"{other.name}, compared with {first.name}",
        "columns": ["difference"],
        "rows": [[sentence] for sentence in differences(first, other)],
    }
