"""The public notice, and that no value, donor or key leaves."""

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
from rwn_core.reporting import dots, internal_record, leak_check, public_notice, read_record
from rwn_core.reporting import facts as listed
from rwn_core.reporting import page as page_of_reports
from rwn_core.reporting import public_words as words
from rwn_core.reporting.auditors_page import auditors_file
from rwn_core.reporting.evidence import kept_detail
from rwn_core.reporting.facts import FACTS, Audience, Material, facts_for
from rwn_core.reporting.facts.fact import Content, Fact
from rwn_core.reporting.facts.outside import OUTSIDE, treatments
from rwn_core.reporting.ledger import earlier_releases
from rwn_core.reporting.public_notice import (
    PUBLIC_FORMS,
    public_file,
    public_files,
    read_notice,
    require_form,
    unchecked_file,
)
from rwn_core.reporting.public_words import AMOUNTS, LOST, vocabulary
from tests import rows_together
from tests.core.reporting.conftest import plant, quickly_made_of, touched
from tests.core.reporting.records_by_hand import RECORD, by_hand, said
from tests.tables import described, frame

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


def without_style_and_picture(page: str) -> str:
    """A page without what is the same whatever the data."""
    for filled in dots.STEPS:
        page = page.replace(dots.picture(filled), "")
    return re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_it_holds_none_of_the_values_of_bodyfat(material, bodyfat_table):
    frame = bodyfat_table.frame
    values = {f"{v:g}" for v in frame.to_numpy(dtype=float).ravel()}
    common = {f"{v:g}" for c in frame for v, n in frame[c].value_counts().items() if n >= 10}
    for suffix in PUBLIC_FORMS:
        text = public_file(material, bodyfat_table, suffix).decode()
        if suffix == ".html":
            text = without_style_and_picture(text)
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
    data = small()
    known = {"record_swapping": {"share": 0.5, "variables": "region,sex"}}
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


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("survey", None, ["nothing of them was found"]),
        ("panel", "person=height", ["rows of one person or household were", "counted in people"]),
        ("classes", "cluster=class", ["clusters were found", "its rows came in clusters"]),
        ("years", "series=year", ["a series was found", "its rows were a series"]),
        ("classes", "separate", ["clusters were found", "a person of its own, independent of"]),
    ],
)
def test_a_notice_says_which_rows_together_were_looked_for_found_and_stated(
    name: str, rows: str | None, said: list[str]
) -> None:
    frames = rows_together.blocks() | rows_together.harmless()
    data = described(frames[name])
    data = data.with_schema(data.schema.with_rows(rows))
    made = touched(quickly_made_of(data, rwn.RWN(k=5), ["cells_changed"]))
    for form in (".html", ".json"):
        text = public_file(made, data, form).decode()
        assert all(words in text for words in said), form


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
        for form in (".json", ".xml"):
            text = unchecked_file(material, form).decode()
            if form == ".json":
                text = orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode()
            found[f"{form}{name}"] = text.splitlines()
    sentences("notice", found)
    assert read_notice("\n".join(found[".json, many files"]))["files"] == PARTS
    assert f"{NAME} (RWN, the 2022 method)" in "".join(found[".json"])
    assert [entry.title for entry in OUTSIDE] == list(words.TITLES[:10])


def test_what_is_no_public_form_or_no_public_fact_is_refused(material, bodyfat_table, monkeypatch):
    with pytest.raises(ParameterError, match=r"must end in one of: \.html, \.json, \.xml; "):
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


def test_no_total_is_called_inexact_that_comes_out_exactly():
    """Finding V6: of a constant column and of an equal count it was said that they are not."""
    numbers = np.arange(60)
    table = pd.DataFrame({"x": numbers * 1.5, "same": 2.0, "sex": ["f", "m"] * 30})
    data = described(table)
    release = rwn.mask(data, SoftRWN(kernel="gaussian", balance=1.0), seed=1)
    assert release.masked.frame["same"].sum() == table["same"].sum()
    assert len(release.masked.frame) == len(table)
    file = rwn.ReleasedFile.of(release.to_bytes("csv", keep=["x"]), "csv")
    record = read_record(internal_record(data, release, file, measures=["marginals"]))
    (fact,) = (each for each in OUTSIDE if each.key == "totals")
    lines = fact.make(Material(record=record)).lines
    assert words.TOTALS in lines
    assert not [line for line in lines if "Totals" in line and "need not" not in line]


def test_a_notice_says_what_a_simulation_finds(monkeypatch):
    row = notices.row("bodyfat", rwn.RWN(epsilon=30.0, k=5), simulated=8)
    ends = ENDS["association_loss"]
    assert row.relations in {AMOUNTS[bisect(ends, row.loss + away)] for away in (-0.04, 0.0, 0.04)}
    assert all(0.5 < row.coverage[name] <= 1.0 for name in row.differ), row
    assert {name for name, held in row.coverage.items() if held < 0.5} <= set(row.missed)
    assert row.relations in AMOUNTS[-2:]  # nothing is left
    assert row.missed
    # planted: a notice that calls biased slopes fine
    monkeypatch.setattr(notices, "missed", lambda record: ())
    row = notices.row("bodyfat", rwn.RWN(epsilon=2.0, k=5), simulated=4)
    assert "abdomen" in row.differ


def test_earlier_releases_are_those_of_the_same_people():
    one = {"table": "a", "names": [], "columns": {}}
    marks = [one, {"table": "b", "names": ["x"], "columns": {}}]
    entries = [{"release": str(i), "marks": marks[i == 1]} for i in range(4)]
    assert [earlier_releases(entries, str(i)) for i in range(4)] == [0, 0, 1, 2]
    with pytest.raises(InputError, match="does not have this release"):
        earlier_releases(entries, "9")


def test_what_was_judged_stands_first_in_the_notice(kept_material, bodyfat_table):
    files = public_files(kept_material, bodyfat_table, ("notice.json", "notice.html"))
    first = json.loads(files["notice.json"])["facts"][0]
    (made,) = (e for e in facts_for(Audience.PUBLIC, kept_material) if e.key == "label")
    assert first["key"] == "label"
    assert list(map(tuple, first["rows"])) == list(made.content.table.rows)
    page = files["notice.html"].decode()
    assert page.index('<section id="label">') == page.index("<section")


