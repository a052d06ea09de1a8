"""Disclosure within slices: an intruder knows all values of a slice but a confidential one."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from rwn_core.data.microdata import Microdata, numbered, value_codes
from rwn_core.data.schema import Slices
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.key_variables import confidential_names
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import RAISED

_IS_DONOR = 1 - math.exp(-1)  # chance that a record gives its values to some row
_SURELY = 4.0  # times a limit: the success on people outside is subtracted later


def is_disclosed_within_slices(microdata: Microdata, policy: Policy, setting: Setting) -> bool:
    """True if simple attacks surely break a limit of a setting, whatever its strength."""
    limit = policy.limit(RAISED[1])
    if limit is None:
        return False
    slices = setting.applied_to(microdata).schema.slices
    about = ("disclosed within slices", slices, microdata.schema.use)
    share = microdata.cached(about, partial(share_disclosed_within_slices, microdata, slices))
    return share > _SURELY * limit.at_most


def share_disclosed_within_slices(microdata: Microdata, slices: Slices) -> float:
    """Return the approximate share of records of which a slice discloses a confidential value.

    All values of a slice in a row come from one donor, for any neighborhoods. An intruder who
    knows the other values of the slice finds that row if they are unique, and reads the
    confidential one.
    """
    comparison = Comparison(original=microdata, masked=microdata)
    worst = 0.0
    for secret in confidential_names(comparison):
        for names in slices:
            if secret in names and len(names) > 1:
                known = tuple(name for name in names if name != secret)
                worst = max(worst, _IS_DONOR * _unique_share(microdata, known))
    return worst


def _unique_share(microdata: Microdata, names: tuple[str, ...]) -> float:
    """Return the share of records that share their values of some variables with no other."""
    codes = np.column_stack([value_codes(microdata, name)[0] for name in names])
    of_record = numbered(codes)
    return float((np.bincount(of_record)[of_record] == 1).mean())
