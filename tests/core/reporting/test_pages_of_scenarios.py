"""Pages of a scenario and of a decision, whole: every section, in its order, word for word."""

from __future__ import annotations

import re
from dataclasses import replace

import rwn_core as rwn
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.facts.fact import Audience, Content, Fact, Table
from rwn_core.reporting.file_text import file_texts
from rwn_core.reporting.page import page
from rwn_core.reporting.readable import MARK, decision_html, scenario_html
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

LIMITS = (
    rwn.Limit(measure="distance_linkage", at_most=0.05, source="law", set_by="Board"),
    rwn.Limit(measure="correlation", at_most=0.1),
)
FULL = Scenario(
    name="Mild",
    setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)),
    seed=7,
    policy=rwn.Policy(limits=LIMITS),
    readings={
        "distance_linkage": {"median": 0.25, "low": 0.2},
        "bayes_linkage": {"median": 0.3, "high": 0.4, "at_most": 0.5},
        "whole_file_linkage": {"median": 0.35, "at_most": 1.0},
        "unknown": {"median": 0.5},
        "correlation": {"low": 0.5},
    },
    analysis_plan=AnalysisPlan(
        analyses=(Analysis(name="Ages", kind="table", tolerance=0.125, variables=("age", "bmi")),)
    ),
)
SETTING = [
    "what", "value", "in words", FULL.setting.words, "seed of the trial, no secret", "7",
    "made for the table", "any",
]  # fmt: skip
SAID = {
    "setting": SETTING,
    "limits": [
        "measure", "at most", "source", "set by",
        "Distance linkage", "5 %", "law", "Board",
        "Correlations", "0.1", "not stated", "not stated",
    ],
    "readings of its releases": [
        "Low and high: where one more release falls 9 times in 10.",
        "measure", "median", "low", "high",
        "Distance linkage", "25 %", "20 %", "–",
    ],
    "registered analyses": ["", "analysis", "1"],
}  # fmt: skip


def sections(html: bytes) -> dict[str, list[str]]:
    """The texts of each section of a page by its title, as its cells stand."""
    found = {}
    for part in html.decode().split("<section ")[1:]:
        title = re.search("<h2>(.*?)</h2>", part).group(1)
        found[title] = re.findall(r"<(?:p|th|td)>(.*?)</(?:p|th|td)>", part)
    return found


def test_a_scenario_is_told_section_by_section() -> None:
    html = scenario_html(FULL)
    told = sections(html)
    assert list(told) == [title[0].upper() + title[1:] for title in SAID]
    assert told["Setting"] == SAID["setting"]
    assert told["Limits"] == SAID["limits"]
    readings = told["Readings of its releases"]
    assert readings[:9] == SAID["readings of its releases"]
    rows = [readings[i : i + 4] for i in range(9, len(readings), 4)]
    assert [row[1:] for row in rows] == [
        ["30 %", "–", "40 %"], ["50 %", "–", "–"], ["35 %", "–", "–"]
    ]  # fmt: skip
    assert rows[0][0] != rows[1][0]
    analyses = told["Registered analyses"]
    assert analyses[:3] == SAID["registered analyses"]
    assert "name: Ages" in analyses[3]
    assert "variables: age, bmi" in analyses[3]
    assert "A setting that is proposed for the release of a table." in file_texts(html, ".html")
    assert b"<title>INTERNAL: STAYS IN THE HOUSE: Scenario Mild</title>" in html
    ids = re.findall(r'<section id="(\w+)">', html.decode())
    assert ids == ["setting", "limits", "readings", "analyses"]


def test_a_range_says_of_how_many_releases_it_is() -> None:
    for count, words in (
        (2, "range of only 2 releases, wide"),
        (59, "range of 59 releases: 9 of"),
    ):
        reading = {"median": 0.25, "low": 0.2, "high": 0.3, "releases": float(count)}
        told = sections(scenario_html(replace(FULL, readings={"distance_linkage": reading})))
        assert told["Readings of its releases"][0].startswith(f"Low and high: {words}")


