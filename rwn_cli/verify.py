"""The command `rwn verify`: whether a file is the one that a notice speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rwn_cli.ledger import ledger_content
from rwn_cli.options import read_text
from rwn_cli.terminal import File, option, say
from rwn_core.errors import ReleaseError


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A released file, or the folder of a dataset's.")
    ],
    notice: Annotated[
        Path, typer.Argument(metavar="NOTICE", help="The notice.json that came with it.")
    ],
    ledger: Annotated[
        File,
        option("LEDGER", "The institution's ledger; its key is in the same folder or in --key."),
    ] = None,
    key: Annotated[File, option("FILE", "The ledger's key, if it lies elsewhere.")] = None,
) -> None:
    """Check that a file is, byte for byte, the release that its notice speaks of.

    Of a dataset's release it is the folder, or one of its files. A change of both the file and the
    notice is found only with the ledger: its entries are sealed under its key.
    """
    from rwn_core.reporting.dataset_record import file_digest, hashed_files
    from rwn_core.reporting.public_notice import read_notice

    about = read_notice(read_text(notice, "notice"))
    parts = {part["name"]: part["sha256"] for part in about.get("files", ())}
    is_complete = not parts or file.is_dir()
    wanted = about["sha256"] if is_complete else parts.get(file.name, "")
    digest = str(hashed_files(file)["sha256"]) if file.is_dir() else file_digest(file)
    if digest != wanted.lower():
        what = "release" if file.is_dir() else "file"
        raise ReleaseError(
            f"{file.name} is not the {what} of the notice: it was changed, or belongs to another "
            "release; ask for both again."
        )
    if ledger is not None:
        _say_entry(ledger, key, about, file_digest(notice))
    what = "is" if is_complete else "belongs to"
    say(f"{file.name} {what} release {about.get('release', '')} of {about.get('made', '')}")
    say(f"SHA-256 {digest}")
    say(f"method: {about.get('method', '')}")


def _say_entry(ledger: Path, key: Path | None, about: Mapping[str, Any], notice: str) -> None:
    """Say which entry of the ledger is of a release; one without a sealed entry is refused."""
    entries, keyed = ledger_content(ledger, key)
    if not keyed:
        raise ReleaseError(
            "The ledger's key is not in its folder, so nothing is proved; give --key."
        )
    entry = next((each for each in entries if each["sha256"] == about["sha256"].lower()), None)
    if entry is None or entry["release"] != about.get("release"):
        raise ReleaseError("The ledger has no entry of this release; ask the institution for it.")
    sealed = entry.get("notice")
    if sealed not in (None, notice):
        raise ReleaseError(
            "The notice was changed after it was sealed; ask the institution for it."
        )
    what = "file" if sealed is None else "file and notice"
    say(f"{what} sealed in entry {entry['number']} of the ledger")
