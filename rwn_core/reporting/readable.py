"""Candidates of a meeting in words and as a map; a decision as minutes to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rwn_core.charts import CHARTS, Chart
from rwn_core.measures import MEASURES, USE, UTILITY
from rwn_core.measures.utility.use_left import parts_words
from rwn_core.reporting.facts import Audience, Content, Fact
from rwn_core.reporting.facts.fact import pairs, written_table
from rwn_core.reporting.page import page
from rwn_core.reporting.places_on_map import AXIS
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Limit, Policy, Verdict
from rwn_core.tuning.point import SPACE, ranges_words, short_setting

MARK = "INTERNAL: STAYS IN THE HOUSE"


def decision_html(decision: Decision) -> bytes:
    """Write the minutes of a meeting as one HTML page: the verdict first, candidates, reasons."""
    policy = decision.limits
    verdicts = judged(decision.scenarios, policy) if policy else []
    fingerprints = {"table": decision.table or "any", "decision": f"SHA-256 {decision.hash}"}
    # Reason, participants, votes and watch list, as far as they are stated.
    rows = {
        "reason": decision.reason,
        "participants": ", ".join(decision.participants),
        "votes, dissent": decision.dissent,
        "watched": "; ".join(decision.watched),
    }
    stated = {name: value for name, value in rows.items() if value}
    title, unmet = _decided(decision)
    # the candidates with a known loss, on a map
    read = [each for each in decision.scenarios if "median" in each.readings.get(UTILITY, {})]
    drawn = (candidates_map(read, policy),) if policy and read else ()
    made = {
        "decision": ("Decision", Content(table=pairs(stated)) if stated else None),
        "broken": ("Limits that are broken or not judged", unmet),
        "candidates": ("Candidates", _candidates(decision, policy, verdicts)),
        "map": ("Loss and risk", Content(charts=drawn) if drawn else None),
        "limits": ("Limits", _allowed(policy)),
        "line": ("Limits stated before the candidates were seen", _allowed(decision.line)),
        "fingerprints": ("Fingerprints", Content(table=pairs(fingerprints))),
    }
    about = f"{decision.verdict or 'No verdict was recorded.'} Minutes of {decision.date or '–'}."
    # the sections of the page; empty ones are left out
    facts = [
        Fact(key=name, title=title, audience=Audience.INTERNAL, content=content)
        for name, (title, content) in made.items()
        if content is not None
    ]
    return page(title, MARK, about, facts, "minutes")


def _decided(decision: Decision) -> tuple[str, Content | None]:
    """Say what was decided, with its verdict; limits that are not kept, with who accepts them."""
    policy = decision.limits
    if not decision.chosen:
        return "No scenario was chosen", None
    title = f"“{decision.chosen}” was chosen"
    if policy is None:
        return f"{title}; no limits were stated", None
    chosen = [each for each in decision.scenarios if each.name == decision.chosen]
    verdict = judged(chosen, policy)[0]
    broken = [
        (limit.title, judged_words(limit, verdict), limit_words(limit))
        for limit in policy.limits
        if limit.measure in (*verdict.broken, *verdict.unread)
    ]
    line = f"Accepted by: {decision.accepted_by or 'not stated'}."
    table = written_table(("limit", "judged", "allowed"), broken)
    unmet = Content(lines=(line,), table=table) if broken else None
    return f"{title}: {verdict.headline}", unmet


def _allowed(policy: Policy | None) -> Content | None:
    """State how much each limit allows, and its source, a line each."""
    if policy is None:
        return None
    return Content(lines=tuple(f"{each.title}: {limit_words(each)}." for each in policy.limits))


LATEST = 5  # earlier decisions that stand near a new one


def earlier_decisions(decisions: Iterable[Decision]) -> list[list[str]]:
    """Return date, choice, verdict, loss, accepting name and reason of the latest decisions."""
    rows: dict[str, list[str]] = {}
    for each in sorted(decisions, key=lambda decision: decision.date, reverse=True):
        chosen = next((s for s in each.scenarios if s.name == each.chosen), None)
        loss = chosen.readings.get(UTILITY) if chosen else None
        rows[each.hash] = [
            each.date or "–",
            chosen.setting.words if chosen and chosen.setting else each.chosen or "none of them",
            each.verdict or "no verdict was recorded",
            f"{loss['median']:.2f}" if isinstance(loss, Mapping) and "median" in loss else "–",
            each.accepted_by or "–",
            each.reason or "–",
        ]
    return list(rows.values())[:LATEST]


def _candidates(
    decision: Decision, policy: Policy | None, verdicts: Sequence[Verdict]
) -> Content | None:
    """Return a column for each candidate: verdict, limits, loss, setting."""
    if not decision.scenarios:
        return None
    scenarios = decision.scenarios
    rows = [] if policy is None else _judged_rows(policy, verdicts)
    rows += [
        ("loss, 0 to 1", *(loss_words(s)[0] for s in scenarios)),
        ("setting", *(short_setting(scenario.setting) for scenario in scenarios)),
    ]
    left = [left_words(scenario) for scenario in scenarios]
    notes = [scenario.note for scenario in scenarios]
    for name, words in (("left of the use", left), ("note", notes)):
        if any(words):
            rows.append((name, *(each or "–" for each in words)))
    table = written_table(("", *(scenario.name for scenario in scenarios)), rows)
    ranges = next(filter(None, (ranges_words(each.readings) for each in scenarios)), "")
    if not ranges:
        return Content(lines=(), table=table)
    return Content(lines=(f"Limits are judged at the upper end of the {ranges}.",), table=table)


def _judged_rows(policy: Policy, verdicts: Sequence[Verdict]) -> list[tuple[str, ...]]:
    """Return a row of verdicts, and one for each limit."""
    rows = [("verdict", *(verdict.headline for verdict in verdicts))]
    for limit in policy.limits:
        name = f"{limit.title}, at most {amount(limit.measure, limit.at_most)}"
        rows.append((name, *(judged_words(limit, verdict) for verdict in verdicts)))
    return rows


def verdict_words(verdict: Verdict) -> str:
    """Return what is broken, what was not judged, or that all limits are met."""
    if verdict.kept:
        return verdict.headline
    parts = [verdict.title(key) for key in verdict.broken]
    parts += [f"{verdict.title(key)} not judged" for key in verdict.unread]
    parts += [] if verdict.released is None else ["too few records released"]
    return ", ".join(parts) or "no limits"


def amount(measure: str, value: float) -> str:
    """Return a measure's value that no line breaks."""
    return MEASURES[measure].words(value).replace(" ", SPACE)


