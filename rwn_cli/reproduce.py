"""The command `rwn reproduce`: a release drawn again from its sealed key."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

import rwn_core as rwn
from rwn_cli.options import SchemaFile, load, read_text
from rwn_cli.output import Overwrite, refuse_existing, write
from rwn_cli.record_file import read_original, read_record_file
from rwn_cli.terminal import option, progress, say
from rwn_core.errors import ParameterError


def reproduce(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder of a release, or the record that --record wrote."
        ),
    ],
    key: Annotated[Path, option("FILE", "The file that keeps its secret.", "--key")],
    original: Annotated[
        str | None, option("IN", "The original; a record of --record says where it lies.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write what came out: a file, or a dataset's new folder."),
    ] = None,
    schema: SchemaFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw a release again from its key, and check that the same bytes come out.

    --schema is for the record of a dataset that was masked with one.
    """
    from rwn_core.datasets.key_file import read_key
    from rwn_core.reporting.dataset_record import is_dataset_record
    from rwn_core.reporting.release_folder import HOUSE, RECORD
    from rwn_core.reporting.reproduce import reproduced

    is_folder = folder.is_dir()
    refuse_existing(overwrite, out)
    if not is_folder and is_dataset_record(text := read_text(folder, "record")):
        _of_dataset(text, read_key(key), original, out, schema)
        return
    if schema is not None:
        raise ParameterError("--schema is for the record of a dataset; leave it out.")
    record = read_record_file(folder / RECORD if is_folder else folder)
    if is_folder and original is not None:
        data = load(original, folder / HOUSE / "schema.toml")
    else:
        data = read_original(record, original)
    secret = read_key(key)
    with progress("masking") as report:
        content = reproduced(record, data, secret, progress=report)
    if out is not None:
        write(out, content, overwrite=overwrite)
        say(f"written to {out}")
    say("the same file came out of the key")
    say(f"SHA-256 {hashlib.sha256(content).hexdigest()}")


def _of_dataset(
    text: str, key: rwn.SecretKey, original: str | None, out: Path | None, schema: Path | None
) -> None:
    """The release of a dataset, in a new folder."""
    from rwn_core.io.reading import schema_from
    from rwn_core.reporting.dataset_record import thawed_record
    from rwn_core.reporting.reproduce import reproduce_dataset

    if out is None:
        raise ParameterError("The release of a dataset needs --out, a new folder; give it.")
    record = thawed_record(text)
    given = original or record["source"]["file"]
    with progress("masking") as report:
        reproduce_dataset(record, given, out, key, schema=schema_from(schema), progress=report)
    say(f"the same files came out of the key, in {out}")
    say(f"SHA-256 of their list {record['file']['sha256']}")
