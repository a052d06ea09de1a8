"""The internal record as a file: read it, find its evidence and the original that it speaks of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli.options import DEMO, described, load, read_text
from rwn_cli.terminal import File, Text, option, say
from rwn_core.errors import InputError, RWNError

if TYPE_CHECKING:
    from rwn_core.masking.second_reading import SourceFile
    from rwn_core.reporting.context import Context

RecordFile = Annotated[
    Path,
    typer.Argument(metavar="RECORD", help="Internal record of a release: what --record wrote."),
]
OriginalFile = Annotated[
    Text,
    option("IN", "The original, if it lies no longer where the record says; or demo:NAME."),
]


ProjectFile = Annotated[
    File,
    option(
        "FILE.toml",
        "A project of this table, or a file with a table [context] alone: recipient, purpose, "
        "access and the other answers about the release. The setting is not taken from it.",
    ),
]


def read_context(project: Path | None, table: str) -> Context | None:
    """Return the context of a project's file; None without one."""
    from rwn_core.reporting.context import context_in

    if project is None:
        return None
    context, own = context_in(read_text(project, "project"))
    if own and table and own != table:
        raise InputError("The project is of another table; give the project of the masked table.")
    return context


def evidence_path(record: Path) -> Path:
    """Return the path of a record's evidence."""
    return record.with_name(f"{record.stem}.evidence.json")


def read_record_file(path: Path) -> dict[str, Any]:
    """Read an internal record."""
    from rwn_core.reporting import read_record

    return read_record(read_text(path, "record"))


def read_evidence(record: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Read the evidence of a record; empty, with a note, if there is none."""
    from rwn_core.reporting.evidence import read_evidence

    evidence = evidence_path(path)
    if not evidence.exists():
        say(f"note: {evidence.name} is not next to the record; the report has no charts.")
        return {}
    content = evidence.read_bytes()
    if hashlib.sha256(content).hexdigest() != record.get("evidence", {}).get("sha256"):
        raise InputError(f"{evidence.name} is not the evidence of this record; put its own there.")
    return read_evidence(content)


def source_facts(
    source: str, schema: Path | None, layout: list[str] | None, **answers: Any
) -> dict[str, Any]:
    """Return the facts from which the original can be read again in the same way."""
    # answers: "dropped", "roles" and "as_is", as the command line gave them
    place = source if source.startswith(DEMO) else str(Path(source).absolute())
    where: dict[str, Any] = {"file": place}
    if schema is not None:
        where["schema"] = str(schema.absolute())
    if layout:
        where["layout"] = list(layout)
    return where | {name: given for name, given in answers.items() if given}


def original_file(source: str) -> SourceFile:
    """The file of the original, for a second reading."""
    from rwn_core.io.demo import demo_path
    from rwn_core.masking.second_reading import SourceFile

    path = demo_path(source.removeprefix(DEMO)) if source.startswith(DEMO) else Path(source)
    return SourceFile.at(path)


def read_original(record: Mapping[str, Any], given: str | None = None) -> rwn.Microdata:
    """Read the original of a record again."""
    source = record.get("source", {})
    file = given or source.get("file")
    if file is None:
        raise RWNError("The record does not say where the original lies; give --original IN.")
    schema = Path(source["schema"]) if "schema" in source else None
    try:
        from rwn_core.data.role_guesses import in_roles

        read = load(file, schema, source.get("layout"), finds=False)
        dropped, as_is = (source.get(name, ()) for name in ("dropped", "as_is"))
        data = described(read, identifiers=dropped)
        data = data.with_schema(in_roles(data.schema, source.get("roles", {}), as_is))
    except FileNotFoundError as missing:
        name = Path(str(missing.filename)).name
        raise RWNError(
            f"{name} lies no longer where the record says; give --original IN, or put it back."
        ) from None
    if data.fingerprint != record["table"]["fingerprint"]:
        raise InputError(
            "The original is not the table that the record was made of; give the file that was "
            "masked."
        )
    return data
