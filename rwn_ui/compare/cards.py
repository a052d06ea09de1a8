"""Scenarios side by side, as the panels draw them: a column each, a map, readings in words."""

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
from rwn_ui.features.setting_sentences import (
    differences,
    reading_words,
    short_setting,
    value_words,
)
from rwn_ui.state.session import Session


def screen(
    session: Session,
    scenarios: list[Scenario],
    policy: rwn.Policy,
    *,
    meeting: bool,
    chosen: str = "",
) -> dict[str, Any]:
    """The candidates with verdict, limits and loss, over their map; `policy` may be a trial."""
    verdicts = [policy.judge_stated(scenario.readings) for scenario in scenarios]
    return {
        "stamp": f"{[s.name for s in scenarios]}|{meeting}|{session.table_version}",
        "meeting": meeting,
        "candidates": {
            "about": session.name,
            "candidates": [
                _candidate(session, scenario, verdict) | {"chosen": scenario.name == chosen}
                for scenario, verdict in zip(scenarios, verdicts, strict=True)
            ],
            "rows": [
                *(_limit_row(limit, verdicts) for limit in policy.limits),
                _loss_row(scenarios),
                _text_row("setting", [short_setting(s.setting) for s in scenarios]),
                *([_text_row("note", [s.note or "–" for s in scenarios])] * _noted(scenarios)),
            ],
            "marks": meeting,
            "notes": [
                *([_trial_words(session.policy, policy)] * (policy != session.policy)),
                "Judged is the upper end of where one more release falls.",
                *(["← and → go between candidates; Enter marks one as chosen."] * meeting),
            ],
        },
        "single": not meeting,
        "cards": [serialise(_map(session, scenarios, verdicts))],
    }


def _noted(scenarios: list[Scenario]) -> bool:
    return any(scenario.note for scenario in scenarios)


def _text_row(title: str, texts: list[str]) -> dict[str, Any]:
    return {"title": title, "kind": "text", "cells": [{"text": text} for text in texts]}


def _limit_row(limit: rwn.Limit, verdicts: list[Verdict]) -> dict[str, Any]:
    """Return one limit with the number of each candidate that is judged by it."""
    words = value_words(limit.measure, limit.at_most)
    source = ", ".join(each for each in (limit.source, limit.set_by) if each)
    return {
        "title": limit.title,
        "note": f"at most {words}; {f'set by {source}' if source else 'source not stated'}",
        "kind": "limit",
        "cells": [_limit_cell(limit, verdict) for verdict in verdicts],
    }


def _limit_cell(limit: rwn.Limit, verdict: Verdict) -> dict[str, Any]:
    key = limit.measure
    if key not in verdict.shares:
        return {"text": "not judged", "state": None}
    state = "over" if key in verdict.broken else "kept"
    standing = verdict.standing.get(key, "")
    return {"text": value_words(key, verdict.values[key]), "note": standing, "state": state}


def _loss_row(scenarios: list[Scenario]) -> dict[str, Any]:
    """The loss of relations on its scale, in digits and in words."""
    cells = []
    for scenario in scenarios:
        lost = scenario.readings.get(UTILITY, {}).get("median")
        words = "" if lost is None else f"{100 * lost:.0f} % of relations lost"
        cells.append({"text": "–" if lost is None else f"{lost:.2f}", "note": words})
    return {
        "title": "Loss",
        "note": "0 as the original, 1 no relation left",
        "kind": "loss",
        "cells": cells,
    }


def _trial_words(policy: rwn.Policy, trial: rwn.Policy) -> str:
    """Say which limits are tried, and that the policy stays."""
    tried = [
        f"{limit.title} {value_words(limit.measure, limit.at_most)} instead of "
        f"{value_words(limit.measure, own.at_most)}"
        for limit, own in zip(trial.limits, policy.limits, strict=True)
        if limit != own
    ]
    return f"TRIAL of other limits: {'; '.join(tried)}. The policy is unchanged."


def table(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """All readings side by side, then the differences in words."""
    keys = list(dict.fromkeys(key for s in scenarios for key in s.readings if key in rwn.MEASURES))
    rows = [["setting", *map(_setting, scenarios)]]
    for key in keys:
        readings = [reading_words(key, s.readings.get(key)) for s in scenarios]
        rows.append([f"{_title(session, key)} {_arrow(key)}", *readings])
    rows.append(["policy", *(_verdict(session, scenario) for scenario in scenarios)])
    rows += _analysis_plan_rows(session, scenarios)
    ranges = dict.fromkeys(filter(None, (ranges_words(s.readings) for s in scenarios)))
    brackets = f"in brackets the {'; '.join(ranges)}" if ranges else "no range is known"
    side_by_side = {
        "title": "Side by side",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": rows,
        "caption": f"Median over the releases, {brackets}. ↓ lower is better, ↑ higher is better.",
    }
    words = [_words(scenarios[0], other) for other in scenarios[1:]]
    followed = watch_list.side_by_side(session, scenarios) if meeting else None
    return {"tables": [side_by_side, *([followed] if followed else []), *words]}


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


def _candidate(session: Session, scenario: Scenario, verdict: Verdict) -> dict[str, Any]:
    """The head of a column: name, verdict, and what is broken."""
    passed = standings(session, scenario) or ()
    failed = [f"analysis plan: {one.analysis.name}" for one in passed if not one.always]
    state = "over" if failed else verdict_line.state(verdict)
    which = [] if verdict.kept else [verdict_words(verdict)]
    other = scenario.policy not in (None, session.policy)
    return {
        "name": scenario.name,
        "state": state,
        "verdict": "keeps all limits" if state == "kept" else _broken_words(verdict, failed),
        "which": "; ".join([*which, *failed, *["saved under other limits"] * other]),
    }


def _broken_words(verdict: Verdict, failed: list[str]) -> str:
    count = len(verdict.shares) + len(verdict.unread)
    if verdict.broken:
        return f"breaks {len(verdict.broken)} of {count}"
    return "not releasable" if failed or verdict.released is not None else "not judged fully"


def verdict_words(verdict: Verdict) -> str:
    """The verdict in a few words: what is broken, what was not judged, or that all is kept."""
    if verdict.kept:
        return "keeps all limits"
    parts = [verdict.title(key) for key in verdict.broken]
    parts += [f"{verdict.title(key)} not judged" for key in verdict.unread]
    parts += [] if verdict.released is None else ["too few records released"]
    return ", ".join(parts) or "no limits"


def _map(session: Session, scenarios: list[Scenario], verdicts: list[Verdict]) -> Any:
    """All candidates at their loss and the largest share of a limit."""
    marks = [
        {
            "label": scenario.name,
            "text": short_setting(scenario.setting),
            "x": scenario.readings[UTILITY]["median"],
            "y": verdict.largest,
        }
        for scenario, verdict in zip(scenarios, verdicts, strict=True)
        if UTILITY in scenario.readings and verdict.largest is not None
    ]
    about = rwn.MEASURES[UTILITY]
    loss = {"title": about.title, "unit": "0 as the original, 1 none left", "falls": True}
    limits = {"title": "× limit", "unit": "log above 1", "map": "Risk–utility map"}
    return CHARTS["sweep_map"](
        (),
        loss | {"share": True},
        limits | {"share": False, "falls": False, "of_limits": True},
        limit=1.0,
        marks=marks,
    )


def _words(first: Scenario, other: Scenario) -> dict[str, Any]:
    return {
        "title": f"{other.name}, compared with {first.name}",
        "columns": ["difference"],
        "rows": [[sentence] for sentence in differences(first, other)],
    }
