"""The public facts of a release as a catalog entry, by HealthDCAT-AP's table of properties.

What only the data holder knows (health category, theme, legislation, access body) is left to the
holder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

from rwn_core.data.variable import Kind
from rwn_core.reporting.described_files import DescribedFile, companions, released_files
from rwn_core.reporting.facts import Fact, Material
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.outside import treatments

_CONTEXT = {
    "csvw": "http://www.w3.org/ns/csvw#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dpv": "https://w3id.org/dpv#",
    "dqv": "http://www.w3.org/ns/dqv#",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "oa": "http://www.w3.org/ns/oa#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_RIGHTS = "http://publications.europa.eu/resource/authority/access-right/"
_ACCESS = {
    "public": f"{_RIGHTS}PUBLIC",
    "on request": f"{_RIGHTS}RESTRICTED",
    "safe setting": f"{_RIGHTS}NON_PUBLIC",
}
_MEDIA = "https://www.iana.org/assignments/media-types/"
_TYPES = {Kind.CONTINUOUS: "decimal", Kind.COUNT: "integer", Kind.DATE: "date"}
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TERMS = (
    "@context @id @type @value #release csvw:Column csvw:Table csvw:TableGroup csvw:column "
    "csvw:datatype csvw:name csvw:table csvw:title csvw:url dcat:Dataset dcat:Distribution "
    "dcat:accessURL dcat:byteSize dcat:contactPoint dcat:distribution dcat:mediaType "
    "dct:ProvenanceStatement dct:accessRights dct:description dct:identifier dct:issued "
    "dct:provenance dct:title dpv:PersonalData dpv:Purpose dpv:hasPersonalData "
    "dpv:hasPurpose dqv:QualityAnnotation dqv:hasQualityAnnotation dqv:qualityAssessment "
    "healthdcatap:analytics healthdcatap:hasStructuredData "
    "healthdcatap:hasVariables healthdcatap:numberOfRecords oa:TextualBody oa:hasBody "
    "oa:motivatedBy rdf:value rdfs:label spdx:Checksum spdx:algorithm spdx:checksum "
    "spdx:checksumAlgorithm_sha256 spdx:checksumValue string vcard:Kind vcard:fn "
    "vcard:hasEmail xsd:date xsd:hexBinary xsd:nonNegativeInteger True"
)
TERMS = frozenset(_TERMS.split()) | {
    *_CONTEXT,
    *_CONTEXT.values(),
    *_ACCESS.values(),
    *_TYPES.values(),
}
"""Texts of the form itself."""


def healthdcat(material: Material, facts: Iterable[Fact]) -> bytes:
    """Describe a release as a dcat:Dataset in JSON-LD."""
    known = {fact.key: fact for fact in facts}
    claims = [file for file in companions(material) if file.name == words.CLAIMS_FILE]
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@id": "#release",
        "@type": "dcat:Dataset",
        "dct:identifier": material.record["release"]["id"],
        "dct:title": material.name,
        "dct:description": f"{known['use'].text} {known['review'].text}",
        "dct:issued": _typed(material.made, "xsd:date"),
        "dct:provenance": {
            "@type": "dct:ProvenanceStatement",
            "rdfs:label": known["treated"].text,
        },
        "healthdcatap:numberOfRecords": _typed(str(material.records), "xsd:nonNegativeInteger"),
        "dpv:hasPersonalData": {"@id": "dpv:PersonalData"},
        "dqv:hasQualityAnnotation": [
            _annotation(known[key]) for key in ("loss", "errors", "totals")
        ],
        "healthdcatap:hasStructuredData": True,
        "healthdcatap:hasVariables": _variables(material),
        "dcat:distribution": [_distribution(file) for file in released_files(material)],
        **_stated(material),
    }
    if claims:
        document["healthdcatap:analytics"] = _distribution(claims[0])
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _typed(value: str, kind: str) -> dict[str, str]:
    return {"@value": value, "@type": kind}


def _stated(material: Material) -> dict[str, Any]:
    """Describe access, purpose and contact, as the steward stated them."""
    context = material.context
    stated: dict[str, Any] = {}
    if context.access:
        stated["dct:accessRights"] = {"@id": _ACCESS[context.access]}
    if context.purpose:
        stated["dpv:hasPurpose"] = {
            "@type": "dpv:Purpose",
            "dct:description": context.purpose,
        }
    address = _EMAIL.search(context.contact)
    if address:
        stated["dcat:contactPoint"] = {
            "@type": "vcard:Kind",
            "vcard:fn": context.contact,
            "vcard:hasEmail": {"@id": f"mailto:{address[0]}"},
        }
    return stated


def _annotation(fact: Fact) -> dict[str, Any]:
    return {
        "@type": "dqv:QualityAnnotation",
        "dct:title": fact.title,
        "oa:motivatedBy": {"@id": "dqv:qualityAssessment"},
        "oa:hasBody": {"@type": "oa:TextualBody", "rdf:value": fact.text},
    }


def _variables(material: Material) -> dict[str, Any]:
    """The variables as tables for the web (CSVW)."""
    kinds = map(Kind, material.record["table"]["kinds"])
    columns = [
        {
            "@type": "csvw:Column",
            "csvw:name": name,
            "csvw:title": name,
            "csvw:datatype": _TYPES.get(kind, "string"),
            "dct:description": treatment,
        }
        for (name, treatment), kind in zip(treatments(material).items(), kinds, strict=True)
    ]
    described = {"@type": "csvw:Table", "dct:title": material.name, "csvw:column": columns}
    return {"@type": "csvw:TableGroup", "dct:title": words.TITLES[1], "csvw:table": described}


def _distribution(file: DescribedFile) -> dict[str, Any]:
    made: dict[str, Any] = {
        "@type": "dcat:Distribution",
        "dct:title": file.title,
        "dcat:accessURL": {"@id": file.name},
        "dcat:mediaType": {"@id": f"{_MEDIA}{file.media_type}"},
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed(file.sha256, "xsd:hexBinary"),
        },
    }
    if file.size is None:
        return made
    return {**made, "dcat:byteSize": _typed(str(file.size), "xsd:nonNegativeInteger")}
