"""Success of ordinary and worst-case intruders at linking."""

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts import style
from rwn_core.charts.parts.paired_bars import short
from rwn_core.charts.parts.tables import known, table

Attack = Mapping[str, Any]
_MARKS: dict[str, Any] = {
    "tickvals": [0, 0.25, 0.5, 0.75, 1.0],
    "ticktext": ["0%", "", "", "", "100%"],
}


def draw(attacks: Sequence[Attack]) -> style.Chart:
    """Draw a bar for each attack of `disclosure.attacks`: gray if ordinary, else filled."""
    shown = [attack for attack in attacks if attack["success"] is not None]
    ordinary = max((a["success"] for a in shown if not a["worst"]), default=0.0)
    worst = max((a["success"] for a in shown if a["worst"]), default=0.0)
    bound = any(a.get("at_least") for a in shown)
    claim = "method known, at least" if bound else "worst case"

    names = [style.escape(a["words"]) for a in shown]
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
            style.axis("records linked correctly", 0, 1.3, share=True, **_MARKS),
            style.name_axis(names, rim=0.6) | {"showgrid": False},
            annotations=[
                style.label(
                    "≥ " * bool(a.get("at_least")) + short(a["success"]),
                    a["success"],
                    position,
                    style.RELEASED if a["worst"] else style.NEUTRAL,
                    bold=bool(a["worst"]),
                    xanchor="left",
                    yanchor="middle",
                    xshift=3,
                )
                for position, a in enumerate(shown)
            ],
        ),
        table=table(
            ["intruder", "kind", "records linked correctly", "why not"],
            [
                [a["words"] for a in attacks],
                [_kind(a) for a in attacks],
                known([a["success"] for a in attacks]),
                [a.get("reason") or "" for a in attacks],
            ],
        ),
    )


def _kind(attack: Attack) -> str:
    bound = ", at least" if attack.get("at_least") else ""
    return f"knows the method{bound}" if attack["worst"] else "ordinary"


def _bars(shown: Sequence[Attack], *, worst: bool) -> style.Trace:
    rows = [position for position, attack in enumerate(shown) if bool(attack["worst"]) == worst]
    color = style.RELEASED if worst else style.NEUTRAL
    return style.bar(
        [shown[row]["success"] for row in rows],
        rows,
        "knows the method" if worst else "ordinary",
        (0.62, -0.31),
        marker=style.filled(f"{color}CC" if worst else f"{color}66", color, 1),
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )
