"""Place settings and releases on a risk-utility map."""

from __future__ import annotations

from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.evaluation.draws import Ensemble
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.tuning import Point, Policy, Sweep
from rwn_core.tuning.goal import sign, undominated
from rwn_core.tuning.point import lever_words

POLICY = "policy"  # on an axis: the largest share of a limit that is used
AXIS = "risk against its limit"
OTHER_DRAW = "another draw of this setting"
NAMED = 3  # settings with a name on the map


def axis(measure: str, records: int, *, risk: bool) -> dict[str, Any]:
    """Direction of a measure on an axis: right is better, up is riskier."""
    if measure == POLICY:
        scale = {"title": AXIS, "unit": "", "share": False, "better": "lower"}
        return {**scale, "falls": False, "of_limits": True}
    about = MEASURES[measure]
    riskier = "lower" if about.better == "higher" else "higher"
    return {
        "measure": measure,
        "title": about.title_for(records),
        "unit": about.unit,
        "falls": riskier == "lower" if risk else about.better == "lower",
        "share": about.is_share,
        "better": about.better,
    }


def place(policy: Policy, point: Point, key: str) -> float | None:
    """Position of a setting on an axis; on the policy's, none where a limit was not judged."""
    return policy.judge(point).largest if key == POLICY else point.median(key)


def best(policy: Policy, sweep: Sweep, x: str, y: str) -> set[str]:
    """The keys of the settings on the frontier; none if a measure has no better side."""
    try:
        signs = [1.0 if key == POLICY else sign(key) for key in (x, y)]
    except ParameterError:
        return set()
    placed = ((place(policy, point, x), place(policy, point, y), point) for point in sweep)
    return {point.setting.key for point in undominated(placed, signs)}


def map_points(policy: Policy, sweep: Sweep, x: str, y: str) -> list[dict[str, Any]]:
    """Every finished setting as a point of the map."""
    leading = best(policy, sweep, x, y)
    # The few settings of the frontier that keep all limits with the best utility.
    met = [p for p in sweep if p.setting.key in leading and policy.judge(p).kept]
    ranked = sorted(met, key=lambda point: sign(x) * (point.median(x) or 0.0))
    named = {point.setting.key for point in ranked[:NAMED]}
    return [
        {
            "key": point.setting.key,
            "text": point.setting.words,
            "name": lever_words(point.setting) if point.setting.key in named else "",
            "x": place(policy, point, x),
            "y": place(policy, point, y),
            "x_interval": None if x == POLICY else point.spreads[x].interval,
            "y_interval": None if y == POLICY else point.spreads[y].interval,
            "frontier": point.setting.key in leading,
            "released": point.released,
            "kept": policy.judge(point).kept,
        }
        for point in sweep
    ]


def draws(policy: Policy, made: Ensemble, risk: str) -> list[dict[str, Any]]:
    """Every draw at its loss and its risk: that of a measure, or the largest share of a limit."""
    keys = policy.measures if risk == POLICY else (risk,)
    if not keys or not {UTILITY, *keys} <= set(made.values):
        return []
    losses = made.values[UTILITY]
    risks = [made.values[key] for key in keys]
    if any(len(losses) != len(each) for each in risks):  # a draw without one: which one is unknown
        return []
    shown = []
    for loss, *values in zip(losses, *risks, strict=True):
        known = dict(zip(keys, map(float, values), strict=True))
        height = policy.judge(known).largest if risk == POLICY else known[risk]
        shown.append({"loss": float(loss), "risk": height, "text": OTHER_DRAW})
    return shown
