"""The public facts of a release as Croissant 1.1, with the fields of its RAI extension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import orjson

from rwn_core.data.variable import Kind
from rwn_core.reporting.described_files import DescribedFile, released_files
from rwn_core.reporting.facts import Fact, Material
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.outside import treatments

_CONFORMS = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_OWN = (
    "annotation arrayShape citeAs column containedIn equivalentProperty excludes extract field "
    "fileObject fileProperty fileSet format includes isArray isLiveDataset jsonPath key md5 "
    "parentField path readLines recordSet references regex repeated replace samplingRate sdVersion "
    "separator source subField transform unArchive"
)
"""Terms of the context that stand for themselves."""
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _OWN.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
}
_TYPES = {Kind.CONTINUOUS: "sc:Float", Kind.COUNT: "sc:Integer", Kind.DATE: "sc:Date"}
_MEDIA = {"application/vnd.apache.parquet": "application/x-parquet"}
"""Where Croissant has a media type of its own."""
_TERMS = (
    "@container @context @id @json @language @type @vocab contentSize contentUrl "
    "cr:Field cr:FileObject cr:FileSet cr:RecordSet cr:data cr:dataType cr:examples data "
    "datePublished dataType distribution encodingFormat en examples identifier license "
    "rai:dataBiases rai:dataLimitations rai:dataPreprocessingProtocol "
    "rai:dataReleaseMaintenancePlan rai:dataUseCases rai:personalSensitiveInformation "
    "records 1.0.0 sc:Dataset sc:Text sha256 version description name part-*.parquet parts "
    "application/x-parquet"
)
TERMS = (
    frozenset(_TERMS.split())
    | {*_CONFORMS, *_CONTEXT, *_TYPES.values()}
    | {value for value in _CONTEXT.values() if isinstance(value, str)}
)
"""Texts of the form itself."""


def croissant(material: Material, facts: Iterable[Fact]) -> bytes:
    """Describe a release as Croissant 1.1."""
    known = {fact.key: fact for fact in facts}
    files = released_files(material)
    released = " ".join(known["file"].content.lines[:2])
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(_CONFORMS),
        "identifier": material.record["release"]["id"],
        "name": material.name,
        "description": known["treated"].text,
        "datePublished": material.made,
        "version": "1.0.0",  # a changed file is another release
        "citeAs": f"{material.name}. {released}",
        "license": known["use"].text,
        "isLiveDataset": False,
        **_responsible_use(material, known),
        "distribution": _distribution(files),
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "records",
                "name": "records",
                "field": _fields(material, files),
            }
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _responsible_use(material: Material, known: dict[str, Fact]) -> dict[str, Any]:
    """Fields of the extension for responsible use."""
    said: dict[str, Any] = {
        "rai:personalSensitiveInformation": [words.TREATED[0], words.RESIDUAL],
        "rai:dataPreprocessingProtocol": list(known["treated"].content.lines),
        "rai:dataLimitations": [*known["use"].content.lines, *known["totals"].content.lines],
        "rai:dataBiases": [known["loss"].text, *known["errors"].content.lines],
        "rai:dataReleaseMaintenancePlan": known["review"].text,
    }
    purpose = material.context.purpose
    return {**said, "rai:dataUseCases": [purpose]} if purpose else said


def _distribution(files: tuple[DescribedFile, ...]) -> list[dict[str, Any]]:
    objects = [_object(file) for file in files]
    if len(files) == 1:
        return objects
    parts = {
        "@type": "cr:FileSet",
        "@id": "parts",
        "name": "parts",
        "encodingFormat": objects[0]["encodingFormat"],
        "includes": "part-*.parquet",
    }
    return [*objects, parts]


def _object(file: DescribedFile) -> dict[str, Any]:
    made: dict[str, Any] = {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "encodingFormat": _MEDIA.get(file.media_type, file.media_type),
        "sha256": file.sha256,
    }
    return made if file.size is None else {**made, "contentSize": str(file.size)}


def _fields(material: Material, files: tuple[DescribedFile, ...]) -> list[dict[str, Any]]:
    source = (
        {"fileObject": {"@id": files[0].name}} if len(files) == 1 else {"fileSet": {"@id": "parts"}}
    )
    holes = set(material.record["table"].get("missing", material.variables))
    kinds = map(Kind, material.record["table"]["kinds"])
    return [
        {
            "@type": "cr:Field",
            "@id": f"records/{quote(name)}",
            "name": name,
            "description": treatment,
            # an integer of a file with gaps is read as a number with a fraction
            "dataType": "sc:Float"
            if kind is Kind.COUNT and name in holes
            else _TYPES.get(kind, "sc:Text"),
            "source": {**source, "extract": {"column": name}},
        }
        for (name, treatment), kind in zip(treatments(material).items(), kinds, strict=True)
    ]
