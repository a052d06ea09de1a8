"""The command `rwn verify`: whether a file is the one that a card speaks of."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.terminal import say
from rwn_cli.text_file import read_text
from rwn_core.errors import ReleaseError

_AT_ONCE = 1 << 20


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A released file, or the folder of a dataset's.")
    ],
    card: Annotated[Path, typer.Argument(metavar="CARD", help="The card that came with it.")],
) -> None:
    """Check that a file is, byte for byte, the release that its card speaks of.

    Of a dataset's release it is the folder, or one of its files.
    """
    from rwn_core.reporting.public_notice import read_card

    about = read_card(read_text(card, "card"))
    parts = {part["name"]: part["sha256"] for part in about.get("files", ())}
    whole = not parts or file.is_dir()
    digest, wanted = _digest(file), about["sha256"] if whole else parts.get(file.name, "")
    if digest != wanted.lower():
        raise ReleaseError(
            f"{file.name} is not the {'release' if file.is_dir() else 'file'} of the card: it was "
            "changed, or belongs to another release; ask for both again."
        )
    what = "is" if whole else "belongs to"
    say(f"{file.name} {what} release {about.get('release', '')} of {about.get('made', '')}")
    say(f"SHA-256 {digest}")
    say(f"method: {about.get('method', '')}")


def _digest(file: Path) -> str:
    """The SHA-256 of a file, or of the list of a folder's files."""
    from rwn_core.reporting.dataset_record import hashed_files

    if file.is_dir():
        return str(hashed_files(file)["sha256"])
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(_AT_ONCE):
            digest.update(part)
    return digest.hexdigest()
