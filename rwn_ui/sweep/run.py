"""A user's sweep: where its points are kept, how it begins, and how it is found again."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

import rwn_core as rwn
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning import Grid, JobFolder, Plan, Setting, SweepRun, job_name, prepared
from rwn_core.tuning.sweep_folder import identity
from rwn_ui.background.job import JOB_SLOTS

FOLDER_VARIABLE = "RWN_SWEEPS"
"""Environment variable that names the folder of the sweeps' points."""


def sweeps_folder() -> Path:
    """The folder that holds the sweeps of this user: theirs alone, metrics only."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        folder = Path(given)
    elif "XDG_RUNTIME_DIR" in os.environ:
        folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "rwn-sweeps"
    else:
        user = os.getuid() if hasattr(os, "getuid") else "user"
        folder = Path(tempfile.gettempdir()) / f"rwn-sweeps-{user}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise rwn.RWNError(
            f"The folder for sweeps belongs to somebody else; set {FOLDER_VARIABLE} to one of "
            "yours."
        )
    return folder


def begin(data: rwn.Microdata, what: Sequence[Grid | Setting], plan: Plan) -> SweepRun:
    """Start a sweep in the background; points that are kept from earlier are not made again."""
    settings = prepared(data, what, references=True)
    if JOB_SLOTS.full:
        raise rwn.RWNError(
            f"The server does the work of {JOB_SLOTS.count} other users; start the sweep again "
            "when one of them is done."
        )
    folder = JobFolder.open(sweeps_folder() / job_name(data, plan), data, plan, settings)
    run = SweepRun(data, settings, plan, folder, workers=thread_count(), watched=True)
    JOB_SLOTS.take(run)
    return run


def stored_sweep(data: rwn.Microdata) -> tuple[Plan, list[Setting], int] | None:
    """The latest sweep of this table on disk: plan, settings, how many are finished."""
    for path in sorted(sweeps_folder().glob("*/manifest.json"), key=_when, reverse=True):
        folder = JobFolder(path.parent)
        manifest = folder.manifest()
        if manifest is None or manifest["identity"].get("table") != data.fingerprint:
            continue
        try:
            names = ("measures", "releases", "seed")
            values = {name: manifest["identity"][name] for name in names}
            plan = Plan(**{**values, "measures": tuple(values["measures"])})
            settings = folder.settings()
        except (KeyError, TypeError, rwn.ParameterError):
            continue  # of another version
        if identity(data, plan) == manifest["identity"]:
            finished = sum(1 for setting in settings if folder.path(setting).is_file())
            return plan, settings, finished
    return None


def forget(run: SweepRun) -> None:
    """Stop a sweep and remove its points."""
    run.cancel()
    shutil.rmtree(run.folder.root, ignore_errors=True)


def _when(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
