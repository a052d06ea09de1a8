"""The claim table on the Release page: judged, read in words, and published with its readers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.question import Question
from rwn_core.evaluation import claims as judged
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.claims import AnalysisClaims, Claim, ClaimTable
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.reporting.facts.public_words import CLAIMS
from rwn_core.reporting.release_folder import for_users
from rwn_ui.release import claims, judging
from rwn_ui.release.claims import COLUMNS, claim_rows, summary
from tests.ui.test_release_page import field, look_and_draw, missing, press, words

LINEAR = Analysis(name="pay", kind="linear", tolerance=1.0, formula="pay ~ age + job")
TABLE = Analysis(name="jobs", kind="table", tolerance=0.1, variables=("job",))


def test_each_claim_is_said_in_words() -> None:
    pay = AnalysisClaims(
        analysis=LINEAR,
        claims=(
            Claim(term="age", sign=True, within=0.5, factor=1.2),
            Claim(term="job: cook", within=3.0),
            Claim(term="job: poet"),
        ),
    )
    refused = AnalysisClaims(analysis=LINEAR, refusal=judged.TIED)
    jobs = AnalysisClaims(analysis=TABLE, claims=(Claim(term="job", within=0.02),))
    pairs = (
        Claim(term="pay ~ age", sign=True, pair=("pay", "age"), within=2.0, tied=True),
        Claim(term="pay ~ job", pair=("pay", "job"), within=0.1),
    )
    table = ClaimTable(analyses=(pay, refused, jobs), pairs=pairs, draws=1200)
    frame = pd.DataFrame({"pay": [1.5, 2.5], "age": [1, 2], "job": ["cook", "poet"]})
    rows = claim_rows(rwn.Microdata.from_frame(frame), table)
    assert [" | ".join(row) for row in rows] == [
        "linear: pay | age | as in the original | at most 0.5 standard errors | multiply by 1.2 | ",
        "linear: pay | job: cook | – | at most 3 standard errors | – | ",
        "linear: pay | job: poet | – | – | – | do not use",
        "linear: pay | all | – | – | – | "
        "do not use: the predictors are nearly collinear in the original",
        "table: jobs | job | – | at most 0.02 | – | ",
        "pair | pay ~ age | as in the original | at most 2 standard errors | – | "
        "do not use both in one model",
        "pair | pay ~ job | – | at most 0.1 | – | ",
    ]
    assert all(len(row) == len(COLUMNS) for row in rows)
    assert summary(table) == (
        "2 of 3 analyses and 2 of 2 pairs of variables have a claim, judged over 1,200 releases."
    )


@pytest.fixture
def screen(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page with a small table, where work is done at once."""
    for part in (judging, claims):
        monkeypatch.setattr(part, "Job", at_once)
    screen = open_page("release", epsilon="2", k="5", q="1")
    rng = np.random.default_rng(5)
    school = rng.normal(12, 3, 150).round(1)
    pay = (0.8 * school + rng.normal(0, 1, 150)).round(2)
    frame = pd.DataFrame({"pay": pay, "school": school, "age": rng.integers(20, 60, 150)})
    data = rwn.Microdata.from_frame(frame)
    question = Question(response="pay", predictors=("school",))
    screen.session.data = data.with_schema(replace(data.schema, question=question))
    limit = rwn.Limit(measure="distance_linkage", at_most=0.95)
    screen.session.policy = rwn.Policy(limits=(limit,))
    screen.test.run()
    return screen


def test_the_table_joins_the_files_and_the_notice_names_it(screen) -> None:
    look_and_draw(screen)
    field(screen, "text_input", "Name of the person").set_value("Ada")
    field(screen, "text_input", "Reason, where").set_value("A lesson")
    press(screen, "Record")
    press(screen, "Make the files")
    assert not any("claims" in name for name in screen.work.drawn.files)
    assert CLAIMS.encode() not in screen.work.drawn.files["for-users/notice.html"]
    field(screen, "number_input", "Releases to draw").set_value(40).run()
    press(screen, "Judge the claims")
    assert screen.errors == []
    assert "judged over 40 releases" in words(screen)
    assert "do not hold the claim table; make them again" in words(screen)
    press(screen, "Make the files")
    assert "make them again" not in words(screen)
    users = for_users(screen.work.drawn.files)
    assert {"for-users/rwn_claims.py", "for-users/rwn_claims.R"} <= set(users)
    document = json.loads(users["for-users/claims.json"])
    assert document["sha256"] == screen.work.drawn.judged.sha256
    assert document["draws"] == 40
    assert CLAIMS.encode() in users["for-users/notice.html"]
    crate = json.loads(users["for-users/ro-crate-metadata.json"])
    named = {each["@id"] for each in crate["@graph"] if each["@type"] == "File"}
    assert {f"for-users/{name}" for name in named} == set(users) - {
        "for-users/ro-crate-metadata.json"
    }
    field(screen, "checkbox", "Put it with the files").uncheck().run()
    assert "a claim table that you took out; make them again" in words(screen)
    press(screen, "Make the files")
    assert "for-users/claims.json" not in screen.work.drawn.files
    assert missing(screen)[0] == "Files written"
    assert screen.errors == []


def test_claims_belong_to_a_setting_and_its_analyses(screen) -> None:
    assert claims.present_claims(screen.session) is None
    look_and_draw(screen)
    field(screen, "text_input", "Name of the person").set_value("Ada")
    field(screen, "text_input", "Reason, where").set_value("A lesson")
    press(screen, "Record")
    field(screen, "number_input", "Releases to draw").set_value(36).run()
    press(screen, "Judge the claims")
    table = claims.present_claims(screen.session)
    assert table is not None
    assert ("pay", "school") in [claim.pair for claim in table.pairs]
    screen.session.analysis_plan = AnalysisPlan(analyses=(TABLE,))
    assert claims.present_claims(screen.session) is None
