"""Folder of this machine's projects: a file for each table, none of its records."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rwn_core.data.plain import toml_document, toml_text
from rwn_core.errors import RWNError
from rwn_core.io.parse import file_text
from rwn_core.io.reading import parse_text
from rwn_core.io.write import write_atomically
from rwn_core.reporting.project import Project

FOLDER_VARIABLE = "RWN_PROJECTS"
"""Environment variable that names the folder of the projects."""
_KEY, _LAST = "names.key", "last.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The own table that was open last."""

    table: str  # its fingerprint
    name: str
    path: str = ""  # empty for an upload
    browser: str = ""  # token of the browser that had it open; the file has its hash


def projects_folder() -> Path:
    """The folder that holds them; it need not be there yet."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "rwn-projects"


def save(project: Project) -> None:
    """Save a project in place of an earlier one of the same table."""
    path = _path(_writable(), project.table, new=True)
    assert path is not None
    _write(path, project.to_toml())


def remember(last: Last) -> None:
    """Name the own table that was open last."""
    _write(_writable() / _LAST, toml_text({**asdict(last), "browser": _hash(last.browser)}))


def last(browser: str) -> Last | None:
    """The own table that was open last, if it was in this browser."""
    found = _last()
    return found if found is not None and found.browser == _hash(browser) else None


def _last() -> Last | None:
    try:
        path = projects_folder() / _LAST
        return Last(**toml_document(file_text(path, "project"), "project file"))
    except (OSError, TypeError, UnicodeDecodeError, RWNError):
        return None


def _hash(browser: str) -> str:
    return hashlib.blake2b(browser.encode(), digest_size=32).hexdigest()


def forget(table: str) -> None:
    """Remove the project of a table, and its name if it was the last one."""
    folder = projects_folder()
    named = _last()
    with suppress(OSError):
        path = _path(folder, table, new=False)
        if path is not None:
            path.unlink(missing_ok=True)
        if named is not None and named.table == table:
            (folder / _LAST).unlink(missing_ok=True)


def _writable() -> Path:
    folder = projects_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(error) from None
    return folder


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8"))
    except OSError as error:
        raise _refused(error) from None


def _refused(error: OSError) -> RWNError:
    return RWNError(
        f"The folder {projects_folder()} cannot be written ({error.strerror}); set "
        f"{FOLDER_VARIABLE} to one of yours."
    )


def find(table: str) -> Project | None:
    """The project of a table by its fingerprint; None where there is none that can be read."""
    try:
        path = _path(projects_folder(), table, new=False)
        if path is None or not path.is_file():
            return None
        project = parse_text(Project.from_toml, file_text(path, "project"), "project file")
    except (OSError, UnicodeDecodeError, RWNError):
        return None  # of another version, or damaged: it is offered to no user
    return project if project.table == table else None


def _path(folder: Path, table: str, *, new: bool) -> Path | None:
    """Path of a table's project, by a keyed hash: a plain one could be tested against tables."""
    key_file = folder / _KEY
    if not key_file.exists():
        if not new:
            return None
        write_atomically(key_file, secrets.token_bytes(32))
    key = key_file.read_bytes()
    return folder / f"{hashlib.blake2b(table.encode(), digest_size=16, key=key).hexdigest()}.toml"
