"""Lessons 5 and 8: a setting that keeps a policy, and what relations between slices cost."""

from __future__ import annotations

from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.choose import (
    CUTS,
    DEMO,
    EPSILONS,
    SLICES,
    WAYS,
    WIDTHS,
    K,
    Readings,
    Trade,
    following,
    read,
    table,
)
from rwn_core.measures import UTILITY
from rwn_core.measures.risk.true_matches import MEASURE as TRUE_MATCHES
from rwn_core.measures.risk.worst_linkage import BAYES_LINKAGE
from rwn_core.measures.sentence import tenths
from rwn_ui.features import limit_queue
from rwn_ui.learn.lesson import WORDS, Choice, Kept, Lesson, Shown, Slider, Values, tile
from rwn_ui.panel.parts import RADIUS

_POLICY = rwn.Policy()
_LOSS = "0: all associations are as in the original; 1: no relation is left."
_READ = (BAYES_LINKAGE.key, TRUE_MATCHES.key)
_POLICIES = {
    words: rwn.Policy(limits=tuple(each for each in _POLICY.limits if each.measure in measures))
    for words, measures in {"linkage": _READ[:1], "linkage and true matches": _READ}.items()
}


def _value(reading: rwn.Reading | rwn.NotApplicable) -> float:
    return reading.value if isinstance(reading, rwn.Reading) else np.nan


def _trade(
    found: list[Readings], policy: rwn.Policy, at: tuple[tuple[float, ...], float], accepted: float
) -> tuple[Trade, rwn.tuning.Verdict]:
    """Hold loss and risk at all positions of a lever, and the verdict at the present one."""
    now = at[0].index(at[1])
    verdicts = [policy.judge({key: each[key] for key in policy.measures}) for each in found]
    loss = np.array([_value(each[UTILITY]) for each in found])
    share = np.array([verdict.largest for verdict in verdicts], dtype=float)
    epsilon = np.array(at[0])
    lesson = Trade(epsilon=epsilon, loss=loss, share=share, now=now, accepted=accepted)
    return lesson, verdicts[now]


def _loss_tile(lesson: Trade) -> dict[str, Any]:
    loss = float(lesson.loss[lesson.now])
    accepted = "accepted" if loss <= lesson.accepted else "too much"
    return tile("Loss of relations", f"{loss:.2f}, {accepted}", _LOSS)


def _show(values: Values, kept: Kept) -> Shown:
    base = rwn.RWN(epsilon=EPSILONS[-1], k=K)
    slices = values["slices"]
    found: list[Readings] = kept("lesson choose", len(SLICES)).get_or_make(
        slices, lambda: read(base.preview(table(slices)), _POLICY.measures, EPSILONS)
    )
    at = EPSILONS, values["epsilon"]
    lesson, verdict = _trade(found, _POLICY, at, values["accepted"])
    now = lesson.now
    loss = float(lesson.loss[lesson.now])
    share = float(lesson.share[lesson.now])
    records = table(slices).n
    said = limit_queue.draw_verdict(_POLICY, found[now], verdict, records=records)
    return Shown(
        words=f"ε = {values['epsilon']:g} · k = {K} · {slices}",
        chart=CHARTS["lesson_choose"](lesson),
        tiles=[
            tile("Policy", said["text"], said["help"]),
            _loss_tile(lesson),
            tile(
                f"Worst limit: {verdict.title(str(verdict.first))}",
                f"{share:.3g} × the limit",
                "The largest share of a limit that this release uses. All limits hold if it is at "
                "most 1.",
            ),
        ],
        numbers={"loss": loss, "share": share, "broken": float(len(verdict.broken))},
    )


def _code(values: Values) -> str:
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.choose import read, table

policy, base = rwn.Policy(), rwn.RWN(epsilon=8, k={K}).prepare(table("{values["slices"]}"))
(readings,) = read(base, policy.measures, [{values["epsilon"]:g}])
verdict = policy.judge({{key: readings[key] for key in policy.measures}})
loss, share = readings["{UTILITY}"].value, verdict.largest
broken = len(verdict.broken)"""


LESSON = Lesson(
    key="choose",
    **WORDS["choose"],
    controls={
        Slider(
            "epsilon",
            "Radius ε (standard deviations)",
            (EPSILONS[0], EPSILONS[-1]),
            start=2.0,
            step=1.0,
        ): RADIUS,
        Slider("accepted", "Loss that the users accept", (0.05, 1.0), start=0.2, step=0.05): _LOSS,
        Choice("slices", "Slices", SLICES): "Which variables take their values from one donor.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(
        params=rwn.RWN(epsilon=values["epsilon"], k=K), slices=table(values["slices"]).schema.slices
    ),
    demo=DEMO,
)


def _show_ties(values: Values, kept: Kept) -> Shown:
    cut, way, width = values["cut"], values["way"], values["width"]

    base = following(way, WIDTHS[-1])
    found: list[Readings] = kept("lesson ties", len(WAYS) * len(CUTS)).get_or_make(
        (cut, way), lambda: read(base.preview(table(cut)), _READ, WIDTHS, "width")
    )
    policy = _POLICIES[values["limits"]]
    lesson, _ = _trade(found, policy, (WIDTHS, width), values["accepted"])
    loss, linked, matched = (_value(found[lesson.now][key]) for key in (UTILITY, *_READ))
    return Shown(
        words=f"{way} · width {width:g} · {cut}",
        chart=CHARTS["lesson_ties"](lesson),
        tiles=[
            _loss_tile(lesson),
            tile(
                "Rows linked correctly",
                tenths(linked),
                "Worst-case linkage: how likely an intruder who has the original file finds the "
                f"man of a row, on average. By chance it is 1 of 241, {tenths(1 / 241)}.",
            ),
            tile(
                "True matches",
                tenths(matched),
                "Share of the men who are alone with some values, and of whom a row shows "
                "exactly these with their own body fat, beyond chance.",
            ),
        ],
        numbers={"loss": loss, "linked": linked, "matched": matched},
    )


def _code_ties(values: Values) -> str:
    return f"""\
from rwn_core.evaluation.lessons.choose import following, read, table

measures = ["{_READ[0]}", "{_READ[1]}"]
ready = following("{values["way"]}", {values["width"]:g}).prepare(table("{values["cut"]}"))
(found,) = read(ready, measures, [{values["width"]:g}], "width")
linked, matched = (found[key].value for key in measures)
loss = found["{UTILITY}"].value"""


TIES = Lesson(
    key="ties",
    **WORDS["ties"],
    controls={
        Choice("way", "Slices are drawn", tuple(WAYS)): "How the donors of one row are found.",
        Slider(
            "width", "Width of the kernel (standard deviations)", (1.0, 6.0), start=3.0, step=1.0
        ): "The wider, the less a row says of its source.",
        Choice("cut", "Slices", CUTS): "Which variables take their values from one donor; all "
        "others are the second slice.",
        Choice(
            "limits", "The policy limits", tuple(_POLICIES)
        ): "To at most 5 % each; risk is the largest share of a limit that is used.",
        Slider("accepted", "Loss that the users accept", (0.05, 1.0), start=0.1, step=0.05): _LOSS,
    },
    show=_show_ties,
    code=_code_ties,
    on_tune=lambda values: rwn.Setting(
        params=following(values["way"], values["width"]), slices=table(values["cut"]).schema.slices
    ),
    demo=DEMO,
)
