"""The public notice and its label: what is said, in which words, and never more."""

from __future__ import annotations

import json
import re
from bisect import bisect
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from docs import notices
from rwn_core import METHODS, InputError, Microdata, ParameterError, Reading, ReleaseError, SoftRWN
from rwn_core.masking.lever import neutral_levers
from rwn_core.masking.option import method_words
from rwn_core.measures.measure import Sides
from rwn_core.measures.statistics.distributions import Marginal
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting import public_notice
from rwn_core.reporting import public_words as words
from rwn_core.reporting.evidence import kept_detail
from rwn_core.reporting.facts import Audience, Material, facts_for
from rwn_core.reporting.facts.fact import Content, Fact
from rwn_core.reporting.facts.outside import OUTSIDE, treatments
from rwn_core.reporting.ledger import earlier_releases
from rwn_core.reporting.public_notice import (
    PUBLIC_FORMS,
    public_file,
    public_files,
    read_card,
    require_form,
    unchecked_file,
)
from rwn_core.reporting.public_words import AMOUNTS, LOST, vocabulary
from tests.core.reporting.conftest import quickly_made_of, touched
from tests.core.reporting.records_by_hand import RECORD, by_hand, said
from tests.tables import described

CODEBOOK_ORDER = {
    "codeBook": "docDscr stdyDscr fileDscr dataDscr otherMat",
    "docDscr": "citation guide docStatus docSrc controlledVocabUsed notes",
    "stdyDscr": "citation studyAuthorization stdyInfo studyDevelopment method dataAccs "
    "othrStdyMat notes",
    "citation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "titlStmt": "titl subTitl altTitl parTitl IDNo",
    "prodStmt": "producer copyright prodDate prodPlac software fundAg grantNo",
    "verStmt": "version verResp notes",
    "method": "dataColl notes anlyInfo stdyClas dataProcessing codingInstructions",
    "anlyInfo": "respRate EstSmpErr dataAppr",
    "dataAccs": "setAvail useStmt notes",
    "useStmt": "confDec specPerm restrctn contact citReq deposReq conditions disclaimer",
    "fileDscr": "fileTxt locMap notes",
    "fileTxt": "fileName fileCitation fileCont fileStrc dimensns fileType format filePlac "
    "dataChck ProcStat dataMsng software verStmt",
    "fileCitation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "dimensns": "caseQnty varQnty logRecL recPrCas recNumTot",
    "dataDscr": "varGrp nCubeGrp var nCube notes",
    "var": "location labl imputation security embargo respUnit anlysUnit qstn valrng invalrng "
    "undocCod universe TotlResp sumStat txt stdCatgry catgryGrp catgry codInstr verStmt concept "
    "derivation varFormat geoMap catLevel notes",
}
"""Which elements may stand in an element, and in which order: DDI-Codebook 2.5, codebook.xsd."""

PUBLIC_MEASURES = (*LOST, "cells_changed", "standard_errors")
NEEDED = {"codeBook": ["stdyDscr"], "stdyDscr": ["citation"], "citation": ["titlStmt"]}


