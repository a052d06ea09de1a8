"""Randomization within neighborhoods: mask microdata, and see what it costs and protects.

A release is a table of donors; everything else measures it or draws it.

>>> import rwn_core as rwn
>>> data = rwn.load_demo("bodyfat")
>>> release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7)
>>> release.masked.n
241

Words: a *record* gets the values of *donors* from its *neighborhood* (all records within radius
epsilon, or the k nearest, whichever are more), each cell with *modification probability* q. A
*measure* reads what the *release* keeps (utility) or gives away (disclosure risk).
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from rwn_core._version import __version__ as __version__

_LIST = Path(__file__).with_suffix(".pyi")
_HOME_OF = {
    alias.name: str(line.module)
    for line in ast.parse(_LIST.read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
"""The module of every public name; written once, in the list that type checkers read."""

__all__ = sorted(_HOME_OF)


class _Package(ModuleType):
    """The package; its functions keep the names that they share with their modules."""

    def __setattr__(self, name: str, value: Any) -> None:
        # a module of the same name would otherwise hide the function
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Import a public name when it is first asked for: `import rwn_core` stays fast."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME_OF[name]), name)
        super().__setattr__(name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
