"""Write scenarios and decisions as pages to read and print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rwn_core.measures import MEASURES
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.facts import Audience, Content, Fact
from rwn_core.reporting.facts.fact import pairs, written_table
from rwn_core.reporting.facts.meeting import decision_rows
from rwn_core.reporting.page import page
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning.goal import number_words
from rwn_core.tuning.point import ranges_words

MARK = "INTERNAL: STAYS IN THE HOUSE"


def scenario_html(scenario: Scenario) -> bytes:
    """Write a scenario as one HTML file: setting, limits, readings, registered analyses."""
    about = scenario.note or "A setting that is proposed for the release of a table."
    return page(f"Scenario {scenario.name}".strip(), MARK, about, _scenario_facts(scenario))


def decision_html(decision: Decision) -> bytes:
    """Write a decision as one HTML file: what was chosen and why, and what was looked at."""
    title = f"Decision of {decision.date}" if decision.date else "Decision"
    chosen = f"“{decision.chosen}” was chosen." if decision.chosen else "No scenario was chosen."
    if decision.verdict:
        chosen = f"{chosen} {decision.verdict}"
    first = _fact("decision", "Decision", Content(table=pairs(_rows(decision))))
    facts = [first]
    for number, scenario in enumerate(decision.scenarios):
        note = Content(lines=(scenario.note,)) if scenario.note else None
        facts += _facts({"note": ("note", note)}, f"{number}-", f"{scenario.name}: ")
        facts += _scenario_facts(scenario, f"{number}-", f"{scenario.name}: ")
    return page(title, MARK, chosen, facts)


def _rows(decision: Decision) -> dict[str, str]:
    rows = decision_rows(decision.to_dict(), "")
    rows["hash"] = f"SHA-256 {decision.hash}"
    return {name: value or "–" for name, value in rows.items()}


def _scenario_facts(scenario: Scenario, key: str = "", before: str = "") -> list[Fact]:
    """Return a scenario as the sections of a page."""
    made = {
        "setting": ("setting", _setting(scenario)),
        "limits": ("limits", _limits(scenario)),
        "readings": ("readings of its releases", _readings(scenario)),
        "analyses": ("registered analyses", _analyses(scenario)),
    }
    return _facts(made, key, before)


def _facts(made: Mapping[str, tuple[str, Content | None]], key: str, before: str) -> list[Fact]:
    """Sections of a page, under the name of a scenario; empty ones are left out."""
    return [
        _fact(f"{key}{name}", (before + title)[:1].upper() + (before + title)[1:], content)
        for name, (title, content) in made.items()
        if content is not None
    ]


def _fact(key: str, title: str, content: Content) -> Fact:
    return Fact(key=key, title=title, audience=Audience.INTERNAL, content=content)


def _setting(scenario: Scenario) -> Content | None:
    if scenario.setting is None:
        return None
    rows = {
        "in words": scenario.setting.words,
        "seed of the trial, no secret": str(scenario.seed),
        "made for the table": scenario.table or "any",
    }
    return Content(table=pairs(rows))


def _limits(scenario: Scenario) -> Content | None:
    if scenario.policy is None:
        return None
    rows = (
        (
            limit.title,
            number_words(limit.measure, limit.at_most),
            limit.source or "not stated",
            limit.set_by or "not stated",
        )
        for limit in scenario.policy.limits
    )
    return _table(("measure", "at most", "source", "set by"), rows)


def _readings(scenario: Scenario) -> Content | None:
    rows = []
    for key, each in scenario.readings.items():
        if key not in MEASURES or "median" not in each:
            continue
        ends = (number_words(key, each[end]) if end in each else "–" for end in ("low", "high"))
        about, most = MEASURES[key], each.get("at_most")
        rows.append((about.title_as("" if most is None else "at least"),
                     number_words(key, each["median"]), *ends))  # fmt: skip
        if most is not None and most < 1:
            rows.append((about.title_as("estimated at most"), number_words(key, most), "–", "–"))
    if not rows:
        return None
    known = ranges_words(scenario.readings)
    line = f"Low and high: {known or 'where one more release falls 9 times in 10'}."
    return _table(("measure", "median", "low", "high"), rows, line)


def _analyses(scenario: Scenario) -> Content | None:
    records: Sequence[dict[str, object]] = scenario.analysis_plan.to_records()
    if not records:
        return None
    rows = ((number, _said(each)) for number, each in enumerate(records, start=1))
    return _table(("", "analysis"), rows)


def _said(record: dict[str, object]) -> str:
    parts = {n: ", ".join(map(str, v)) if isinstance(v, list) else v for n, v in record.items()}
    return "; ".join(f"{name}: {value}" for name, value in parts.items())


def _table(columns: tuple[str, ...], rows: Iterable[Iterable[object]], line: str = "") -> Content:
    return Content(lines=(line,) if line else (), table=written_table(columns, rows))
