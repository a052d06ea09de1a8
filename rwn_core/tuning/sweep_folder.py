"""The folder of a sweep: finished points, each written whole, and what they belong to.

It holds metrics only. No value of the table, no release and no key ever goes there; the seed it
names is a teaching seed, which is no secret.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from rwn_core._version import __version__
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.io.write import write_atomically
from rwn_core.tuning.evaluate import Plan
from rwn_core.tuning.point import Point, Setting, setting_key

FORMAT = "rwn sweep 2"
_MANIFEST = "manifest.json"
_UNFINISHED = ".part-*"


def identity(microdata: Microdata, plan: Plan) -> dict[str, Any]:
    """Return the identity of a sweep: equal for points that belong together."""
    unweighted = {variable.name: 1.0 for variable in microdata.schema.variables}
    schema = microdata.schema.with_weights(unweighted).with_slices(()).to_toml()
    return {
        "format": FORMAT,
        "version": __version__,
        "table": microdata.fingerprint,
        "schema": hashlib.sha256(schema.encode("utf-8")).hexdigest(),
        "measures": list(plan.measures),
        "releases": plan.releases,
        "seed": plan.seed,
    }


def job_name(microdata: Microdata, plan: Plan) -> str:
    """A folder name of its own for each table and plan; it tells nothing about either."""
    written = orjson.dumps(identity(microdata, plan), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).hexdigest()[:24]


class JobFolder:
    """Finished points on disk.

    Use `JobFolder.open`; the constructor opens a folder that is known to be right.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def open(
        cls, root: Path, microdata: Microdata, plan: Plan, settings: Sequence[Setting]
    ) -> JobFolder:
        """Begin a folder, or take up one of the same table and plan."""
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = cls(root)
        stored, wanted = folder.manifest(), identity(microdata, plan)
        if stored is None and any(root.iterdir()):
            raise ParameterError(f"The folder {root.name} holds other files; choose another one.")
        if stored is not None and stored["identity"] != wanted:
            raise ParameterError(
                f"The folder {root.name} holds a sweep of another table, other measures, "
                "releases or seed, or of another version; remove it or choose another one."
            )
        for left in root.glob(_UNFINISHED):
            left.unlink(missing_ok=True)
        grid = folder.settings()
        for setting, plain in zip(grid, stored["settings"] if stored else (), strict=True):
            before = root / f"{setting_key(plain)}.json"  # of a method that had another name
            if before.exists():
                before.rename(folder.path(setting))
        every = {setting.key: setting for setting in (*grid, *settings)}
        if stored is None or len(every) > len(grid):
            document = {"identity": wanted, "settings": [s.to_dict() for s in every.values()]}
            write_atomically(root / _MANIFEST, orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return folder

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, None if the folder is new or unreadable."""
        try:
            document = orjson.loads((self.root / _MANIFEST).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        complete = isinstance(document, dict) and {"identity", "settings"} <= set(document)
        return document if complete else None

    def settings(self) -> list[Setting]:
        """All settings that were ever asked for, in order."""
        stored = self.manifest()
        return [] if stored is None else [Setting.from_dict(each) for each in stored["settings"]]

    def path(self, setting: Setting) -> Path:
        """Return the path of a setting's point."""
        return self.root / f"{setting.key}.json"

    def keys(self) -> set[str]:
        """The keys of all settings that have a file."""
        try:
            return {name.removesuffix(".json") for name in os.listdir(self.root)}
        except OSError:
            return set()

    def save(self, point: Point) -> None:
        """Write a point, whole or not at all."""
        write_atomically(self.path(point.setting), orjson.dumps(point.to_dict()))

    def load(self, setting: Setting) -> Point | None:
        """A setting's point; None if it is not finished, or its file is damaged."""
        try:
            return Point.from_dict(orjson.loads(self.path(setting).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None
