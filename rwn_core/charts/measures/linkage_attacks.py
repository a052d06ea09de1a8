"""Success of ordinary and worst-case intruders at linking."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.charts.parts.paired_bars import short
from rwn_core.charts.parts.style import (
    NEUTRAL,
    RELEASED,
    Chart,
    Trace,
    axis,
    chart,
    escape,
    label,
    layout,
    percent,
)
from rwn_core.charts.parts.tables import table

Attack = Mapping[str, Any]


def draw(attacks: Sequence[Attack]) -> Chart:
    """Draw a bar for each attack of `disclosure.attacks`: gray if ordinary, else filled."""
    shown = [attack for attack in attacks if attack["success"] is not None]
    positions = list(range(len(shown)))
    ordinary = max((a["success"] for a in shown if not a["worst"]), default=0.0)
    worst = max((a["success"] for a in shown if a["worst"]), default=0.0)
    bound = any(a.get("at_least") for a in shown)
    claim = "method known, at least" if bound else "worst case"
    names: dict[str, Any] = {
        "tickvals": positions,
        "ticktext": [escape(a["words"]) for a in shown],
        "showgrid": False,
    }
    return chart(
        "linkage_attacks",
        "Who links how many",
        f"ordinary {percent(ordinary)} · {claim} {percent(worst)}",
        f"Share of records that intruders link correctly: an ordinary one at most "
        f"{percent(ordinary, 1)}, one who knows the method {'at least' if bound else 'up to'} "
        f"{percent(worst, 1)}",
        data=[_bars(shown, worst=False), _bars(shown, worst=True)],
        layout=layout(
            axis("records linked correctly", 0, 1.3, share=True, **_ticks()),
            axis("", len(shown) - 0.4, -0.6, **names),
            annotations=[
                label(
                    "≥ " * bool(a.get("at_least")) + short(a["success"]),
                    a["success"],
                    position,
                    RELEASED if a["worst"] else NEUTRAL,
                    bold=bool(a["worst"]),
                    xanchor="left",
                    yanchor="middle",
                    xshift=3,
                )
                for position, a in zip(positions, shown, strict=True)
            ],
        ),
        table=table(
            ["intruder", "kind", "records linked correctly", "why not"],
            [
                [a["words"] for a in attacks],
                [_kind(a) for a in attacks],
                [math.nan if a["success"] is None else float(a["success"]) for a in attacks],
                [a.get("reason") or "" for a in attacks],
            ],
        ),
    )


def _kind(attack: Attack) -> str:
    bound = ", at least" if attack.get("at_least") else ""
    return f"knows the method{bound}" if attack["worst"] else "ordinary"


def _ticks() -> dict[str, Any]:
    return {"tickvals": [0, 0.25, 0.5, 0.75, 1.0], "ticktext": ["0%", "", "", "", "100%"]}


def _bars(shown: Sequence[Attack], *, worst: bool) -> Trace:
    rows = [position for position, attack in enumerate(shown) if bool(attack["worst"]) == worst]
    color = RELEASED if worst else NEUTRAL
    return {
        "type": "bar",
        "orientation": "h",
        "name": "knows the method" if worst else "ordinary",
        "x": [shown[row]["success"] for row in rows],
        "y": rows,
        "width": 0.62,
        "offset": -0.31,
        "marker": {
            "color": f"{color}CC" if worst else f"{color}66",
            "line": {"color": color, "width": 1},
        },
        "hovertemplate": "%{x:.1%}<extra>%{fullData.name}</extra>",
    }
