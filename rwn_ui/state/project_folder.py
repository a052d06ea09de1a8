"""Folder of this machine's projects: a file for each table, none of its records."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from rwn_core.errors import RWNError
from rwn_core.io.open_file import file_text
from rwn_core.io.reading import parse_text
from rwn_core.io.write import write_atomically
from rwn_core.reporting.project import Project

FOLDER_VARIABLE = "RWN_PROJECTS"
"""Environment variable that names the folder of the projects."""
_KEY = "names.key"
_KEY_BYTES = 32


def projects_folder() -> Path:
    """The folder that holds them; it need not be there yet."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "rwn-projects"


def save(project: Project) -> None:
    """Keep a project in place of an earlier one of the same table."""
    folder = projects_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = _path(folder, project.table, new=True)
        assert path is not None
        write_atomically(path, project.to_toml().encode("utf-8"))
    except OSError as error:
        raise RWNError(
            f"The folder {folder} cannot be written ({error.strerror}); set {FOLDER_VARIABLE} to "
            "one of yours."
        ) from None


def find(table: str) -> Project | None:
    """The project of a table by its fingerprint; None where there is none that can be read."""
    try:
        path = _path(projects_folder(), table, new=False)
        if path is None or not path.is_file():
            return None
        project = parse_text(Project.from_toml, file_text(path, "project"), "project file")
    except (OSError, UnicodeDecodeError, RWNError):
        return None  # of another version, or damaged: it is offered to nobody
    return project if project.table == table else None


def _path(folder: Path, table: str, *, new: bool) -> Path | None:
    """Path of a table's project, by a keyed hash: a plain one could be tested against tables."""
    beside = folder / _KEY
    if not beside.exists():
        if not new:
            return None
        write_atomically(beside, secrets.token_bytes(_KEY_BYTES))
    key = beside.read_bytes()
    return folder / f"{hashlib.blake2b(table.encode(), digest_size=16, key=key).hexdigest()}.toml"
