"""The folder of a sweep: finished points, each written whole, and what they belong to.

It holds metrics only. No value of the table, no release and no key ever goes there; the seed it
names is a teaching seed, which is no secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from rwn_core._version import __version__
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.io.write import write_atomically
from rwn_core.tuning.evaluate import Plan
from rwn_core.tuning.point import Point, Setting

FORMAT = "rwn sweep 3"
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


class JobFolder:
    """Hold the finished points of a sweep on disk, in a new folder or one of the same sweep.

    Raises
    ------
    ParameterError
        The folder has other files, or is of another table or plan.
    """

    def __init__(self, root: Path, microdata: Microdata, plan: Plan) -> None:
        self.root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted, manifest = identity(microdata, plan), root / _MANIFEST
        try:
            stored = orjson.loads(manifest.read_bytes()) if manifest.exists() else None
        except orjson.JSONDecodeError:
            stored = None
        if stored is None and any(root.iterdir()):
            raise ParameterError(f"The folder {root.name} holds other files; choose another one.")
        if stored is not None and stored != wanted:
            raise ParameterError(
                f"The folder {root.name} holds a sweep of another table, other measures, "
                "releases or seed, or of another version; remove it or choose another one."
            )
        for left in root.glob(_UNFINISHED):
            left.unlink(missing_ok=True)
        if stored is None:
            write_atomically(manifest, orjson.dumps(wanted, option=orjson.OPT_INDENT_2))

    def points(self, settings: Sequence[Setting]) -> dict[str, Point]:
        """Those of the settings that are finished, by key; one with a damaged file is not."""
        found = {}
        for setting in settings:
            with suppress(OSError, ValueError, KeyError, TypeError):
                content = self.path(setting).read_bytes()
                found[setting.key] = Point.from_dict(orjson.loads(content))
        return found

    def path(self, setting: Setting) -> Path:
        """Return the path of a setting's point."""
        return self.root / f"{setting.key}.json"

    def save(self, point: Point) -> None:
        """Write a point, whole or not at all."""
        write_atomically(self.path(point.setting), orjson.dumps(point.to_dict()))
