"""Folders on the server's disk, and the maskings that the app started in them, also after a crash.

A hidden file next to an unfinished release says what it is made of, and never the key. A process
that works on it locks that file; when the process ends, however it ends, the lock is free.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from rwn_core.data.schema import Schema
from rwn_core.errors import InputError, ParameterError, ReleaseError, RWNError
from rwn_core.reporting.file_lock import held
from rwn_core.tuning import Setting
from rwn_ui.server.environment import in_class

DATASETS_VARIABLE = "RWN_DATASETS"
"""Environment variable that names the folder whose datasets may be opened."""
RELEASES_VARIABLE = "RWN_RELEASES"
"""Environment variable that names the folder in which their releases are written."""

LONGEST_NAME = 100  # bytes of a release's name: the files next to it have longer ones
_NAME = re.compile(r"[\w-][\w .-]*")
_BESIDE = (".key", ".record.toml")  # endings of the files next to a release
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)
"""Names that Windows gives to no folder."""


def offer(datasets: Path | None, releases: Path | None) -> None:
    """Offer datasets to the server that this process will start."""
    if datasets is None and releases is not None:
        raise ParameterError("--releases is for masked datasets; give --datasets as well.")
    given = {DATASETS_VARIABLE: datasets, RELEASES_VARIABLE: releases}
    for folder in given.values():
        if folder is not None and not folder.is_dir():
            raise ParameterError(f"{folder} is no folder; create it first.")
    if datasets is not None and releases is not None:
        one, other = datasets.resolve(), releases.resolve()
        if one.is_relative_to(other) or other.is_relative_to(one):
            raise ParameterError(
                "The folders of --datasets and --releases must lie side by side: a release is "
                "never written into its source."
            )
    for name, folder in given.items():
        if folder is not None:
            os.environ[name] = str(folder.resolve())


def datasets_folder() -> Path | None:
    """Folder of the datasets; None if none is offered."""
    return None if in_class() else _folder(DATASETS_VARIABLE)


def releases_folder() -> Path | None:
    """The folder in which releases are written; None where there is none."""
    return None if in_class() else _folder(RELEASES_VARIABLE)


def source_at(text: str) -> Path:
    """The dataset of this name, if it lies within the folder with all of its files."""
    base, given = datasets_folder(), Path(text)
    if base is None:
        raise InputError("No folder of datasets is offered here; start with rwn app --datasets.")
    path = _resolved(base / given)
    if path is None or ".." in given.parts or not path.is_relative_to(base):
        raise InputError(
            "The dataset must lie in the folder of datasets; give a path within it, without .."
        )
    if not _is_there(path):
        raise InputError("There is no dataset of this name in the folder; correct the name.")
    inner = map(_resolved, path.rglob("*") if path.is_dir() else ())
    if not all(each is not None and each.is_relative_to(base) for each in inner):
        raise InputError(
            "The dataset has a link to a place outside of the folder of datasets; put the files "
            "themselves there."
        )
    return path


def target_at(name: str) -> Path:
    """The new folder of a release, within the folder of releases."""
    base = releases_folder()
    if base is None:
        raise InputError("No folder of releases is offered here; start with rwn app --releases.")
    if not _NAME.fullmatch(name):
        raise InputError(
            "The name of the release must be of letters, digits, blanks, dots, - and _ and begin "
            "with none of blank and dot; choose another one."
        )
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"The name of the release must have at most {LONGEST_NAME} letters; shorten it."
        )
    if name.casefold().endswith(_BESIDE) or name.split(".")[0].strip().casefold() in _DEVICES:
        raise InputError(
            "The name of the release must not end in .key or .record.toml, nor be that of a "
            "device, such as con; choose another one."
        )
    target = base / name
    others = (*unfinished(target), run_file(target), key_file(target), record_file(target))
    if any(each.exists() for each in (target, *others)):
        raise InputError(
            "There is a release of this name already, or one under way; choose another one."
        )
    return target


def unfinished(target: Path) -> tuple[Path, Path]:
    """Working folders of a release."""
    stage, files = (target.with_name(f".{target.name}.{what}") for what in ("stage", "unfinished"))
    return stage, files


def run_file(target: Path) -> Path:
    """Hidden file that describes an unfinished release."""
    return target.with_name(f".{target.name}.run")


def key_file(target: Path) -> Path:
    """File of the release's secret, if it is stored."""
    return target.with_name(f"{target.name}.key")


def record_file(target: Path) -> Path:
    """Internal record of a release."""
    return target.with_name(f"{target.name}.record.toml")


def _resolved(path: Path) -> Path | None:
    """Resolve a path with its links; None if it is invalid or circular."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_there(path: Path) -> bool:
    """True if something exists at a path; False for a name that no system allows."""
    try:
        return path.exists()
    except OSError:
        return False


def _folder(variable: str) -> Path | None:
    given = os.environ.get(variable)
    return Path(given).resolve() if given else None


_SUFFIX = ".run"


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunRun:
    """Say what a masking of a dataset is made of, so that it can go on."""

    source: str  # the dataset, by its path within the folder of datasets
    target: Path  # where the release will be
    schema: Schema
    params: Any
    started: str  # when, to the minute

    @property
    def content(self) -> bytes:
        """Text of the hidden file."""
        plain = {
            "source": self.source,
            "schema": self.schema.to_toml(),
            "setting": Setting(params=self.params).to_dict(),
            "begun": self.started,
        }
        return orjson.dumps(plain)


def begun_now(source: str, target: Path, schema: Schema, params: Any) -> BegunRun:
    """A masking that begins now."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return BegunRun(source=source, target=target, schema=schema, params=params, started=when)


@contextmanager
def run_lock(run: BegunRun) -> Iterator[None]:
    """Hold a masking while it is worked on; its hidden file goes when the work is done."""
    path = run_file(run.target)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "r+b") as stream, held(stream) as mine:
        if not mine:
            raise ReleaseError("This release is being made already; wait until it is there.")
        stream.truncate()
        stream.write(run.content)
        stream.flush()
        yield
        path.unlink(missing_ok=True)


def stopped_runs() -> list[BegunRun]:
    """Maskings in the folder of releases that are not running and can continue."""
    # A run that cannot continue, since its key was not kept, is deleted: it holds original values.
    folder = releases_folder()
    if folder is None:
        return []
    found = (_stopped(path) for path in sorted(folder.glob(f".*{_SUFFIX}")))
    return [run for run in found if run is not None]


def delete_run(target: Path) -> None:
    """Delete all that an unfinished masking has left, its key included; a release stays."""
    for folder in unfinished(target):
        shutil.rmtree(folder, ignore_errors=True)
    if not target.exists():
        key_file(target).unlink(missing_ok=True)
    run_file(target).unlink(missing_ok=True)


def _stopped(path: Path) -> BegunRun | None:
    """The masking of a hidden file, if it was stopped and can go on."""
    target = path.with_name(path.name.removeprefix(".").removesuffix(_SUFFIX))
    with suppress(OSError), path.open("r+b") as stream, held(stream) as mine:
        content = stream.read() if mine else b""
        if not content:  # a process works on it, or is about to
            return None
        run = _read(content, target)
        if run is not None and key_file(target).is_file() and not target.exists():
            return run
        delete_run(target)
    return None


def _read(content: bytes, target: Path) -> BegunRun | None:
    """Parse a hidden file; None if it is damaged."""
    try:
        plain = orjson.loads(content)
        return BegunRun(
            source=plain["source"],
            target=target,
            schema=Schema.from_toml(plain["schema"]),
            params=Setting.from_dict(plain["setting"]).params,
            started=plain["begun"],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, RWNError):
        return None
