"""Descriptions for machines: their validators find nothing on four releases, and planted faults."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets.mask_dataset import mask_dataset
from rwn_core.datasets.prepare_run import RunOptions
from rwn_core.errors import ReleaseError
from rwn_core.reporting import ReleasedFile, croissant, healthdcat, internal_record, read_record
from rwn_core.reporting import ro_crate as crate
from rwn_core.reporting.dataset_record import dataset_record, read_dataset_record
from rwn_core.reporting.dataset_reports import public_dataset_files
from rwn_core.reporting.described_files import COMPANIONS, CRATE, CROISSANT, HEALTHDCAT
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import FORMS
from rwn_core.reporting.public_notice import public_files

HERE = Path(__file__).parent
CONTEXT = {"purpose": "Teaching", "access": "on request", "contact": "Ada, data@x.org"}
VIEWS = (CROISSANT, HEALTHDCAT)


@dataclass(frozen=True, slots=True)
class Made:
    """A release in a folder with its descriptions.

    Attributes
    ----------
    folder : Path
    frame : DataFrame
        The released values.
    document : dict
        Its internal record.
    """

    folder: Path
    frame: pd.DataFrame
    document: dict[str, Any]

    def view(self, name: str) -> Any:
        """One of its descriptions, as plain data."""
        return json.loads((self.folder / name).read_bytes())


def of_table(data: rwn.Microdata, params: Any, form: str, folder: Path) -> Made:
    release = rwn.mask(data, params)
    content = release.to_bytes(form)
    text = internal_record(
        data,
        release,
        ReleasedFile.of(content, form),
        measures=("marginals", "association_loss"),
        policy=rwn.Policy(limits=()),
    )
    record = {**read_record(text), "context": CONTEXT}
    record["approval"] = {"by": "Ada Lovelace", "reason": "A lesson", "exception": False}
    released = {f"masked.{form}": content}
    material = Material(record=record, title="Lesson of 2026", files=released)
    users = released | public_files(material, data, ("notice.html", "card.toml", *VIEWS))
    users |= public_files(replace(material, files=users), data, (CRATE,))
    for name, content in users.items():
        (folder / name).write_bytes(content)
    frame = {"csv": pd.read_csv, "tsv": lambda f: pd.read_csv(f, sep="\t")}.get(
        form, pd.read_parquet
    )(folder / f"masked.{form}")
    return Made(folder, frame, record)


def of_dataset(folder: Path) -> Made:
    """Released files of a dataset, of which each has a part of the records."""
    source = folder / "in"
    source.mkdir()
    number = np.arange(400)
    x = np.random.default_rng(3).normal(50, 9, 400)
    table = pd.DataFrame(
        {"x": x, "rooms": number % 6, "place name": np.where(number % 3, "E", "V")}
    )
    table.to_parquet(source / "a.parquet", index=False)
    schema = rwn.Microdata.from_frame(table).schema
    out = folder / "out"
    options = RunOptions(schema=schema, workers=1, file_rows=200)
    said = mask_dataset(source, out, rwn.RWN(k=5), options=options)
    text = dataset_record(said, rwn.RWN(k=5), schema, "a fresh 256-bit secret, forgotten", source)
    material = Material(record=read_dataset_record(text, out), title="Homes")
    for name, content in public_dataset_files(material, source, out, (*VIEWS, CRATE)).items():
        (out / name).write_bytes(content)
    frame = pd.concat([pd.read_parquet(path) for path in sorted(out.glob("*.parquet"))])
    return Made(out, frame, dict(material.record))


def categories() -> rwn.Microdata:
    number = np.arange(300)
    frame = pd.DataFrame(
        {
            "sex": np.where(number % 2, "f", "m"),
            "region of 2020": np.array(["north", "south", "east"])[number % 7 % 3],
            "group": np.array(["a", "b"])[number % 5 % 2],
        }
    )
    frame.loc[::11, "group"] = None
    return rwn.Microdata.from_frame(frame)


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


def assert_same(read: pd.DataFrame, frame: pd.DataFrame) -> None:
    """The same numbers and texts, in the same order."""
    for name in frame:
        one, two = read[name], frame[name].reset_index(drop=True)
        if pd.api.types.is_numeric_dtype(two):
            np.testing.assert_allclose(one.astype(float), two.astype(float))
        else:
            plain = [each.decode() if isinstance(each, bytes) else each for each in one]
            assert [None if e is None or e != e else str(e) for e in plain] == [
                None if e is None or e != e else str(e) for e in two
            ]


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
    # who made it is not stated, in public
    few = issues(four["bodyfat"].folder, "RECOMMENDED", tmp_path / "cache")
    assert len(few) == 2
    assert all("author" in each or "publisher" in each for each in few)
    wrong = four["dataset"].view(CRATE)
    del wrong["@graph"][1]["datePublished"]
    (tmp_path / CRATE).write_text(json.dumps(wrong))
    assert any("datePublished" in each for each in issues(tmp_path, "REQUIRED", tmp_path / "cache"))


def test_a_crate_says_that_a_person_answered_and_neither_who_nor_why(
    four: dict[str, Made],
) -> None:
    text = (four["bodyfat"].folder / CRATE).read_text()
    assert "Disclosure check" in text
    assert "Ada Lovelace" not in text
    assert "A lesson" not in text
    assert "Disclosure check" not in (four["dataset"].folder / CRATE).read_text()


@pytest.mark.parametrize(
    "leak",
    [
        "The heaviest man weighs 363.15",
        "Record 37 gave its value",
        "Key: " + "0f" * 32,
        "It lies in /home/Zaphod/data",
    ],
)
def test_a_leak_is_caught_in_each_view(leak: str, four: dict[str, Made]) -> None:
    data = rwn.load_demo("bodyfat")
    record = four["bodyfat"].document
    plain = Material(record={**record, "context": {}})
    assert public_files(plain, data, (*VIEWS, CRATE))
    planted = {
        CROISSANT: Material(record={**record, "context": {"purpose": leak}}),
        HEALTHDCAT: Material(record={**record, "context": {"purpose": leak}}),
        CRATE: replace(plain, title=leak),
    }
    for name, material in planted.items():
        with pytest.raises(ReleaseError, match="nothing public was written"):
            public_files(material, data, (name,))
