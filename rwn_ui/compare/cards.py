"""Scenarios side by side, as the panels draw them: a tile each, a map, readings in words."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, serialise
from rwn_core.measures import UTILITY
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Verdict
from rwn_core.tuning.point import ranges_words
from rwn_ui.features import verdict_line, watch_list
from rwn_ui.features.analysis_plan_results import standing_words, standings
from rwn_ui.features.axis_choice import AXIS
from rwn_ui.features.scenario_trial import RISKS
from rwn_ui.features.setting_sentences import differences, reading_words
from rwn_ui.state.session import Session


def cards(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """A tile for each scenario."""
    return {
        "stamp": f"{[s.name for s in scenarios]}|{meeting}|{session.table_version}",
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
    rows.append(["in brackets", *(ranges_words(s.readings) or "–" for s in scenarios)])
    rows.append(["policy", *(_verdict(session, scenario) for scenario in scenarios)])
    rows += _analysis_plan_rows(session, scenarios)
    side_by_side = {
        "title": "Side by side",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": rows,
        "caption": "Median over the releases and, in brackets, between which values one more "
        "release should fall 9 times in 10. ↓ lower is better, ↑ higher is better.",
    }
    words = [_words(scenarios[0], other) for other in scenarios[1:]]
    followed = watch_list.side_by_side(session, scenarios) if meeting else None
    return {
        "projector": meeting,
        "tables": [side_by_side, *([followed] if followed else []), *words],
    }


def _verdict(session: Session, scenario: Scenario) -> str:
    """The policy's verdict; says so where the scenario was made under other limits."""
    words = session.policy.judge_stated(scenario.readings).sentence
    if scenario.policy in (None, session.policy):
        return words
    return f"{words} The scenario was saved under other limits."


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
    """Title of a measure's median over releases: a worst case only if each is one."""
    return rwn.MEASURES[key].title_for(session.data.n)


def _arrow(key: str) -> str:
    return {"lower": "↓", "higher": "↑", "neutral": ""}[rwn.MEASURES[key].better]


def _tile(session: Session, scenario: Scenario) -> dict[str, Any]:
    """A scenario as a card: its setting, the policy's verdict, and its analysis plan."""
    verdict = session.policy.judge_stated(scenario.readings)
    passed = standings(session, scenario) or ()
    failed = [f"analysis plan: {one.analysis.name}" for one in passed if not one.always]
    mark = verdict_line.state(verdict)
    return {
        "label": scenario.name,
        "released": _setting(scenario),
        "state": "over" if failed else mark,
        "limit": ", ".join([verdict_words(verdict), *failed]),
        "against": [
            {"pin": key, "text": f"{_title(session, key)} {value}", "better": None}
            for key in dict.fromkeys((*session.policy.measures, *RISKS, UTILITY))
            if (value := reading_words(key, scenario.readings.get(key))) != "–"
        ]
        + [
            {"pin": name, "text": text, "better": None}
            for name, text in (
                ("in brackets", ranges_words(scenario.readings)),
                ("note", scenario.note),
            )
            if text
        ],
        "help": verdict.sentence,
    }


def verdict_words(verdict: Verdict) -> str:
    """The verdict in a few words: what is broken, what was not judged, or that all is kept."""
    if verdict.kept:
        return "keeps all limits"
    parts = [verdict.title(key) for key in verdict.broken]
    parts += [f"{verdict.title(key)} not judged" for key in verdict.unread]
    parts += [] if verdict.released is None else ["too few records released"]
    return ", ".join(parts) or "no limits"


def _map(session: Session, scenarios: list[Scenario]) -> Any:
    """All scenarios at the largest share of a limit, or of what they all have in common."""
    verdicts = [session.policy.judge_stated(scenario.readings) for scenario in scenarios]
    points = [
        {
            "label": scenario.name,
            "utility": 1 - scenario.readings[UTILITY]["median"],
            "risk": verdict.largest,
            "text": scenario.setting.words if scenario.setting else "",
            "kept": verdict.kept,
        }
        for scenario, verdict in zip(scenarios, verdicts, strict=True)
        if UTILITY in scenario.readings and verdict.largest is not None
    ]
    return CHARTS["risk_utility_map"](points, 1.0, risk=AXIS, of_limits=True)


def _words(first: Scenario, other: Scenario) -> dict[str, Any]:
    return {
        "title": f"{other.name}, compared with {first.name}",
        "columns": ["difference"],
        "rows": [[sentence] for sentence in differences(first, other)],
    }
