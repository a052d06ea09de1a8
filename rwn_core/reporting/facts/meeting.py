"""The fact of the decision: what a meeting chose, and whether the release follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rwn_core.reporting.facts.fact import Content, Material, pairs


def decision(material: Material) -> Content:
    """Return the decision that the record of a release holds."""
    about = material.record.get("decision")
    if about is None:
        return Content(lines=("No decision of a meeting was given with this release.",))
    followed = "The release follows it." if about["followed"] else "The release does NOT follow it."
    return Content(lines=(followed,), table=pairs(decision_rows(about["meeting"], about["hash"])))


def decision_rows(meeting: Mapping[str, Any], hash: str) -> dict[str, Any]:
    """Return the parts of a meeting's decision by title."""
    return {
        "chosen": meeting["chosen"] or "none",
        "policy": meeting.get("verdict", "") or "not recorded",
        "accepted by": meeting.get("accepted_by", "") or "–",
        "reason": meeting["reason"],
        "participants": ", ".join(meeting["participants"]),
        **({"votes, dissent": meeting["dissent"]} if meeting.get("dissent") else {}),
        "date": meeting["date"],
        "watched": "; ".join(meeting["watched"]),
        "scenarios": ", ".join(each.get("name", "") for each in meeting["scenario"]),
        "hash": hash,
    }
