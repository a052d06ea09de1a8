"""The minutes of a decision, whole: every section, in its order, word for word."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.reporting.facts.fact import Audience, Content, Fact
from rwn_core.reporting.leak_check import file_texts
from rwn_core.reporting.page import page
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.scenario import Decision, Scenario
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


def test_every_page_says_what_its_file_says(sentences: Callable[..., None]) -> None:
    noted = replace(FULL, name="<b>Wild</b>", note="Less masking", policy=None, readings={})
    made = Decision(
        scenarios=(FULL, noted),
        chosen="<b>Wild</b>",
        reason="Least loss",
        participants=("Ada", "Grace"),
        date="2026-03-31",
    )
    of = {"median": 0.25, "low": 0.2, "high": 0.3}
    ranges = {
        count: replace(FULL, readings={"distance_linkage": {**of, "releases": count}})
        for count in (2.0, 59.0)
    }
    pages = {
        "decision": decision_html(made),
        "nothing chosen": decision_html(Decision(scenarios=())),
        **{
            f"{count:g} releases": decision_html(Decision(scenarios=(each,)))
            for count, each in ranges.items()
        },
    }
    plain = {}
    for name, html in pages.items():
        text = html.decode()
        assert "<script" not in text
        assert "<b>" not in text
        assert "@media print" in text
        plain[name] = re.sub(r"(?s)<style>.*</style>", "", text).replace("><", ">\n<").splitlines()
    sentences("page", plain)
    assert f"SHA-256 {made.hash}" in file_texts(pages["decision"], ".html")


def test_minutes_lead_with_the_verdict_and_fit_one_page() -> None:
    strict = rwn.Policy(limits=LIMITS)
    of_mild = {"distance_linkage": 0.25, "correlation": 0.05, "association_loss": 0.2}
    read = {key: {"median": value} for key, value in of_mild.items()}
    mild = replace(FULL, name="Mild", readings=read)
    kept = replace(FULL, name="Strong", readings={**read, "distance_linkage": {"median": 0.01}})
    made = Decision(
        scenarios=(mild, kept),
        chosen="Mild",
        reason="It serves the users.",
        participants=("Ada", "Grace"),
        date="2026-03-31",
        accepted_by="Ada",
        dissent="Grace disagrees",
        verdict=strict.judge(mild.readings).sentence,
        policy=strict,
    )
    assert Decision.thaw(made.frozen()) == made
    text = decision_html(made).decode()
    assert "<h1>“Mild” was chosen: breaks 1 of 2 limits</h1>" in text
    assert text.index("breaks 1 of 2") < text.index("1 of 2 limits is broken") < text.index("Grace")
    (broken,) = re.findall(r'<section id="broken">.*?</section>', text, flags=re.S)
    assert "Accepted by: Ada." in broken
    assert "<td>25\u00a0%</td><td>at most 5\u00a0%; set by law, Board</td>" in broken
    assert "Correlations" not in broken  # it is kept
    assert "Grace disagrees" in text
    assert "<td>keeps all limits</td>" in text
    assert "<svg" in text
    assert "<script" not in text
    assert made.hash in text
    # another choice: nothing is broken, and no one accepts anything
    other = decision_html(replace(made, chosen="Strong", accepted_by="")).decode()
    assert "“Strong” was chosen: keeps all limits" in other
    assert 'id="broken"' not in other
    older = replace(made, policy=None, dissent="")
    assert "dissent" not in older.to_dict()
    assert "limit" not in older.to_dict()
    assert older.limits == FULL.policy


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