def limit_words(limit: Limit) -> str:
    """Return how much a limit allows, and who set it."""
    return f"at most {amount(limit.measure, limit.at_most)}; {limit.origin}"


def judged_words(limit: Limit, verdict: Verdict) -> str:
    """Return the number that is judged by a limit, with its standing."""
    key = limit.measure
    if key not in verdict.shares:
        return "not judged"
    return f"{verdict.standings[key]} {amount(key, verdict.values[key])}".strip()


def loss_words(scenario: Scenario) -> tuple[str, str]:
    """Return the loss of relations in digits from 0 to 1, and in words; dashes if unknown."""
    lost = scenario.readings.get(UTILITY, {}).get("median")
    if lost is None:
        return "–", ""
    return f"{lost:.2f}", f"{100 * lost:.0f} % of relations lost"


def left_words(scenario: Scenario) -> str:
    """Return what releases of a scenario leave of the use, in words; empty if unknown."""
    return parts_words(scenario.readings.get(USE, {})).removeprefix("Left: ")


def judged(scenarios: Sequence[Scenario], policy: Policy) -> list[Verdict]:
    """Judge the readings of every scenario by one policy."""
    return [
        policy.judge(each.readings, each.unread, params=getattr(each.setting, "params", None))
        for each in scenarios
    ]


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
    share = {"title": AXIS, "unit": "", "map": "Risk–utility map"}
    return CHARTS["sweep_map"](
        (),
        loss | {"falls": True, "share": True},
        share | {"falls": False, "share": False, "of_limits": True},
        limit=1.0,
        marks=marks,
    )
