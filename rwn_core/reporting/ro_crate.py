"""The public files of a release as an RO-Crate 1.1.

The disclosure check is described in the terms of the Five Safes RO-Crate 0.4. That profile also
demands a workflow and the project that asked for it, which a release does not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from rwn_core.reporting.described_files import (
    CRATE,
    DescribedFile,
    companions,
    released_files,
)
from rwn_core.reporting.facts import Fact, Material
from rwn_core.reporting.facts import public_words as words

_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
_PROFILE = "https://w3id.org/ro/crate/1.1"
_SHA256 = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
_CHECK = "https://w3id.org/shp#DisclosureCheck"
_DONE = "http://schema.org/CompletedActionStatus"
_LICENSE, _ACTION = "#limits-of-use", "#disclosure-check"
_TERMS = (
    "@context @graph @id @type about additionalType actionStatus AssessAction conformsTo "
    "contentSize CreativeWork Dataset datePublished description encodingFormat endTime File "
    "hasPart identifier license mentions name object sha256 ./"
)
TERMS = frozenset(_TERMS.split()) | {
    _CONTEXT,
    _PROFILE,
    _SHA256["sha256"],
    _CHECK,
    _DONE,
    _LICENSE,
    _ACTION,
    CRATE,
}
"""Texts of the form itself."""


def ro_crate(material: Material, facts: Iterable[Fact]) -> bytes:
    """Describe the files of a release as an RO-Crate."""
    said = {fact.key: fact.text for fact in facts}
    files = [*released_files(material), *companions(material)]
    parts: list[dict[str, str]] = [{"@id": file.name} for file in files]
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "identifier": material.record["release"]["id"],
        "name": material.name,
        "description": f"{said['treated']} {said['review']}",
        "datePublished": material.made,
        "license": {"@id": _LICENSE},
        "hasPart": parts if len(parts) > 1 else parts[0],
    }
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": _PROFILE},
        },
        root,
        {
            "@id": _LICENSE,
            "@type": "CreativeWork",
            "name": words.TITLES[5],
            "description": said["use"],
        },
        *map(_file, files),
    ]
    if "approval" in material.record:
        root["mentions"] = {"@id": _ACTION}
        graph.append(_disclosure_check(material))
    document = {"@context": [_CONTEXT, _SHA256], "@graph": graph}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _file(file: DescribedFile) -> dict[str, Any]:
    entity: dict[str, Any] = {
        "@id": file.name,
        "@type": "File",
        "name": file.title,
        "encodingFormat": file.media_type,
        "sha256": file.sha256,
    }
    return entity if file.size is None else {**entity, "contentSize": str(file.size)}


def _disclosure_check(material: Material) -> dict[str, Any]:
    """Describe that a person answered for the release; name and findings stay internal."""
    return {
        "@id": _ACTION,
        "@type": "AssessAction",
        "additionalType": {"@id": _CHECK},
        "name": words.DISCLOSURE_CHECK,
        "object": {"@id": "./"},
        "endTime": material.made,
        "actionStatus": {"@id": _DONE},
    }
