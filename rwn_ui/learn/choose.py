"""Lesson 6: choosing a setting that keeps a policy at a loss that the users accept."""

from __future__ import annotations

import numpy as np

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons.choose import (
    DEMO,
    EPSILONS,
    SLICES,
    K,
    Readings,
    Trade,
    read,
    table,
)
from rwn_core.measures import UTILITY
from rwn_ui.features import limit_queue
from rwn_ui.learn.lesson import Choice, Kept, Lesson, Shown, Slider, Values, tile
from rwn_ui.panel.parts import RADIUS

_POLICY = rwn.Policy()


def _curve(slices: str) -> list[Readings]:
    """The readings at each radius."""
    ready = rwn.RWN(epsilon=EPSILONS[-1], k=K).preview(table(slices))
    return read(ready, _POLICY.measures, EPSILONS)


def _value(reading: rwn.Reading | rwn.NotApplicable) -> float:
    return reading.value if isinstance(reading, rwn.Reading) else np.nan


def _show(values: Values, kept: Kept) -> Shown:
    found: list[Readings] = kept("lesson choose", len(SLICES)).get_or_make(
        values["slices"], lambda: _curve(values["slices"])
    )
    now = EPSILONS.index(values["epsilon"])
    verdicts = [_POLICY.judge({key: each[key] for key in _POLICY.measures}) for each in found]
    lesson = Trade(
        epsilon=np.array(EPSILONS),
        loss=np.array([_value(each[UTILITY]) for each in found]),
        share=np.array([verdict.largest for verdict in verdicts], dtype=float),
        now=now,
        accepted=values["accepted"],
    )
    judged = {key: found[now][key] for key in _POLICY.measures}
    verdict = verdicts[now]
    said = limit_queue.draw_verdict(_POLICY, judged, verdict)
    loss, share = float(lesson.loss[now]), float(lesson.share[now])
    accepted = "accepted" if loss <= values["accepted"] else "too much"
    return Shown(
        words=f"ε = {values['epsilon']:g} · k = {K} · {values['slices']}",
        chart=CHARTS["lesson_choose"](lesson),
        tiles=[
            tile("Policy", said["text"], said["help"]),
            tile(
                "Loss of relations",
                f"{loss:.2f}, {accepted}",
                "0: all associations are as in the original; 1: no relation is left.",
            ),
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


def _on_tune(values: Values) -> rwn.Setting:
    slices = table(values["slices"]).schema.slices
    return rwn.Setting(params=rwn.RWN(epsilon=values["epsilon"], k=K), slices=slices)


LESSON = Lesson(
    key="choose",
    title="6 · Choose a setting",
    sentences=(
        "A policy is a list of limits on disclosure risk, and a release must keep all of them. "
        "Here it is the program’s usual one: at most 5 % each of worst-case linkage, attribute "
        "gain and true matches, and nobody linked with a probability above one half. With k = 30 "
        "also a man far from all others has 30 donors.",
        "A larger radius ε lowers the risk of linkage and mostly raises the loss. The two curves "
        "are the trade, for measurements of 241 men.",
        "Move ε until the verdict says that all limits are kept. Then look whether the users "
        "accept the loss, and try other slices: variables of one slice take one common donor.",
    ),
    controls={
        Slider(
            "epsilon",
            "Radius ε (standard deviations)",
            (EPSILONS[0], EPSILONS[-1]),
            start=2.0,
            step=1.0,
        ): RADIUS,
        Slider(
            "accepted", "Loss that the users accept", (0.05, 1.0), start=0.2, step=0.05
        ): "0: all associations are as in the original; 1: no relation is left.",
        Choice("slices", "Slices", SLICES): "Which variables take their values from one donor.",
    },
    show=_show,
    question="Why does no radius work for whole rows, although the loss is small at every radius?",
    answer=(
        "Because linkage is only one of the limits. With whole rows and a large ε few records are "
        "linked, but each released row is a real person’s: age, weight and height lead to the row, "
        "and the row shows the body fat of more than half of the men. Two limits stay broken.\n\n"
        "Each variable alone is the other end: with a small ε nearly all rows are linked, and the "
        "loss is above 0.8 before the risk comes near the limits. Body fat apart from the rest "
        "keeps all limits at ε = 7, with a loss of about 0.16. So choose the slices first, then "
        "the radius, and look at every limit. A verdict is on one release: **Open this on Tune** "
        "shows the same one, and the Find page judges several of each."
    ),
    code=_code,
    on_tune=_on_tune,
    demo=DEMO,
)
