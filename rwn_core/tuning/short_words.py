"""A setting in few words, for a row of a list or a name on a map."""

from __future__ import annotations

from rwn_core.masking import RWN, SHORT_NAMES, lever_values, option_words
from rwn_core.tuning.point import Setting
from rwn_core.tuning.verdict import counted

SPACE = "\N{NO-BREAK SPACE}"


def lever_words(setting: Setting) -> str:
    """Return the levers of a setting, such as "ε 2 · k 5"."""
    shown = lever_values(setting.params)
    parts = [f"{SHORT_NAMES.get(n, n)}{SPACE}{v:g}" for n, v in shown.items() if v is not None]
    return " · ".join(parts)


def short_setting(setting: Setting | None) -> str:
    """Return method, levers and options, and how many weights, steps and slices there are."""
    if setting is None:
        return "–"
    levers = lever_values(setting.params)
    options = {n: v for n, v in setting.parameters.items() if n not in levers and v is not None}
    together = [f"{names[0]}+{len(names) - 1}" for names in setting.slices or ()]
    parts = [
        "" if setting.method == RWN.method else str(setting.params.title),
        lever_words(setting),
        *(
            f"{SHORT_NAMES.get(name, name)} {option_words(value)}"
            for name, value in options.items()
        ),
        counted(len(setting.weights), "weight") if setting.weights else "",
        f"{len(setting.precision)} rounded" if setting.precision else "",
        f"slices {', '.join(together)}" if together else "",
    ]
    return " · ".join(filter(None, parts))
