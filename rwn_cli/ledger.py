"""The commands `rwn ledger add`, `show` and `verify`: every release, in a file that only grows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli.options import read_text
from rwn_cli.record_file import OriginalFile, RecordFile, read_original, read_record_file
from rwn_cli.terminal import File, option, require_folder, say
from rwn_core.errors import ParameterError, ReleaseError, RWNError

ledger = typer.Typer(
    no_args_is_help=True,
    help="Keep the ledger of releases: each is added once, and nothing is ever changed.",
)

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="Such as ledger.jsonl.")]


@ledger.command()
def add(
    file: LedgerFile,
    record: RecordFile,
    by: Annotated[str, option("NAME", "Who signs the entry.")] = "",
    original: OriginalFile = None,
    released: Annotated[
        list[Path] | None,
        option(
            "FILE",
            "A released file, this or an earlier one, that lies no longer where its record "
            "says. Repeat it.",
        ),
    ] = None,
    notice: Annotated[
        File, option("NOTICE", "The notice.json of the release, so that it is sealed, too.")
    ] = None,
) -> None:
    """Add a release, and say what it names together with earlier ones of the same people.

    Where merges break a limit, or an earlier file is missing, the entry says that the release
    is not kept. Where the release, subtracted from an earlier one, reads a person, it is refused.
    A new ledger gets a key in LEDGER.key, which seals its entries and knows tables
    again; keep it next to the ledger and out of other hands.
    """
    from rwn_core.reporting.dataset_record import is_dataset_record
    from rwn_core.reporting.ledger import add as add_release
    from rwn_core.reporting.ledger import policy_words
    from rwn_core.reporting.public_notice import read_notice

    require_folder(file)
    text = read_text(record, "record")
    if is_dataset_record(text):
        raise ParameterError(
            "The ledger is of tables, whose releases it merges; keep the record of this dataset."
        )
    read = read_record_file(record)
    data = read_original(read, original)
    if notice and read_notice(read_text(notice, "notice"))["sha256"] != read["file"]["sha256"]:
        raise ReleaseError(
            f"{notice.name} is the notice of another release; give that of the record."
        )
    sealed = b"" if notice is None else notice.read_bytes()
    for each in released or ():
        if not each.is_file():
            raise RWNError(f"{each.name} does not exist; give a released file with --released.")
    files = [(each.name, each.read_bytes()) for each in released or ()]
    entry, warnings = add_release(file, read, data, by=by, files=files, notice=sealed)
    for warning in (
        *warnings,
        *([f"the entry says: {policy_words(entry)}."] if not entry["kept"] else []),
    ):
        say(f"warning: {warning}")
    if not by:
        say("note: nobody is named (--by).")
    say(f"entry {entry['number']} added to {file}: release {entry['release']}")
    say(f"hash {entry['hash']}")


@ledger.command()
def show(file: LedgerFile) -> None:
    """Show the releases of a ledger, oldest first."""
    from rwn_core.reporting.ledger import policy_words

    titles = {key: method.title for key, method in rwn.METHODS.items()}
    for entry in ledger_content(file, None)[0]:
        method = titles.get(entry["method"], entry["method"])  # of a version with other methods
        signed = f", signed by {entry['by']}" if entry["by"] else ""
        typer.echo(
            f"{entry['number']}  {entry['time']}  {entry['release']}  {method}; "
            f"{entry['records']:,} records, {policy_words(entry)}{signed}"
        )


@ledger.command()
def verify(
    file: LedgerFile,
    last: Annotated[
        str, option("HASH", "The hash of an entry that must be there, noted elsewhere.")
    ] = "",
    key: Annotated[File, option("FILE", "The ledger's key, if it lies not in LEDGER.key.")] = None,
) -> None:
    """Check that no entry was changed, taken out or put in since it was sealed.

    With the ledger's key no change by a person without the key is missed; without it only the
    order of the entries can be checked. That the last entries were cut off can be seen only with
    --last.
    """
    entries, keyed = ledger_content(file, key)
    if last and last.lower() not in [entry["hash"] for entry in entries]:
        raise ReleaseError("The ledger has no entry with this hash; its end may have been cut off.")
    count = "1 entry" if len(entries) == 1 else f"{len(entries):,} entries"
    say(f"{count}, each follows the one before it")
    sealed = f"{len(entries):,} sealed"
    if entries and keyed:
        say(f"{sealed} under the key: nobody without it changed them or put them in.")
    elif entries:
        say(f"{sealed}, but the key is missing: anyone with write access can change it.")
    if not last:
        say("That the last entries were cut off shows only with --last.")
    if entries:
        say(f"last hash {entries[-1]['hash']}")


def ledger_content(file: Path, key: Path | None) -> tuple[list[dict[str, Any]], bool]:
    """The entries, and whether they were checked under the key."""
    from rwn_core.reporting.ledger import file_bytes, key_path, read_entries, read_key

    there = key or key_path(file)
    content = file_bytes(file)
    if key is None and not there.exists():
        return read_entries(content), False
    return read_entries(content, read_key(there)), True
