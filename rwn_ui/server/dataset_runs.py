"""Maskings that the app started in the folder of releases, also after a crash.

Beside a release in the making lies a hidden file that says what it is made of, and never the key.
Whoever works on it holds that file alone; when the process ends, however it ends, nobody holds it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from rwn_core.data.schema import Schema
from rwn_core.errors import ReleaseError, RWNError
from rwn_core.reporting.file_lock import held
from rwn_core.tuning import Setting
from rwn_ui.server.dataset_folders import key_file, releases_folder, run_file, unfinished

_SUFFIX = ".run"


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunRun:
    """Say what a masking of a dataset is made of, so that it can go on."""

    source: str  # the dataset, by its path within the folder of datasets
    target: Path  # where the release will be
    schema: Schema
    params: Any
    begun: str  # when, to the minute

    @property
    def content(self) -> bytes:
        """Text of the hidden file."""
        plain = {
            "source": self.source,
            "schema": self.schema.to_toml(),
            "setting": Setting(params=self.params).to_dict(),
            "begun": self.begun,
        }
        return orjson.dumps(plain)


def begun_now(source: str, target: Path, schema: Schema, params: Any) -> BegunRun:
    """A masking that begins now."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return BegunRun(source=source, target=target, schema=schema, params=params, begun=when)


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
    # What nobody can go on with, since its key was not kept, is deleted: it holds original values.
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
        if not content:  # somebody works on it, or is about to
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
            begun=plain["begun"],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, RWNError):
        return None
