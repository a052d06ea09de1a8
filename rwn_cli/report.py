"""The command `rwn report`: the internal report of a release, or what the public may know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rwn_cli.output import write
from rwn_cli.record_file import (
    OriginalFile,
    RecordFile,
    evidence_of,
    original_of,
    read_record_file,
)
from rwn_cli.terminal import say
from rwn_core.errors import ReleaseError, RWNError

if TYPE_CHECKING:
    from rwn_core.reporting.facts import Material


def report(
    record: RecordFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Ends in .html or .json; with --public also in .xml (DDI-Codebook 2.5 for "
            "archives) or .toml (the card that travels with the file).",
        ),
    ],
    public: Annotated[
        bool, typer.Option("--public", help="What may leave the house, once nothing leaks.")
    ] = False,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the data are called.")] = "",
    review: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="When the release is looked at again, such as 2030-01-31; a year after it was "
            "made if left out.",
        ),
    ] = "",
    original: OriginalFile = None,
) -> None:
    """Write the internal report of a release, or with --public its notice for users.

    The internal report is confidential: it shows charts of the original. A public file is held
    against the original before it is written, and refused if anything of it would leak.
    """
    from rwn_core.reporting.facts import Material
    from rwn_core.reporting.internal_report import internal_file

    if out.resolve() == record.resolve():
        raise ReleaseError("FILE is the record itself; write to another file.")
    if not out.parent.is_dir():
        raise RWNError(f"The folder {out.parent} does not exist; create it first.")
    read = read_record_file(record)
    material = Material(record=read, title=title, review=review)
    if public:
        write(out, _public(material, out, original))
        say(f"public file written to {out}; nothing of the original was found in it")
        return
    evidence = evidence_of(read, record)
    material = Material(record=read, evidence=evidence, title=title, review=review)
    write(out, internal_file(material, out.suffix))
    say(f"internal report written to {out}; it stays in the house")


def _public(material: Material, out: Path, original: str | None) -> bytes:
    from rwn_core.reporting.public_notice import public_file

    return public_file(material, original_of(material.record, original), out.suffix.lower())
