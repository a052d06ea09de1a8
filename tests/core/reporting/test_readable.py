"""Scenarios and decisions as pages for people: all that the file says, and nothing that runs."""

from __future__ import annotations

import rwn_core as rwn
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.file_text import file_texts
from rwn_core.reporting.readable import decision_html, scenario_html
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

SCENARIO = Scenario(
    name="<b>Mild</b>",
    note="For the yearbook",
    table="f" * 64,
    setting=Setting(params=rwn.RWN(epsilon=2.0, k=5), weights=(("age", 3.0),)),
    seed=7,
    policy=rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05, source="law"),)),
    readings={"bayes_linkage": {"median": 0.25, "low": 0.2, "high": 0.3}},
)


def test_a_scenario_is_read_without_a_program() -> None:
    html = scenario_html(SCENARIO)
    texts = file_texts(html, ".html")
    for said in (
        "Scenario <b>Mild</b>",
        "For the yearbook",
        "Setting",
        SCENARIO.setting.words,
        "Worst-case linkage",
        "5 %",
        "law",
        "25 %",
        "30 %",
    ):
        assert said in texts, said
    assert b"<script" not in html
    assert b"<b>" not in html
    assert b"@media print" in html


def test_a_decision_shows_what_was_chosen_why_and_among_what() -> None:
    made = Decision(
        scenarios=(SCENARIO,),
        chosen=SCENARIO.name,
        reason="Least loss",
        participants=("Ada", "Grace"),
        date="2026-03-31",
    )
    texts = file_texts(decision_html(made), ".html")
    said = (
        "Decision of 2026-03-31",
        "Least loss",
        "Ada, Grace",
        f"SHA-256 {made.hash}",
        "25 %",
        "For the yearbook",
    )
    for each in said:
        assert each in texts, each
