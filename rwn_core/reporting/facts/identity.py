"""The fact of an internal report that says which variables may identify people."""

from __future__ import annotations

from rwn_core.reporting.facts.fact import Content, Material, written_table


def identity(material: Material) -> Content:
    """List the doubts about identity with the answers that were given."""
    rows = material.record.get("identity")
    if rows is None:
        return Content(lines=("The record is older than this question.",))
    if not rows:
        return Content(lines=("No variable of the original looks as if it identified people.",))
    columns = ("variable", "looks_like", "reason", "confidence", "answer")
    return Content(
        lines=("Variables that may identify people, and the answer for each.",),
        table=written_table(
            ("variable", "looks like", "reason", "confidence", "answer"),
            (tuple(row[name] for name in columns) for row in rows),
        ),
    )
