"""Card for a measure without an answer: its title and the reason."""

from rwn_core.measures.drawing.style import Chart, chart


def draw(title: str, reason: str, key: str = "not_applicable") -> Chart:
    """Return a chart without traces; the page shows `reason` in place of the picture."""
    return chart(
        key,
        title,
        "not applicable",
        f"{title}: not applicable. {reason}",
        data=[],
        layout={},
        reason=reason,
        table={"columns": ["reason"], "rows": [[reason]]},
    )