def dots_of(page: str) -> list[int]:
    """Count the dots of all rows, and those that are filled: one at each 12 pixels of a line."""
    (svg,) = re.findall(r"<svg.*?</svg>", page)
    counts = []
    for path in re.findall(r'<path d="(.*?)"', svg):
        lengths = re.findall(r"h(\d+)", path)
        counts.append(sum(int(length) // 12 + 1 for length in lengths))
    return [*counts, 0][:2]


def noticed(material: Material, original: Microdata, share: float, standing: str = "") -> str:
    """The notice of a release of which the best intruder links this share."""
    material.record["verdict"]["judged"]["bayes_linkage"] |= {"value": share, "standing": standing}
    return public_file(material, original, ".html").decode()


@pytest.mark.parametrize(
    ("share", "filled", "count"),
    [(0.0, 0, "fewer than one"), (0.021, 5, "at most five"), (0.7, 100, "up to all")],
)
def test_a_picture_of_a_hundred_dots_says_how_many_the_best_intruder_would_name(
    material, bodyfat_table, share, filled, count
):
    text = noticed(material, bodyfat_table, share)
    assert dots_of(text) == [100, filled]
    # the picture's name, for who does not see it
    assert 'role="img" aria-labelledby="in-a-hundred"' in text
    said = re.search(r'<p id="in-a-hundred">(.*)</p>', text)
    assert said is not None
    words = f"the best intruder that was judged would name {count} rightly."
    assert said.group(1).endswith(words)
    assert "<script" not in text
    assert words in public_file(material, bodyfat_table, ".json").decode()


def test_the_picture_never_shows_fewer_than_were_read_and_none_of_a_lower_bound(
    material, bodyfat_table
):
    read = [dots.STEPS[dots.step_of(share / 1000)] for share in range(10, 1001)]
    assert all(filled >= share / 10 for share, filled in zip(range(10, 1001), read, strict=True))
    assert "<svg" not in noticed(material, bodyfat_table, 0.02, "at least")


def test_a_picture_with_another_number_is_read_as_any_text_is(material, bodyfat_table, monkeypatch):
    drawn = page_of_reports.picture
    monkeypatch.setattr(page_of_reports, "picture", lambda n: drawn(n).replace('"5"', '"363.15"'))
    with pytest.raises(ReleaseError, match="would hold"):
        noticed(material, bodyfat_table, 0.02)


PUBLIC = [each for each in FACTS if each.audience in (Audience.PUBLIC, Audience.BOTH)]
INTERNAL = [each for each in FACTS if each.audience is Audience.INTERNAL]


def test_an_internal_fact_that_is_made_public_by_mistake_is_refused(
    kept_material, bodyfat_table, monkeypatch
):
    """Even if nobody looked at audiences, the words of some would give them away in the file."""
    assert {each.key for each in PUBLIC} == leak_check.ALLOWED
    wrong = {each.key: replace(each, audience=Audience.PUBLIC) for each in INTERNAL}
    assert len(wrong) >= 15
    for entry in wrong.values():
        monkeypatch.setattr(listed, "FACTS", (*PUBLIC, entry))
        with pytest.raises(ReleaseError, match="for the house alone; nothing public was written"):
            unchecked_file(kept_material, ".html")
    monkeypatch.setattr(public_notice, "check_facts", lambda facts: None)
    for key in ("limits", "parameters", "scenarios", "worst", "anonymity", "hashes"):
        monkeypatch.setattr(listed, "FACTS", (*PUBLIC, wrong[key]))
        with pytest.raises(ReleaseError, match="would hold"):
            public_file(kept_material, bodyfat_table, ".html")


LEAKS = [
    ("The heaviest man weighs 363.15.", "fewer than 10 records"),
    ("Ages begin at 22.", "fewer than 10 records"),
    ("It lies in /home/Zaphod/data.", "a path of a file or folder"),
    ("Made from survey.csv.", "the name of the original's file"),
    ("Linked with probability 0.9931.", "a number that no notice may say"),
]
"""The other kinds of leaks are refused in `test_leaks_by_hand`, without a release."""


def test_a_leak_is_refused_by_its_kind(material, bodyfat_table, monkeypatch):
    for line, kind in LEAKS:
        plant(monkeypatch, line)
        for suffix in (".html", ".json", ".xml"):
            with pytest.raises(ReleaseError, match=kind) as refused:
                public_file(material, bodyfat_table, suffix)
            assert "363" not in str(refused.value)
            assert "Zaphod" not in str(refused.value)


def test_a_title_may_have_a_year_and_no_value_of_few_records(material, bodyfat_table):
    """Of the other words of a steward other tests tell."""
    titled = replace(material, title="Body measurements of 2026, 241 men")
    assert b"2026, 241 men" in public_file(titled, bodyfat_table, ".html")
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public_file(replace(material, title="The man of 363.15 pounds"), bodyfat_table, ".json")


def test_texts_dates_and_identifiers_of_few_records_are_refused(monkeypatch):
    number = np.arange(40)
    people = pd.DataFrame({"person": [f"Zaphod {i}" for i in number], "x": 0.5 + number})
    people["place"] = ["Magrathea"] * 3 + ["Earth"] * 37
    people["day"] = pd.Timestamp("1978-03-08") + pd.to_timedelta(number, unit="D")
    data = described(people.assign(other=["little", "much"] * 20), person="identifier")
    data = data.with_schema(data.schema.with_rows("separate"))
    made = touched(quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"]))
    assert public_file(made, data, ".html")
    for line in ("Somebody from magrathea.", "Ask Zaphod 7 of it", "It began on 1978-03-10."):
        plant(monkeypatch, line)
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            public_file(made, data, ".html")
    plant(monkeypatch, "Most are from Earth.")  # a value of 37 records is an aggregate
    assert public_file(made, data, ".html")


def test_no_sentence_of_a_notice_has_a_number_of_its_own():
    text = re.sub(r"{\w+}", "", " ".join(vocabulary())).replace("SHA-256", "")
    assert not any(letter.isdigit() for letter in text)


def test_hidden_places_of_a_file_are_read_too():
    html = b"<p class='one' title='two'>three<!--four--></p><style>p{}</style>"
    assert set(leak_check.file_texts(html, ".html")) == {"one", "two", "three", "four"}
    assert leak_check.file_texts(b"<p>one</p>a torn &end", ".html") == ["one", "a torn &end"]
    assert set(leak_check.file_texts(b"<a b='c'>d<!--e--></a>", ".xml")) >= {"c", "d", "e"}
    assert leak_check.file_texts(b'{"a": [1, {"b": "c"}]}', ".json") == ["a", "1", "b", "c"]


def with_texts(texts: list[str | None], **roles: str) -> Microdata:
    return described(frame("skewed", len(texts)).assign(who=texts), **roles)


def test_an_ordinary_table_passes_and_so_does_an_identifier_which_no_release_has():
    leak_check.refuse_identifiers(with_texts(["x", "y"] * 5))
    leak_check.refuse_identifiers(with_texts([f"place {i // 2}" for i in range(40)]))
    leak_check.refuse_identifiers(with_texts([f"Zaphod {i}" for i in range(40)], who="identifier"))
    with pytest.raises(ReleaseError, match="fewer than 10 records, so that each of them shows"):
        leak_check.refuse_identifiers(with_texts(["x"] * 9))


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"ada{i}@example.org" for i in range(40)], "e-mail addresses"),
        ([f"Zaphod {i}" for i in range(40)], "the name or number of a record"),
        ([f"Zaphod {min(i, 35)}" for i in range(40)], "the name or number of a record"),
        ([None] * 20 + [f"Zaphod {i}" for i in range(20)], "the name or number of a record"),
    ],
)
def test_texts_that_name_people_are_refused_without_being_said(texts, what):
    with pytest.raises(ReleaseError, match=f"variable who looks like {what}") as refusal:
        leak_check.refuse_identifiers(with_texts(texts))
    assert "make it an identifier, which no release holds, and mask again" in str(refusal.value)
    assert "Zaphod" not in str(refusal.value)
    assert "example.org" not in str(refusal.value)