def small(rows: int = 60) -> Microdata:
    number = np.arange(rows)
    frame = pd.DataFrame({"income": 1000.5 + 7 * number, "age": 20 + number % 40})
    frame["region"] = [f"Betelgeuse {i % 13}" for i in number]
    return described(frame.assign(sex=["f", "m"] * (rows // 2)))


def in_order(element: ElementTree.Element) -> None:
    tag = element.tag.removeprefix("{ddi:codebook:2_5}")
    names = [child.tag.removeprefix("{ddi:codebook:2_5}") for child in element]
    if names:
        allowed = CODEBOOK_ORDER[tag].split()
        places = [allowed.index(name) for name in names]
        assert places == sorted(places), tag
    assert set(NEEDED.get(tag, ())) <= set(names)
    for child in element:
        in_order(child)


def test_the_archive_form_has_the_structure_of_the_schema(material, bodyfat_table):
    root = ElementTree.fromstring(public_file(material, bodyfat_table, ".xml"))
    assert root.tag == "{ddi:codebook:2_5}codeBook"
    assert root.get("version") == "2.5"
    in_order(root)
    names = [each.get("name") for each in root.iter("{ddi:codebook:2_5}var")]
    assert names == list(bodyfat_table.names)
    assert {each.get("intrvl") for each in root.iter("{ddi:codebook:2_5}var")} == {"contin"}
    types = {each.get("type") for each in root.iter("{ddi:codebook:2_5}varFormat")}
    assert types == {"numeric"}
    digest = root.find(".//{ddi:codebook:2_5}IDNo[@agency='SHA-256']")
    assert digest.text == material.record["file"]["sha256"]
    # the test sees a wrong order
    study = root.find("{ddi:codebook:2_5}stdyDscr")
    study.append(study[0])
    with pytest.raises(AssertionError):
        in_order(root)


def test_it_holds_none_of_the_values_of_bodyfat(material, bodyfat_table):
    frame = bodyfat_table.frame
    values = {f"{v:g}" for v in frame.to_numpy(dtype=float).ravel()}
    common = {f"{v:g}" for c in frame for v, n in frame[c].value_counts().items() if n >= 10}
    for suffix in PUBLIC_FORMS:
        text = public_file(material, bodyfat_table, suffix).decode()
        if suffix == ".html":
            text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
            assert "<script" not in text
            assert len(text) < 10_000
        text = re.sub(r'"https?://[^"]*"', "", text)  # namespaces of the form
        numbers = set(re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-]|\.\d)", text))
        # records, source, form of the file, its size
        said = {"241", "2022", "5", "11", "2.5", "1.0", "1", str(material.record["file"]["size"])}
        assert not (numbers - said)
        assert not ((numbers & values) - common - said)
        words = text.casefold()
        for secret in ("zaphod", "survey.csv", "epsilon = 2", "seed"):
            assert secret not in words


def test_every_method_gets_through_the_leak_check():
    data, known = small(), {"record_swapping": {"share": 0.5, "variables": "region,sex"}}
    for key, method in METHODS.items():
        params = method(**{**neutral_levers(method), **known.get(key, {})})
        made = touched(quickly_made_of(data, params, PUBLIC_MEASURES))
        for suffix in PUBLIC_FORMS:
            text = public_file(made, data, suffix).decode()
            assert method_words(method)["name"] in text.replace("&apos;", "'")
            assert "Betelgeuse" not in text


def test_a_balanced_release_says_which_intervals_hold_and_another_that_none_does(
    material, bodyfat_table
):
    data = bodyfat_table.with_slices([["siri", "age", "abdomen"]])
    made = touched(quickly_made_of(data, SoftRWN(kernel="gaussian", balance=1.0), ["marginals"]))
    about = json.loads(public_file(made, data, ".json"))["intervals"]
    assert about["slices"][0] == ["siri", "age", "abdomen"]
    assert (about["records"], about["refusal"], about["factor"]) == (241, "", 2**0.5)
    assert "multiply every robust standard error by 1.42" in about["sentence"]
    for form in (".html", ".json", ".xml"):
        assert about["sentence"] in public_file(made, data, form).decode()
    # nothing of the original: the same sentence for any table, and no number beside the factor
    made.record["intervals"]["records"] = 0.8112  # type: ignore[index]
    with pytest.raises(ReleaseError):
        public_file(made, data, ".json")
    none = json.loads(public_file(material, bodyfat_table, ".json"))["intervals"]
    assert "factor" not in none
    assert none["refusal"] == none["sentence"]
    assert "not drawn equally often" in none["refusal"]


NAME, DOES, _, SOURCE = method_words(by_hand().method).values()
TITLED = replace(by_hand(context={"review": "2030-01-31"}), title="Homes")
TREATED = [
    ["age", "masked"],
    ["income", "released as in the original; rounded"],
    ["sex", "released as in the original"],
]
PARTS = [{"name": "part-000000.parquet", "sha256": "ef" * 32}]


def test_each_form_is_every_public_fact_in_its_place(sentences):
    said = {"review": "2030-01-31", "contact": " data@x.org ", "purpose": "Teaching."}
    record = {**TITLED.record, "context": {**said, "access": "on request", "harms": "Betelgeuse"}}
    asked = replace(TITLED, record=record)
    file = {**RECORD["file"], "parts": PARTS}
    many = replace(TITLED, record={**TITLED.record, "file": file})
    found = {}
    for name, material in (("", TITLED), (", asked", asked), (", many files", many)):
        for form in (".json", ".xml", ".toml"):
            text = unchecked_file(material, form).decode()
            if form == ".json":
                text = orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode()
            found[f"{form}{name}"] = text.splitlines()
    sentences("notice", found)
    assert read_card("\n".join(found[".toml, many files"]))["files"] == PARTS
    assert f"{NAME} (RWN, the 2022 method)" in "".join(found[".toml"])
    assert [entry.title for entry in OUTSIDE] == list(words.TITLES[:10])


def test_what_is_no_public_form_or_no_public_fact_is_refused(material, bodyfat_table, monkeypatch):
    with pytest.raises(
        ParameterError, match=r"must end in one of: \.html, \.json, \.xml, \.toml; "
    ):
        require_form(".HTML")
    assert require_form("notice.json") == ".json"
    with pytest.raises(InputError, match="not the table that the record was made of"):
        public_file(material, bodyfat_table.take(np.arange(100)), ".html")
    for key, audience in (("use", Audience.INTERNAL), ("limits", Audience.BOTH)):
        planted = Fact(key=key, title="Some fact", audience=audience, content=Content())
        monkeypatch.setattr(public_notice, "facts_for", lambda *_, planted=planted: (planted,))
        with pytest.raises(ReleaseError, match='The fact "Some fact" is for the house alone'):
            unchecked_file(by_hand(), ".html")
    with pytest.raises(ReleaseError, match="mask again with --order shuffled"):
        unchecked_file(by_hand(file={**RECORD["file"], "order": "original"}), ".html")
    with pytest.raises(ReleaseError, match="drawn with a seed that anybody can try"):
        unchecked_file(by_hand(file={**RECORD["file"], "key": "a seed"}), ".html")


def test_only_what_the_method_may_not_change_is_as_in_the_original():
    """Finding A15: what this draw happened to leave would tell that each value is true."""
    assert list(map(list, treatments(by_hand()).items())) == TREATED
    table = {**RECORD["table"], "left_alone": []}
    for share in ([1.0, 0.5, 1.0], [0.0, 0.0, 0.0]):
        read = {"cells_changed": {**RECORD["readings"]["cells_changed"], "share": share}}
        assert treatments(by_hand(readings=read, table=table)) == {
            "age": "masked", "income": "masked; rounded", "sex": "released as in the original"
        }  # fmt: skip
    del table["left_alone"]  # an earlier version did not say it
    assert treatments(by_hand(table=table))["income"] == "masked; rounded"


def test_that_missing_values_move_is_said_where_they_do():
    def is_said(missing: list[str] | None, method: str = "rwn", **parts: Any) -> bool:
        table = {**RECORD["table"], "missing": missing}
        if missing is None:  # a record of before this was kept
            del table["missing"]
        setting = {"method": method, "parameters": {}}
        return words.MISSING in of_fact("treated", by_hand(table=table, setting=setting, **parts))

    assert words.MISSING in vocabulary()
    assert is_said(["age"])
    assert is_said(None)
    # nobody lacks a value; only a variable without masking, or that the method leaves, has such
    assert not any(map(is_said, ([], ["sex"], ["income"], ["income", "sex"])))
    for method in METHODS:
        assert is_said(["age"], method) == METHODS[method].moves_missing


def fact(key: str, material: Material) -> Content:
    return next(entry for entry in OUTSIDE if entry.key == key).make(material)


def of_fact(key: str, material: Material) -> list[str]:
    return said(fact(key, material))


def told(key: str, readings: dict[str, Any]) -> Content:
    return fact(key, by_hand(readings=readings))


ENDS = {
    "marginals": (0.01, 0.05, 0.15, 0.3, 0.6),
    "association_loss": (0.05, 0.2, 0.4, 0.6, 0.85),
    "subgroups": (0.02, 0.1, 0.25, 0.5, 0.8),
}


def slopes(coverage: float, signs: float, releases: int = 60, drawn: int = 60) -> dict[str, Any]:
    """Finding N2: a slope is neither "as large as the original's" nor corrected by anything."""
    about = {"response": "y", "names": ["a", "b"], "shift": [0.0, 0.0]}
    judged = {"coverage": [coverage, 0.95], "signs": [signs, 1.0]}
    return {"slopes": [{**about, **judged, "releases": releases, "drawn": drawn}]}


def policy(key: str, **verdict: Any) -> dict[str, Any]:
    """A limit on one measure, and what was found of it."""
    usual = {"kept": True, "words": "x", "shares": {}, "judged": {}, "not_judged": {}}
    return {"limit": [{"measure": key, "at_most": 0.05}], "verdict": {**usual, **verdict}}


def kept(key: str, share: float = 0.5, **standing: str) -> dict[str, Any]:
    judged = {key: {"title": "x", "value": 0.02, **standing}}
    return policy(key, shares={key: share}, judged=judged)


def setting(rest: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    given = {"method": "rwn", "parameters": {"k": 5, **parameters}, **(rest or {})}
    return {"setting": given}


SOFT = {"kernel": "gaussian", "width": 1.0}
CHANGED = RECORD["readings"]["cells_changed"]
CASES: dict[str, dict[str, Any]] = {
    # a slope is trusted only if intervals hold it over releases
    "errors": {"context": {"contact": "data@x.org"}},
    "errors, held": slopes(0.8, 0.95),
    "errors, missed": slopes(0.79, 0.95),
    "errors, turned": slopes(0.9, 0.94),
    "errors, few answers": slopes(1.0, 1.0, 47),
    "errors, one file": slopes(0.0, 1.0, 1, 1),
    # what is kept is bounded, with its proof where it has one
    "label": kept("bayes_linkage", standing=""),
    "label, at least": kept("bayes_linkage", standing="at least"),
    "label, an estimate": kept("bayes_linkage", standing="an estimate"),
    "label, estimated at most": kept("bayes_linkage", standing="estimated at most"),
    "label, of an older record": kept("bayes_linkage"),
    "label, broken": kept("bayes_linkage", 1.2, standing=""),
    "label, not judged": policy("bayes_linkage", not_judged={"bayes_linkage": "Too slow."}),
    "label, not read": policy("bayes_linkage"),
    "label, a risk of one's own": kept("membership", standing=""),
    "label, no policy": {"limit": [], "verdict": {"shares": {}, "judged": {}, "not_judged": {}}},
    **{
        f"label, {unit}": {"table": {**RECORD["table"], "unit": unit}}
        for unit in ("people", "households", "records")
    },
    # what the method does at a setting
    "treated": setting(),
    "treated, slices": setting({"slices": [["age", "income"]]}),
    "treated, q": setting(q=0.5),
    "treated, soft": setting(**SOFT),
    "treated, balanced": setting(**SOFT, balance=1.0),
    "treated, own": setting(**SOFT, own=True),
    "treated, outside the household": setting(outside_household=True),
    "treated, rounded": setting({"precision": {"age": 5.0}}),
    "treated, microaggregation": setting({"method": "microaggregation", "parameters": {"k": 3}}),
    "loss, unread": {"readings": {}},
    # 0 is not told apart from 0.1 %: it would say that each value is true
    "variables": {
        "table": {**RECORD["table"], "left_alone": []},
        "readings": {"cells_changed": {**CHANGED, "share": [0.001, 0.0, 0.25]}},
    },
    "variables, unread": {"table": {**RECORD["table"], "left_alone": []}, "readings": {}},
}


def test_what_each_fact_says(sentences):
    cases = {name: (name.partition(",")[0], by_hand(**parts)) for name, parts in CASES.items()}
    for earlier in (0, 2, 40):
        cases[f"label, {earlier} earlier"] = "label", replace(by_hand(), earlier=earlier)
    bare = {k: v for k, v in RECORD.items() if k not in ("limit", "verdict")}
    cases["label, no verdict"] = "label", Material(record=bare)
    sentences("fact", {name: of_fact(*case) for name, case in cases.items()})
    everything = " ".join(vocabulary())
    for lines in (words.USE, words.FILE, words.FILES, words.LOSS, words.ERRORS, words.TREATED):
        assert all(line in everything for line in lines)


def test_means_move_in_standard_deviations_and_a_constant_does_not():
    counts = {"original": np.array([1, 2]), "released": np.array([1, 2]), "difference": 0.25}
    sex = Marginal(levels=["f", "m"], **counts, missing=Sides(0, 0))
    x = replace(sex, edges=np.arange(3.0), mean=Sides(2.0, 3.0), sd=Sides(2.0, 0.0))
    variables = {"x": x, "constant": replace(x, sd=Sides(0.0, 0.0)), "sex": sex}
    kept = kept_detail("marginals", Reading(value=0.0, detail=marginal_distances(variables)))
    assert kept == {"mean_shift": {"x": 0.5}, "share_shift": {"sex": 0.25}}


def test_each_word_begins_where_it_should():
    for key in words.LOST:
        for place, end in enumerate(ENDS[key]):
            below, at = (told("loss", {key: {"value": v}}).table.rows for v in (end * 0.999, end))
            assert (below[0][1], at[0][1]) == words.AMOUNTS[place : place + 2]
    changed = list(words.CHANGED.values())[::-1]
    for place, end in enumerate((0.1, 0.4, 0.6, 0.9)):
        for value, line in ((end * 0.999, changed[place]), (end, changed[place + 1])):
            assert line in told("loss", {"cells_changed": {"value": value}}).lines


def test_the_largest_shift_of_either_sign_is_said():
    for key, line, far in (
        ("mean_shift", words.MEANS, words.FAR_MEANS),
        ("share_shift", words.SHARES, words.FAR_SHARES),
    ):
        near = [*(line.format(near=each) for each in words.NEAR), far]
        for place, end in enumerate((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)):
            for value, wanted in ((end * 0.999, near[place]), (end, near[place + 1])):
                for one in (value, -value):  # the largest of either sign
                    marginals = {"value": 0.0, key: {"x": 0.0, "y": one}}
                    assert told("totals", {"marginals": marginals}).lines[1] == wanted


def test_a_notice_says_what_a_simulation_finds(monkeypatch):
    row = notices.row("bodyfat", rwn.RWN(epsilon=30.0, k=5), simulated=15)
    ends = ENDS["association_loss"]
    assert row.relations in {AMOUNTS[bisect(ends, row.loss + away)] for away in (-0.04, 0.0, 0.04)}
    assert all(0.5 < row.coverage[name] <= 1.0 for name in row.differ), row
    assert {name for name, held in row.coverage.items() if held < 0.5} <= set(row.missed)
    assert row.relations in AMOUNTS[-2:]  # nothing is left
    assert row.missed
    # planted: a notice that calls biased slopes fine
    monkeypatch.setattr(notices, "missed", lambda record: ())
    row = notices.row("bodyfat", rwn.RWN(epsilon=2.0, k=5), simulated=8)
    assert "abdomen" in row.differ


def test_earlier_releases_are_those_of_the_same_people():
    one = {"table": "a", "names": [], "columns": {}}
    marks = [one, {"table": "b", "names": ["x"], "columns": {}}]
    entries = [{"release": str(i), "marks": marks[i == 1]} for i in range(4)]
    assert [earlier_releases(entries, str(i)) for i in range(4)] == [0, 0, 1, 2]
    with pytest.raises(InputError, match="does not have this release"):
        earlier_releases(entries, "9")


def test_the_label_is_in_every_form_of_a_kept_release(kept_material, bodyfat_table):
    names = ("label.svg", "label.json", "notice.json", "notice.html")
    files = public_files(kept_material, bodyfat_table, names)
    plain, svg = json.loads(files["label.json"]), files["label.svg"].decode()
    (made,) = (e for e in facts_for(Audience.PUBLIC, kept_material) if e.key == "label")
    assert plain["label"] == dict(made.content.table.rows)
    sha256 = kept_material.record["file"]["sha256"]
    assert (plain["format"], plain["sha256"]) == ("rwn label 1", sha256)
    drawn = " ".join(re.findall(r">([^<>]+)</text>", svg))
    assert set(" ".join(plain["label"].values()).split()) <= set(
        drawn.replace("&#34;", '"').split()
    )
    assert int(re.findall(r'height="(\d+)"', svg)[0]) < 560  # half a page at 760 units of width
    assert "Privacy label" in files["notice.html"].decode()
    assert json.loads(files["notice.json"])["facts"][0]["key"] == "label"
    leaky = replace(kept_material, title="The heaviest weighs 363.15")
    for name in ("label.svg", "label.json"):
        with pytest.raises(ReleaseError, match="would hold"):
            public_file(leaky, bodyfat_table, name)
