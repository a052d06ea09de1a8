"""The command `rwn reproduce`: a release drawn again from its sealed key."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.options import load, read_text
from rwn_cli.record_file import read_original, read_record_file
from rwn_cli.terminal import File, Overwrite, Text, option, progress, refuse_existing, say, write
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
        Text, option("IN", "The original; a record of --record says where it lies.")
    ] = None,
    out: Annotated[File, typer.Option("--out", "-o", help="Write what came out to a file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw a release again from its key, and check that the same bytes come out."""
    from rwn_core.datasets.key_file import read_key
    from rwn_core.reporting.dataset_record import is_dataset_record
    from rwn_core.reporting.release_folder import HOUSE, RECORD, reproduced

    is_folder = folder.is_dir()
    refuse_existing(overwrite, out)
    if not is_folder and is_dataset_record(read_text(folder, "record")):
        raise ParameterError(
            "The release of a dataset comes out again by rwn mask-dataset with the same key; give "
            "the record of a table."
        )
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
