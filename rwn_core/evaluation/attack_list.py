"""The list of attacks on a release: how each is read, and which needs more knowledge than which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.paired_bars import short
from rwn_core.measures.drawing.tables import known, table
from rwn_core.measures.measure import Measure, Reading

Answers = Mapping[str, Reading[Any] | NotApplicable]
"""By measure key, the reading or why there is none."""


def read_attack(
    measure: Measure, comparison: Comparison, control: Comparison | None
) -> Reading[Any] | NotApplicable:
    """Read a risk measure; guessing attacks are compared with a control group."""
    against = control if measure.against_control else None
    on_control = None if against is None else measure.read(against)
    return on_control if isinstance(on_control, Reading) else measure.read(comparison)


def attacks(readings: Answers) -> list[dict[str, Any]]:
    """Linkage attacks in the order of what they need, each with its success."""
    linkers = []
    for key, measure in MEASURES.items():
        linkers += [(key, linker) for linker in measure.linkers]
    listed: list[dict[str, Any]] = []
    for key, linker in sorted(linkers, key=lambda pair: pair[1].place):
        reading = readings[key]
        words = linker.words if isinstance(linker.words, str) else linker.words(reading)
        if not words:
            continue
        found = reading if isinstance(reading, Reading) else None
        bound = found is not None and linker.estimated and found.detail.standing == "at least"
        listed.append(
            {
                "words": words,
                "success": None if found is None else linker.success(found),
                "worst": linker.worst,
                "reason": str(reading) if found is None else "",
                "at_least": bound,
            }
        )
    return listed


# Success of ordinary and worst-case intruders at linking

Attack = Mapping[str, Any]
_KINDS = ("ordinary", "knows the method")
_SHARE_MARKS: Any = {"tickvals": [0, 0.25, 0.5, 0.75, 1.0], "ticktext": ["0%", "", "", "", "100%"]}


def draw_linkage_attacks(attacks: Sequence[Attack]) -> style.Chart:
    """Draw a bar for each attack of `disclosure.attacks`: gray if ordinary, else filled."""
    # only attacks with a number have a bar; the table names the others with the reason
    shown = [attack for attack in attacks if attack["success"] is not None]
    # what the best intruder of either kind links
    ordinary = _most(shown, worst=False)
    worst = _most(shown, worst=True)
    # if one of them is a lower bound, so is the largest
    bound = any(a.get("at_least") for a in shown)
    claim = "method known, at least" if bound else "worst case"
    labels = [_share_label(attack, position) for position, attack in enumerate(shown)]
    words = [attack["words"] for attack in attacks]
    successes = [attack["success"] for attack in attacks]
    kinds = [_kind_words(attack) for attack in attacks]

    return style.chart(
        "linkage_attacks",
        "Who links how many",
        f"{claim} {style.percent(worst)}",
        f"Share of records that intruders link correctly: an ordinary one at most "
        f"{style.percent(ordinary, 1)}, an intruder with the method "
        f"{'at least' if bound else 'up to'} "
        f"{style.percent(worst, 1)}",
        data=[_bars(shown, worst=False), _bars(shown, worst=True)],
        layout=style.layout(
            style.axis("records linked correctly", 0, 1.3, share=True, **_SHARE_MARKS),
            style.name_axis([a["words"] for a in shown], rim=0.6, showgrid=False),
            annotations=labels,
        ),
        table=table(
            ["intruder", "kind", "records linked correctly", "why not"],
            [words, kinds, known(successes), [attack.get("reason") or "" for attack in attacks]],
        ),
    )


def _most(shown: Sequence[Attack], *, worst: bool) -> float:
    """Return what the best intruder of either kind links."""
    return max((a["success"] for a in shown if bool(a["worst"]) == worst), default=0.0)


def _share_label(attack: Attack, position: int) -> style.Label:
    """Return the share beside a bar, as text."""
    text = short(attack["success"])
    if attack.get("at_least"):
        text = f"≥ {text}"
    color = style.RELEASED if attack["worst"] else style.NEUTRAL
    look: Any = {"bold": bool(attack["worst"]), "xanchor": "left", "yanchor": "middle", "xshift": 3}
    return style.label(text, attack["success"], position, color, **look)


def _kind_words(attack: Attack) -> str:
    """Say whether an intruder is an ordinary one, and whether its share is a lower bound."""
    said = _KINDS[bool(attack["worst"])]
    return f"{said}, at least" if attack["worst"] and attack.get("at_least") else said


def _bars(shown: Sequence[Attack], *, worst: bool) -> style.Trace:
    rows = [position for position, attack in enumerate(shown) if bool(attack["worst"]) == worst]
    color = style.RELEASED if worst else style.NEUTRAL
    return style.bar(
        [shown[row]["success"] for row in rows],
        rows,
        _KINDS[worst],
        (0.62, -0.31),
        marker=style.filled(f"{color}CC" if worst else f"{color}66", color, 1),
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )
