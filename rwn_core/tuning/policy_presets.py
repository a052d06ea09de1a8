"""Light, Standard and Strong as distances from a policy: how much of the worst limit is used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_core.data.microdata import Microdata
from rwn_core.masking import lever_values
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.strength_trial import CLEARLY, StrengthTrial

USED: Mapping[str, float] = MappingProxyType({"Light": CLEARLY, "Standard": 1.0, "Strong": 0.6})
"""By preset, the share of the worst limit that one release uses at most."""


def policy_presets(
    microdata: Microdata, setting: Setting, policy: Policy
) -> dict[str, dict[str, float]]:
    """Return the levers of the weakest strength for each share; presets without one are absent."""
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return {}
    trial = StrengthTrial(microdata, setting, judged)
    places = {name: trial.weakest_using(share) for name, share in USED.items()}
    return {
        name: lever_values(trial.at(place).params)
        for name, place in places.items()
        if place is not None
    }