PRIVATE_SOURCE = {"file": "C:\\data\\my-survey.csv"}
KNOWN = by_hand(source=PRIVATE_SOURCE, context={"review": "2029-02-28"})
RARE_WORDS = "The public file would hold a value that fewer than 10 records of the original have"
DATASET_PARTS = [
    {"name": "part-000000.parquet", "sha256": "ef" * 32},
    {"name": "b.parquet", "sha256": "e"},
]


def refusal(text: str, rare: set[Any] | None = None, material: Material = KNOWN) -> str:
    """Why a file with this text is refused; empty where it is not."""
    try:
        leak_check.check_file(orjson.dumps([text]), ".json", material, rare or set())
    except ReleaseError as refused:
        return str(refused).removeprefix("The public file would hold ").partition(";")[0]
    return ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rwn notice 1", ""),
        (f"2028-02-29 and 2029-02-28, {'0f' * 16}, {'cd' * 32}, SHA-256, 1,100 or 1100", ""),
        ("2030-02-28", "a number that no notice may say"),  # a day that nobody stated
        ("about 1,101", "a number that no notice may say"),
        ("0.25", "the value of a risk measure"),
        ("25", "the value of a risk measure"),
        ("25.0", "the value of a risk measure"),
        ("12.5", "the value of a risk measure"),
        ("0.125", "the value of a risk measure"),
        ("0.02", "a number that no notice may say"),
        ("person no. 7", "the number of a record"),
        ("Look at record 37.", "the number of a record"),
        ("Look at row #37", "the number of a record"),
        ("The heaviest man weighs 363,15.", "a number that no notice may say"),
        ("It lies in C:\\Users\\Zaphod.", "a path of a file or folder"),
        ("Key: " + "0f" * 32, "something that looks like a key"),
        ("see ./here", "a path of a file or folder"),
        ("see ~/here", "a path of a file or folder"),
        ("from MY-SURVEY.CSV", "the name of the original's file"),
        ("0f" * 15, "a number that no notice may say"),
        ("ab" * 16, "something that looks like a key"),
        ("age and income of sex", ""),
    ],
)
def test_each_text_is_refused_for_its_own_reason(text, kind):
    assert refusal(text) == kind


