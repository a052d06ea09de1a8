"""Pages of templates, scenarios and results: hostile texts, sentences, charts."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Analysis, AnalysisPlan, Setting
from rwn_core.data.summary import Plotted, Summarized
from rwn_core.reporting import page
from rwn_core.reporting.facts import Audience, Content, Fact, Table
from rwn_core.reporting.leak_check import file_texts
from rwn_core.reporting.public_notice import unchecked_file
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.scenario import Decision, Scenario
from tests.core.reporting.records_by_hand import RECORD, by_hand
from tests.tables import described

HOSTILE = "</p><script>alert('x')</script> \" onload=\"x' {{ 7 * 7 }} & <b"
TEMPLATES = sorted((Path(page.__file__).parent / "templates").iterdir())


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_hostile_text_is_a_text_in_every_place_of_a_page():
    chart = {"title": HOSTILE, "note": HOSTILE, "alt": HOSTILE, "data": [{"name": HOSTILE}]}
    table = Table(columns=(HOSTILE,), rows=((HOSTILE,),))
    content = Content(lines=(HOSTILE,), table=table, charts=(chart,))
    fact = Fact(key=HOSTILE, title=HOSTILE, audience=Audience.PUBLIC, content=content)
    text = page.page(HOSTILE, HOSTILE, HOSTILE, [fact], HOSTILE).decode()
    read = _Page()
    read.feed(text)
    assert read.tags.count("script") == 3, "the page's own: data, library, drawing"
    assert {name for name, _ in read.attributes if name.startswith("on")} == set()
    assert [value for name, value in read.attributes if name == "aria-label"] == [HOSTILE]
    assert sum(HOSTILE in each for each in read.texts) == 10


def test_a_hostile_name_is_a_name_in_the_codebook():
    material = by_hand(table=RECORD["table"] | {"variables": [HOSTILE, "income", "sex"]})
    root = ElementTree.fromstring(unchecked_file(material, ".xml"))
    names = [each.get("name") for each in root.iter("{ddi:codebook:2_5}var")]
    assert names == [HOSTILE, "income", "sex"]


def test_attributes_of_templates_stand_in_double_quotes():
    for path in TEMPLATES:
        tags = re.findall(r"<\w[^<>]*>", path.read_text(encoding="utf-8"))
        assert [tag for tag in tags if re.search(r"=\s*['{]", tag)] == [], path.name


def test_a_name_that_a_template_lacks_is_no_empty_text():
    with pytest.raises(Exception, match="undefined"):
        page.rendered("page.html", title="", mark="")


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
MEETING = {"participants": ("Ada", "Grace"), "date": "2026-03-31"}


def minutes() -> Decision:
    """The minutes of a meeting that chose a scenario that breaks a limit."""
    of_mild = {"distance_linkage": 0.25, "correlation": 0.05, "association_loss": 0.2}
    read = {key: {"median": value} for key, value in of_mild.items()}
    strong = replace(FULL, name="Strong", readings={**read, "distance_linkage": {"median": 0.01}})
    return Decision(
        scenarios=(replace(FULL, readings=read), strong),
        chosen="Mild",
        reason="It serves the users.",
        accepted_by="Ada",
        dissent="Grace disagrees",
        verdict=FULL.policy.judge(read).sentence,
        policy=FULL.policy,
        **MEETING,
    )


def test_every_page_says_what_its_file_says(sentences):
    noted = replace(FULL, name="<b>Wild</b>", note="Less masking", policy=None, readings={})
    made = Decision(scenarios=(FULL, noted), chosen=noted.name, reason="Least loss", **MEETING)
    of = {"median": 0.25, "low": 0.2, "high": 0.3}
    ranges = {
        f"{count} releases": replace(FULL, readings={"distance_linkage": {**of, "releases": count}})
        for count in (2, 59)
    }
    pages = {
        "decision": decision_html(made),
        "minutes": decision_html(minutes()),
        "minutes of another choice": decision_html(
            replace(minutes(), chosen="Strong", accepted_by="")
        ),
        "nothing chosen": decision_html(Decision(scenarios=())),
        **{name: decision_html(Decision(scenarios=(each,))) for name, each in ranges.items()},
    }
    plain = {}
    for name, html in pages.items():
        text = re.sub(r"(?s)<script[ >].*</script>", "", html.decode())
        assert "<b>Wild" not in text
        assert "@media print" in text
        plain[name] = re.sub(r"(?s)<style>.*</style>", "", text).replace("><", ">\n<").splitlines()
    sentences("page", plain)
    assert f"SHA-256 {made.hash}" in file_texts(pages["decision"], ".html")


def test_minutes_lead_with_the_verdict_and_are_read_back():
    made = minutes()
    assert Decision.thaw(made.frozen()) == made
    text = decision_html(made).decode()
    assert "<h1>“Mild” was chosen: This draw breaks 1 of 2 limits</h1>" in text
    sentence = text.index("breaks 1 of 2 limits, most of all")
    assert text.index("breaks 1 of 2 limits") < sentence < text.index("Grace")
    assert made.hash in text
    older = replace(made, policy=None, dissent="")
    assert not {"dissent", "limit"} & set(older.to_dict())
    assert older.limits == FULL.policy


def test_charts_of_a_page_have_their_caption_and_their_data_as_text():
    chart = {"title": "T", "note": "N", "data": [{"name": "</script><!-- x"}], "layout": {"a": 1}}
    content = Content(charts=(chart, {"title": "U"}))
    fact = Fact(key="one", title="One", audience=Audience.BOTH, content=content)
    html = page.page("Title", "", "About", [fact]).decode()
    assert "script-src 'unsafe-inline'; img-src data: blob:" in html
    figure = '<figure><figcaption><b>{}</b>{}</figcaption><div id="chart-{}" role="img" '
    assert figure.format("T", "N", 0) + 'aria-label=""></div></figure>' in html
    assert figure.format("U", "", 1) + 'aria-label=""></div></figure>' in html
    assert (
        '<script type="application/json" id="chart-data">'
        '[{"data":[{"name":"<\\/script><\\u0021-- x"}],"layout":{"a":1}},{"data":[],"layout":{}}]'
        "</script><script>"
    ) in html
    assert html.count("Plotly.newPlot(`chart-${i}`") == 1


MARK = "<b>&\"'"
LOSS = "association_loss"
LIMIT = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.05, source=MARK),))


def secret_table() -> rwn.Microdata:
    """Numbers and names that can be found again in a text."""
    number = np.arange(60)
    noise = np.random.default_rng(3).normal(scale=5, size=60)
    frame = pd.DataFrame({MARK: 70000.0 + number, "other": 80000.0 + np.argsort(number + noise)})
    data = described(frame.assign(name=[f"level{n % 5}z" for n in number]))
    return data.with_schema(data.schema.asking("other", (MARK,)))


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    table = secret_table()
    method = rwn.RWN(k=5)
    release = rwn.mask(table, method, seed=1)
    audit = rwn.audit(table, release, measures=["correlation", "true_matches", LOSS, "marginals"])
    measures = ("true_matches", LOSS)
    grid = rwn.Grid(axes={"k": (3, 5)})
    return {
        "microdata": table, "schema": table.schema, "release": release, "audit": audit,
        "ensemble": rwn.ensemble(table, method, repeats=4, measures=measures, seed=1),
        "sweep": rwn.sweep(table, grid, plan=rwn.Plan(measures=measures, releases=2), workers=1),
        "policy": LIMIT, "verdict": LIMIT.judge(audit.readings),
        "quick": rwn.quick_verdict(table, "rwn", LIMIT, within=1e6),
        "recommendation": rwn.recommend(table, LIMIT),
        "validity": rwn.standard_error_validity(table, method, repeats=10, seed=1),
    }  # fmt: skip


@pytest.fixture(scope="module")
def sentinels(results: dict[str, Any]) -> set[str]:
    """Texts that show a record or its donor."""
    frame = results["microdata"].frame
    values = {f"{value:.0f}" for name in (MARK, "other") for value in frame[name]}
    return values | {"level1z", str(results["release"].donors.tolist())[:20]}


def test_texts_are_short_and_hold_no_value_of_a_record(results, sentinels):
    for name, result in results.items():
        assert isinstance(result, Summarized), name
        text = repr(result)
        html = result._repr_html_()
        assert 1 <= len(text.splitlines()) <= 10, name
        assert len(text) <= 2_000, name
        assert not [each for each in sentinels if each in text or each in html], name
        assert MARK not in html, name  # escaped
        assert "color" not in html, name  # the page's own, light or dark
    assert "&lt;b&gt;" in results["schema"]._repr_html_()
    assert "other" in repr(results["schema"])


def test_charts_are_those_of_the_app(results):
    from rwn_core.charts import CHARTS

    audit = results["audit"]
    assert {name for name, each in results.items() if isinstance(each, Plotted)} == {
        "audit",
        "ensemble",
        "sweep",
    }
    chart = CHARTS["correlation"](audit["correlation"])
    figure = audit.plot("correlation")
    np.testing.assert_array_equal(
        np.asarray(figure.data[0].z, dtype=float), np.asarray(chart["data"][0]["z"], dtype=float)
    )
    assert rwn.plot(audit).layout == figure.layout  # the first measure's
    drawn = audit.plot("marginals", MARK)
    assert "&lt;b&gt;" in drawn.layout.title.text
    assert audit.plot("distribution").layout == drawn.layout  # the first variable's
    assert len(audit.plot("distribution", "name").data) > 0
    (points,) = [t for t in results["ensemble"].plot("true_matches").data if len(t.x or ()) == 4]
    np.testing.assert_allclose(points.x, results["ensemble"].values[LOSS], rtol=1e-6)
    layout = results["sweep"].plot(LOSS, "true_matches").layout
    assert layout.xaxis.title.text
    assert [each.y0 for each in layout.shapes] == [rwn.Policy().limit("true_matches").at_most]


@pytest.mark.parametrize(
    ("name", "what", "words"),
    [
        ("audit", ("nothing",), "There is no chart nothing"),
        ("audit", ("regression",), "did not read regression"),
        ("audit", ("marginals", "nothing"), "There is no variable nothing"),
        ("audit", ("marginals", "name", "name"), "Give one chart"),
        ("ensemble", (), "needs an answer of"),
        ("ensemble", ("bayes_linkage",), "needs .* without: bayes_linkage"),
        ("ensemble", ("nothing",), "There is no measure nothing"),
        ("sweep", (), "did not read bayes_linkage"),
        ("sweep", ("nothing",), "did not read nothing"),
        ("microdata", (), "an Audit, an Ensemble and a Sweep"),
    ],
)
def test_a_wrong_chart_is_refused_in_a_sentence(results, name, what, words):
    with pytest.raises(rwn.RWNError, match=words):
        rwn.plot(results[name], *what)
