"""The internal report: marked, whole, printable alone, with the screen's charts."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import InputError
from rwn_core.measures.statistics.key_variables import class_sizes
from rwn_core.reporting.evidence import read_evidence
from rwn_core.reporting.facts import FACTS, Audience, Material, facts_for
from rwn_core.reporting.page import MARK, internal_html, internal_json
from tests.core.reporting.conftest import made_of, quickly_made_of


def told(material: Material) -> dict[str, object]:
    return {fact.key: fact for fact in facts_for(Audience.INTERNAL, material)}


def words(material: Material, key: str) -> str:
    content = told(material)[key].content
    rows = [" ".join(row) for row in content.table.rows] if content.table else []
    return "\n".join([*content.lines, *rows])


def test_it_is_one_marked_page_with_its_charts(material: Material) -> None:
    html = internal_html(material).decode()
    assert html.count(MARK) == 2  # above everything, and where a window or a printer names it
    assert not re.search(r"""(?:src|href)=["']""", html.partition("<script")[0])
    data = html.partition('<script type="application/json" id="chart-data">')[2]
    charts = orjson.loads(data.partition("</script>")[0].replace("<\\/", "</"))
    assert len(charts) == len(material.evidence["charts"]) == html.count('id="chart-') - 1
    assert {"correlation", "regression", "distribution", "linkage_attacks", "record_risk"} <= {
        chart["key"] for chart in material.evidence["charts"]
    }
    assert "Plotly" in html
    for entry in FACTS:
        if entry.audience in (Audience.INTERNAL, Audience.BOTH):
            assert f'<section id="{entry.key}">' in html


def classes_table() -> Microdata:
    """Three keys; two people are alone, two share their keys, all others are many."""
    region = ["a"] * 20 + ["b"] * 20 + ["c", "d", "e", "e"]
    frame = pd.DataFrame({"region": region, "income": np.arange(44.0)})
    data = Microdata.from_frame(frame)
    schema = data.schema.replace_variable("region", role=Role.KEY)
    return data.with_schema(schema.replace_variable("income", role=Role.CONFIDENTIAL))


def test_anonymity_by_hand() -> None:
    material = made_of(classes_table(), rwn.RWN(k=1, q=0.0))
    assert words(material, "anonymity").splitlines()[1:] == [
        "2-anonymity 2 (4.5 %) 2 (4.5 %)",
        "3-anonymity 4 (9.1 %) 4 (9.1 %)",
        "5-anonymity 4 (9.1 %) 4 (9.1 %)",
    ]
    codes = np.array([[ord(each)] for each in classes_table().frame["region"]])
    assert (class_sizes(codes) < 3).sum() == 4


def test_what_is_not_at_hand_is_said(material: Material) -> None:
    assert b"<script" not in internal_html(replace(material, evidence={}))
    document = orjson.loads(internal_json(material))
    assert document["note"] == MARK
    assert {fact["key"] for fact in document["facts"]} == set(told(material))
    with pytest.raises(InputError, match="none of this program"):
        read_evidence(b"{}")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (rwn.RWN(epsilon=np.linspace(1.0, 3.0, 44), k=5), "epsilon a value for each record"),
        (rwn.METHODS["random_swapping"](share=0.5, variables=("income",)), "income"),
        (rwn.METHODS["sampling"](left_out=0.25), "left_out 0.25"),
    ],
    ids=["radii", "names", "sampling"],
)
def test_parameters_of_any_kind_are_shown(params: object, said: str) -> None:
    material = quickly_made_of(classes_table(), params, ["cells_changed"])
    assert said in words(material, "parameters")
    assert internal_html(material)
    kept = 33 if "left_out" in said else 44  # of 44, a quarter is left out
    assert material.records == kept
    assert f"44 records; the file has {kept}." in words(material, "data")
