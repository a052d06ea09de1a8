"""Descriptions for machines: their validators find nothing on four releases, and planted faults."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import jsonschema
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting import croissant, healthdcat
from rwn_core.reporting import ro_crate as crate
from rwn_core.reporting.described_files import COMPANIONS, CRATE, CROISSANT, HEALTHDCAT
from rwn_core.reporting.leak_check import FORMS
from tests.core.reporting.four_releases import (
    Made,
    assert_same,
    categories,
    of_dataset,
    of_table,
)

HERE = Path(__file__).parent
SCHEMA = HERE.parents[2] / "docs" / "reference" / "release-record.schema.json"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    def place() -> Path:
        return tmp_path_factory.mktemp("crate")

    pima = rwn.RWN(q=0.8, kernel="gaussian")
    return {
        "bodyfat": of_table(rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=5), "csv", place()),
        "pima": of_table(rwn.load_demo("pima"), pima, "parquet", place()),
        "categories": of_table(categories(), rwn.PRAM(change=0.3), "tsv", place()),
        "dataset": of_dataset(place()),
    }


def texts(node: Any) -> Iterator[str]:
    """All keys of plain data."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from texts(value)
    elif isinstance(node, list):
        for each in node:
            yield from texts(each)


def test_every_key_of_a_view_is_a_text_of_its_form(four: dict[str, Made]) -> None:
    for name, terms in (
        (CROISSANT, croissant.TERMS),
        (HEALTHDCAT, healthdcat.TERMS),
        (CRATE, crate.TERMS),
    ):
        assert terms <= FORMS
        assert not {key for made in four.values() for key in texts(made.view(name))} - terms


