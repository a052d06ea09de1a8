"""The command `rwn reproduce`: a release drawn again from its sealed key."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.options import load
from rwn_cli.output import write
from rwn_cli.record_file import original_of, read_record_file
from rwn_cli.terminal import progress, say


def reproduce(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The folder of a release, or the record of `rwn mask --record`."
        ),
    ],
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The file that keeps its secret.")
    ],
    original: Annotated[
        str | None,
        typer.Option(metavar="IN", help="The original; a record of rwn mask says where it lies."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the file that came out.")
    ] = None,
) -> None:
    """Draw a release again from its key, and check that the same bytes come out."""
    from rwn_core.reporting.release_folder import HOUSE, RECORD
    from rwn_core.reporting.reproduce import reproduced
    from rwn_core.scale.key_file import read_key

    whole = folder.is_dir()
    record = read_record_file(folder / RECORD if whole else folder)
    if whole and original is not None:
        data = load(original, folder / HOUSE / "schema.toml")
    else:
        data = original_of(record, original)
    secret = read_key(key)
    with progress("masking") as report:
        content = reproduced(record, data, secret, progress=report)
    if out is not None:
        write(out, content)
        say(f"written to {out}")
    say("the same file came out of the key")
    say(f"SHA-256 {hashlib.sha256(content).hexdigest()}")
