"""Approval of a release: the responsible person, and other draws of its setting."""

from __future__ import annotations

from rwn_core.reporting.facts.fact import Content, Material, pairs


def approval(material: Material) -> Content:
    """State the responsible person, the reason, and the number of earlier draws."""
    about = material.record.get("approval")
    if about is None:
        return Content(lines=("Nobody's name was given with this release.",))
    lines = []
    if about["exception"]:
        lines.append("EXCEPTION: the release does not keep every limit of its policy.")
    named = {"name": about["by"], "reason": about["reason"] or "none given", **_draws(material)}
    return Content(lines=tuple(lines), table=pairs(named))


def _draws(material: Material) -> dict[str, str]:
    draws = material.record.get("draws", {})
    if not draws:
        return {}
    named = {"drawn of this setting": f"{draws['number']}, of which this is the last"}
    if draws["further"]:
        kept = f"{draws['further_kept']} of {draws['further']}"
        named["other fresh releases that keep the policy"] = kept
    return named
