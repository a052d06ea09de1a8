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

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwn_core._version import __version__ as __version__

if TYPE_CHECKING:  # the one list of public names, each with its home
    from rwn_core.data.microdata import Microdata as Microdata
    from rwn_core.data.question import Question as Question
    from rwn_core.data.schema import Schema as Schema
    from rwn_core.data.variable import Kind as Kind
    from rwn_core.data.variable import Role as Role
    from rwn_core.data.variable import Variable as Variable
    from rwn_core.datasets.audit_dataset import AuditOptions as AuditOptions
    from rwn_core.datasets.audit_dataset import audit_dataset as audit_dataset
    from rwn_core.datasets.mask_dataset import mask_dataset as mask_dataset
    from rwn_core.datasets.prepare_run import RunOptions as RunOptions
    from rwn_core.errors import InputError as InputError
    from rwn_core.errors import NotApplicable as NotApplicable
    from rwn_core.errors import ParameterError as ParameterError
    from rwn_core.errors import ReleaseError as ReleaseError
    from rwn_core.errors import RWNError as RWNError
    from rwn_core.errors import SchemaError as SchemaError
    from rwn_core.evaluation.analysis_plan import AnalysisPlan as AnalysisPlan
    from rwn_core.evaluation.audit import Audit as Audit
    from rwn_core.evaluation.audit import audit as audit
    from rwn_core.evaluation.combine_releases import combine_releases as combine_releases
    from rwn_core.evaluation.forecast import Forecast as Forecast
    from rwn_core.evaluation.forecast import forecast as forecast
    from rwn_core.evaluation.forecast import forecast_scan as forecast_scan
    from rwn_core.evaluation.forecast.curve import expected_curve as expected_curve
    from rwn_core.evaluation.forecast.statistic import Statistic as Statistic
    from rwn_core.evaluation.registered_analysis import Analysis as Analysis
    from rwn_core.evaluation.repeated_draws import Ensemble as Ensemble
    from rwn_core.evaluation.repeated_draws import ensemble as ensemble
    from rwn_core.evaluation.standard_errors import (
        standard_error_validity as standard_error_validity,
    )
    from rwn_core.io.demo import DEMOS as DEMOS
    from rwn_core.io.demo import load_demo as load_demo
    from rwn_core.io.read import read as read
    from rwn_core.io.read import read_bytes as read_bytes
    from rwn_core.laws.donors import Draws as Draws
    from rwn_core.laws.donors import copy_from_donors as copy_from_donors
    from rwn_core.laws.donors import draw_donors as draw_donors
    from rwn_core.masking import KPRAM as KPRAM
    from rwn_core.masking import METHODS as METHODS
    from rwn_core.masking import NBRS2015 as NBRS2015
    from rwn_core.masking import PRAM as PRAM
    from rwn_core.masking import RWN as RWN
    from rwn_core.masking import AdditiveNoise as AdditiveNoise
    from rwn_core.masking import CARTSynthesis as CARTSynthesis
    from rwn_core.masking import CorrelatedNoise as CorrelatedNoise
    from rwn_core.masking import DataShuffling as DataShuffling
    from rwn_core.masking import KNoise as KNoise
    from rwn_core.masking import LocalSuppression as LocalSuppression
    from rwn_core.masking import Microaggregation as Microaggregation
    from rwn_core.masking import RandomSample as RandomSample
    from rwn_core.masking import RandomSwapping as RandomSwapping
    from rwn_core.masking import RankSwapping as RankSwapping
    from rwn_core.masking import Recoding as Recoding
    from rwn_core.masking import RecordSwapping as RecordSwapping
    from rwn_core.masking import Release as Release
    from rwn_core.masking import Rounded as Rounded
    from rwn_core.masking import RowCopy as RowCopy
    from rwn_core.masking import mask as mask
    from rwn_core.measures import MEASURES as MEASURES
    from rwn_core.measures.comparison import Comparison as Comparison
    from rwn_core.measures.comparison import Sampling as Sampling
    from rwn_core.measures.measure import Measure as Measure
    from rwn_core.measures.measure import Reading as Reading
    from rwn_core.neighbors import Neighborhoods as Neighborhoods
    from rwn_core.neighbors import Radii as Radii
    from rwn_core.neighbors import find_neighborhoods as find_neighborhoods
    from rwn_core.neighbors import nearest_radii as nearest_radii
    from rwn_core.neighbors.metric import Metric as Metric
    from rwn_core.neighbors.metric import coordinates as coordinates
    from rwn_core.randomness import SecretKey as SecretKey
    from rwn_core.reporting import ReleasedFile as ReleasedFile
    from rwn_core.reporting import internal_record as internal_record
    from rwn_core.reporting.plot import plot as plot
    from rwn_core.reporting.scenario import Scenario as Scenario
    from rwn_core.tuning import Goal as Goal
    from rwn_core.tuning import Grid as Grid
    from rwn_core.tuning import Limit as Limit
    from rwn_core.tuning import Plan as Plan
    from rwn_core.tuning import Policy as Policy
    from rwn_core.tuning import QuickVerdict as QuickVerdict
    from rwn_core.tuning import Recommendation as Recommendation
    from rwn_core.tuning import Setting as Setting
    from rwn_core.tuning import SliceAnswer as SliceAnswer
    from rwn_core.tuning import SliceRanges as SliceRanges
    from rwn_core.tuning import frontier as frontier
    from rwn_core.tuning import quick_verdict as quick_verdict
    from rwn_core.tuning import recommend as recommend
    from rwn_core.tuning import seek as seek
    from rwn_core.tuning import seek_slices as seek_slices
    from rwn_core.tuning import sweep as sweep
    from rwn_ui.notebook import tune as tune

_LIST = next(
    line.body
    for line in ast.parse(Path(__file__).read_text(encoding="utf-8")).body
    if isinstance(line, ast.If)
)
_HOME_OF = {
    alias.name: str(line.module)
    for line in _LIST
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
"""The module of every public name, read from the list above."""

if not TYPE_CHECKING:  # a type checker reads the list, and refuses any other name

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first asked for: `import rwn_core` stays fast."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*_HOME_OF, *(name for name in globals() if name.startswith("__"))})
