"""Scenarios side by side, as the panels draw them: a column each, a map, readings in words."""

from __future__ import annotations

from itertools import chain
from typing import Any

import rwn_core as rwn
from rwn_core.charts import serialise
from rwn_core.measures import USE
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.usual_use import use_of
from rwn_core.measures.utility.use_left import UseLeft, parts_words, stated_left
from rwn_core.reporting.readable import (
    candidates_map,
    judged,
    judged_words,
    limit_words,
    verdict_words,
)
from rwn_core.tuning import Verdict
from rwn_core.tuning.point import ranges_words, short_setting
from rwn_ui.features import limit_queue, watch_list
from rwn_ui.features.analysis_plan_results import standing_words, standings
from rwn_ui.features.setting_sentences import arrow, differences, reading_words, value_words
from rwn_ui.state.session import Session


def screen(
    session: Session,
    scenarios: list[rwn.Scenario],
    policy: rwn.Policy,
    *,
    meeting: bool,
    chosen: str = "",
) -> dict[str, Any]:
    """The candidates with verdict, limits and loss, over their map; `policy` may be a trial."""
    verdicts = judged(scenarios, policy)
    limits = [
        {
            "title": limit.title,
            "note": limit_words(limit),
            "kind": "limit",
            "cells": [
                {
                    "text": judged_words(limit, verdict),
                    "note": verdict.unread.get(limit.measure, ""),
                    "state": {"broken": "over", "kept": "kept"}.get(verdict.states[limit.measure]),
                }
                for verdict in verdicts
            ],
        }
        for limit in policy.limits
    ]
    texts_of = {"setting": [short_setting(s.setting) for s in scenarios]}
    if any(s.note for s in scenarios):
        texts_of["note"] = [s.note or "–" for s in scenarios]
    return {
        "stamp": f"{[s.name for s in scenarios]}|{meeting}|{session.table_version}",
        "meeting": meeting,
        "candidates": {
            "about": session.name if policy == session.policy else "WHAT IF other limits held",
            "candidates": [
                _candidate(session, scenario, verdict) | {"chosen": scenario.name == chosen}
                for scenario, verdict in zip(scenarios, verdicts, strict=True)
            ],
            "rows": [
                *limits,
                {
                    "title": "Left",
                    "note": "the least part of the use, mean of releases: 100 % as in the original",
                    "kind": "loss",
                    "cells": [_left_cell(session, each) for each in scenarios],
                },
                *(
                    {"title": name, "kind": "text", "cells": [{"text": text} for text in texts]}
                    for name, texts in texts_of.items()
                ),
            ],
            "marks": meeting,
            "notes": [
                *([_trial_words(session.policy, policy)] if policy != session.policy else []),
                "Judged is the upper end of where one more release falls.",
                *(["← and → go between scenarios; Enter marks one as chosen."] * meeting),
            ],
        },
        "single": not meeting,
        "low": not meeting,  # under the table of candidates, on one screen
        "cards": [serialise(candidates_map(scenarios, policy))],
    }


def left_of(session: Session, scenario: rwn.Scenario) -> UseLeft:
    """What releases of a scenario leave of the use of the table on screen."""
    return stated_left(use_of(session.data), scenario.readings.get(USE, {}))


def _left_cell(session: Session, scenario: rwn.Scenario) -> dict[str, str]:
    """The least share that is left, and every share in words."""
    left = left_of(session, scenario)
    if left.least is None:
        return {"text": "–", "note": ""}
    same = scenario.use == session.data.schema.use
    words = left.sentence if same else parts_words(scenario.readings[USE])
    return {"text": percent(left.least), "note": words}


def _trial_words(policy: rwn.Policy, trial: rwn.Policy) -> str:
    """Say which limits are tried, and that the policy stays."""
    tried = [
        f"{limit.title} {value_words(limit.measure, limit.at_most)} instead of "
        f"{value_words(limit.measure, own.at_most)}"
        for limit, own in zip(trial.limits, policy.limits, strict=True)
        if limit != own
    ]
    return f"WHAT IF other limits held: {'; '.join(tried)}. The policy is unchanged."


def table(session: Session, scenarios: list[rwn.Scenario], meeting: bool) -> dict[str, Any]:
    """All readings side by side, then the differences in words."""
    keys = list(dict.fromkeys(key for s in scenarios for key in s.readings if key in rwn.MEASURES))
    rows = [["setting", *map(_setting, scenarios)]]
    for key in keys:
        readings = [reading_words(key, s.readings.get(key)) for s in scenarios]
        rows.append([f"{rwn.MEASURES[key].title_for(session.data.n)} {arrow(key)}", *readings])
    rows.append(["policy", *(_verdict(session, scenario) for scenario in scenarios)])
    rows += _analysis_rows(session, scenarios)
    ranges = dict.fromkeys(filter(None, (ranges_words(s.readings) for s in scenarios)))
    brackets = f"in brackets the {'; '.join(ranges)}" if ranges else "no range is known"
    side_by_side = {
        "title": "Side by side",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": rows,
        "caption": f"Median over the releases, {brackets}. ↓ lower is better, ↑ higher is better.",
    }
    words = [
        {
            "title": f"{other.name}, compared with {scenarios[0].name}",
            "columns": ["difference"],
            "rows": [[sentence] for sentence in differences(scenarios[0], other)],
        }
        for other in scenarios[1:]
    ]
    followed = watch_list.side_by_side(session, scenarios) if meeting else None
    return {"tables": [side_by_side, *([followed] if followed else []), *words]}


def _analysis_rows(session: Session, scenarios: list[rwn.Scenario]) -> list[list[str]]:
    """Return a row for each registered analysis: whether it passes on several releases."""
    found = [_standings_in_words(session, scenario) for scenario in scenarios]
    rows = []
    for name in dict.fromkeys(chain.from_iterable(found)):
        rows.append([f"Analysis plan: {name}", *(each.get(name, "–") for each in found)])
    return rows


def _standings_in_words(session: Session, scenario: rwn.Scenario) -> dict[str, str]:
    """Return by analysis how it stands at a scenario."""
    return {one.analysis.name: standing_words(one) for one in standings(session, scenario) or ()}


def _verdict(session: Session, scenario: rwn.Scenario) -> str:
    """The policy's verdict; says so where the scenario was made under other limits."""
    words = judged([scenario], session.policy)[0].sentence
    if scenario.policy in (None, session.policy):
        return words
    return f"{words} The scenario was saved under other limits."


def _setting(scenario: rwn.Scenario) -> str:
    """Its words, to be broken between parameters only."""
    words = scenario.setting.words if scenario.setting else "–"
    return words.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _candidate(session: Session, scenario: rwn.Scenario, verdict: Verdict) -> dict[str, Any]:
    """The head of a column: name, verdict, and what is broken."""
    passed = standings(session, scenario) or ()
    failed = [f"analysis plan: {one.analysis.name}" for one in passed if not one.always]
    left = left_of(session, scenario)
    state = "over" if failed else limit_queue.verdict_state(verdict, left)
    which = [] if verdict.kept else [verdict_words(verdict)]
    other = scenario.policy not in (None, session.policy)
    return {
        "name": scenario.name,
        "state": state,
        "verdict": "breaks the analysis plan" if failed and verdict.kept else verdict.headline,
        "which": "; ".join([*which, *failed, *["saved under other limits"] * other]),
    }
