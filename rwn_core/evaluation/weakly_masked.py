"""Variables that a release was to mask and left nearly as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.masking.method import unrounded

WEAKLY_MASKED = 0.1  # of what a donor from anywhere in the table would change


def change_from_anywhere(microdata: Microdata) -> dict[str, float]:
    """Return for each masked variable how often the value of a random record is another one."""
    result = {}
    for variable in microdata.schema.released:
        if variable.masked:
            counts = microdata.frame[variable.name].value_counts(dropna=False).to_numpy()
            result[variable.name] = float(1 - np.sum((counts / counts.sum()) ** 2))
    return result


def weakly_masked(microdata: Microdata, params: Any, shares: Mapping[str, float]) -> list[str]:
    """Return the variables that the setting should mask but left almost unchanged."""
    q = float(getattr(unrounded(params)[0], "q", 1.0))
    names, anywhere = _masked(microdata, params), change_from_anywhere(microdata)
    return [name for name in names if shares.get(name, 1.0) < WEAKLY_MASKED * q * anywhere[name]]


def untouched(microdata: Microdata, params: Any, shares: Mapping[str, float]) -> list[str]:
    """Return the variables that the setting was to mask and of which no cell changed."""
    if unrounded(params)[0].spares_variables:
        return []
    anywhere = change_from_anywhere(microdata)
    names = _masked(microdata, params)
    return [name for name in names if anywhere[name] > 0 and shares.get(name) == 0]


def untouched_words(names: Sequence[str]) -> str:
    """Say that variables were to be masked and were not, and what to do."""
    one = len(names) == 1
    return (
        f"{', '.join(names)} {'is' if one else 'are'} masked at this setting, but no cell changed: "
        f"the file shows only true values. Choose a stronger setting, or state that "
        f"{'it is' if one else 'they are'} not masked"
    )


def changed_shares(changed: Mapping[str, Any]) -> dict[str, float]:
    """Return the changed share of each variable from the detail of `cells_changed`."""
    return {
        str(name): float(share)
        for name, share in zip(changed.get("names", ()), changed.get("share", ()), strict=True)
    }


def _masked(microdata: Microdata, params: Any) -> tuple[str, ...]:
    chosen = {variable.name for variable in microdata.schema.released if variable.masked}
    return tuple(name for name in params.masked_names(microdata) if name in chosen)
