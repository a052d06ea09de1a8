"""The commands `rwn ledger add`, `show` and `verify`: every release, in a file that only grows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.record_file import OriginalFile, RecordFile, original_of, read_record_file
from rwn_cli.terminal import progress, say
from rwn_cli.text_file import read_text
from rwn_core.errors import ReleaseError, RWNError

ledger = typer.Typer(
    no_args_is_help=True,
    help="Keep the ledger of releases: each is added once, and nothing is ever changed.",
)

_LIMITS = {True: "limits kept", False: "limits NOT kept", None: "no policy judged"}

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="Such as ledger.jsonl.")]


@ledger.command()
def add(
    file: LedgerFile,
    record: RecordFile,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who signs the entry.")] = "",
    original: OriginalFile = None,
) -> None:
    """Add a release, and warn if the same records or variables were released before.

    A new ledger gets a key of its own in LEDGER.key, with which tables are known again; keep it
    beside the ledger and out of other hands.
    """
    from rwn_core.reporting.dataset_record import is_dataset_record, thawed_record
    from rwn_core.reporting.ledger import add as add_release
    from rwn_core.reporting.ledger import add_dataset

    if not file.parent.is_dir():
        raise RWNError(f"The folder {file.parent} does not exist; create it first.")
    text = read_text(record, "record")
    if is_dataset_record(text):
        read = thawed_record(text)
        with progress("marking the records") as report:
            source = original or read["source"]["file"]
            entry, warnings = add_dataset(file, read, source, by=by, progress=report)
    else:
        read = read_record_file(record)
        entry, warnings = add_release(file, read, original_of(read, original), by=by)
    for warning in warnings:
        say(f"warning: {warning}")
    if entry["kept"] is None:
        say("note: the release of a dataset is held against no policy; see its internal report.")
    elif not entry["kept"]:
        say("warning: the release does not keep every limit of its policy.")
    say(f"entry {entry['number']} added to {file}: release {entry['release']}")
    say(f"hash {entry['hash']}")


@ledger.command()
def show(file: LedgerFile) -> None:
    """Show the releases of a ledger, oldest first."""
    from rwn_core.masking import METHODS
    from rwn_core.reporting.ledger import read_entries, whole

    titles = {key: method.title for key, method in METHODS.items()}
    for entry in read_entries(whole(file)):
        method = titles.get(entry["method"], entry["method"])  # of a version with other methods
        limits = _LIMITS[entry["kept"]]
        signed = f", signed by {entry['by']}" if entry["by"] else ""
        typer.echo(
            f"{entry['number']}  {entry['time']}  {entry['release']}  {method}; "
            f"{entry['records']:,} records, {limits}{signed}"
        )


@ledger.command()
def verify(
    file: LedgerFile,
    last: Annotated[
        str,
        typer.Option(
            metavar="HASH", help="The hash of an entry that must be there, noted elsewhere."
        ),
    ] = "",
) -> None:
    """Check that no entry was changed, taken out or put in.

    That the last entries were cut off can be seen only with --last.
    """
    from rwn_core.reporting.ledger import read_entries, whole

    entries = read_entries(whole(file))
    if last and last.lower() not in [entry["hash"] for entry in entries]:
        raise ReleaseError("The ledger has no entry with this hash; its end may have been cut off.")
    count = "1 entry" if len(entries) == 1 else f"{len(entries):,} entries"
    say(f"{count}, each follows the one before it")
    if entries:
        say(f"last hash {entries[-1]['hash']}")
