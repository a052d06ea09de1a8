"""Common parts of the records of a table's and a dataset's release, as plain data."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping
from dataclasses import fields
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from rwn_core._version import __version__
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.units import number_units
from rwn_core.data.variable import Role
from rwn_core.errors import InputError
from rwn_core.evaluation.audit import Audit
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.evaluation.validity import slope_trust
from rwn_core.evaluation.weakly_masked import changed_shares, untouched
from rwn_core.laws.law import Law
from rwn_core.masking import Release
from rwn_core.masking.method import Rounded
from rwn_core.measures.measure import Reading
from rwn_core.neighbors.soft_lists import list_length
from rwn_core.tuning.verdict import State, Verdict

OF_EACH_RECORD = "a value for each record"
KEPT = "a fresh 256-bit secret, kept in a key file"
FORGOTTEN = "a fresh 256-bit secret, forgotten"
SEEDED = "a seed, which is no secret"
_LIBRARIES = ("numpy", "pandas", "scipy", "pyarrow", "numba")


def require_original(record: Mapping[str, Any], original: Microdata) -> None:
    """Refuse a table that the record was not made of."""
    if original.fingerprint != record["table"].get("fingerprint"):
        raise InputError(
            "The original is not the table that the record was made of; give the file that was "
            "masked, described in the same way."
        )


def recorded_state(verdict: Mapping[str, Any]) -> State:
    """Return the state of a record's verdict, also where a version before stated no state."""
    if "state" in verdict:
        return cast(State, verdict["state"])
    if not verdict.get("shares"):  # of which no share was written
        return "kept" if verdict["kept"] else "not judged"
    read = Verdict(shares=verdict["shares"], unread=verdict.get("not_judged", {})).state
    return "not judged" if read == "kept" and not verdict["kept"] else read


def described_variables(schema: Schema, masked: Collection[str] | None = None) -> dict[str, Any]:
    """The variables of a table, and those that its release leaves out."""
    spared = [v.name for v in schema.released if v.masked and v.name not in (masked or ())]
    return {
        "variables": [variable.name for variable in schema.released],
        "kinds": [str(variable.kind) for variable in schema.released],
        "roles": [str(variable.role) for variable in schema.released],
        "not_masked": [variable.name for variable in schema.released if not variable.masked],
        "left_alone": [] if masked is None else spared,
        "removed": [v.name for v in schema.variables if v not in schema.released],
    }


def judged_slopes(
    microdata: Microdata, release: Release, plan: AnalysisPlan | None
) -> list[dict[str, Any]]:
    """Judge the slopes of registered regressions over fresh releases, rounded like the file."""
    params = release.params
    if release.precision:
        params = Rounded(params=params, precision=release.precision)
    return [each.to_record() for each in slope_trust(microdata, params, plan=plan)]


def with_missing(microdata: Microdata) -> list[str]:
    """Return the released variables with missing values."""
    names = (variable.name for variable in microdata.schema.released)
    return [name for name in names if microdata.frame[name].isna().any()]


def shared_columns(microdata: Microdata, masked: Microdata) -> dict[str, Any]:
    """Return the variables that are one value in each household or person, by what they stay."""
    found: dict[str, Any] = {}
    for role in (Role.HOUSEHOLD, Role.PERSON):
        name = microdata.schema.name_with_role(role)
        units = None if name is None else number_units(microdata.codes(name)[0])
        # each record may be a unit of its own
        if units is None or masked.n != microdata.n or len(np.unique(units)) == len(units):
            continue

        def is_one(table: Microdata, column: str, units: Any = units) -> bool:
            by_unit = table.frame[column].groupby(units, observed=True)
            return int(by_unit.nunique(dropna=False).max()) == 1

        shared = [v.name for v in microdata.schema.released if is_one(microdata, v.name)]
        same = [each for each in shared if is_one(masked, each)]
        found[str(role)] = {"kept": same, "split": [each for each in shared if each not in same]}
    return found


def untouched_names(microdata: Microdata, release: Release, audited: Audit) -> list[str]:
    """The variables that were to be masked and of which no cell changed."""
    changed = audited.readings.get("cells_changed")
    shares = changed_shares(changed.detail) if isinstance(changed, Reading) else {}
    return untouched(microdata, release.params, shares)


def program_versions() -> dict[str, str]:
    """Return all parameters of a method."""
    return {
        "rwn": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def all_parameters(params: Any) -> dict[str, Any]:
    """All of a method's parameters that are set, the usual ones, too."""
    result = {field.name: getattr(params, field.name) for field in fields(params)}
    return {name: _plain_data(value) for name, value in result.items() if value is not None}


def kernel_numbers(params: Any, n: int) -> dict[str, Any]:
    """Return the numbers of a soft kernel that its parameters leave open, for n records."""
    ball = getattr(params, "ball", None)
    if ball is None or ball.kernel.is_even:
        return {}
    kernel = ball.kernel
    listed = n if kernel.weighs_all else list_length(n, kernel.bandwidth_k)
    numbers = {"bandwidth_k": int(kernel.bandwidth_k), "cap": float(kernel.cap), "listed": listed}
    return {"kernel": numbers}


def _plain_data(node: Any) -> Any:
    """Plain data; a radius for each record, say, is only named."""
    if isinstance(node, tuple | list):
        return [_plain_data(each) for each in node]
    return node if isinstance(node, bool | int | float | str) else OF_EACH_RECORD


def slices_of_law(law: Law | None) -> list[list[str]]:
    """The released variables of a row that one donor gives together."""
    units = [] if law is None else law.units()
    return [list(unit) for unit in units if len(unit) > 1]
