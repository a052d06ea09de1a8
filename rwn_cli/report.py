"""The command `rwn report`: the internal report of a release, or what the public may know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rwn_cli.ledger import ledger_content
from rwn_cli.options import read_text
from rwn_cli.record_file import (
    OriginalFile,
    ProjectFile,
    RecordFile,
    read_context,
    read_evidence,
    read_original,
    read_record_file,
)
from rwn_cli.terminal import (
    File,
    Overwrite,
    flag,
    option,
    progress,
    refuse_existing,
    require_folder,
    say,
    write,
    write_all,
)
from rwn_core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from rwn_core.reporting.facts import Material


def report(
    record: RecordFile,
    out: Annotated[
        Path,
        option(
            "FILE",
            "Ends in .html or .json; with --public also in .xml (DDI-Codebook 2.5 for archives).",
            "--out",
            "-o",
        ),
    ],
    public: Annotated[
        bool, flag("--public", "What may leave the house, once nothing leaks.")
    ] = False,
    auditors: Annotated[
        bool,
        flag(
            "--auditors",
            "The page for auditors (.html): purpose, tables, attacks, limits and decision; "
            "no value of a record is in it, and readings of risk are.",
        ),
    ] = False,
    title: Annotated[str, option("TEXT", "What the data are called.")] = "",
    review: Annotated[
        str,
        option(
            "DATE",
            "When the release is looked at again, such as 2030-01-31; the notice says that no "
            "day was stated if left out.",
        ),
    ] = "",
    contact: Annotated[
        str, option("TEXT", "Whom users may ask, such as an address; stated in the notice.")
    ] = "",
    ledger: Annotated[
        File, option("LEDGER", "The notice counts earlier releases of the same people in it.")
    ] = None,
    readers: Annotated[
        bool, flag("--readers", "With --public: also the readers for Python and R, beside FILE.")
    ] = False,
    project: ProjectFile = None,
    original: OriginalFile = None,
    released: Annotated[
        File,
        option("FOLDER", "The release of a dataset, if it lies no longer where its record says."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the internal report of a release, or with --public its notice for users.

    The internal report is confidential: it shows charts of the original. A public file is held
    against the original before it is written, and refused if anything of it would leak.
    The release of a dataset is read for a public file, file by file.
    """
    from rwn_core.reporting.auditors_page import auditors_file, unanswered
    from rwn_core.reporting.context import Context, with_context
    from rwn_core.reporting.dataset_record import is_dataset_record
    from rwn_core.reporting.facts import Material
    from rwn_core.reporting.page import internal_file
    from rwn_core.reporting.public_notice import public_file, require_form

    if out.resolve() == record.resolve():
        raise ReleaseError("FILE is the record itself; write to another file.")
    require_folder(out)
    files = _readers(out, readers, public)
    refuse_existing(overwrite, out, *files)

    def material(read: dict[str, Any]) -> Material:
        # the answers of a project or the record's own, and those of the options
        own = read_context(project, str(read["table"].get("fingerprint", "")))
        own = own or Context.from_dict(read.get("context", {}))
        return Material(record=with_context(read, own, review=review, contact=contact), title=title)

    dataset = is_dataset_record(text := read_text(record, "record"))
    if auditors and public:
        raise ParameterError("--auditors and --public are two files; give one of them.")
    if auditors and dataset:
        raise ParameterError("--auditors is for the record of a table; leave it out.")
    if released is not None and not dataset:
        raise ParameterError("--released is for the record of a dataset; leave it out.")
    if dataset:
        content = _of_dataset(text, out, material, (original, released), public)
        return _write(out, content, public, overwrite, {})
    known = material(read_record_file(record))
    if ledger is not None:
        known = replace(known, earlier=_earlier(known, ledger))
    if auditors:
        if out.suffix.lower() != ".html":
            raise ParameterError("A page for auditors must end in .html.")
        content = auditors_file(known, read_original(known.record, original))
        write(out, content, overwrite=overwrite)
        say(f"page for auditors written to {out}; no value of a record was found in it")
        left = unanswered(known)
        return say("\n  ".join([f"questions without an answer: {len(left)}", *left]))
    if public:
        require_form(name := out.name.lower())  # before the original is read
        content = public_file(known, read_original(known.record, original), name)
        _write(out, content, public, overwrite, known.record["verdict"])
        write_all(files, overwrite=overwrite)
        return
    known = replace(known, evidence=read_evidence(known.record, record))
    _write(out, internal_file(known, out.suffix), public, overwrite, {})


def _readers(out: Path, readers: bool, public: bool) -> dict[Path, bytes]:
    """The readers of a notice, by where they are written."""
    from rwn_core.reporting.readers import READERS

    if not readers:
        return {}
    if not public:
        raise ParameterError("--readers are for a notice; give --public, too, or leave them out.")
    return {out.with_name(name): content for name, content in READERS.items()}


def _earlier(known: Material, ledger: Path) -> int:
    """The number of releases of the same people that a ledger has before this one."""
    from rwn_core.reporting.ledger import earlier_releases

    entries, _ = ledger_content(ledger, None)
    return earlier_releases(entries, known.record["release"]["id"])


def _write(
    out: Path, content: bytes, public: bool, overwrite: bool, verdict: Mapping[str, Any]
) -> None:
    from rwn_core.reporting.release_record import recorded_state

    write(out, content, overwrite=overwrite)
    if public:
        say(f"public file written to {out}; nothing of the original was found in it")
        state = recorded_state(verdict) if verdict else "kept"
        if state != "kept":
            say(f"its policy is {state}, {_said(content)}. {verdict['words']}")
    else:
        say(f"internal report written to {out}; it stays in the house")


def _said(content: bytes) -> str:
    """Return what a public file says of a policy that is not kept."""
    from rwn_core.reporting.public_words import LABEL

    if LABEL["open"].encode() in content:
        return f"and the file lists its limits that are not kept under “{LABEL['open']}”"
    return "which the file does not tell"


def _of_dataset(
    text: str,
    out: Path,
    material: Callable[[dict[str, Any]], Material],
    places: tuple[str | None, Path | None],
    public: bool,
) -> bytes:
    """The report of a dataset's release; the record says where both lie, unless the options do."""
    from rwn_core.reporting.dataset_record import (
        public_dataset_files,
        read_dataset_record,
        thawed_record,
    )
    from rwn_core.reporting.page import internal_file

    known = thawed_record(text)["source"]
    original, released = places[0] or known["file"], places[1] or Path(known["released"])
    about = material(read_dataset_record(text, released))
    if not public:
        return internal_file(about, out.suffix)
    name = out.name.lower()
    with progress("reading the dataset and its release") as advance:
        return public_dataset_files(about, original, released, [name], advance)[name]
