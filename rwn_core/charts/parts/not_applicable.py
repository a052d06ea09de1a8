"""A card for a measure that has no answer: its title and the reason in place of a picture."""

from rwn_core.charts.parts.style import Chart, chart


def draw(title: str, reason: str, key: str = "not_applicable") -> Chart:
    """Give a chart without traces; the page shows `reason` where the picture would be."""
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
