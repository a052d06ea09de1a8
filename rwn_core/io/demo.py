"""Tables to try the program on, each with its schema; demo_data/SOURCES.md has their origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain, toml_document
from rwn_core.data.schema import Schema
from rwn_core.data.variable import checks_form
from rwn_core.errors import InputError, ParameterError
from rwn_core.io.parse import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo table."""

    title: str
    records: int
    variables: int
    description: str  # one or two sentences for a user at the choice of a table
    # the setting that `recommend` finds under the usual policy within epsilon, k and q, as
    # `Setting.from_dict` reads it, and the least share that its releases leave of the use
    start: Mapping[str, Any]
    left: float
    # the same of what it finds among all settings of RWN
    best: Mapping[str, Any]
    best_left: float

    @property
    def size(self) -> str:
        """Records by variables, in words."""
        return f"{self.records:,} records, {self.variables} variables"


_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_READ = read_plain(Mapping[str, Demo], toml_document(_TEXT, "list of tables"), "list of tables")
DEMOS: Mapping[str, Demo] = MappingProxyType(_READ)


def demo_path(name: str) -> Path:
    """Return the path of a demo table's CSV file; its schema has the suffix .toml."""
    if name not in DEMOS:
        raise ParameterError(f"The demo table must be one of: {', '.join(DEMOS)}.")
    package = Path(__file__).parents[1]
    # an installed wheel has the folder inside the package, a checkout next to it
    for folder in (package / "demo_data", package.parent / "demo_data"):
        path = folder / f"{name}.csv"
        if path.is_file():
            return path
    raise InputError(f"The demo file {name}.csv is not installed; install the program again.")


@checks_form
def load_demo(name: str) -> Microdata:
    """Read a demo table with its schema.

    Parameters
    ----------
    name : str
        A key of `DEMOS`.

    Returns
    -------
    Microdata

    Raises
    ------
    ParameterError
        There is no demo of this name.

    Examples
    --------
    >>> load_demo("bodyfat")
    Microdata(241 records x 15 variables)
    """
    path = demo_path(name)
    # a file of the program itself needs no process of its own
    schema = Schema.from_toml(path.with_suffix(".toml").read_text(encoding="utf-8"))
    return parse(path.name, path.read_bytes(), schema)
