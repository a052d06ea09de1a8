"""Candidates of a meeting: verdict, limits and loss of several scenarios, and their map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rwn_core.charts import CHARTS, Chart
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Limit, Policy, Verdict
from rwn_core.tuning.goal import number_words
from rwn_core.tuning.short_words import SPACE, short_setting


def verdict_words(verdict: Verdict) -> str:
    """Return what is broken, what was not judged, or that all limits are met."""
    if verdict.kept:
        return "keeps all limits"
    parts = [verdict.title(key) for key in verdict.broken]
    parts += [f"{verdict.title(key)} not judged" for key in verdict.unread]
    parts += [] if verdict.released is None else ["too few records released"]
    return ", ".join(parts) or "no limits"


def headline(verdict: Verdict) -> str:
    """Return the verdict as a headline, such as "breaks 3 of 4 limits"."""
    count = len(verdict.shares) + len(verdict.unread)
    if verdict.kept:
        return "keeps all limits"
    if verdict.broken:
        return f"breaks {len(verdict.broken)} of {count} limit{'s' * (count > 1)}"
    return "releases too few records" if verdict.released is not None else "not judged fully"


def amount(measure: str, value: float) -> str:
    """Return a measure's value that no line breaks."""
    return number_words(measure, value).replace(" ", SPACE)


def limit_words(limit: Limit) -> str:
    """Return how much a limit allows, and its source."""
    source = ", ".join(each for each in (limit.source, limit.set_by) if each)
    words = amount(limit.measure, limit.at_most)
    return f"at most {words}; {f'set by {source}' if source else 'source not stated'}"


def judged_words(limit: Limit, verdict: Verdict) -> str:
    """Return the number that is judged by a limit, with its standing."""
    key = limit.measure
    if key not in verdict.shares:
        return "not judged"
    standing = verdict.standing.get(key, "")
    return f"{standing} {amount(key, verdict.values[key])}".strip()


def loss_words(scenario: Scenario) -> tuple[str, str]:
    """Return the loss of relations in digits from 0 to 1, and in words; dashes if unknown."""
    lost = scenario.readings.get(UTILITY, {}).get("median")
    if lost is None:
        return "–", ""
    return f"{lost:.2f}", f"{100 * lost:.0f} % of relations lost"


def judged(scenarios: Sequence[Scenario], policy: Policy) -> list[Verdict]:
    """Judge the readings of every scenario by one policy."""
    return [policy.judge(scenario.readings, scenario.unread) for scenario in scenarios]


def candidates_map(scenarios: Sequence[Scenario], policy: Policy) -> Chart:
    """Draw the candidates at their loss and the largest share of a limit."""
    marks: list[dict[str, Any]] = [
        {
            "label": scenario.name,
            "text": short_setting(scenario.setting),
            "x": scenario.readings[UTILITY]["median"],
            "y": verdict.largest,
        }
        for scenario, verdict in zip(scenarios, judged(scenarios, policy), strict=True)
        if "median" in scenario.readings.get(UTILITY, {}) and verdict.states
    ]
    loss = {"title": MEASURES[UTILITY].title, "unit": "0 as the original, 1 none left"}
    share = {"title": "× limit", "unit": "log", "map": "Risk–utility map"}
    return CHARTS["sweep_map"](
        (),
        loss | {"falls": True, "share": True},
        share | {"falls": False, "share": False, "of_limits": True},
        limit=1.0,
        marks=marks,
    )