def test_what_a_scenario_does_not_say_has_no_section() -> None:
    empty = Scenario(note="Only words", readings={"unknown": {"median": 1.0}})
    html = scenario_html(empty)
    assert sections(html) == {}
    assert file_texts(html, ".html")[-3:] == ["Scenario", "about", "Only words"]
    for_one = replace(FULL, table="ab" * 32)
    assert sections(scenario_html(for_one))["Setting"] == [*SETTING[:-1], "ab" * 32]


def test_a_decision_is_told_before_the_scenarios_that_it_was_made_among() -> None:
    noted = replace(FULL, name="Wild", note="Less masking", policy=None, readings={})
    made = Decision(
        scenarios=(FULL, noted), chosen="Wild", participants=("Ada",), date="2026-03-31"
    )
    html = decision_html(made)
    told = sections(html)
    assert list(told) == [
        "Decision", "Mild: setting", "Mild: limits", "Mild: readings of its releases",
        "Mild: registered analyses", "Wild: note", "Wild: setting", "Wild: registered analyses",
    ]  # fmt: skip
    assert told["Decision"] == [
        "what", "value", "chosen", "Wild", "reason", "–", "participants", "Ada",
        "date", "2026-03-31", "watched", "–", "scenarios", "Mild, Wild",
        "hash", f"SHA-256 {made.hash}",
    ]  # fmt: skip
    assert told["Wild: note"] == ["Less masking"]
    ids = re.findall(r'<section id="([\w-]+)">', html.decode())
    assert ids[1] == "0-setting"
    assert ids[-1] == "1-analyses"
    texts = file_texts(html, ".html")
    assert f"{MARK}: Decision of 2026-03-31" in texts
    assert "“Wild” was chosen." in texts
    open_ = file_texts(decision_html(Decision(scenarios=())), ".html")
    assert f"{MARK}: Decision" in open_
    assert "No scenario was chosen." in open_


def test_a_page_is_plain_markup_that_asks_nobody() -> None:
    table = Table(columns=("a", "b"), rows=(("1", "2 < 3"), ("4", "5")))
    facts = [
        Fact(key="one", title="One", audience=Audience.BOTH, content=Content(lines=("x", "y"))),
        Fact(key="two", title="Two", audience=Audience.BOTH, content=Content(table=table)),
    ]
    html = page("Title", "MARK", "About", facts).decode()
    assert re.sub(r"(?s)<style>.*</style>", "", html) == (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width"><title>MARK: Title</title></head>'
        '<body><p class="mark">MARK</p><h1>Title</h1><p class="about">About</p>'
        '<section id="one"><h2>One</h2><p>x</p><p>y</p></section>'
        '<section id="two"><h2>Two</h2><div class="wide"><table>'
        "<thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td>2 &lt; 3</td></tr><tr><td>4</td><td>5</td></tr></tbody>"
        "</table></div></section></body></html>\n"
    )
    assert "@media print" in html


def test_charts_of_a_page_have_their_caption_and_their_data_as_text() -> None:
    chart = {"title": "T", "note": "N", "data": [{"name": "</script><!-- x"}], "layout": {"a": 1}}
    content = Content(charts=(chart, {"title": "U"}))
    fact = Fact(key="one", title="One", audience=Audience.BOTH, content=content)
    html = page("Title", "", "About", [fact]).decode()
    assert "script-src 'unsafe-inline'; img-src data: blob:" in html
    figure = '<figure><figcaption><b>{}</b>{}</figcaption><div id="chart-{}" role="img" '
    assert figure.format("T", "N", 0) + 'aria-label=""></div></figure>' in html
    assert figure.format("U", "", 1) + 'aria-label=""></div></figure>' in html
    written = (
        '<script type="application/json" id="chart-data">'
        '[{"data":[{"name":"<\\/script><\\u0021-- x"}],"layout":{"a":1}},{"data":[],"layout":{}}]'
        "</script><script>"
    )
    assert written in html
    assert html.rstrip().endswith("});\n</script></body></html>")
    assert html.count("Plotly.newPlot(`chart-${i}`") == 1
