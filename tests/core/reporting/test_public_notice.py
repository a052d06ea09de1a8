"""The public notice: true of its release, the same for every method, and nothing of the house."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_core.masking import SoftRWN
from rwn_core.masking.lever import neutral_levers
from rwn_core.masking.option import method_words
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts.public_words import LOST
from rwn_core.reporting.public_notice import PUBLIC_FORMS, public_file
from tests.core.reporting.conftest import quickly_made_of, touched

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
    frame = pd.DataFrame(
        {
            "income": 1000.5 + 7 * number,
            "age": 20 + number % 40,
            "region": [f"Betelgeuse {i % 13}" for i in number],
            "sex": ["f", "m"] * (rows // 2),
        }
    )
    return Microdata.from_frame(frame)


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


def test_the_archive_form_has_the_structure_of_the_schema(
    material: Material, bodyfat_table: Microdata
) -> None:
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
    assert digest is not None
    assert digest.text == material.record["file"]["sha256"]
    # the test sees a wrong order
    study = root.find("{ddi:codebook:2_5}stdyDscr")
    assert study is not None
    study.append(study[0])
    with pytest.raises(AssertionError):
        in_order(root)


def test_it_holds_none_of_the_values_of_bodyfat(
    material: Material, bodyfat_table: Microdata
) -> None:
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


def settings_of(data: Microdata) -> list[object]:
    known = {"record_swapping": {"share": 0.5, "variables": "region,sex"}}
    made = []
    for key, method in rwn.METHODS.items():
        start = {**neutral_levers(method), **known.get(key, {})}
        made.append(method(**start))
    return made


def test_every_method_gets_through_the_leak_check() -> None:
    data = small()
    for params in settings_of(data):
        made = touched(quickly_made_of(data, params, PUBLIC_MEASURES))
        for suffix in PUBLIC_FORMS:
            text = public_file(made, data, suffix).decode()
            assert method_words(type(params))["name"] in text.replace("&apos;", "'")
            assert "Betelgeuse" not in text


def test_another_original_and_another_form_are_refused(
    material: Material, bodyfat_table: Microdata
) -> None:
    with pytest.raises(InputError, match="not the table that the record was made of"):
        public_file(material, bodyfat_table.take(np.arange(100)), ".html")
    with pytest.raises(ParameterError, match=r"must end in one of: \.html"):
        public_file(material, bodyfat_table, ".pdf")
    with pytest.raises(ParameterError, match="must be a date"):
        _ = Material(record={"context": {"review": "soon"}}).context


def test_a_balanced_release_says_which_intervals_hold(bodyfat_table: Microdata) -> None:
    data = bodyfat_table.with_slices([["siri", "age", "abdomen"]])
    made = touched(quickly_made_of(data, SoftRWN(kernel="gaussian", balance=1.0), ["marginals"]))
    notice = json.loads(public_file(made, data, ".json"))
    about = notice["intervals"]
    assert about["slices"][0] == ["siri", "age", "abdomen"]
    assert (about["records"], about["refusal"]) == (241, "")
    assert about["factor"] == 2**0.5
    assert "multiply every robust standard error by 1.42" in about["sentence"]
    assert notice["sha256"] == made.record["file"]["sha256"]
    for form in (".html", ".json", ".xml"):
        assert about["sentence"] in public_file(made, data, form).decode()
    # nothing of the original: the same sentence for any table, and no number beside the factor
    made.record["intervals"]["records"] = 0.8112  # type: ignore[index]
    with pytest.raises(ReleaseError):
        public_file(made, data, ".json")


def test_an_unbalanced_release_says_that_no_interval_holds(
    material: Material, bodyfat_table: Microdata
) -> None:
    about = json.loads(public_file(material, bodyfat_table, ".json"))["intervals"]
    assert "factor" not in about
    assert about["refusal"] == about["sentence"]
    assert "not drawn equally often" in about["refusal"]
