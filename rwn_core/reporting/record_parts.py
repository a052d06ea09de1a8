"""What the records of a table's and of a dataset's release have in common, as plain data."""

from __future__ import annotations

import platform
from dataclasses import fields
from importlib.metadata import version
from typing import Any

from rwn_core._version import __version__
from rwn_core.data.schema import Schema
from rwn_core.mechanism.law import Law

OF_EACH_RECORD = "a value for each record"
KEPT = "a fresh 256-bit secret, kept in a key file"
FORGOTTEN = "a fresh 256-bit secret, forgotten"
SEEDED = "a seed, which is no secret"
_LIBRARIES = ("numpy", "pandas", "scipy", "pyarrow", "numba")


def described_variables(schema: Schema) -> dict[str, Any]:
    """The variables of a table, and those that its release leaves out."""
    return {
        "variables": [variable.name for variable in schema.released],
        "kinds": [str(variable.kind) for variable in schema.released],
        "roles": [str(variable.role) for variable in schema.released],
        "not_masked": [variable.name for variable in schema.released if not variable.masked],
        "removed": [v.name for v in schema.variables if v not in schema.released],
    }


def program_versions() -> dict[str, str]:
    """What a release was made with."""
    return {
        "rwn": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def all_parameters(params: Any) -> dict[str, Any]:
    """All of a method's parameters that are set, the usual ones, too."""
    result = {field.name: getattr(params, field.name) for field in fields(params)}
    return {name: _plain_data(value) for name, value in result.items() if value is not None}


def _plain_data(node: Any) -> Any:
    """Plain data; a radius for each record, say, is only named."""
    if isinstance(node, tuple | list):
        return [_plain_data(each) for each in node]
    return node if isinstance(node, bool | int | float | str) else OF_EACH_RECORD


def slices_of_law(law: Law | None) -> list[list[str]]:
    """The released variables of a row that one donor gives together."""
    units = [] if law is None else law.units()
    return [list(unit) for unit in units if len(unit) > 1]