def test_runs_of_twelve_words_are_compared_and_what_all_notices_say_is_none():
    twelve = " ".join("abcdefghijkl")
    rare = {twelve, "zaphod", 7.5, "most"}
    kind = RARE_WORDS.removeprefix("The public file would hold ")
    assert refusal(f"so {twelve.upper()} it is", rare) == kind
    assert refusal("Zaphod", rare) == kind
    assert refusal("7.5", rare) == kind
    assert refusal("−7.5", {-7.5}) == kind
    assert refusal("1,234.5", {1234.5}) == kind
    assert refusal("most", rare) == ""
    titled = replace(KNOWN, title="Homes of 1978 and 7.5")
    assert refusal("1978", {7.5}, titled) == ""
    assert refusal("7.5", {7.5}, titled) == kind
    for text in ("7.5", "−7.5", "-7.5"):  # a minus may stand before it
        cold = replace(KNOWN, title=f"A winter of {text} degrees")
        assert refusal(f"{text} degrees", {-7.5}, cold) == kind
    said = leak_check.said_values(
        orjson.dumps([f"{twelve} m 1,5 x"]), ".json", replace(KNOWN, title="Homes")
    )
    assert {twelve, "b c d e f g h i j k l m", "homes", 15.0, -15.0} <= said
    assert f"{twelve} m" not in said
    assert None not in said


def numbered(n: int) -> Microdata:
    """A table of n people, numbered by texts."""
    people = pd.DataFrame({"case": [f"{i + 1}" for i in range(n)], "x": 0.5})
    return described(
        people.assign(place=["Magrathea"] * 3 + ["Earth"] * (n - 3)), case="identifier"
    )


