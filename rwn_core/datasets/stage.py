"""The stage of a run: a folder of finished tasks, so that a run can go on where it stopped.

It holds parts of the original table and never the key: it is for its owner's eyes, and is deleted
at the end.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from rwn_core.errors import NotWritten, ReleaseError

_RUN = "run.json"
_ENDED = "ended.json"


@dataclass(frozen=True, slots=True)
class Stage:
    """The folder in which a run keeps the results of its tasks."""

    folder: Path

    def begin(self, fingerprint: str) -> None:
        """Make the folder, or go on in it."""
        if self.is_visible:
            if not self.holds(fingerprint):
                raise ReleaseError(
                    f"{self.folder} holds an unfinished run with another input, setting or key; "
                    "give the same ones, or delete that folder to begin anew."
                )
            return
        if self.folder.exists() and any(self.folder.iterdir()):
            raise ReleaseError(f"{self.folder} is not empty; choose another stage folder.")
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.folder.chmod(0o700)
        _write(self.folder / _RUN, {"run": fingerprint})

    def holds(self, fingerprint: str) -> bool:
        """True if the stage belongs to this run, at work or ended."""
        return _read(self.folder / _RUN) == {"run": fingerprint}

    def end(self, result: dict[str, Any]) -> None:
        """Keep what a run has counted, and delete all else: nothing of the original is left."""
        _write(self.folder / _ENDED, result)
        for path in self.folder.iterdir():
            if path.name not in (_RUN, _ENDED):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    @property
    def result(self) -> dict[str, Any] | None:
        """Return the counts of an ended run; None while it is at work."""
        return _read(self.folder / _ENDED)

    @property
    def is_visible(self) -> bool:
        """True if this machine sees the run's folder."""
        return (self.folder / _RUN).is_file()

    def path(self, step: str, name: str) -> Path:
        """Path of a task's file in a step."""
        folder = self.folder / step
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / name

    def answer(self, step: str, number: int) -> dict[str, Any] | None:
        """Return a finished task's answer; None if it is not finished."""
        return _read(self._marker(step, number))

    def finish(self, step: str, number: int, answer: dict[str, Any]) -> None:
        """Mark a task as finished, when all that it has made is there."""
        _write(self._marker(step, number), answer)

    def remove(self) -> None:
        """Delete the folder and all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _marker(self, step: str, number: int) -> Path:
        return self.path(step, f"{number:06d}.done")


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a marker holds; None where it is not there."""
    try:
        content: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return content


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(orjson.dumps(content))


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a name to write under; the file is then at `path`, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield unfinished
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise NotWritten(
            f"{path.parent} cannot be written ({error.strerror or type(error).__name__}); free "
            "some space or choose another folder."
        ) from None
