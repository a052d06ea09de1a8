"""The command `rwn verify`: whether a file is the one that a card speaks of."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.record_file import read_text
from rwn_cli.terminal import say
from rwn_core.errors import ReleaseError

_AT_ONCE = 1 << 20


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A released file.")],
    card: Annotated[Path, typer.Argument(metavar="CARD", help="The card that came with it.")],
) -> None:
    """Check that a file is, byte for byte, the release that its card speaks of."""
    from rwn_core.reporting.public_notice import read_card

    about = read_card(read_text(card, "card"))
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(_AT_ONCE):
            digest.update(part)
    if digest.hexdigest() != about["sha256"].lower():
        raise ReleaseError(
            f"{file.name} is not the file of the card: it was changed, or belongs to another "
            "release; ask for both again."
        )
    say(f"{file.name} is release {about.get('release', '')} of {about.get('made', '')}")
    say(f"SHA-256 {digest.hexdigest()}")
    say(f"method: {about.get('method', '')}")
