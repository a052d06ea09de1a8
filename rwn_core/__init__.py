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

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rwn_core.audit import Audit, audit
    from rwn_core.comparison import Comparison
    from rwn_core.coordinates import Metric, coordinates
    from rwn_core.demo import DEMOS, load_demo
    from rwn_core.donors import Draws, copy_from_donors, draw_donors
    from rwn_core.errors import (
        InputError,
        NotApplicable,
        ParameterError,
        ReleaseError,
        RWNError,
        SchemaError,
    )
    from rwn_core.forecast import forecast
    from rwn_core.intake import read, read_bytes
    from rwn_core.masking import METHODS, NBRS2015, RWN, Release, mask
    from rwn_core.measures import MEASURES
    from rwn_core.microdata import Microdata
    from rwn_core.neighborhoods import Neighborhoods, find_neighborhoods
    from rwn_core.randomness import SecretKey
    from rwn_core.reading import Measure, Reading
    from rwn_core.schema import Kind, Question, Role, Schema, Variable

__version__ = "0.1.0"

__all__ = [
    "DEMOS",
    "MEASURES",
    "METHODS",
    "NBRS2015",
    "RWN",
    "Audit",
    "Comparison",
    "Draws",
    "InputError",
    "Kind",
    "Measure",
    "Metric",
    "Microdata",
    "Neighborhoods",
    "NotApplicable",
    "ParameterError",
    "Question",
    "RWNError",
    "Reading",
    "Release",
    "ReleaseError",
    "Role",
    "Schema",
    "SchemaError",
    "SecretKey",
    "Variable",
    "audit",
    "coordinates",
    "copy_from_donors",
    "draw_donors",
    "find_neighborhoods",
    "forecast",
    "load_demo",
    "mask",
    "read",
    "read_bytes",
]

_HOMES = {
    "audit": ("audit", "Audit"),
    "comparison": ("Comparison",),
    "coordinates": ("coordinates", "Metric"),
    "demo": ("load_demo", "DEMOS"),
    "donors": ("draw_donors", "copy_from_donors", "Draws"),
    "errors": (
        "RWNError",
        "InputError",
        "SchemaError",
        "ParameterError",
        "NotApplicable",
        "ReleaseError",
    ),
    "forecast": ("forecast",),
    "intake": ("read", "read_bytes"),
    "masking": ("mask", "METHODS", "Release", "RWN", "NBRS2015"),
    "measures": ("MEASURES",),
    "microdata": ("Microdata",),
    "neighborhoods": ("find_neighborhoods", "Neighborhoods"),
    "randomness": ("SecretKey",),
    "reading": ("Reading", "Measure"),
    "schema": ("Schema", "Variable", "Kind", "Role", "Question"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Package(ModuleType):
    """The package; its functions keep the names that they share with their modules."""

    def __setattr__(self, name: str, value: Any) -> None:
        # importing rwn_core.audit would otherwise hide the function audit behind its module
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Import a public name when it is first asked for: `import rwn_core` stays fast."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{self.__name__}.{_HOME_OF[name]}"), name)
        super().__setattr__(name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
