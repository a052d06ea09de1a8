"""The files of a release: what goes to its users, what stays in the house, and all their hashes.

A release is drawn again from its record, its original and its key: of a table, byte for byte.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rwn_core.data.identity.gate import DROP
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, NotWritten, ReleaseError
from rwn_core.io import format_of_key
from rwn_core.io.write import PART, sweep, write_together
from rwn_core.masking import mask
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.auditors_page import auditors_file
from rwn_core.reporting.evidence import read_evidence
from rwn_core.reporting.facts import Material
from rwn_core.reporting.judged_release import Approval, JudgedRelease
from rwn_core.reporting.page import internal_html
from rwn_core.reporting.public_notice import public_files
from rwn_core.reporting.readable import decision_html
from rwn_core.reporting.readers import READERS
from rwn_core.reporting.release_record import KEPT, OF_EACH_RECORD, read_record, require_original
from rwn_core.tuning import Setting

SCRIPT = (Path(__file__).parent / "templates" / "reproduce.txt").read_text(encoding="utf-8")
"""The text that goes with the internal files of a release with a kept key."""


def reproduced(
    record: Mapping[str, Any],
    microdata: Microdata,
    key: SecretKey,
    *,
    progress: Progress | None = None,
) -> bytes:
    """Draw a release again."""
    require_original(record, microdata)
    setting = recorded_setting(record, microdata, "the release cannot be drawn from it")
    data = setting.applied_to(microdata)
    precision = dict(setting.precision)
    release = mask(data, setting.params, precision=precision, seed=key, progress=progress)
    file = record["file"]
    # The variables left out of the file; all others were released already.
    names = release.masked.names
    given = {row["variable"]: row["answer"] for row in record.get("identity", [])}
    dropped = [name for name in names if given.get(name) == DROP]
    content = release.to_bytes(
        file["format"],
        file["order"],
        drop=dropped,
        keep=[name for name in names if name not in dropped],
    )
    if hashlib.sha256(content).hexdigest() != file["sha256"]:
        versions = ", ".join(f"{name} {number}" for name, number in record["program"].items())
        raise ReleaseError(
            "Other bytes came out than were released: the key, the schema or a version is "
            f"another. The release was made with {versions}."
        )
    return content


def recorded_setting(record: Mapping[str, Any], microdata: Microdata, without: str) -> Setting:
    """Return the setting of a record; refuse one that is not whole, and say what it prevents."""
    plain = record["setting"]
    if OF_EACH_RECORD in plain["parameters"].values():
        raise InputError(
            "The record does not hold parameters of its setting that differ from record to "
            f"record, so {without}."
        )
    return Setting.from_dict(plain).resolved(microdata)


USERS, HOUSE = "for-users", "internal"
RECORD = f"{HOUSE}/internal-record.toml"
NOTICE = f"{USERS}/notice.json"
SUMS = "SHA256SUMS"
NAMES = ("notice.html", "notice.json", "codebook.xml")
"""The public files that describe a release."""


def release_files(
    judged: JudgedRelease,
    microdata: Microdata,
    approval: Approval,
    *,
    number: int = 1,
    title: str = "",
) -> dict[str, bytes]:
    """Make all files of a release, once the leak check has passed."""
    text = judged.record(microdata, approval, number)
    record = read_record(text)
    public = Material(record=record, title=title.strip())
    inside = replace(public, evidence=read_evidence(judged.evidence))
    suffix = format_of_key(judged.format).suffixes[0]
    released = {f"release-{judged.id}{suffix}": judged.content}
    # intervals that hold inside a slice need the file, its notice and a reader
    holds = not record["intervals"]["refusal"]
    users = released | public_files(public, microdata, NAMES)
    if holds:
        users |= READERS
    files = {
        **{f"{USERS}/{name}": content for name, content in users.items()},
        RECORD: text.encode("utf-8"),
        f"{HOUSE}/internal-record.evidence.json": judged.evidence,
        f"{HOUSE}/internal-report.html": internal_html(inside),
        f"{HOUSE}/for-auditors.html": auditors_file(public, microdata),
        f"{HOUSE}/schema.toml": microdata.schema.to_toml().encode("utf-8"),
    }
    if judged.document["file"]["key"] == KEPT:  # a file holds its secret
        files[f"{HOUSE}/reproduce.py"] = SCRIPT.encode("utf-8")
    decision = approval.decision
    if decision is not None:
        files[f"{HOUSE}/decision.toml"] = decision.frozen().encode("utf-8")
        files[f"{HOUSE}/decision.html"] = decision_html(decision)
    sums = (f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in files.items())
    return files | {SUMS: ("\n".join(sums) + "\n").encode("utf-8")}


def for_users(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those files that may leave the house."""
    return {name: content for name, content in files.items() if name.startswith(f"{USERS}/")}


def released_file(files: Mapping[str, bytes]) -> str:
    """The path of the release itself among its files."""
    return next(name for name in files if name.startswith(f"{USERS}/release-"))


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Put files into one ZIP; no time of day and no name of a user is in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, so that equal files make equal archives
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def write_folder(files: Mapping[str, bytes], parent: Path, id: str) -> Path:
    """Write the files of a release into a new folder, all of them or none."""
    if not parent.is_absolute():
        raise ReleaseError("The folder must be given with its whole path, from the root on.")
    if not parent.is_dir():
        raise ReleaseError(f"The folder {parent} does not exist; create it first.")
    sweep(parent)
    folder, part = parent / f"release-{id}", parent / f"{PART}{id}"
    if folder.exists():
        raise ReleaseError(f"The folder {folder} is there already; nothing was written.")
    try:
        part.mkdir(mode=0o700)
        for name in sorted({os.path.dirname(name) for name in files} - {""}):
            (part / name).mkdir(mode=0o700)
        write_together({part / name: content for name, content in files.items()})
        part.rename(folder)
    except OSError as error:
        raise NotWritten(
            f"The folder {parent} cannot be written ({error.strerror}); choose another one."
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder
