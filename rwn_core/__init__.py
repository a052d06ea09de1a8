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

from rwn_core._version import __version__ as __version__

if TYPE_CHECKING:
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.question import Question
    from rwn_core.data.schema import Schema
    from rwn_core.data.variable import Kind, Role, Variable
    from rwn_core.errors import (
        InputError,
        NotApplicable,
        ParameterError,
        ReleaseError,
        RWNError,
        SchemaError,
    )
    from rwn_core.evaluation.analysis_plan import DayPass
    from rwn_core.evaluation.audit import Audit, audit
    from rwn_core.evaluation.combine_releases import combine_releases
    from rwn_core.evaluation.forecast import Forecast, forecast, forecast_scan
    from rwn_core.evaluation.forecast.curve import expected_curve
    from rwn_core.evaluation.forecast.statistic import Moment
    from rwn_core.evaluation.registered_analysis import Analysis
    from rwn_core.evaluation.repeated_draws import Ensemble, ensemble
    from rwn_core.evaluation.standard_errors import standard_error_validity
    from rwn_core.io.demo import DEMOS, load_demo
    from rwn_core.io.read import read, read_bytes
    from rwn_core.masking import METHODS, NBRS2015, RWN, Release, Rounded, mask
    from rwn_core.measures import MEASURES
    from rwn_core.measures.comparison import Comparison, Sampling
    from rwn_core.measures.measure import Measure, Reading
    from rwn_core.mechanism.donors import Draws, copy_from_donors, draw_donors
    from rwn_core.neighbors import Neighborhoods, Radii, find_neighborhoods, nearest_radii
    from rwn_core.neighbors.metric import Metric, coordinates
    from rwn_core.randomness import SecretKey
    from rwn_core.reporting.scenario import Scenario
    from rwn_core.tuning import Goal, Grid, Plan, Setting, frontier, seek, sweep

__all__ = [
    "DEMOS",
    "MEASURES",
    "METHODS",
    "NBRS2015",
    "RWN",
    "Analysis",
    "Audit",
    "Comparison",
    "DayPass",
    "Draws",
    "Ensemble",
    "Forecast",
    "Goal",
    "Grid",
    "InputError",
    "Kind",
    "Measure",
    "Metric",
    "Microdata",
    "Moment",
    "Neighborhoods",
    "NotApplicable",
    "ParameterError",
    "Plan",
    "Question",
    "RWNError",
    "Radii",
    "Reading",
    "Release",
    "ReleaseError",
    "ReleasedFile",
    "Role",
    "Rounded",
    "Sampling",
    "Scenario",
    "Schema",
    "SchemaError",
    "SecretKey",
    "Setting",
    "Variable",
    "audit",
    "combine_releases",
    "coordinates",
    "copy_from_donors",
    "draw_donors",
    "ensemble",
    "expected_curve",
    "find_neighborhoods",
    "forecast",
    "forecast_scan",
    "frontier",
    "internal_record",
    "load_demo",
    "mask",
    "nearest_radii",
    "read",
    "read_bytes",
    "seek",
    "standard_error_validity",
    "sweep",
]

_HOMES = {
    "evaluation.registered_analysis": ("Analysis",),
    "evaluation.audit": ("audit", "Audit"),
    "evaluation.combine_releases": ("combine_releases",),
    "measures.comparison": ("Comparison", "Sampling"),
    "neighbors.metric": ("coordinates", "Metric"),
    "evaluation.analysis_plan": ("DayPass",),
    "io.demo": ("load_demo", "DEMOS"),
    "mechanism.donors": ("draw_donors", "copy_from_donors", "Draws"),
    "evaluation.repeated_draws": ("ensemble", "Ensemble"),
    "errors": (
        "RWNError",
        "InputError",
        "SchemaError",
        "ParameterError",
        "NotApplicable",
        "ReleaseError",
    ),
    "evaluation.forecast.curve": ("expected_curve",),
    "evaluation.forecast": ("forecast", "forecast_scan", "Forecast"),
    "io.read": ("read", "read_bytes"),
    "masking": ("mask", "METHODS", "Release", "Rounded", "RWN", "NBRS2015"),
    "measures": ("MEASURES",),
    "data.microdata": ("Microdata",),
    "evaluation.forecast.statistic": ("Moment",),
    "neighbors": ("find_neighborhoods", "nearest_radii", "Neighborhoods", "Radii"),
    "randomness": ("SecretKey",),
    "measures.measure": ("Reading", "Measure"),
    "reporting": ("ReleasedFile", "internal_record"),
    "reporting.scenario": ("Scenario",),
    "data.schema": ("Schema", "Variable", "Kind", "Role", "Question"),
    "evaluation.standard_errors": ("standard_error_validity",),
    "tuning": ("Goal", "Grid", "Plan", "Setting", "frontier", "seek", "sweep"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


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
        value = getattr(import_module(f"{self.__name__}.{_HOME_OF[name]}"), name)
        super().__setattr__(name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