def test_the_day_and_the_count_of_a_file_are_no_numbers_of_people():
    """The hand-made file has 1,100 records and was made on 2028-02-29; 1, 2, 29, 100 are people."""
    rare = leak_check.rare_values(numbered(1_100))
    assert {"1", "29", "100", "1100"} <= rare
    assert refusal("The file was made on 2028-02-29 and has 1,100 records.", rare) == ""
    for role in ("identifier", "household"):
        people = numbered(40).frame.assign(x=0.5 + np.arange(40), place=["a", "b"] * 20)
        data = described(people, case=role)
        made = touched(quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"]))
        assert b"has 40 records" in public_file(made, data, ".html")
        assert b"40 records" in auditors_file(made, data)


def test_a_value_beside_the_count_is_found_still_and_its_variable_is_named():
    rare = leak_check.rare_values(numbered(1_100))
    found = "a value of {} that fewer than 10 records of the original have"
    assert refusal("Of 1,100 most come from Magrathea", rare) == found.format("place")
    assert refusal("Made on 2028-02-29: person 100.", rare) == "the number of a record"
    assert refusal("Of 1,100 it is 100", rare) == found.format("case")
    titled = replace(KNOWN, title="Homes of 1,100 people and 77")
    assert refusal(titled.title, rare, titled) == found.format("case")
    # a text that begins as the count does is a value
    assert refusal("Zaphod 1,100", {"zaphod 1"}) == found.format("x").replace(" of x", "")
    day = replace(KNOWN, title="Born on 1978-03-08")
    assert refusal(day.title, {"1978 03 08"}, day) == found.format("x").replace(" of x", "")
    # the numbers of a telephone are none of people, a name is
    call = "ask +43 1 43"
    assert refusal(f"Contact: {call}", rare, by_hand(context={"contact": call})) == ""
    asked = by_hand(context={"contact": "ask Magrathea"})
    assert refusal("Contact", rare, asked) == found.format("place")


def test_the_files_of_a_dataset_may_be_named_and_counted():
    known = by_hand(file={**RECORD["file"], "parts": DATASET_PARTS})
    assert refusal(f"part-000000.parquet {'ef' * 32} 2", material=known) == ""
    assert refusal("3", material=known) == "a number that no notice may say"
    assert refusal("0", material=KNOWN) == "the value of a risk measure"


def test_a_value_is_rare_below_ten_records_in_the_form_in_which_it_is_said():
    few = np.repeat([True, False], [9, 11])
    told = pd.DataFrame({"n": [1.5] * 9 + [2.5] * 10 + [np.nan], "b": few})
    told["t"] = ["New York!"] * 9 + ["Ulm"] * 10 + [None]
    told["d"] = pd.to_datetime(np.where(few, "1978-03-08", "1979-03-08"))
    told["c"] = pd.Categorical(["x"] * 20, categories=["x", "y"])
    told["s"] = np.where(few, "?", "of")
    assert leak_check.rare_values(described(told)) == {1.5, "new york", "true", "1978 03 08"}
    assert sorted(leak_check.counted(told["n"])) == [(1.5, 1.5, 9), (2.5, 2.5, 10)]
    assert leak_check.counted(told["c"]) == [("x", "x", 20)]


def test_a_contact_is_the_stewards_word_and_no_way_out_for_a_value():
    for contact, kind in (
        ("Data desk, +43 1 43, https://x.org/ask", ""),
        ("ask Betelgeuse", RARE_WORDS.removeprefix("The public file would hold ")),
        ("see /home/me/keys", "a path of a file or folder"),
        ("ab" * 16, "something that looks like a key"),
    ):
        material = by_hand(context={"contact": contact}, source=PRIVATE_SOURCE)
        assert refusal(f"Ask {contact}.", {"betelgeuse", 43.0}, material) == kind
    assert (
        refusal("43", {43.0}, by_hand(context={"contact": "desk 43"}, source=PRIVATE_SOURCE)) != ""
    )


PERSONS = re.compile(r"\b(?:person|persons|people)\b", re.IGNORECASE)
OF_AN_INTRUDER = re.compile("such a person|person who knows")


def speaking_of_persons(facts: tuple[Fact, ...]) -> list[str]:
    """Return the sentences and titles that speak of persons, but for an intruder."""
    said = [*(fact.title for fact in facts), *(fact.text for fact in facts)]
    return [text for text in said if PERSONS.search(OF_AN_INTRUDER.sub("", text))]


def test_notice_and_report_speak_in_the_noun_of_the_records(
    material: Material, bodyfat_table: Microdata
) -> None:
    assert speaking_of_persons(facts_for(Audience.PUBLIC, material))
    # planted: a firm in the internal record
    firms: Any = material.record["table"]
    firms["record"] = "firm"
    for audience in (Audience.PUBLIC, Audience.INTERNAL):
        assert speaking_of_persons(facts_for(audience, material)) == []
    for ending in PUBLIC_FORMS:
        notice = public_file(material, bodyfat_table, f"notice{ending}").decode()
        assert "Do not try to recognize firms" in notice
        assert "A row is no firm" in notice