def test_mlcroissant_reads_each_release_without_a_warning(
    four: dict[str, Made], caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its libraries, about their own next versions
        import mlcroissant

        for name, made in four.items():
            caplog.clear()
            found = mlcroissant.Dataset(jsonld=made.folder / CROISSANT)
            assert not caplog.text, name
            limits = " ".join(found.metadata.data_limitations)
            assert "Do not try to recognize persons" in limits
            assert found.metadata.data_release_maintenance_plan
            read = pd.DataFrame(list(found.records("records")))
            assert list(read) == [f"records/{quote(each)}" for each in made.frame]
            assert_same(read.set_axis(list(made.frame), axis=1), made.frame)
        wrong = made.view(CROISSANT)
        wrong["recordSet"][0]["field"][0]["source"]["extract"] = {"columns": "x"}
        (made.folder / "wrong.json").write_text(json.dumps(wrong))
        with pytest.raises(mlcroissant.ValidationError):
            mlcroissant.Dataset(jsonld=made.folder / "wrong.json")


def graph(made: Made) -> Any:
    from rdflib import Graph

    text = (made.folder / HEALTHDCAT).read_text()
    return Graph().parse(data=text, format="json-ld", publicID="https://catalog.org/1/")


def faults(data: Any) -> tuple[bool, set[str], int]:
    """Whether a catalog entry conforms, and which properties it lacks or has wrongly."""
    from pyshacl import validate
    from rdflib import SH, Graph

    shapes = Graph().parse(HERE / "healthdcat_shapes.ttl")
    conforms, report, _ = validate(data, shacl_graph=shapes, allow_warnings=True)
    paths = list(report.objects(None, SH.resultPath))
    return conforms, {re.split("[#/]", str(path))[-1] for path in paths}, len(paths)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_catalog_entry_lacks_nothing_but_what_the_holder_knows(four: dict[str, Made]) -> None:
    from rdflib import DCAT, DCTERMS, RDF, Literal, Namespace, URIRef

    holder = {"applicableLegislation", "theme", "hdab", "healthCategory"}
    for name, made in four.items():
        access = set() if name != "dataset" else {"accessRights"}
        assert faults(graph(made))[:2] == (True, holder | access), name
        view = made.view(HEALTHDCAT)
        assert view["healthdcatap:numberOfRecords"]["@value"] == str(len(made.frame))
        columns = view["healthdcatap:hasVariables"]["csvw:table"]["csvw:column"]
        assert [each["csvw:name"] for each in columns] == list(made.frame)
    health = Namespace("http://healthdataportal.eu/ns/health#")
    whole, law = graph(four["pima"]), URIRef("http://data.europa.eu/eli/reg/2025/327/oj")
    dataset = whole.value(None, RDF.type, DCAT.Dataset)
    for node in (dataset, *whole.subjects(RDF.type, DCAT.Distribution)):
        whole.add((node, URIRef("http://data.europa.eu/r5r/applicableLegislation"), law))
    for path in (DCAT.theme, health.hdab, health.healthCategory):
        whole.add((dataset, path, law))
    assert faults(whole) == (True, set(), 0)
    whole.add((dataset, health.numberOfRecords, Literal("many")))
    whole.remove((dataset, DCTERMS.identifier, None))
    assert faults(whole)[:2] == (False, {"numberOfRecords", "identifier"})


class Answer:
    """What a server would answer for the context of RO-Crate 1.1: the terms that are used."""

    status_code = 200
    headers = MappingProxyType({"Content-Type": "application/ld+json"})
    schema = (
        "about actionStatus additionalType AssessAction contentSize CreativeWork Dataset "
        "datePublished description encodingFormat endTime hasPart identifier license mentions "
        "name object"
    )

    def json(self) -> dict[str, Any]:
        """The context as plain data."""
        terms = {name: f"http://schema.org/{name}" for name in self.schema.split()}
        terms["File"] = "http://schema.org/MediaObject"
        return {"@context": {**terms, "conformsTo": "http://purl.org/dc/terms/conformsTo"}}

    @property
    def text(self) -> str:
        """The context as text."""
        return json.dumps(self.json())


def issues(folder: Path, severity: str, cache: Path) -> list[str]:
    from rocrate_validator import services

    found = services.validate(
        {
            "rocrate_uri": folder,
            "profile_identifier": "ro-crate-1.1",
            "requirement_severity": severity,
            "offline": True,
            "cache_path": cache,
        }
    )
    return [str(issue.message) for issue in found.get_issues()]


@pytest.mark.filterwarnings("ignore")
def test_each_folder_is_an_ro_crate(
    four: dict[str, Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocrate_validator.utils.http import HttpRequester

    monkeypatch.setattr(HttpRequester, "get", lambda *_, **__: Answer(), raising=False)
    for name, made in four.items():
        assert not issues(made.folder, "REQUIRED", tmp_path / "cache"), name
        files = {each["@id"]: each for each in made.view(CRATE)["@graph"]}
        for path in made.folder.iterdir():
            if path.name != CRATE and (path.name in COMPANIONS or "masked" in path.name):
                content = path.read_bytes()
                if name != "dataset":
                    assert files[path.name]["contentSize"] == str(len(content))
                    assert files[path.name]["sha256"] == hashlib.sha256(content).hexdigest()
    # a person answered, and neither who nor why is stated in public
    text = (four["bodyfat"].folder / CRATE).read_text()
    assert "Disclosure check" in text
    assert "Ada Lovelace" not in text
    assert "A lesson" not in text
    assert "Disclosure check" not in (four["dataset"].folder / CRATE).read_text()
    few = issues(four["bodyfat"].folder, "RECOMMENDED", tmp_path / "cache")
    assert len(few) == 2
    assert all("author" in each or "publisher" in each for each in few)
    wrong = four["dataset"].view(CRATE)
    del wrong["@graph"][1]["datePublished"]
    (tmp_path / CRATE).write_text(json.dumps(wrong))
    assert any("datePublished" in each for each in issues(tmp_path, "REQUIRED", tmp_path / "cache"))


def without(record: dict[str, Any], *path: str) -> dict[str, Any]:
    """A record that lacks a field."""
    first, *rest = path
    if rest:
        return {**record, first: without(record[first], *rest)}
    return {name: value for name, value in record.items() if name != first}


def with_value(record: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    """A record with another value in a field."""
    first, *rest = path
    return {**record, first: with_value(record.get(first, {}), value, *rest) if rest else value}


def test_records_of_four_releases_follow_the_published_schema(four: dict[str, Made]) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    validator.check_schema(validator.schema)
    for name, made in four.items():
        assert [each.message for each in validator.iter_errors(made.document)] == [], name
    record, many = four["bodyfat"].document, four["dataset"].document
    (limit,) = record["limit"]
    assert (limit["source"], limit["set_by"]) == ("Handbook", "Board")
    faults = [
        *(without(record, name) for name in ("limit", "verdict", "program", "table", "identity")),
        without(record, "file", "sha256"),
        without(record, "table", "fingerprint"),
        without(record, "verdict", "not_judged"),
        without(many, "file", "parts"),
        without(many, "source"),
        with_value(record, [without(limit, "at_most")], "limit"),
        with_value(record, [{**limit, "at_most": "0.9"}], "limit"),
        with_value(record, [{**limit, "sourced": "x"}], "limit"),
        with_value(record, "0f" * 31, "file", "sha256"),
        with_value(record, "sorted", "file", "order"),
        with_value(record, -1, "table", "records"),
        with_value(record, ["number"], "table", "kinds"),
        with_value(record, "yes", "verdict", "kept"),
        with_value(record, "anybody", "context", "access"),
        with_value(record, {"reason": "none"}, "readings", "marginals"),
        with_value(record, "12", "donors"),
        with_value(record, "0f" * 32, "file", "secret"),
        with_value(record, "", "approval", "by"),
        with_value(record, "rwn internal record 1", "format"),
    ]
    assert [number for number, each in enumerate(faults) if validator.is_valid(each)] == []
