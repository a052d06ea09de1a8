"""The public files of a release, as machine-readable descriptions name them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rwn_core.errors import ReleaseError
from rwn_core.io import format_of_key
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts import public_words as words

CRATE, CROISSANT, HEALTHDCAT = "ro-crate-metadata.json", "croissant.json", "healthdcat-ap.jsonld"
_JSON_LD = "application/ld+json"
COMPANIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "notice.html": (words.NOTICE, "text/html"),
        "notice.json": (words.NOTICE, "application/json"),
        "card.toml": (words.CARD, "application/toml"),
        "codebook.xml": (words.CODEBOOK, "application/xml"),
        CROISSANT: (words.CROISSANT, _JSON_LD),
        HEALTHDCAT: (words.HEALTHDCAT, _JSON_LD),
        words.CLAIMS_FILE: (words.CLAIM_TABLE, "application/json"),
        "rwn_claims.py": (words.CLAIM_READER, "text/x-python"),
        "rwn_claims.R": (words.CLAIM_READER, "text/x-r"),
    }
)
"""Title and media type of the files that travel with a release, by name."""
DESCRIPTIONS = (CROISSANT, HEALTHDCAT, CRATE)
"""Forms that name the files of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedFile:
    """Describe one file that users get."""

    name: str
    title: str
    media_type: str
    sha256: str
    size: int | None  # in bytes; None where only the sum over several files is known


def released_files(material: Material) -> tuple[DescribedFile, ...]:
    """Describe the released file, or the files of a dataset's release."""
    file = material.record["file"]
    form = format_of_key(file["format"])
    size = None if "parts" in file else int(file["size"])
    parts = file.get("parts") or [{"name": _name(material), "sha256": file["sha256"]}]
    return tuple(
        DescribedFile(title=material.name, media_type=form.media_type, size=size, **part)
        for part in parts
    )


def _name(material: Material) -> str:
    """Return the released file's name among the given files, or its name in a release folder."""
    file = material.record["file"]
    usual = f"release-{material.record['release']['id']}{format_of_key(file['format']).suffixes[0]}"
    named = (name for name, content in material.files.items() if _sha256(content) == file["sha256"])
    return next(named, usual)


def files_in_folder(folder: Path, record: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the released file of a record and its companions in a folder, by name."""
    file = record["file"]
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and (path.name in COMPANIONS or path.stat().st_size == file["size"]):
            content = path.read_bytes()
            if path.name in COMPANIONS or _sha256(content) == file["sha256"]:
                found[path.name] = content
    if all(_sha256(content) != file["sha256"] for content in found.values()):
        raise ReleaseError(
            "A description names the released file, which is not in the folder of --out; put the "
            "file there, or write the description next to it."
        )
    return found


def companions(material: Material) -> tuple[DescribedFile, ...]:
    """Describe the public files that travel with the release."""
    return tuple(
        DescribedFile(
            name=name,
            title=COMPANIONS[name][0],
            media_type=COMPANIONS[name][1],
            sha256=_sha256(content),
            size=len(content),
        )
        for name, content in material.files.items()
        if name in COMPANIONS
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
