"""Randomization within neighborhoods: mask microdata, and see what it costs and protects.

A release is a table of donors; everything else measures it or draws it.

>>> import rwn_core as rwn
>>> data = rwn.load_demo("bodyfat")
>>> release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7)
>>> release.masked.n
241

The way in:

- a table: `rwn.read("file.csv")`, `rwn.load_demo("bodyfat")`, or a data frame as it is
- a setting: `rwn.recommend(table)`, `rwn.RWN(epsilon=2.0, k=5)`, and `rwn.METHODS` for the others
- a release: `rwn.mask(table, setting)`, and `release.publish("file.csv")`
- what it keeps and gives away: `rwn.audit(table, release)`, with `.frame()` and `.plot()`;
  `rwn.MEASURES` has all measures
- many settings: `rwn.sweep`, `rwn.seek`, `rwn.Policy`

`dir(rwn_core)` lists all public names, and `help(rwn.mask)` explains one.

Words: a *record* gets the values of *donors* from its *neighborhood* (all records within radius
epsilon, or the k nearest, whichever are more), each cell with *modification probability* q. A
*measure* reads what the *release* keeps (utility) or gives away (disclosure risk).
"""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from rwn_core._version import __version__ as __version__
from rwn_core.moved_names import has_moved, moved

_NAMES = {
    "rwn_core.data.microdata": "Microdata",
    "rwn_core.data.regression": "Question",
    "rwn_core.data.rows": "Rows",
    "rwn_core.data.schema": "Schema",
    "rwn_core.data.use": "StatedRegression Use",
    "rwn_core.data.variable": "Kind Role Variable",
    "rwn_core.datasets.audit_dataset": "AuditOptions audit_dataset",
    "rwn_core.datasets.mask_dataset": "RunOptions mask_dataset",
    "rwn_core.errors": "InputError NotApplicable ParameterError ReleaseError RWNError SchemaError",
    "rwn_core.evaluation.audit": "Audit audit",
    "rwn_core.evaluation.control_group": "AttributeDifference attribute_difference",
    "rwn_core.evaluation.registered_analysis": "Analysis AnalysisPlan",
    "rwn_core.evaluation.draws": "Ensemble ensemble",
    "rwn_core.evaluation.validity": "combine_releases standard_error_validity",
    "rwn_core.io.demo": "DEMOS load_demo",
    "rwn_core.io.reading": "read read_bytes",
    "rwn_core.laws.donors": "Draws copy_from_donors draw_donors",
    "rwn_core.masking": (
        "KPRAM METHODS NBRS2015 PRAM RWN AdditiveNoise CARTSynthesis CorrelatedNoise "
        "DataShuffling KNoise LocalSuppression Microaggregation RandomSample RandomSwapping "
        "RankSwapping Recoding RecordSwapping Release Rounded RowCopy SoftRWN mask"
    ),
    "rwn_core.measures": "MEASURES",
    "rwn_core.measures.statistics.usual_use": "usual_use use_of",
    "rwn_core.measures.comparison": "Comparison Sampling",
    "rwn_core.measures.measure": "Measure Reading",
    "rwn_core.neighbors": "Neighborhoods Radii find_neighborhoods nearest_radii",
    "rwn_core.neighbors.metric": "Metric coordinates",
    "rwn_core.randomness": "SecretKey",
    "rwn_core.reporting": "ReleasedFile internal_record",
    "rwn_core.reporting.plot": "plot",
    "rwn_core.reporting.scenario": "Scenario",
    "rwn_core.tuning": (
        "Goal Grid Limit NAMED_POLICIES Plan Policy SearchAnswer Setting SliceRanges "
        "Space frontier judge_setting policy_called quick_verdict recommend search seek "
        "seek_slices sweep"
    ),
}
"""The public names by their home; `python -m docs.build` writes them to `__init__.pyi`."""
_HOME_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import rwn_core` stays fast."""
    if has_moved(f"{__name__}.{name}"):
        return moved(f"{__name__}.{name}")
    if name not in _HOME_OF:
        near = "".join(f"; {each} is near" for each in get_close_matches(name, _HOME_OF, n=1))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}.")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME_OF, *(name for name in globals() if name.startswith("__"))})
