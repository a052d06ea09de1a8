"""Results are shown in short form, without values of records, and drawn by the app's charts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.summary import Plotted, Summarized
from rwn_core.evaluation.claims import claim_table

MARK = "<b>&\"'"
LOSS = "association_loss"
LIMIT = rwn.Policy(limits=(rwn.Limit(measure="true_matches", at_most=0.05, source=MARK),))


def secret_table() -> rwn.Microdata:
    """Numbers and names that can be found again in a text."""
    root = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            MARK: 70000.0 + np.arange(60),
            "other": 80000.0 + np.argsort(np.arange(60) + root.normal(scale=5, size=60)),
            "name": [f"level{n % 5}z" for n in range(60)],
        }
    )
    kinds = rwn.Microdata.from_frame(frame).schema
    question = rwn.Question(response="other", predictors=(MARK,))
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=kinds.variables, question=question))


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    table, method = secret_table(), rwn.RWN(k=5)
    release = rwn.mask(table, method, seed=1)
    audit = rwn.audit(table, release, measures=["correlation", "true_matches", LOSS, "marginals"])
    measures = ("true_matches", LOSS)
    grid = rwn.Grid(axes={"k": (3, 5)})
    return {
        "microdata": table,
        "schema": table.schema,
        "release": release,
        "audit": audit,
        "ensemble": rwn.ensemble(table, method, repeats=4, measures=measures, seed=1),
        "sweep": rwn.sweep(table, grid, plan=rwn.Plan(measures=measures, releases=2), workers=1),
        "policy": LIMIT,
        "verdict": LIMIT.judge(audit.readings),
        "claims": claim_table(table, method, draws=40, seed=1),
        "quick": rwn.quick_verdict(table, "rwn", LIMIT, within=0.5),
        "recommendation": rwn.recommend(table, LIMIT),
        "validity": rwn.standard_error_validity(table, method, repeats=10, seed=1),
    }


def test_texts_are_short_and_hold_no_value_of_a_record(results: dict[str, Any]) -> None:
    frame, donors = results["microdata"].frame, results["release"].donors
    values = {f"{value:.0f}" for name in (MARK, "other") for value in frame[name]}
    for name, result in results.items():
        assert isinstance(result, Summarized), name
        text, html = repr(result), result._repr_html_()
        assert 1 <= len(text.splitlines()) <= 10, name
        assert len(text) <= 2_000, name
        for shown in (text, html):
            assert not any(value in shown for value in values), name
            assert "level1z" not in shown, name
            assert str(donors.tolist())[:20] not in shown, name
        assert MARK not in html, name  # escaped
        assert "color" not in html, name  # the page's own, light or dark
    assert "&lt;b&gt;" in results["schema"]._repr_html_()
    assert "other" in repr(results["schema"])


def test_charts_are_those_of_the_app(results: dict[str, Any]) -> None:
    from rwn_core.charts import CHARTS

    audit = results["audit"]
    assert {name for name, each in results.items() if isinstance(each, Plotted)} == {
        *("audit", "ensemble", "sweep")
    }
    chart = CHARTS["correlation"](audit["correlation"])
    figure = audit.plot("correlation")
    np.testing.assert_array_equal(
        np.asarray(figure.data[0].z, dtype=float), np.asarray(chart["data"][0]["z"], dtype=float)
    )
    assert rwn.plot(audit).layout == figure.layout  # the first measure's
    drawn = audit.plot("marginals", MARK)
    assert "&lt;b&gt;" in drawn.layout.title.text
    assert len(audit.plot("distribution", "name").data) > 0
    (points,) = [t for t in results["ensemble"].plot("true_matches").data if len(t.x or ()) == 4]
    np.testing.assert_allclose(points.x, results["ensemble"].values[LOSS], rtol=1e-6)
    assert results["sweep"].plot(LOSS, "true_matches").layout.xaxis.title.text


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
    ],
)
def test_a_wrong_chart_is_refused_in_a_sentence(
    results: dict[str, Any], name: str, what: tuple[str, ...], words: str
) -> None:
    with pytest.raises(rwn.RWNError, match=words):
        results[name].plot(*what)


def test_what_has_no_chart_is_refused() -> None:
    with pytest.raises(rwn.ParameterError, match="an Audit, an Ensemble and a Sweep"):
        rwn.plot(secret_table())
